package webtransport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/memnet"
	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// eventTimeout is how long a test waits for what has to come, mostly in virtual time: not where
// streams wait for a mutex of their session, which holds virtual time up.
const eventTimeout = 3 * time.Minute

type allRights struct{}

func (allRights) CanPublish(_, _ []byte) bool               { return true }
func (allRights) CanSubscribe(string, pattern.Pattern) bool { return true }

// setup is what a test's edge differs in from others.
type setup struct {
	limits func(*pubsub.Limits)
	allow  func(netip.Addr) bool
	auth   func(*edge, context.Context, string) (Admission, *Refusal)
	quic   func(*quic.Config) // of both sides
	config webtransport.Config
	log    *zap.Logger
	kinds  bool // clients are known to send kinds
}

// edge is a hub behind an HTTP/3 server, in a network and a time of its own: its path
// /serve admits each client in the handshake, and /await lets it authenticate.
type edge struct {
	*testing.T
	setup
	hub     *pubsub.Hub
	server  *webtransport.Server
	network *memnet.Network
	address net.Addr
}

// noError is the code of HTTP/3 connections that end without an error.
const noError = quic.ApplicationErrorCode(http3.ErrCodeNoError)

type connKey struct{}

// inBubble runs a test with an edge in a bubble of its own.
func inBubble(t *testing.T, s setup, test func(*testing.T, *edge)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newEdge(t, s)) })
}

// run runs a case of a test so.
func run(t *testing.T, name string, s setup, test func(*testing.T, *edge)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { inBubble(t, s, test) })
}

func newEdge(t *testing.T, s setup) *edge {
	t.Helper()
	limits := pubsub.DefaultLimits()
	limits.DefaultIngressKB, limits.DefaultEgressKB = 1<<20, 1<<20 // caps never bind
	limits.Drain = 2 * eventTimeout                                // sessions end before that
	if s.limits != nil {
		s.limits(&limits)
	}
	if s.auth == nil {
		s.auth = (*edge).checkToken
	}
	if s.log == nil {
		s.log = zap.NewNop()
	}
	e := &edge{T: t, setup: s, hub: pubsub.NewHub(memory.New(), limits, zap.NewNop()), network: memnet.New()}
	mux := http.NewServeMux()
	mux.HandleFunc("/serve", e.serve)
	mux.HandleFunc("/await", e.await)
	config := e.quicConfig()
	e.server = &webtransport.Server{
		H3: &http3.Server{
			Handler:    mux,
			TLSConfig:  http3.ConfigureTLSConfig(&tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{identity}}),
			QUICConfig: config,
			ConnContext: func(ctx context.Context, conn *quic.Conn) context.Context {
				return context.WithValue(ctx, connKey{}, conn)
			},
		},
		Config: &s.config,
	}
	socket := e.listen("127.0.0.1")
	e.address = socket.LocalAddr()
	var serving sync.WaitGroup
	serving.Go(func() { _ = e.server.Serve(socket) })
	t.Cleanup(func() {
		select {
		case <-e.hub.Drain():
		case <-time.After(limits.Drain / 2):
			t.Error("a session did not end with its client")
		}
		must(t, e.hub.Close())
		must(t, e.server.Close())
		serving.Wait()
		socket.Close()
	})
	return e
}

// identity is that of net/http's test servers; it is valid also where virtual time begins.
var identity, roots = func() (tls.Certificate, *x509.CertPool) {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s.TLS.Certificates[0], roots
}()

// listen opens a socket in the edge's network.
func (e *edge) listen(ip string) net.PacketConn {
	socket, err := e.network.ListenPacket(netip.AddrPortFrom(netip.MustParseAddr(ip), 0))
	must(e, err)
	return socket
}

var must = testcheck.Must

func (e *edge) quicConfig() *quic.Config {
	config := &quic.Config{
		EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200,
		MaxIdleTimeout: eventTimeout, KeepAlivePeriod: time.Second,
	}
	if e.quic != nil {
		e.quic(config)
	}
	return config
}

func (e *edge) admit() (Admission, error) {
	s, err := e.hub.Admit(pubsub.Identity{
		TokenID: "a", ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{},
	}, pubsub.Client{Transport: "webtransport", Listener: "here"})
	return Admission{Session: s, AllowPeer: e.allow}, err
}

// checkToken knows one token.
func (e *edge) checkToken(_ context.Context, token string) (Admission, *Refusal) {
	if token != "good" {
		return Admission{}, &Refusal{
			Line: wire.AppendErr(nil, wire.CodeForbidden, "region"), Code: wire.CloseForbidden,
		}
	}
	a, err := e.admit()
	if err != nil {
		return a, &Refusal{Code: wire.CloseTryLater, Reason: err.Error()}
	}
	return a, nil
}

func (e *edge) upgrade(w http.ResponseWriter, r *http.Request) (Conn, error) {
	session, err := e.server.Upgrade(w, r)
	conn := r.Context().Value(connKey{}).(*quic.Conn)
	if err != nil {
		if conn.Context().Err() == nil { // the answer is sent before the session is there: the client may be gone
			e.Error(err)
		}
		return Conn{}, err
	}
	return Conn{
		Session: session, Request: w.(http3.HTTPStreamer).HTTPStream(), QUIC: conn, Kinds: e.kinds,
		CloseIfIdle: func() { _ = conn.CloseWithError(noError, "") },
	}, nil
}

