// Package nats keeps histories in streams of JetStream, one for each, which the edges of an
// overlay share. It implements [history.Shared].
//
// The number of a position is that of the message in the stream, which counts all tenants.
//
//	Append ─ outgoing ─ sent ──────────▶ stream in NATS ──▶ consumer of each edge
//	            │         ▲                   │                     │
//	          queue      acks ◀── number ─────┘             session, receive
//	                       │                                        │
//	                   arrivals ◀── position, once received ── index ── Follower
//
// Each edge that uses a history reads its whole stream once, without payloads, and then goes
// on with what comes. So it has an index (package index, as the stores of one edge do) of
// all that is stored, and removes from it by the same limits: it knows what was removed, and
// says that something is complete without asking anybody. Payloads are in memory as long as
// there is room, and are fetched from the stream where they are not.
//
// What removes messages otherwise, a purge, a tenant or an owner that has more than its share, a
// change of the limits, is said by a note in the stream, which comes before the removal. Edges take
// it in its place; those that read the stream later count all before it as removed. Numbers
// that are missing in what is received are messages that were removed before they came: that
// is a gap for everybody.
//
// An edge says nothing of a history before it has received a mark, a note that it has stored
// when it began: what the replica from which it reads does not have yet cannot be missed.
//
// The definitions are one document in a bucket, changed by compare-and-swap (document.go). It
// also has the epoch of each history, which changes when its stream is lost, cut short, or
// put back from an older copy.
//
// Locks, in this order: arrivals.mu, Store.mu, stream.mu, outgoing.mu and trims.mu. None is
// held over a call of NATS. arrivals.mu alone is held while a publisher is told.
package nats
