package pubsub

import "github.com/millrace/millrace/wire"

// Kind is what a queued message is to its transport.
type Kind uint8

const (
	// Text is a protocol line.
	Text Kind = iota
	// Binary is a deliver frame.
	Binary
	// Ping is a transport's own keep-alive; Data is its payload.
	Ping
	// Pong answers a client's transport ping; Data is its payload.
	Pong
)

// Outgoing is one message to a client, without the transport's framing.
type Outgoing struct {
	Kind Kind
	Data []byte // shared between subscribers: never to be changed
}

// Transport is the writing half of one client's connection.
//
// Write and Close come from one goroutine at a time. Abort may come from any,
// any number of times, also while Write blocks.
type Transport interface {
	// Write sends the messages in order, joined into as few writes as the
	// transport rewards. It keeps neither msgs nor their bytes.
	Write(msgs []Outgoing) error
	// Close tells the client that the session closes, with a code. Nothing is written
	// after it. The client gets a moment to answer; then Abort cuts the connection.
	Close(code wire.CloseCode, reason string) error
	// Abort cuts the connection, within moments; reads and writes under way fail
	// then. It may try once more to tell the client the code of [Session.CloseStatus].
	Abort()
}

// Watcher is a [Transport] that can detect that its client is gone while nothing is
// read from it. A transport that closes the session by itself then need not be one.
type Watcher interface {
	Transport
	// ClientGone reports whether the client is gone. The session's reader calls it, at
	// most once a second. False may mean that it is not known.
	ClientGone() bool
}

// TryWriter is a [Transport] that can write without waiting for its client.
type TryWriter interface {
	Transport
	// TryWrite is Write for a goroutine that must not wait. It takes all messages,
	// and reports false if some of their bytes are not written yet: the next Write
	// writes them first, and may have no other messages.
	TryWrite(msgs []Outgoing) (written bool, err error)
}

// Packeter is a [TryWriter] that leaves it to other goroutines to make packets of what TryWrite takes, and to
// send them.
type Packeter interface {
	TryWriter
	// MakesPackets does nothing.
	MakesPackets()
}

// StreamOpener is a [Transport] that has streams beside its main one.
type StreamOpener interface {
	// OpenStream opens a stream to the client, without waiting: an error says
	// that the client grants none now.
	OpenStream() (Stream, error)
}

// Stream is the writing half of a stream that carries one subscription. Write
// and Close come from one goroutine at a time, after the transport's Abort or
// Close too, and then fail.
type Stream interface {
	// Write is as that of [Transport].
	Write(msgs []Outgoing) error
	// Close ends the stream after what was written.
	Close() error
}