func (e *edge) serve(w http.ResponseWriter, r *http.Request) {
	a, err := e.admit()
	if err != nil {
		e.Error(err)
		return
	}
	conn, err := e.upgrade(w, r)
	if err != nil {
		a.Session.Detach()
		return
	}
	Serve(e.hub, a, conn, e.log)
}

func (e *edge) await(w http.ResponseWriter, r *http.Request) {
	pending, err := e.hub.AddPending(pubsub.Client{IP: netip.MustParseAddr("127.0.0.1")})
	if err != nil {
		e.Error(err)
		return
	}
	conn, err := e.upgrade(w, r)
	if err != nil {
		pending.Release()
		return
	}
	ServePending(e.hub, pending, conn, func(ctx context.Context, token string) (Admission, *Refusal) {
		return e.auth(e, ctx, token)
	}, func(string) {}, e.log)
}

// publish sends a message to the edge's subscribers, from nobody.
func (e *edge) publish(channel string, payload int) {
	e.hub.Receive(pubsub.Message{Tenant: []byte("t"), Channel: []byte(channel), Payload: make([]byte, payload)})
}

// client is the far end of a session.
type client struct {
	*testing.T
	*webtransport.Session
	conn   *quic.Conn
	socket *roaming
	main   *far // nil: not opened yet
}

// roaming is a socket whose address changes, as behind a router that does not tell.
type roaming struct{ atomic.Pointer[net.PacketConn] }

func (r *roaming) to(socket net.PacketConn) {
	if before := r.Swap(&socket); before != nil {
		(*before).Close()
	}
}

func (r *roaming) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		socket := r.Load()
		if n, from, err := (*socket).ReadFrom(b); err == nil || r.Load() == socket {
			return n, from, err
		}
	}
}

func (r *roaming) WriteTo(b []byte, to net.Addr) (int, error) { return (*r.Load()).WriteTo(b, to) }
func (r *roaming) LocalAddr() net.Addr                        { return (*r.Load()).LocalAddr() }
func (r *roaming) SetDeadline(t time.Time) error              { return (*r.Load()).SetDeadline(t) }
func (r *roaming) SetReadDeadline(t time.Time) error          { return (*r.Load()).SetReadDeadline(t) }
func (r *roaming) SetWriteDeadline(t time.Time) error         { return (*r.Load()).SetWriteDeadline(t) }
func (r *roaming) Close() error                               { return (*r.Load()).Close() }

// dial connects without opening a stream.
func (e *edge) dial(path string) *client {
	e.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), eventTimeout)
	defer cancel()
	c := &client{T: e.T, socket: &roaming{}}
	c.socket.to(e.listen("127.0.0.1"))
	transport := &quic.Transport{Conn: c.socket}
	var err error
	c.conn, err = transport.Dial(ctx, e.address,
		&tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots, ServerName: "example.com", NextProtos: []string{http3.NextProtoH3}},
		e.quicConfig())
	must(e, err)
	e.Cleanup(func() {
		_ = c.conn.CloseWithError(noError, "")
		transport.Close()
		c.socket.Close()
	})
	wt := &webtransport.Transport{Config: &e.config}
	h3, err := wt.NewClientConn(c.conn)
	must(e, err)
	_, c.Session, err = h3.Dial(ctx, "https://example.com"+path, nil)
	must(e, err)
	return c
}

// connect is dial and a main stream.
func (e *edge) connect(path string) *client {
	e.Helper()
	c := e.dial(path)
	c.main = c.stream()
	return c
}

// subscriber connects, and subscribes.
func (e *edge) subscriber(p string) *client {
	e.Helper()
	c := e.connect("/serve")
	c.subscribe(p)
	return c
}

// opened is a stream that the client opens or accepts.
func opened[S any](c *client, open func(context.Context) (S, error)) S {
	c.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), eventTimeout)
	defer cancel()
	s, err := open(ctx)
	must(c, err)
	return s
}

// stream opens a bidirectional stream.
func (c *client) stream() *far {
	c.Helper()
	s := opened(c, c.OpenStreamSync)
	return &far{T: c.T, reader: s, writer: s}
}

// uni opens a unidirectional stream.
func (c *client) uni() *far {
	c.Helper()
	return &far{T: c.T, writer: opened(c, c.OpenUniStreamSync)}
}

// lines sends lines on a unidirectional stream of their own.
func (c *client) lines(text ...string) {
	c.Helper()
	s := c.uni()
	s.write([]byte(strings.Join(text, "")))
	s.finish()
}

// own accepts a unidirectional stream from the edge.
func (c *client) own() *far {
	c.Helper()
	return &far{T: c.T, reader: opened(c, c.AcceptUniStream)}
}

