// Package unixbroker is a toy broker: it connects edges on one machine through Unix
// sockets in a folder. It shows what a broker has to do, in little code.
//
// Each edge listens on `<folder>/<id>.sock` and dials the sockets that it finds there.
// A pair of edges has one connection. Who can open the folder is trusted, and belongs
// to the overlay: the folder's mode is 0700, that of the sockets 0600.
//
// # Frames
//
// Integers are big-endian.
//
//	| u32 length | u8 kind | body |
//
// The length counts the kind and the body; the kinds are in frame.go. Both sides begin
// with a hello, and then announce all their interests. A side that has nothing to say
// sends a ping every second. One that is silent for 5 s, or breaks the protocol, is
// disconnected, and dialled again while its socket is in the folder.
//
// # Delivery
//
// Every edge knows the interests of all others. A broadcast goes to those that match. A
// message for one connection goes to one of them, drawn at random. If that edge has no
// subscriber that can take it, it passes the message on to one that was not tried yet;
// the message carries who was tried.
//
// # Nothing waits
//
// Publish puts a message into the queue of each edge that gets it. Each queue is
// bounded; what does not fit is lost to that edge, and counted. A reader calls Receive
// itself: while Receive takes its time, the queue at the other side fills.
//
// # Goroutines
//
// Join starts one that accepts connections, one that looks for other sockets, and one
// that calls Linked and confirmed. Each connection has a reader and a writer; the reader
// waits for its writer. Close stops all of them, and waits.
//
// # Locks
//
// Broker.mu is taken before queue.mu. Neither is held while code outside of this
// package runs.
package unixbroker
