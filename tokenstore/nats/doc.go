// Package nats keeps tokens in a key-value bucket of NATS JetStream, for edges
// that share them.
//
// Reads come from a copy in memory, which follows the bucket: handshakes need no
// network, and go on while the bucket is out of reach. How long the copy may go
// unconfirmed is bounded (Config.MaxStale); after that reads fail with
// [tokenstore.ErrUnavailable] until the bucket is reached again.
//
// A write goes to the bucket, by compare-and-swap on the revision, and is in the
// copy of this edge when it returns. Other edges have it some milliseconds later.
// When several writes to a record follow each other faster than that, the
// watchers on other edges may see only the last one.
//
// # Goroutines
//
// Open starts three, which end when Close cancels their context: follow reads the
// bucket and watches it (follow.go, watch.go), probeLoop confirms the copy by asking
// the leader (probe.go, chase.go), and sweepLoop removes expired records (sweep.go). Close waits
// for them, and for the probes and the catching up that probeLoop starts.
//
// # What may be believed
//
// A call that uses a record first looks at how certain the copy is (certainty.go), and whether
// another edge claims that the record was changed (hold.go, notice.go). Then it waits for
// a proof, or for the leader's word on the record (lookup.go). All else goes by Config.MaxStale.
//
// # Lock order
//
// Store.calls, which each call holds for reading, comes before mirror.mu, and
// mirror.mu before lookups.mu: the mirror calls its watchers while it holds
// mirror.mu, so that they see changes in order, and the look-ups are one of the
// watchers. The locks of other watchers come after mirror.mu, too: a watcher
// must not call the store. All other locks are leaves, held for no call to other
// code except the logger: progress.mu, replicas.mu, answers.mu, notices.mu, and freshness.mu,
// which is released before the watchers of a stale copy are called. Links are called without
// any of these but Store.calls.
package nats