// send writes messages to the main stream.
func (c *client) send(messages ...string) {
	c.Helper()
	var b []byte
	for _, m := range messages {
		b = wire.AppendMessage(b, []byte(m))
	}
	c.main.write(b)
}

func (c *client) expect(want ...string) {
	c.Helper()
	c.main.expect(want...)
}

// subscribe waits for the subscription to be in effect.
func (c *client) subscribe(p string) {
	c.Helper()
	c.send("SUB:t:" + p)
	c.expect("OK:SUB:t:" + p)
}

// subscribeOwn returns the stream of a subscription that has one.
func (c *client) subscribeOwn(p string) *far {
	c.Helper()
	c.lines("SUB:U:t:" + p + "\n")
	own := c.own()
	own.expect("OK:SUB:t:" + p)
	return own
}

// ends expects lines, the FIN behind them, and the session's end.
func (c *client) ends(code wire.CloseCode, lines ...string) {
	c.Helper()
	c.expect(append(lines, "FIN")...)
	c.expectEnd(code)
}

// expectEnd waits for the session's end, and compares its code.
func (c *client) expectEnd(code wire.CloseCode) {
	c.Helper()
	select {
	case <-c.Context().Done():
	case <-time.After(eventTimeout):
		c.Fatal("the session has not ended")
	}
	_, err := c.AcceptUniStream(context.Background())
	if got, want := describe(err), fmt.Sprintf("closed %d", code); got != want {
		c.Errorf("the session is %q, want %q", got, want)
	}
}

// expectDisconnect waits for the edge to close the QUIC connection.
func (c *client) expectDisconnect() {
	c.Helper()
	select {
	case <-c.conn.Context().Done():
	case <-time.After(eventTimeout):
		c.Fatal("the QUIC connection is open")
	}
	var closed *quic.ApplicationError
	if err := context.Cause(c.conn.Context()); !errors.As(err, &closed) || !closed.Remote || closed.ErrorCode != noError {
		c.Errorf("the QUIC connection ended with %v", err)
	}
}

// What a client takes without reading it, by quic-go's defaults; and more of it.
const (
	streamWindow     = 512 << 10
	connectionWindow = 768 << 10
	backlog          = 10 << 20
)

// smallWindows let a client take little without reading it.
func smallWindows(c *quic.Config) {
	c.InitialStreamReceiveWindow, c.MaxStreamReceiveWindow = 16<<10, 16<<10
}

// blocked waits until so much has come that a window is used up.
func (c *client) blocked(window uint64) {
	c.Helper()
	time.Sleep(time.Second)
	if n := c.conn.ConnectionStats().BytesReceived; n < window+window/64 {
		c.Fatalf("%d bytes came, which do not fill the window", n)
	}
}

// far is the client's end of a stream.
type far struct {
	*testing.T
	reader interface {
		io.Reader
		SetReadDeadline(time.Time) error
		CancelRead(webtransport.StreamErrorCode)
	}
	writer interface {
		io.WriteCloser
		SetWriteDeadline(time.Time) error
		CancelWrite(webtransport.StreamErrorCode)
	}
}

func (f *far) write(b []byte) {
	f.Helper()
	_ = f.writer.SetWriteDeadline(time.Now().Add(eventTimeout))
	if _, err := f.writer.Write(b); err != nil {
		f.Fatal(err)
	}
}

// poke writes to a stream that the edge may reset at any moment.
func (f *far) poke(b []byte) {
	_ = f.writer.SetWriteDeadline(time.Now().Add(eventTimeout))
	_, _ = f.writer.Write(b)
}

// finish sends a FIN.
func (f *far) finish() {
	f.Helper()
	must(f, f.writer.Close())
}

func (f *far) expect(want ...string) {
	f.Helper()
	for _, w := range want {
		if got := f.read(); got != w {
			f.Fatalf("got %.200q, want %.200q", got, w)
		}
	}
}

// read returns the next message: a line as it is, a frame as "deliver …", and
// the stream's end as describe has it.
func (f *far) read() string {
	_ = f.reader.SetReadDeadline(time.Now().Add(eventTimeout))
	length := make([]byte, 4)
	if _, err := io.ReadFull(f.reader, length); err != nil {
		return describe(err)
	}
	message := make([]byte, binary.BigEndian.Uint32(length))
	if _, err := io.ReadFull(f.reader, message); err != nil {
		return describe(err)
	}
	if !wire.IsFrame(message) {
		return string(message)
	}
	d, err := wire.DecodeDeliver(message)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("deliver %s %d %v", d.Channel, len(d.Payload), d.Patterns)
}

func describe(err error) string {
	var (
		closed *webtransport.SessionError
		reset  *webtransport.StreamError
	)
	switch {
	case errors.Is(err, io.EOF):
		return "FIN"
	case errors.As(err, &closed) && closed.Remote:
		return fmt.Sprintf("closed %d", closed.ErrorCode)
	case errors.As(err, &reset) && reset.Remote:
		return fmt.Sprintf("reset %d", reset.ErrorCode)
	default:
		return err.Error()
	}
}

func publish(channel string, payload []byte) string {
	return string(wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t"), Channel: []byte(channel), Payload: payload}))
}
