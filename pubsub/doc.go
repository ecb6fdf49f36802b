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
// # Life of a kept message
//
// A broadcast to a channel that a history keeps ([Hub.SetHistories]) goes another way: it is
// stored first, and then handed on, so nobody gets what is not stored.
//
//	Session.publishKept → publishWindow (bounds what is under way) → history.Store.Append
//	history.Store → keptPublish.stored → OK:PUB to the publisher → sequencer.push
//	sequencer.run  one goroutine for each tenant of a history, while there is something
//	    note     what is handed on
//	    match    the feeds: distinct patterns of subscriptions with positions
//	    enqueue  frames with positions, on the subscriptions that are live
//	    fan out  frames without to plain subscriptions, as above
//
// What waits in a queue and is too old for its history is removed when its turn comes (late.go).
//
// A subscription with positions that is not live reads pages of the store (replay.go) until
// it has all that was handed on (resumable.go).
//
// Where edges share a store ([history.Shared]), each is handed the messages of all by it
// (follow.go), and Message.Stored answers the publisher alone:
//
//	Session.publishKept → history.Store.Append → on every edge: follower.Received → sequencer.push
//
// # Life of a session
//
// [Hub.Admit] makes a session, and [Session.Attach] gives it its transport. It starts to
// close once: by [Session.Close] from the transport's side (the client closed, or broke
// the transport's rules), by [Session.Revoke], [Session.Forbid] or an expired token, by an
// operator ([Hub.Disconnect]), by [Session.CloseInternal] after a fault of the server, when
// its client reads too slowly, sends too many broken messages or stays until the end of a
// drain, or when its transport fails. All of these end in closeLocked; the first one decides the close code
// and the reason ([Session.CloseStatus]), and later ones change nothing. From then on
// [Session.Done] is closed, [Session.Closing] is true, and nothing more is queued. The
// writer sends the last lines, after a drain the queued deliveries too, and calls
// [Transport.Close]; a connection that is still open after closeGrace is cut with
// [Transport.Abort]. [Session.Detach] undoes Attach: the transport calls it last, when
// its reader has stopped, and the hub forgets the session. A session that never gets a
// transport is detached, too.
//
// # Tenants
//
// The cost of a message is bounded by how many patterns can overlap (bounds.go). It is
// charged to the message's tenant, which waits when it is over its share while others
// are there (load.go).
//
// Five registries know tenants by name. They are apart because they live for different
// times and are read under different locks:
//
//	Hub.tenants         subscriptions: the topic tree (interest.go); until the last one ends
//	Hub.tenantCaps      buckets of bytes/s of each tenant's messages (caps.go); for at least a minute after the last use
//	Hub.loads           processor time of each tenant's messages (load.go); likewise
//	Hub.tenantAccounts  connections and queued bytes of the sessions whose token names it (share.go); while there are any
//	Hub.count.tenants   metrics of the first Limits.MetricTenants tenants (count.go); for good
//
// Hub.tokens does for tokens what tenantCaps and tenantAccounts do for tenants, while
// a token has sessions. When it has none, Hub.idleTokenCaps keeps its buckets, unless
// new ones would allow as much. Hub.addressAccounts has the accounts of client networks.
//
// # Goroutines
//
// A session has readers, started by its transport through [Hub.Go], and at times a
// writer for each of its streams, started by the first message that waits for it.
// While hooks are asked about its subscriptions, it also has up to hook.MaxAsked workers (commands.go).
// All are counted by the hub, and [Hub.Close] waits for them. With histories, there are
// also a sequencer's goroutine while it hands messages on, up to maxReplays that read
// pages while subscriptions are behind, one for each tenant whose pages wait until it has
// paid (replays.go), and one that tells positions each minute while there are sequencers.
//
// # Lock order
//
// A goroutine that holds one of these locks takes only locks to the right of it:
//
//	Session.subscribing → Hub.mu → Session.mu
//	Session.subscribing → tenant.mu → locks of the broker → linkWatch.mu → Session.mu
//	sequencers.setting → Session.subscribing → sequencer.feedsMu
//	Session.subscribing → locks of the history store → publishWindow.mu → Session.mu → sequencer.mu, replays.mu
//
// A client, a hook's answer, and the turn or the debt of a tenant that is over its share
// (pace.go) are waited for with none of them held: a reload, which takes Session.subscribing of
// every session, and a stop finish in a time that does not depend on clients. Who has a turn
// may take any of them.
//
// Hub.mu and tenant.mu are never held together. [Broker.Subscribe] and
// [Broker.Unsubscribe] are called with tenant.mu held, [Directory] methods of a drain
// with Hub.mu, and [Catcher.CatchUp] of an UNSUB with Session.subscribing. So a broker
// may hold locks of its own while it calls the methods of [Receiver], which take neither
// Session.subscribing, Hub.mu nor tenant.mu; nor do the functions that it calls back.
// Publish and Receive read the topic trees without a lock.
//
// A history store may hold locks of its own while it calls Message.Stored, which takes
// publishWindow.mu and what is behind it, and sequencers.mu, under which nothing is taken. So
// the store is called without publishWindow.mu, Session.mu and the mutexes of sequencers. A
// shared store holds none while it calls [history.Follower.Defined], which takes
// sequencers.setting and what is behind that; follower.Received and Skipped take
// follower.mu and sequencers.mu. Follow and Unfollow are called with tenant.mu held.
//
// A token store may hold locks of its own while it calls [Hub.TokenRevoked],
// [Hub.TokenRenewed], [Hub.TokenUnverifiable] or [Hub.TokensUnverifiable], which take Hub.mu and Session.mu, one after
// the other, and wait for nothing. So what they cause, such as the end of a presence, with its
// hooks, is done by goroutines of the hub.
//
// The other locks are held for moments, and may be taken under any of those above:
// Hub.tenantsMu, counters.tenantsMu, cpuAccounts.mu, turns.mu, confirmation.mu, flushQueue.mu and the
// mutexes of buckets; capsRegistry.mu too, under which those of buckets are taken. networkLook.mu is held while the
// runtime looks at the network; nothing is taken under it.
package pubsub
