// Package pubsub is the domain of a messaging edge: it knows neither Caddy, nor
// sockets, nor engines.
//
// A [Hub] holds the sessions of one edge and fans messages out to them. A
// [Session] is the protocol state of one client; a transport (packages
// websocket and webtransport) feeds it what the client sends and writes what it queues. A
// [Broker] carries messages to the hubs of other edges.
//
// # Life of a message
//
//	transport reader → Session.HandleFrame (decode, authorise) → Hub.publish
//	    match    the tenant's topic tree gives the interests
//	    encode   the deliver frame, once per distinct set of matched patterns
//	    enqueue  the shared bytes on every subscriber's bounded queue
//	    account  what did not fit, to the subscriber that lost it
//	transport writer ← one goroutine per stream, only while its lane is not empty
//
// # Tenants
//
// What a message can cost is bounded by what patterns can overlap (bounds.go), and
// charged to its tenant, which waits when it is over its share while others are
// there (load.go).
//
// # Goroutines
//
// A session has readers, started by its transport through [Hub.Go], and at times a
// writer for each of its streams, started by the first message that waits for it.
// All are counted by the hub, and [Hub.Close] waits for them.
package pubsub
