// Package presence knows who is present: the subjects that are members of channels, on
// this edge and on the others, and tells those who watch.
//
// # Logs
//
// Three logs have one shape. In each, a thing has one entry with a number, and a change moves
// the entry to the end with the next number; one that is gone has an entry that says so, for
// keepGone, and while there are not too many. So reading from 0 gives all there is, reading from
// where a reader was gives what has changed since, in pages of one kind. A reader has to read
// from 0 if an entry was dropped that is newer than where it is, and was not gone yet when it
// began (log.begins).
//
//	tenant.log, channel.log   members, as all edges together have them: for watchers
//	tenant.counts             channels, by when the number of their members changed: likewise
//	own.log                   members that this edge has by its own sessions: for the other edges
//
// # Watchers
//
// Registry.Tick, which Registry.Run calls every tickEvery while there is something to do, gives
// each watcher that is behind its next page, unless its receiver has no room. Watchers of the
// same pattern at the same place share one encoded page. A tick gives out tickBytes at most, of
// which each tenant has its part, and goes on in the next one with those that got nothing. Who is
// far behind gets counts, before others get pages, and a frame that is Synced when the members
// are as new as the counts.
//
// # Edges
//
// Each edge sends what is new in its own log to all others, with the number from which it goes
// on, and every beatEvery its last number. An edge that is at another number asks for the page
// behind its own. Nothing is sent twice by itself, and nothing waits for an answer: what is
// lost is noticed by the next beat. An edge that is silent longer than the linger of a member
// has that member no more, and is asked for all when it is heard again.
//
// # Locks
//
// Registry.mu guards everything but what Tick alone uses. It is held while pages are encoded, a page at a time, and
// while a Receiver or the Link is called; these do not block, and do not call the Registry. What
// looks at all tenants, or all members, does so in steps (walk), and others get the lock in between.
package presence
