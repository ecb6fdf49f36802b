package nats

import (
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/internal/natstest"
)

// Each way to log in works, and without it the server refuses.
func TestLinkLogin(t *testing.T) {
	const secret = "c0rrect-horse"
	t.Setenv("NATS_SECRET", secret)
	seed, public, _ := user(t)
	credentials, trusting := withJWT(t)
	authority, other := newPKI(t), newPKI(t)
	for name, test := range map[string]struct {
		server      func(*server.Options)
		good, wrong Link
	}{
		"password": {func(o *server.Options) { o.Username, o.Password = "edge", secret },
			Link{User: "edge", Password: "{env.NATS_SECRET}"}, Link{User: "other", Password: "{env.NATS_SECRET}"}},
		"token": {func(o *server.Options) { o.Authorization = secret },
			Link{Token: "{env.NATS_SECRET}"}, Link{}},
		"nkey": {func(o *server.Options) { o.Nkeys = []*server.NkeyUser{{Nkey: public}} },
			Link{NKey: seed}, Link{}},
		"credentials": {trusting, Link{Credentials: credentials}, Link{NKey: seed}},
		"TLS": {func(o *server.Options) { o.TLS, o.TLSConfig, o.TLSTimeout = true, authority.serverTLS(t, false), 5 },
			Link{TLS: &TLS{CA: authority.ca}}, Link{TLS: &TLS{CA: other.ca}}},
		"certificate": {func(o *server.Options) { o.TLS, o.TLSConfig, o.TLSTimeout = true, authority.serverTLS(t, true), 5 },
			Link{TLS: &TLS{CA: authority.ca, Cert: authority.cert, Key: authority.key}}, Link{TLS: &TLS{CA: authority.ca}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := natstest.Server(t, test.server)
			dial := func(l Link) (connected bool) {
				l.Servers, l.ReconnectWait = []string{strings.Replace(s.ClientURL(), "tls://", "nats://", 1)}, caddy.Duration(10*time.Millisecond)
				if err := l.provision(caddy.Context{}); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(l.key(), secret) {
					t.Error("the key has the secret")
				}
				options, release, err := l.options("test")
				if err != nil {
					t.Fatal(err)
				}
				conn, err := l.connector(options)()
				if err != nil {
					t.Fatal(err) // it has to go on trying
				}
				connected = conn.IsConnected()
				conn.Close()
				if err := release(); err != nil {
					t.Error(err)
				}
				return connected
			}
			if !dial(test.good) {
				t.Error("not connected")
			}
			if dial(test.wrong) {
				t.Error("connected without the right login")
			}
		})
	}
}

// A reload with another secret is another link, or the old one would go on with
// the old secret.
func TestLinkKeys(t *testing.T) {
	keys := map[string]bool{}
	for _, l := range []Link{
		{}, {Servers: []string{"nats://10.0.0.1"}}, {Name: "n"}, {Token: "{env.NATS_SECRET}"},
		{User: "u", Password: "{env.NATS_SECRET}"}, {ReconnectWait: caddy.Duration(time.Second)}, {TLS: &TLS{}},
	} {
		for _, secret := range []string{"one", "two"} {
			t.Setenv("NATS_SECRET", secret)
			if err := l.provision(caddy.Context{}); err != nil {
				t.Fatal(err)
			}
			first := l.key()
			if err := l.provision(caddy.Context{}); err != nil {
				t.Fatal(err)
			}
			if l.key() != first {
				t.Error("the same link has two keys")
			}
			keys[first] = true
		}
	}
	if len(keys) != 5+2*2 {
		t.Errorf("%d keys", len(keys))
	}
	stores := map[string]bool{}
	for _, s := range []Store{{}, {Domain: "d"}, {Bucket: "b"}, {Create: "off"}, {Replicas: 3}, {Storage: "memory"}, {MaxStale: caddy.Duration(time.Minute)}} {
		if err := s.Provision(caddy.Context{}); err != nil {
			t.Fatal(err)
		}
		stores[s.StoreKey()] = true
	}
	if len(stores) != 7 {
		t.Errorf("%d keys of stores", len(stores))
	}
}

// NATS would take a URL with a comma for two, and show the password in its error.
func TestLinkURLWithComma(t *testing.T) {
	t.Setenv("NATS_URL", "nats://edge:pa,ss@127.0.0.1:4222")
	l := Link{Servers: []string{"{env.NATS_URL}"}}
	if err := l.provision(caddy.Context{}); err == nil || !strings.Contains(err.Error(), "server 1: must be one URL") || strings.Contains(err.Error(), "pa,") {
		t.Errorf("got %v", err)
	}
}

// A store without a link gets that of broker nats, and no other.
func TestStoreBorrowsLink(t *testing.T) {
	broker := &Broker{Link: Link{Servers: []string{"nats://10.0.0.1"}, Name: "b"}}
	for _, c := range []struct {
		name   string
		link   Link
		broker guest.BrokerModule
		want   string // the server; empty: none
		err    string
	}{
		{"without a link", Link{}, broker, "nats://10.0.0.1", ""},
		{"with a server", Link{Servers: []string{"nats://10.0.0.2"}}, broker, "nats://10.0.0.2", ""},
		{"with options alone", Link{Name: "s"}, broker, "", "need servers, too"},
		{"beside another broker", Link{}, new(guest.MemoryBroker), "", ""},
	} {
		s := &Store{Link: c.link}
		if err := s.Provision(caddy.Context{}); err != nil {
			t.Fatal(err)
		}
		err := s.BorrowLink(c.broker)
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := strings.Join(s.Servers, ","); got != c.want {
			t.Errorf("%s: servers %q, want %q", c.name, got, c.want)
		}
	}
}

// inside is a server inside the edge.
type inside struct {
	Server
	storing, known bool
}

func (s inside) Storing() (storing, known bool) { return s.storing, s.known }

// Both guests report of the server inside the edge, if their link has one.
func TestLinkReportsStorage(t *testing.T) {
	for _, c := range []struct {
		server         Server
		storing, known bool
	}{
		{nil, false, false}, {inside{}, false, false}, {inside{known: true}, false, true}, {inside{storing: true, known: true}, true, true},
	} {
		link := Link{server: c.server}
		for _, g := range []any{&Broker{Link: link}, &Store{Link: link}} {
			if storing, known := g.(guest.StorageReporter).Storing(); storing != c.storing || known != c.known {
				t.Errorf("%T with %+v: %v, %v", g, c.server, storing, known)
			}
		}
	}
}
