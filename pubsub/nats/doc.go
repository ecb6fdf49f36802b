// Package nats is the broker of edges that a NATS system connects: one server, a
// cluster, leaf nodes, or clusters of clusters. It uses core NATS: nothing is
// stored, and nothing is sent twice.
//
// # Subjects
//
// All have the overlay's prefix in front. The dots of a tenant become `=`, which
// no name contains, so that a tenant is one token; and `=` ends each channel, so
// that a wildcard for one token or more also matches where there is none.
//
//	b.<tenant>.<channel>.=           a broadcast
//	o.<tenant>.<channel>.=           deliver-one, nearest: a queue group of all edges with an interest
//	e.<edge>.<tenant>.<channel>.=    deliver-one, to this edge, and control messages to it, such as what
//	                                 became of a deliver-one (fates.go)
//	q.<tenant>.<channel>.=           a control message to all edges: a query which of them have a
//	                                 subscriber (queries.go), or a marker (catchup.go)
//	a                                announcements of edges (peers.go)
//	p, p.<edge>                      a message about presence, to all edges or to this one (asides.go)
//	t                                a notice of changes of tokens, to all edges (asides.go)
//	r.<edge>                         a request to this edge, for an operator of another one (requests.go)
//	w.<edge>.<number>                the answer to this edge's request of that number (answers.go)
//
// Where edges have names, each of these begins with `s.<name>.`, the name of the edge
// that sends; see sender. The name in the subject, to which permissions of NATS can
// hold an edge, is compared with the ids in the message.
//
// Each distinct interest of an edge has one subscription for broadcasts and one in the
// queue group; a tenant with many interests has one for all of them (wildcard.go). NATS
// knows wildcards for whole tokens only: where a pattern is narrower, the hub drops what
// it does not match.
//
// # Nothing twice
//
// NATS delivers a message once for each subscription that matches. Broadcasts
// carry their edge and a number. Those of one edge arrive in order, so a broadcast
// whose number is not above the last one is a copy. When the route through the network
// changes, this also drops what comes late by the old route, which keeps the order. The
// number is the clock of the edge: what was held back for long is dropped, too (clock.go).
//
// # No tenant waits for another
//
// What comes is queued and handled by tenant (inbox.go), and tenants share all room: a
// tenant has at most as much as is then free (share.go).
//
// # Nothing is trusted
//
// What no edge would accept from a client is not accepted from another edge: names and
// senders that are not valid, control messages where they do not belong, announcements without end. It
// is counted as rejected, and the hub checks sizes likewise.
//
// # Nothing waits
//
// What the hub publishes is queued here, up to a bound, and written by a goroutine
// of its own (writer.go). While the link is down nothing is queued.
//
// # Requests of operators are apart
//
// Requests and their answers share nothing with messages but the connection. They come by
// channels of their own, and are lost when these are full. requestLoop takes them,
// and never waits; each request that is answered has a goroutine, maxAnswering at most,
// which [Broker.Close] interrupts and waits for. What is to be sent has a queue of its own,
// from which the writer takes one each time after the messages.
//
// # What the hub is told
//
// The link is down for a set of causes: the connection to NATS is lost, or a server has
// not answered for 5 s (link.go). The hub is notified of changes alone, by Linked, one call
// at a time; until the first call it takes the link to be up.
//
//	     Join, connected: no call               Join, not connected: Linked(false)
//	                |                                         |
//	                v                                         v
//	            +------+    first cause: Linked(false)    +------+
//	            |      | -------------------------------> |      |
//	            |  up  |                                  | down |
//	            |      | <------------------------------- |      |
//	            +------+    no cause left: Linked(true)   +------+
//	                |                                         |
//	Subscribe:      v                                         | Subscribe:
//	            +--------+                                    | at once
//	            | queued | ---------------+                   |
//	            +--------+                | the link          |
//	  writeLoop     |                     | goes down:        |
//	  sends SUB     v                     | Linked(false),    |
//	            +---------+               | and then          |
//	            | written | --------------+                   |
//	            +---------+               |                   |
//	  confirmLoop   |                     |                   |
//	  sends PING,   v                     v                   v
//	  PONG      +-----------------------------------------------+
//	  comes     |         confirmed, once for each call         |
//	            +-----------------------------------------------+
//
// A subscription that is not confirmed 5 s after Subscribe was called is itself a cause:
// the server is silent. What was subscribed while the link was down, or before, reaches
// NATS with the next connection, or when the server goes on; it is not confirmed again.
//
// # Lock order
//
// Of these three a goroutine holds at most one:
//
//   - Broker.linkMu orders changes of the link. It is held during calls of Linked, and of
//     confirmed when the link goes down.
//   - tenantResponders.mu is held while messages of its tenant for a random edge are handed
//     to the writer or the hub, and during calls of Interested.
//   - catchUps.mu is held while a marker is handed to the writer. The functions that CatchUp
//     was called with are called without it.
//
// The others come after these three, and none of them while another one of them is held:
// Broker.mu (state of link, interests, confirmations and what the writer is to send),
// responders.mu (the list of tenants), peers.mu, inFlight.mu, fates.mu, inbox.mu and requests.mu, but
// for one case: Broker.mu is taken with requests.mu held, to queue an answer. None of them is
// held during a call of the hub, or of what answers requests.
//
// The hub calls Subscribe with the lock of one of its tenants held, and Subscribe takes
// Broker.mu and then, after it has released that, tenantResponders.mu. So Receive and
// Interested, which can be called with tenantResponders.mu held, must not take that lock of
// the hub. Its own do not: they read a tenant's tree without a lock. What PublishConfirmed is to tell
// is told with tenantResponders.mu or Broker.linkMu held, or none.
package nats
