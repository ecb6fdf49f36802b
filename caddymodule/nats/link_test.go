package nats

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/internal/testcheck"
)

var must = testcheck.Must

const linkSecret = "c0rrect-horse"

// dialed opens a connection by a link, with its log.
func dialed(t *testing.T, l Link) (*connection, *observer.ObservedLogs) {
	t.Helper()
	l.ReconnectWait = caddy.Duration(10 * time.Millisecond)
	must(t, l.provision(caddy.Context{}))
	if strings.Contains(l.key(), linkSecret) {
		t.Error("the key has the secret")
	}
	core, logs := observer.New(zap.InfoLevel)
	c, err := l.newConnection("test", zap.New(core))
	must(t, err)
	conn, err := c.connect()
	must(t, err) // it goes on trying
	t.Cleanup(func() {
		conn.Close()
		must(t, c.close())
	})
	return c, logs
}

// wantTrouble waits until a connection says why there is none, and wants its log to say the
// same, and neither to have the secret.
func wantTrouble(t *testing.T, c *connection, logs *observer.ObservedLogs, code string) {
	t.Helper()
	logged := func() string {
		text := ""
		for _, line := range logs.All() {
			text += fmt.Sprintln(line.Message, line.ContextMap())
		}
		return text
	}
	natstest.Await(t, "the trouble "+code, func() bool {
		s := c.state("test", time.Time{}, nil)
		return !s.Connected && s.Trouble != nil && s.Trouble.Code == code && strings.Contains(logged(), "code:"+code)
	})
	if text := fmt.Sprint(*c.state("test", time.Time{}, nil).Trouble) + logged(); strings.Contains(text, linkSecret) {
		t.Errorf("this has the secret: %s", text)
	}
}

// Each way to log in works, and without it the server refuses, and the edge says why.
func TestLinkLogin(t *testing.T) {
	t.Setenv("NATS_SECRET", linkSecret)
	seed, public, _ := user(t)
	credentials, trusting := withJWT(t)
	authority, other := newPKI(t), newPKI(t)
	for name, test := range map[string]struct {
		server      func(*server.Options)
		good, wrong Link
		code        string // of the wrong one
	}{
		"password": {func(o *server.Options) { o.Username, o.Password = "edge", linkSecret },
			Link{User: "edge", Password: "{env.NATS_SECRET}"}, Link{User: "other", Password: "{env.NATS_SECRET}"}, "login_refused"},
		"token": {func(o *server.Options) { o.Authorization = linkSecret },
			Link{Token: "{env.NATS_SECRET}"}, Link{}, "login_refused"},
		"nkey": {func(o *server.Options) { o.Nkeys = []*server.NkeyUser{{Nkey: public}} },
			Link{NKey: seed}, Link{}, "login_refused"},
		"credentials": {trusting, Link{Credentials: credentials}, Link{NKey: seed}, "login_refused"},
		"TLS": {func(o *server.Options) { o.TLS, o.TLSConfig, o.TLSTimeout = true, authority.serverTLS(t, false), 5 },
			Link{TLS: &TLS{CA: authority.ca}}, Link{TLS: &TLS{CA: other.ca}}, "tls_failed"},
		"certificate": {func(o *server.Options) { o.TLS, o.TLSConfig, o.TLSTimeout = true, authority.serverTLS(t, true), 5 },
			Link{TLS: &TLS{CA: authority.ca, Cert: authority.cert, Key: authority.key}}, Link{TLS: &TLS{CA: authority.ca}}, "tls_failed"},
		"no TLS": {func(*server.Options) {}, Link{}, Link{TLS: &TLS{CA: authority.ca}}, "tls_failed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := natstest.Server(t, test.server)
			servers := []string{strings.Replace(s.ClientURL(), "tls://", "nats://", 1)}
			test.good.Servers, test.wrong.Servers = servers, servers
			good, _ := dialed(t, test.good)
			if s := good.state("test", time.Time{}, nil); !s.Connected || s.Trouble != nil {
				t.Errorf("not connected: %+v", s)
			}
			c, logs := dialed(t, test.wrong)
			wantTrouble(t, c, logs, test.code)
		})
	}
}

