package nats_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap/zaptest"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/nats"
	"github.com/millrace/millrace/tokenstore/storetest"
)

var buckets atomic.Int64

func open(t *testing.T, connect natstest.Connector, replicas int, bucket string) tokenstore.Store {
	t.Helper()
	store, err := nats.Open(nats.Config{
		Connect: connect, Bucket: bucket, Create: true, Replicas: replicas,
		Storage: jetstream.FileStorage, MaxStale: time.Minute, Log: zaptest.NewLogger(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func TestOneServer(t *testing.T) {
	s := natstest.Server(t)
	storetest.Run(t, func(t *testing.T) tokenstore.Store {
		return open(t, natstest.Connect(s), 1, fmt.Sprintf("tokens%d", buckets.Add(1)))
	})
}

func TestCluster(t *testing.T) {
	servers := natstest.Cluster(t, 3)
	storetest.Run(t, func(t *testing.T) tokenstore.Store {
		return open(t, natstest.Connect(servers[0]), 3, fmt.Sprintf("tokens%d", buckets.Add(1)))
	})
}

// The server that its users run is a process of its own.
func TestProcess(t *testing.T) {
	node := natstest.Processes(t, natstest.Build(t, t.TempDir()), 1)[0]
	storetest.Run(t, func(t *testing.T) tokenstore.Store {
		return open(t, natstest.ConnectTo(node.URL()), 1, fmt.Sprintf("tokens%d", buckets.Add(1)))
	})
}
