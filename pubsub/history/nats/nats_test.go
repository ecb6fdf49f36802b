package nats_test

import (
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/historytest"
	"github.com/millrace/millrace/pubsub/history/nats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a store of an overlay.
func open(t testing.TB, s *server.Server, prefix string, change ...func(*nats.Config)) *nats.Store {
	t.Helper()
	c := nats.Config{Connect: natstest.Connect(s), Prefix: prefix, Storage: jetstream.FileStorage, Log: zaptest.NewLogger(t)}
	for _, f := range change {
		f(&c)
	}
	store, err := nats.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func TestConformance(t *testing.T) {
	historytest.Run(t, func(t *testing.T) history.Store {
		return open(t, natstest.Server(t), "test")
	})
}
