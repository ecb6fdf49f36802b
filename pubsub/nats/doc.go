// Package nats is the broker of edges that a NATS system connects: one server, a
// cluster, leaf nodes, or clusters of clusters. It uses core NATS: nothing is
// stored, and nothing is sent twice.
//
// # Subjects
//
// All have the overlay's prefix in front. The dots of a tenant become `=`, which
// no name contains, so that a tenant is one token; and `=` ends each channel, so
// that a wildcard for one token or more also stands for none.
//
//	b.<tenant>.<channel>.=           a broadcast
//	o.<tenant>.<channel>.=           deliver-one, nearest: a queue group of all edges with an interest
//	e.<edge>.<tenant>.<channel>.=    deliver-one, to this edge
//	q.<tenant>.<channel>.=           asks all edges who has a taker (see takers)
//	a                                announcements of edges (see peers)
//
// Where edges have names, each of these begins with `s.<name>.`, that of the edge
// that sends; see sender. The name in the subject, to which permissions of NATS can
// hold an edge, is compared with the ids in the message.
//
// A distinct interest of an edge is one subscription of broadcasts and one of the
// queue group; a tenant with many has one for all of them (overlap.go). NATS knows wildcards for whole tokens only: where a pattern is
// narrower, the hub drops what it does not match.
//
// # Nothing twice
//
// NATS delivers a message once for each subscription that matches. Broadcasts
// carry their edge and a number; those of one edge arrive in order, so one with a
// number that is not above the last is a copy. After a way through the network
// has changed, that drops what comes late on the old way: order is kept. The number
// is the clock of the edge: what was held back for long is dropped, too (late.go).
//
// # No tenant waits for another
//
// What comes is handled in shards, one for each tenant (shards.go), and all room is
// shared: a tenant has at most as much as is then free.
//
// # Nothing is trusted
//
// What no edge would accept from a client is not taken from another edge: names that
// are none, words where they do not belong, announcements without end. It is counted
// as rejected, and the hub checks sizes likewise.
//
// # Nothing waits
//
// What the hub publishes is queued here, up to a bound, and written by a goroutine
// of its own. While the link is down nothing is queued.
package nats
