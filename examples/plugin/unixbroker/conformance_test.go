package unixbroker

import (
	"os"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/brokertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The brokers are opened as the app does it, and each edge of the overlay has a module
// of its own.
func TestConformance(t *testing.T) {
	brokertest.Run(t, func(t *testing.T, edges int) []pubsub.Broker {
		folder := shortFolder(t)
		brokers := make([]pubsub.Broker, edges)
		for i := range brokers {
			m := new(Module)
			if err := m.UnmarshalCaddyfile(caddyfile.NewTestDispenser("unix " + folder)); err != nil {
				t.Fatal(err)
			}
			if err := m.Provision(caddy.Context{}); err != nil {
				t.Fatal(err)
			}
			var err error
			if brokers[i], err = guest.BrokerModule(m).OpenBroker(zaptest.NewLogger(t)); err != nil {
				t.Fatal(err)
			}
		}
		return brokers
	})
}

// shortFolder is t.TempDir with a shorter name: the path of a socket is limited.
func shortFolder(t *testing.T) string {
	folder, err := os.MkdirTemp("", "unix")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}