// Whatever keeps an edge from its servers at the start is said, by each of several servers.
func TestLinkTroubles(t *testing.T) {
	t.Setenv("NATS_URL", "nats://edge:"+linkSecret+"@127.0.0.1:1")
	s := natstest.Server(t, func(o *server.Options) { o.Username, o.Password = "edge", linkSecret })
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
	must(t, err)
	defer silent.Close()
	const refused = "nats://127.0.0.1:1"
	for name, test := range map[string]struct {
		servers []string
		codes   []string
	}{
		"name":         {[]string{"nats://nats.invalid:4222"}, []string{"name_not_resolved"}},
		"port":         {[]string{refused}, []string{"connection_refused"}},
		"user in URL":  {[]string{"{env.NATS_URL}"}, []string{"connection_refused"}},
		"silent":       {[]string{"nats://" + silent.Addr().String()}, []string{"timeout"}},
		"several":      {[]string{refused, s.ClientURL()}, []string{"connection_refused", "login_refused"}},
		"even more":    {[]string{s.ClientURL(), refused, "nats://nats.invalid"}, []string{"connection_refused", "login_refused", "name_not_resolved"}},
		"all the same": {[]string{s.ClientURL(), strings.Replace(s.ClientURL(), "127.0.0.1", "localhost", 1)}, []string{"login_refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, logs := dialed(t, Link{Servers: test.servers})
			for _, code := range test.codes {
				wantTrouble(t, c, logs, code)
			}
			if n := logs.Len(); n > len(test.codes)+1 {
				t.Errorf("%d lines", n)
			}
		})
	}
}

// A server that goes, and comes back with another password and then with the right one: the
// log has a line for each, and the trouble ends.
func TestLinkLater(t *testing.T) {
	t.Setenv("NATS_SECRET", linkSecret)
	password := linkSecret
	s, again := natstest.Restartable(t, func(o *server.Options) { o.Username, o.Password = "edge", password })
	c, logs := dialed(t, Link{Servers: []string{s.ClientURL()}, User: "edge", Password: "{env.NATS_SECRET}"})
	again(func() {
		wantTrouble(t, c, logs, "connection_refused")
		password = "another"
	})
	wantTrouble(t, c, logs, "login_refused")
	again(func() { password = linkSecret })
	natstest.Await(t, "the link", func() bool {
		s := c.state("test", time.Time{}, nil)
		return s.Connected && s.Trouble == nil
	})
	if n := logs.FilterMessage("connected to NATS again").Len(); n != 1 || logs.Len() > 5 {
		t.Errorf("%d lines say that it is connected, of %d: %v", n, logs.Len(), logs.All())
	}
}

// Where NATS is reached, and JetStream is not there, the store says so.
func TestStoreTroubles(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*server.Options){
		"server": natstest.Core,
		"account": func(o *server.Options) {
			system := server.NewAccount("SYS")
			o.Accounts, o.SystemAccount = []*server.Account{server.NewAccount("EDGES"), system}, "SYS"
			o.Users = []*server.User{{Username: "edge", Password: linkSecret, Account: o.Accounts[0]}}
			o.NoAuthUser = "edge"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := natstest.Server(t, change)
			store := &Store{Link: Link{Servers: []string{s.ClientURL()}}}
			must(t, store.Provision(caddy.Context{}))
			core, logs := observer.New(zap.InfoLevel)
			open, err := store.OpenStore(zap.New(core))
			must(t, err)
			defer func() { must(t, open.Close()) }()
			natstest.Await(t, "the trouble", func() bool {
				link := open.(guest.LinkReporter).LinkState()
				return link.Connected && link.Trouble != nil && link.Trouble.Code == "jetstream_disabled"
			})
			if n := logs.FilterMessage("reading the tokens again").Len(); n != 1 {
				t.Errorf("%d lines: %v", n, logs.All())
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
