package history

import "github.com/millrace/millrace/wire"

// Shared is a [Store] that the hubs of several edges have in common: what one of them
// stores, all hand on. Beside the contract of Store, which historytest.Run checks:
//
//   - A hub hands on what it has Received, and nothing in Message.Stored.
//   - Each history has one order, of all its tenants. Head returns the position up to which
//     this edge has received everything, of any tenant, and Page.Through may be one
//     that no message of the tenant has.
//   - What was stored by this edge and confirmed is there for a Read on this edge. What
//     others have stored is there once it is received.
//   - The definition of a history lives in the store, and all edges follow it, not their own
//     configuration. Define makes it, if there is none. It replaces one of a lower version, whenever
//     that is seen, and never one of a higher version. One of the same version it replaces only where
//     this process has defined the history before, otherwise: by a reload that changes it; and where it
//     is retired, by a start as well. Else the store's stays, and the difference is logged and in States.
//     Define fails where the definition shares a channel of a tenant with another history, but not
//     before Join: then the history stays out of use, and States says why.
//     Define waits for a few seconds at most, and returns nil where the store is out of
//     reach: the definition is made when it is not.
//   - While it is out of reach, and while it has not found out where a history stands, Append
//     fails with [ErrUnavailable], and Head, Knows, Before and Read wait for some seconds, and
//     then return it.
//   - An edge receives a history while it is followed, and for a while after it was used.
type Shared interface {
	Store
	// Join names who follows, in place of the one before.
	Join(f Follower)
	// Follow has this edge receive a history, until Unfollow was called as often. ready is
	// called once, from any goroutine and perhaps before Follow returns: when all that is
	// stored from then on will be received, or after 5 s, if that is not so by then. Follow
	// does not wait. After Close, it calls ready and does nothing else, and Unfollow nothing.
	Follow(history string, ready func())
	// Unfollow takes back one call of Follow. It does not wait.
	Unfollow(history string)
	// UsageNow lists, by history, what is kept in those that this edge receives now. It does
	// not wait, and has no edge receive a history.
	UsageNow() map[string][]Usage
	// States says how each history stands that this edge has defined, or that all follow. A fault is in it
	// when it has lasted for longer than calls wait. It does not wait.
	States() map[string]State
	// Retire takes a history from all edges that this one has defined and defines no more, unless a higher
	// version of it is effective. What it has stays. Define brings it back.
	Retire(history string) error
}

// Follower is what a [Shared] store hands on to. The calls of Received and Skipped for one
// history come one at a time and do not block. None calls a method of the store.
type Follower interface {
	// Received gives a message that is stored, in the order of positions. Head of this
	// store is at or above it only after the call.
	Received(history, tenant string, m Kept)
	// Skipped says that messages up to a position will not be received: they were removed
	// before they came, or this edge has started over behind them.
	Skipped(history string, to wire.Position)
	// Reach says that a history has been out of reach for longer than calls wait for it, or that it is
	// back. Both come in turn, and may wait for a session.
	Reach(history string, is bool)
	// Defined says which histories are in effect, and since when each keeps its channels
	// (as Scope.Since), whenever that changes: those of all edges, whatever the
	// configuration of this one has. It may take a moment, and the store holds no lock
	// meanwhile that one of its own methods waits for.
	Defined(set *Set, since map[string]uint64)
}
