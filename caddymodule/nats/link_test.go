package nats

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/internal/natstest"
)

// pki is an authority, and a certificate for loopback, in files.
type pki struct{ ca, cert, key string }

func newPKI(t *testing.T) pki {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	p := pki{cert: inFile(t, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))}
	p.ca = p.cert
	p.key = inFile(t, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	return p
}

// serverTLS has the server ask for a certificate of the same authority.
func (p pki) serverTLS(t *testing.T, verify bool) *tls.Config {
	t.Helper()
	config, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: p.cert, KeyFile: p.key, CaFile: p.ca, Verify: verify})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func inFile(t *testing.T, content []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// user makes the key of a user.
func user(t *testing.T) (seedFile, public string, pair nkeys.KeyPair) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = pair.PublicKey(); err != nil {
		t.Fatal(err)
	}
	return inFile(t, seed), public, pair
}

// withJWT makes a server trust an operator, and returns the credentials of a user.
func withJWT(t *testing.T) (credentials string, change func(*server.Options)) {
	t.Helper()
	key := func(create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		pair, err := create()
		if err != nil {
			t.Fatal(err)
		}
		public, err := pair.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return pair, public
	}
	encode := func(claims jwt.Claims, by nkeys.KeyPair) string {
		text, err := claims.Encode(by)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	operator, operatorID := key(nkeys.CreateOperator)
	account, accountID := key(nkeys.CreateAccount)
	person, personID := key(nkeys.CreateUser)
	seed, err := person.Seed()
	if err != nil {
		t.Fatal(err)
	}
	file, err := jwt.FormatUserConfig(encode(jwt.NewUserClaims(personID), account), seed)
	if err != nil {
		t.Fatal(err)
	}
	resolver := new(server.MemAccResolver)
	if err := resolver.Store(accountID, encode(jwt.NewAccountClaims(accountID), operator)); err != nil {
		t.Fatal(err)
	}
	return inFile(t, file), func(o *server.Options) {
		o.TrustedKeys, o.AccountResolver, o.JetStream = []string{operatorID}, resolver, false
	}
}

// Each way to log in works, and without it the server refuses.
func TestLinkLogin(t *testing.T) {
	const secret = "c0rrect-horse"
	t.Setenv("NATS_SECRET", secret)
	seed, public, _ := user(t)
	credentials, trusting := withJWT(t)
	authority, other := newPKI(t), newPKI(t)
	for name, test := range map[string]struct {
		server      func(*server.Options)
		good, wrong NATSLink
	}{
		"password": {func(o *server.Options) { o.Username, o.Password = "edge", secret },
			NATSLink{User: "edge", Password: "{env.NATS_SECRET}"}, NATSLink{User: "other", Password: "{env.NATS_SECRET}"}},
		"token": {func(o *server.Options) { o.Authorization = secret },
			NATSLink{Token: "{env.NATS_SECRET}"}, NATSLink{}},
		"nkey": {func(o *server.Options) { o.Nkeys = []*server.NkeyUser{{Nkey: public}} },
			NATSLink{NKey: seed}, NATSLink{}},
		"credentials": {trusting, NATSLink{Credentials: credentials}, NATSLink{NKey: seed}},
		"TLS": {func(o *server.Options) { o.TLS, o.TLSConfig, o.TLSTimeout = true, authority.serverTLS(t, false), 5 },
			NATSLink{TLS: &NATSTLS{CA: authority.ca}}, NATSLink{TLS: &NATSTLS{CA: other.ca}}},
		"certificate": {func(o *server.Options) { o.TLS, o.TLSConfig, o.TLSTimeout = true, authority.serverTLS(t, true), 5 },
			NATSLink{TLS: &NATSTLS{CA: authority.ca, Cert: authority.cert, Key: authority.key}}, NATSLink{TLS: &NATSTLS{CA: authority.ca}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := natstest.Server(t, test.server)
			dial := func(l NATSLink) (connected bool) {
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
	for _, l := range []NATSLink{
		{}, {Servers: []string{"nats://10.0.0.1"}}, {Name: "n"}, {Token: "{env.NATS_SECRET}"},
		{User: "u", Password: "{env.NATS_SECRET}"}, {ReconnectWait: caddy.Duration(time.Second)}, {TLS: &NATSTLS{}},
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
	for _, s := range []NATSStore{{}, {Domain: "d"}, {Bucket: "b"}, {Create: "off"}, {Replicas: 3}, {Storage: "memory"}, {MaxStale: caddy.Duration(time.Minute)}} {
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
	l := NATSLink{Servers: []string{"{env.NATS_URL}"}}
	if err := l.provision(caddy.Context{}); err == nil || !strings.Contains(err.Error(), "server 1: must be one URL") || strings.Contains(err.Error(), "pa,") {
		t.Errorf("got %v", err)
	}
}

// A store without a link gets that of broker nats, and no other.
func TestStoreBorrowsLink(t *testing.T) {
	broker := &NATSBroker{NATSLink: NATSLink{Servers: []string{"nats://10.0.0.1"}, Name: "b"}}
	for _, c := range []struct {
		name   string
		link   NATSLink
		broker guest.BrokerModule
		want   string // the server; empty: none
		err    string
	}{
		{"without a link", NATSLink{}, broker, "nats://10.0.0.1", ""},
		{"with a server", NATSLink{Servers: []string{"nats://10.0.0.2"}}, broker, "nats://10.0.0.2", ""},
		{"with options alone", NATSLink{Name: "s"}, broker, "", "needs servers, too"},
		{"beside another broker", NATSLink{}, new(guest.MemoryBroker), "", ""},
	} {
		s := &NATSStore{NATSLink: c.link}
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
	NATSServer
	storing, known bool
}

func (s inside) Storing() (storing, known bool) { return s.storing, s.known }

// Both guests report of the server inside the edge, if their link has one.
func TestLinkReportsStorage(t *testing.T) {
	for _, c := range []struct {
		server         NATSServer
		storing, known bool
	}{
		{nil, false, false}, {inside{}, false, false}, {inside{known: true}, false, true}, {inside{storing: true, known: true}, true, true},
	} {
		link := NATSLink{server: c.server}
		for _, g := range []any{&NATSBroker{NATSLink: link}, &NATSStore{NATSLink: link}} {
			if storing, known := g.(guest.StorageReporter).Storing(); storing != c.storing || known != c.known {
				t.Errorf("%T with %+v: %v, %v", g, c.server, storing, known)
			}
		}
	}
}
