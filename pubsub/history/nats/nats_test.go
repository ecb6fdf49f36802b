package nats_test

import (
	"testing"

	"github.com/nats-io/nats-server/v2/server"
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
	return openAt(t, s.ClientURL(), prefix, change...)
}

// openAt is open for an address.
func openAt(t testing.TB, url, prefix string, change ...func(*nats.Config)) *nats.Store {
	t.Helper()
	return openBy(t, natstest.ConnectTo(url), prefix, change...)
}

// openBy is open by a way to connect.
func openBy(t testing.TB, by natstest.Connector, prefix string, change ...func(*nats.Config)) *nats.Store {
	t.Helper()
	c := nats.Config{Connect: by, Prefix: prefix, Log: zaptest.NewLogger(t)}
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
