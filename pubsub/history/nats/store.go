package nats

import (
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"
)

// Config is what a store needs. Edges with the same Prefix on the same NATS system share
// their histories.
type Config struct {
	// Connect opens a connection with these options added to its own. It returns one also
	// while no server can be reached.
	Connect func(...client.Option) (*client.Conn, error)
	// Domain of JetStream that has the streams; empty: that of the server.
	Domain string
	// Prefix of the overlay, as of its broker: tokens joined by dots.
	Prefix string
	// Replicas and Storage of streams and bucket that are made.
	Replicas int
	Storage  jetstream.StorageType
	// RingBytes bounds what an edge keeps of each history in memory; 0: 16 MiB.
	RingBytes int64
	Log       *zap.Logger
}
