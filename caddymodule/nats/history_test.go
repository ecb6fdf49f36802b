package nats

import (
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/nats-io/nats-server/v2/server"
	nats "github.com/nats-io/nats.go"
	"go.uber.org/zap/zaptest"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
)

// leased is a server inside the edge that counts who uses it.
type leased struct {
	Server
	server *server.Server
	users  int
}

func (l *leased) OpenServer() (connect nats.Option, release func() error, err error) {
	l.users++
	return nats.InProcessServer(l.server), func() error {
		l.users--
		return nil
	}, nil
}

// A store of histories has a connection of its own by the link of the broker, and uses the
// server inside the edge until it is closed.
func TestHistoryStoreLink(t *testing.T) {
	inside := &leased{server: natstest.Server(t)}
	broker := &Broker{Link: Link{Name: "edge-1"}}
	if err := broker.Provision(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	broker.server = inside
	s := new(HistoryStore)
	if err := s.Provision(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	if err := s.UseBroker(broker); err != nil {
		t.Fatal(err)
	}
	store, err := s.OpenHistoryStore(zaptest.NewLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	if inside.users != 1 {
		t.Errorf("the server has %d users", inside.users)
	}
	if err := store.Define(history.Definition{Name: "chat", Channels: []string{"chat.#"}, Limits: history.DefaultLimits()}); err != nil {
		t.Error(err)
	}
	if names := connections(t, inside.server); !slices.Equal(names, []string{"edge-1 history"}) {
		t.Errorf("the connections are %q", names)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	if inside.users != 0 {
		t.Errorf("after Close the server has %d users", inside.users)
	}
	natstest.Await(t, "the end of the store's connection", func() bool { return len(connections(t, inside.server)) == 0 })
}

func connections(t *testing.T, s *server.Server) (names []string) {
	t.Helper()
	list, err := s.Connz(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Conns {
		names = append(names, c.Name)
	}
	return names
}

// Another link or prefix of the broker is another store of histories. Its own options are not:
// they change while it is open.
func TestHistoryStoreKeys(t *testing.T) {
	keys := map[string]bool{}
	key := func(b Broker, s HistoryStore) string {
		if err := b.Provision(caddy.Context{}); err != nil {
			t.Fatal(err)
		}
		if err := s.Provision(caddy.Context{}); err != nil {
			t.Fatal(err)
		}
		if err := s.UseBroker(&b); err != nil {
			t.Fatal(err)
		}
		return s.HistoryStoreKey()
	}
	for _, b := range []Broker{{}, {Prefix: "p"}, {Link: Link{Servers: []string{"nats://10.0.0.1"}}}, {Link: Link{Token: "{env.NATS_SECRET}"}}} {
		for _, s := range []HistoryStore{{}, {Replicas: 3}, {Storage: "memory"}, {CacheBytes: 1 << 20}} {
			t.Setenv("NATS_SECRET", "c0rrect-horse")
			first := key(b, s)
			if key(b, s) != first || strings.Contains(first, "c0rrect-horse") {
				t.Errorf("the same store has two keys, or a key the secret: %s", first)
			}
			keys[first] = true
			t.Setenv("NATS_SECRET", "another")
			keys[key(b, s)] = true
		}
	}
	if len(keys) != 4+1 {
		t.Errorf("%d keys", len(keys))
	}
	// What queue and announce say does not concern the store.
	if key(Broker{QueueBytes: 1 << 20, Host: "edge.example.com"}, HistoryStore{}) != key(Broker{}, HistoryStore{}) {
		t.Error("other options of the broker make another store")
	}
	if err := new(HistoryStore).UseBroker(new(guest.MemoryBroker)); err == nil {
		t.Error("a store uses a broker without a link")
	}
}

// A history that cannot be used has a reason that strangers may read.
func TestHistoryReason(t *testing.T) {
	inside := &leased{server: natstest.Server(t)}
	broker := &Broker{}
	must(t, broker.Provision(caddy.Context{}))
	broker.server = inside
	open := func(replicas int) history.Shared {
		s := &HistoryStore{Replicas: replicas}
		must(t, s.Provision(caddy.Context{}))
		must(t, s.UseBroker(broker))
		store, err := s.OpenHistoryStore(zaptest.NewLogger(t))
		must(t, err)
		t.Cleanup(func() { _ = store.Close() })
		return store.(history.Shared)
	}
	d := history.Definition{Name: "chat", Channels: []string{"chat.#"}, Limits: history.DefaultLimits()}
	must(t, open(1).Define(d))
	d.Name, d.Channels = "more", []string{"more.#"}
	store := open(3)
	must(t, store.Define(d))
	natstest.Await(t, "the reason", func() bool {
		state := store.States()["more"]
		return state.Err != nil && strings.HasPrefix(state.Reason, "NATS does not make the stream") && !strings.Contains(state.Reason, "more")
	})
}
