// Package badger keeps token records in an embedded Badger database: the store
// of a single edge. A write is acknowledged when it is on disk, so it survives
// kill -9 and power loss.
//
// # Lock order
//
// Store.calls, which each call holds for reading, comes before the lock of an id
// (Store.locks), and that before wal.rotation. The watchers of a change are called
// under the first two, after wal.rotation is released: their own locks come after
// these. space.mu is a leaf. maintain holds none of them while it opens, compacts or
// collects; to exchange the database it takes Store.calls for writing.
package badger
