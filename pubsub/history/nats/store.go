// Package nats keeps histories in streams of JetStream, for several edges. Skeleton: the
// implementation is written in another clone and replaces this file.
package nats

import (
	"errors"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/history"
)

// Config is what a store needs. Edges with the same Prefix on the same NATS system share
// their histories.
type Config struct {
	// Connect opens a connection with these options added to its own. It returns one also
	// while no server can be reached.
	Connect func(...client.Option) (*client.Conn, error)
	// Prefix of the overlay, as of its broker: tokens joined by dots.
	Prefix string
	// Replicas and Storage of the streams and the bucket that are made; what exists is not
	// changed in these.
	Replicas int
	Storage  jetstream.StorageType
	// CacheBytes bounds the payloads that an edge has in memory of each history; 0: 16 MiB.
	CacheBytes int64
	Log        *zap.Logger
}

// Store implements [history.Shared].
type Store struct{ history.Shared }

// Open starts a store. It does not wait for NATS.
func Open(c Config) (*Store, error) { return nil, errors.New("not there yet") }
