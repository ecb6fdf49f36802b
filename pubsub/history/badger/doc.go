// Package badger keeps histories on this machine's disk, in a Badger database of their own.
//
// What was stored survives the end of the process, however it comes; with Config.Sync it
// survives a power loss, too. Without, the messages of the last moments before a power loss
// may be gone, though clients have seen them: then numbers skip ahead, and who stands
// before the skip is notified of a gap.
//
// Which messages there are is in memory, some 150 bytes for each; the payloads of the
// newest are, too (Config.Cache).
//
// What is purged leaves the files, too, before Purge returns: the tables are rewritten. Nothing
// is in Badger's value log, which could not be; large payloads are stored in parts.
//
// # Goroutines
//
// [Open] starts one goroutine, which commits what Append has queued, many messages with one
// transaction, calls Message.Stored, and removes from the database what the index has
// removed. Close stops it and waits for it.
package badger
