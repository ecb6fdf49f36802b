// Package history is the contract of histories: what an edge keeps of the messages of
// some channels, so that a client that was away gets exactly what it has missed, or is
// told that it cannot be had.
//
// A [Set] says what is kept, by tenant and channel, in which history, and a [Store]
// keeps them. The hub (package pubsub) stores each broadcast to a kept channel before
// it hands it on, and reads what a client has missed, page by page.
// Stores are in folders of their own: memory, and badger for this machine's disk. Each
// passes historytest.Run.
//
// # Positions
//
// Each message of a tenant in a history has a position (wire.Position): its number N
// within that history and tenant, the time T at which it was stored, and the epoch of
// the store. N grows, not necessarily by one, and T never shrinks as N grows. The epoch
// is another one whenever the store has lost its memory: a position of another epoch says
// nothing about what this one holds.
//
// # What is gone
//
// A store forgets by its [Limits], and when it is told to ([Store.Purge]). A reader who
// stands at N has missed nothing if no message that it asks for and that stands after N was
// removed. [Page].Removed answers that: it is where the last removed message that may have
// matched stood. It may be too high, when the store does not remember exactly, and is
// never too low.
package history
