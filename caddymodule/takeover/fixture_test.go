package takeover

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddytls"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/loopback"
	"github.com/millrace/millrace/internal/testcheck"
	wtconn "github.com/millrace/millrace/pubsub/webtransport"
	"github.com/millrace/millrace/wire"
)

// testTimeout is how long a test waits for what must happen.
const testTimeout = 3 * time.Minute

// generation is a configuration with one server on an address.
type generation struct {
	*Takeover
	server *caddyhttp.Server
}

// generation makes a configuration whose server answers requests with handler,
// and has a certificate for name.
func newGeneration(t *testing.T, address caddy.NetworkAddress, name string, handler http.HandlerFunc) generation {
	t.Helper()
	srv := &caddyhttp.Server{
		Listen:          []string{address.String()},
		TLSConnPolicies: caddytls.ConnectionPolicies{{TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate(t, name)}}}},
	}
	g := generation{New(func(got *caddyhttp.Server) http.Handler {
		if got != srv {
			t.Error("a handler was asked for another server")
		}
		return handler
	}, nil, zap.NewNop()), srv}
	must(t, g.claim(srv, new(caddyhttp.App)))
	return g
}

// start starts it; it is stopped when the test ends, if not before.
func (g generation) start(t *testing.T) {
	t.Helper()
	must(t, g.Start(caddy.Context{Context: context.Background()}))
	t.Cleanup(func() {
		g.Quiesce()
		noError(t, g.Close(testTimeout))
	})
}

// unused is an address on which nobody listens, neither over TCP nor over UDP.
func unused(t *testing.T) caddy.NetworkAddress {
	t.Helper()
	port := uint(loopback.FreePort(t))
	return caddy.NetworkAddress{Network: "tcp", Host: "127.0.0.1", StartPort: port, EndPort: port}
}

func certificate(t *testing.T, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// client is a QUIC connection with HTTP/3.
type client struct {
	*http3.ClientConn
	quic *quic.Conn
	base string
}

var clientTLS = &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h3"}}

func dial(ctx context.Context, address caddy.NetworkAddress) (*quic.Conn, error) {
	return quic.DialAddr(ctx, address.JoinHostPort(0), clientTLS, &quic.Config{
		EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200, HandshakeIdleTimeout: testTimeout,
	})
}

// connect opens a connection, which is closed when the test ends.
func connect(t *testing.T, address caddy.NetworkAddress) client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	conn, err := dial(ctx, address)
	must(t, err)
	t.Cleanup(func() { _ = conn.CloseWithError(0, "") })
	return client{new(http3.Transport).NewClientConn(conn), conn, "https://" + address.JoinHostPort(0)}
}

// get returns the answer's body.
func (c client) get(path string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return "", err
	}
	res, err := c.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

func (c client) expect(t *testing.T, want string) {
	t.Helper()
	if got, err := c.get("/"); got != want || err != nil {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

// answer answers every request with a text.
func answer(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// acceptor opens a session for each CONNECT, through writers like Caddy's.
type acceptor struct {
	t        *testing.T
	sessions chan wtconn.Conn
	refused  chan error
}

func newAcceptor(t *testing.T) acceptor {
	return acceptor{t, make(chan wtconn.Conn, 8), make(chan error, 8)}
}

func (a acceptor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		fmt.Fprint(w, "acceptor")
		return
	}
	// What Caddy keeps with a request, and its deadlines of a response.
	r = r.WithContext(context.WithValue(r.Context(), caddysState{}, true))
	w = plainWriter{&caddyhttp.ResponseWriterWrapper{ResponseWriter: w}}
	noError(a.t, http.NewResponseController(w).SetWriteDeadline(time.Now().Add(sessionOutlives)))
	entry, ok := EntryOf(r)
	if !ok {
		a.t.Error("a request has no entry")
		return
	}
	conn, err := entry.Upgrade(w, r)
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		a.refused <- err
		return
	}
	a.sessions <- conn
}

const sessionOutlives = 100 * time.Millisecond

type caddysState struct{}

// plainWriter has the methods of a ResponseWriter alone, as some of Caddy's.
type plainWriter struct{ inner http.ResponseWriter }

func (w plainWriter) Header() http.Header         { return w.inner.Header() }
func (w plainWriter) Write(b []byte) (int, error) { return w.inner.Write(b) }
func (w plainWriter) WriteHeader(status int)      { w.inner.WriteHeader(status) }
func (w plainWriter) Unwrap() http.ResponseWriter { return w.inner }

// open opens a session on a connection of its own.
func open(t *testing.T, address caddy.NetworkAddress) (*http.Response, *webtransport.Session, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	conn, err := dial(ctx, address)
	must(t, err)
	t.Cleanup(func() { _ = conn.CloseWithError(0, "") })
	transport := &webtransport.Transport{
		ApplicationProtocols: []string{"other", wire.Subprotocol},
		Config:               &webtransport.Config{MaxIncomingStreams: 1, MaxIncomingUniStreams: 1, MaxIncomingData: 1 << 20},
	}
	c, err := transport.NewClientConn(conn)
	must(t, err)
	return c.Dial(ctx, "https://"+address.JoinHostPort(0)+"/wt", nil)
}

// take receives what must come.
func take[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(testTimeout):
		t.Fatalf("no %T came within %v", *new(T), testTimeout)
		panic("unreachable")
	}
}

// expectCode checks the code with which the edge closed a connection.
func expectCode(t *testing.T, conn *quic.Conn, code http3.ErrCode) {
	t.Helper()
	var closed *quic.ApplicationError
	if err := context.Cause(conn.Context()); !errors.As(err, &closed) || !closed.Remote || closed.ErrorCode != quic.ApplicationErrorCode(code) {
		t.Errorf("the connection ended with %v, want code %v", err, code)
	}
}

var must, noError = testcheck.Must, testcheck.NoError

// errorOf is the error of a call that returns something else, too.
func errorOf[T any](_ T, err error) error { return err }

// A lock of Caddy's storage looks after its file for some seconds more.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/caddyserver/certmagic.keepLockfileFresh"))
}
