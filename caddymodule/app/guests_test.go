package app

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

func init() {
	caddy.RegisterModule(new(foreignBroker))
	caddy.RegisterModule(new(foreignStore))
	caddy.RegisterModule(new(sharingBroker))
	caddy.RegisterModule(new(foreignHistories))
}

// foreignBroker is a guest that the app does not know: it announces edges, and knows of
// a server inside this one.
type foreignBroker struct {
	Host string `json:"host"`

	storing, known bool
}

func (*foreignBroker) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.brokers.foreign", New: func() caddy.Module { return new(foreignBroker) }}
}
func (*foreignBroker) BrokerKey() string                { return "foreign" }
func (b *foreignBroker) AnnouncedHost() string          { return b.Host }
func (b *foreignBroker) Storing() (storing, known bool) { return b.storing, b.known }
func (*foreignBroker) OpenBroker(*zap.Logger) (pubsub.Broker, error) {
	return &foreignDirectory{Broker: memory.New()}, nil
}

// foreignDirectory lists this edge alone.
type foreignDirectory struct {
	pubsub.Broker
	edge pubsub.Edge
}

func (d *foreignDirectory) Announce(e pubsub.Edge) { d.edge = e }
func (d *foreignDirectory) Edges() []pubsub.Edge   { return []pubsub.Edge{d.edge} }
func (*foreignDirectory) SetDraining(bool)         {}

// foreignStore borrows the link of a foreignBroker.
type foreignStore struct{ link string }

func (*foreignStore) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.token_stores.foreign", New: func() caddy.Module { return new(foreignStore) }}
}
func (s *foreignStore) StoreKey() string { return "foreign:" + s.link }
func (*foreignStore) OpenStore(*zap.Logger) (tokenstore.Store, error) {
	return storetest.NewMemory(), nil
}
func (s *foreignStore) BorrowLink(broker guest.BrokerModule) error {
	b, ok := broker.(*foreignBroker)
	if !ok {
		return errors.New("there is no link")
	}
	s.link = b.Host
	return nil
}

// sharingBroker is one whose edges share foreignHistories.
type sharingBroker struct{ foreignBroker }

func (*sharingBroker) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.brokers.sharing", New: func() caddy.Module { return new(sharingBroker) }}
}
func (*sharingBroker) SharedHistoryStore() string { return "shared" }

// foreignHistories is a store of histories that is not opened here.
type foreignHistories struct{ broker string }

func (*foreignHistories) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.history_stores.shared", New: func() caddy.Module { return new(foreignHistories) }}
}
func (s *foreignHistories) UseBroker(broker guest.BrokerModule) error {
	s.broker = driver(broker)
	return nil
}
func (s *foreignHistories) HistoryStoreKey() string { return "shared by " + s.broker }
func (*foreignHistories) OpenHistoryStore(*zap.Logger) (history.Store, error) {
	return nil, errors.New("there is none")
}

var (
	_ guest.HistorySharer      = (*sharingBroker)(nil)
	_ guest.SharedHistoryStore = (*foreignHistories)(nil)

	_ guest.Announcer       = (*foreignBroker)(nil)
	_ guest.StorageReporter = (*foreignBroker)(nil)
	_ guest.LinkBorrower    = (*foreignStore)(nil)
	_ pubsub.Directory      = (*foreignDirectory)(nil)
)

// What the app and its guests have in common works with guests of any type.
func TestForeignGuests(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	provisioned := func(config string) (*App, error) {
		ctx, err := caddy.ProvisionContext(&caddy.Config{AppsRaw: caddy.ModuleMap{"pubsub": json.RawMessage(config)}})
		if err != nil {
			return nil, err
		}
		module, err := ctx.App("pubsub")
		if err != nil {
			t.Fatal(err)
		}
		return module.(*App), nil
	}
	a, err := provisioned(`{"region": "EU", "token_store": {"driver": "foreign"}, "broker": {"driver": "foreign", "host": "edge.example.com"}}`)
	if err != nil {
		t.Fatal(err)
	}
	if key := a.store.StoreKey(); key != "foreign:edge.example.com" {
		t.Errorf("the store has the link %q", key)
	}
	if host, ok := a.AnnouncedHost(); !ok || host != "edge.example.com" {
		t.Errorf("announced: %q, %v", host, ok)
	}
	broker := a.broker.(*foreignBroker)
	for _, c := range []struct{ storing, known bool }{{true, true}, {false, true}, {false, false}} {
		broker.storing, broker.known = c.storing, c.known
		if storing, known := a.Storing(); storing != c.storing || known != c.known {
			t.Errorf("storing: %v, %v, want %+v", storing, known, c)
		}
	}

	e, _, err := leaseEdge(a.store, a.broker, a.limits)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.use(a, a.limits, nil); err != nil {
		t.Fatal(err)
	}
	want := []pubsub.Edge{{Host: "edge.example.com", Region: "EU"}}
	if got := (&Running{Hub: e.hub, edge: e}).Edges(); !slices.Equal(got, want) {
		t.Errorf("edges %v, want %v", got, want)
	}
	if err := e.release(a); err != nil {
		t.Error(err)
	}

	const kept = `"histories": [{"name": "chat", "channels": ["chat.#"]}]`
	for config, want := range map[string]string{
		`{"token_store": {"driver": "foreign"}}`: "token_store: there is no link",
		`{"broker": {"driver": "foreign"}, ` + kept + `}`: "histories: the edges of broker foreign would not agree on what is stored; " +
			"allowed: broker memory, sharing",
		`{"broker": {"driver": "sharing"}, "history_store": {"driver": "memory"}, ` + kept + `}`: "history_store memory: it is of one edge, " +
			"and those that broker sharing joins must share their histories; allowed: shared",
		`{"history_store": {"driver": "shared"}}`: "history_store shared: edges share it through their broker, " +
			"and broker memory joins none; allowed: badger, memory",
	} {
		if _, err := provisioned(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", config, err, want)
		}
	}
	sharing, err := provisioned(`{"broker": {"driver": "sharing"}, ` + kept + `}`)
	if err != nil {
		t.Fatal(err)
	}
	if key := sharing.histories.module.HistoryStoreKey(); key != "shared by sharing" {
		t.Errorf("the store of histories is %q", key)
	}

	alone, err := provisioned(`{}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := alone.AnnouncedHost(); ok {
		t.Error("broker memory announces")
	}
	if _, known := alone.Storing(); known {
		t.Error("there is a server inside an edge with guests that have none")
	}
}
