// Package nats keeps tokens in a key-value bucket of NATS JetStream, for edges
// that share them.
//
// Reads come from a copy in memory, which follows the bucket: handshakes need no
// network, and go on while it is away. How long the copy may go unconfirmed is
// bounded (Config.MaxStale); after that reads fail with
// [tokenstore.ErrUnavailable] until the bucket is reached again.
//
// A write goes to the bucket, by compare-and-swap on the revision, and is in the
// copy of this edge when it returns. Other edges have it some milliseconds later.
// Where several writes to a record follow each other faster than that, the
// watchers on other edges may see only the last one.
package nats
