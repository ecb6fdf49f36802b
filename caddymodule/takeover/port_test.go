package takeover

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/wire"
)

func TestRequest(t *testing.T) {
	address := unused(t)
	entries := make(chan *Entry, 1)
	newGeneration(t, address, "one", func(w http.ResponseWriter, r *http.Request) {
		e, _ := EntryOf(r)
		entries <- e
		answer("one")(w, r)
	}).start(t)
	c := connect(t, address)
	c.expect(t, "one")
	e := take(t, entries)
	if e.Listener() != "udp/"+address.JoinHostPort(0) || e.Leaving() {
		t.Errorf("came in by %s, leaving: %v", e.Listener(), e.Leaving())
	}
	if want := c.quic.LocalAddr().(*net.UDPAddr).Port; e.Peer().String() != "127.0.0.1" || e.conn.RemoteAddr().(*net.UDPAddr).Port != want {
		t.Errorf("peer %s, connection from %s", e.Peer(), e.conn.RemoteAddr())
	}
	if _, batched := e.port.transport.Conn.(*net.UDPConn); !batched {
		t.Errorf("quic-go sees a %T, not the UDP socket", e.port.transport.Conn)
	}
}

func TestSession(t *testing.T) {
	address := unused(t)
	a := newAcceptor(t)
	newGeneration(t, address, "one", a.ServeHTTP).start(t)
	res, session, err := open(t, address)
	if err != nil {
		t.Fatal(err)
	}
	if got := session.SessionState().ApplicationProtocol; res.StatusCode != http.StatusOK || got != wire.Subprotocol {
		t.Errorf("status %d, wire.Subprotocol %q", res.StatusCode, got)
	}
	conn := take(t, a.sessions)
	if conn.QUIC == nil || conn.QUIC.LocalAddr().(*net.UDPAddr).Port != int(address.StartPort) {
		t.Errorf("the QUIC connection is %v", conn.QUIC)
	}
	if conn.Context().Value(caddysState{}) != nil {
		t.Error("the session keeps the state that Caddy has for a request")
	}

	// Caddy's deadline passes, and the session goes on. So much data needs the
	// edge to raise its limit, by capsules on the stream with the deadline.
	time.Sleep(2 * sessionOutlives)
	theirs, err := session.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	const size = 3 << 20
	sent := make(chan error, 1)
	go func() {
		_, err := theirs.Write(make([]byte, size))
		sent <- err
	}()
	ours, err := conn.AcceptStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.CopyN(io.Discard, ours, size); err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if err := take(t, sent); err != nil {
		t.Error(err)
	}
	if err := conn.CloseWithError(4401, "why"); err != nil {
		t.Error(err)
	}
	<-session.Context().Done()
	expectClosed(t, session, 4401)
}

func TestUpgradeNeedsHTTP3(t *testing.T) {
	address := unused(t)
	failed := make(chan error, 1)
	newGeneration(t, address, "one", func(w http.ResponseWriter, r *http.Request) {
		e, _ := EntryOf(r)
		_, err := e.Upgrade(struct{ http.ResponseWriter }{w}, r) // hides what is beneath
		failed <- err
		w.WriteHeader(http.StatusBadRequest)
	}).start(t)
	if res, _, err := open(t, address); err == nil || res.StatusCode != http.StatusBadRequest {
		t.Errorf("answered %v, %v", res, err)
	}
	if err := take(t, failed); err == nil {
		t.Error("upgraded")
	}
}

// TestReload replaces one configuration by another: the port stays, with its
// connections and sessions, and what they ask for next is the new one's to serve.
func TestReload(t *testing.T) {
	address := unused(t)
	a := newAcceptor(t)
	one := newGeneration(t, address, "one", a.ServeHTTP)
	one.start(t)
	c := connect(t, address)
	c.expect(t, "acceptor")
	_, session, err := open(t, address)
	if err != nil {
		t.Fatal(err)
	}
	take(t, a.sessions)

	two := newGeneration(t, address, "two", answer("two"))
	two.start(t)
	c.expect(t, "two")
	if closing := one.Quiesce(); len(closing) > 0 {
		t.Errorf("%v is closing, while the other configuration uses it", closing)
	}
	if err := one.Close(0); err != nil {
		t.Error(err)
	}
	c.expect(t, "two")
	fresh := connect(t, address)
	fresh.expect(t, "two")
	if got := fresh.quic.ConnectionState().TLS.PeerCertificates[0].DNSNames; !slices.Equal(got, []string{"two"}) {
		t.Errorf("the certificate is for %v", got)
	}
	if err := context.Cause(session.Context()); err != nil {
		t.Errorf("the session ended: %v", err)
	}
}

// TestFailedReload starts a configuration and stops it: the one before is in
// force again.
func TestFailedReload(t *testing.T) {
	address := unused(t)
	newGeneration(t, address, "one", answer("one")).start(t)
	c := connect(t, address)
	two := newGeneration(t, address, "two", answer("two"))
	two.start(t)
	c.expect(t, "two")
	if closing := two.Quiesce(); len(closing) > 0 {
		t.Errorf("%v is closing", closing)
	}
	c.expect(t, "one")
	if err := two.Close(0); err != nil {
		t.Error(err)
	}
	connect(t, address).expect(t, "one")
}

// TestFailedStart has a second address that is not free: the first is given back.
func TestFailedStart(t *testing.T) {
	address := unused(t)
	taken, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	g := newGeneration(t, address, "one", answer("one"))
	port := uint(taken.LocalAddr().(*net.UDPAddr).Port)
	g.claims[0].addresses = append(g.claims[0].addresses, caddy.NetworkAddress{Network: "udp", Host: "127.0.0.1", StartPort: port, EndPort: port})
	if err := g.Start(caddy.Context{Context: context.Background()}); err == nil {
		t.Error("started on an address that is not free")
	}
	if _, known := ports.References("udp/" + address.JoinHostPort(0)); known {
		t.Error("the first address is still in use")
	}
	if g.Quiesce() != nil || g.Close(0) != nil {
		t.Error("there was something left to stop")
	}
}

func TestQuiesce(t *testing.T) {
	address := unused(t)
	a := newAcceptor(t)
	g := newGeneration(t, address, "one", a.ServeHTTP)
	g.start(t)
	c := connect(t, address)
	c.expect(t, "acceptor")
	_, session, err := open(t, address)
	if err != nil {
		t.Fatal(err)
	}
	take(t, a.sessions)
	if got, want := g.Quiesce(), []string{"udp/" + address.JoinHostPort(0)}; !slices.Equal(got, want) {
		t.Errorf("%v is closing, want %v", got, want)
	}
	if closing := g.Quiesce(); closing != nil {
		t.Errorf("once more, %v is closing", closing)
	}
	connect(t, address).expect(t, "acceptor") // who comes late is answered, too
	c.expect(t, "acceptor")
	if err := context.Cause(session.Context()); err != nil {
		t.Errorf("the session ended: %v", err)
	}
	req, err := http.NewRequest(http.MethodConnect, c.base+"/wt", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if err := take(t, a.refused); !errors.Is(err, ErrLeaving) {
		t.Errorf("a new session: %v", err)
	}
}

// TestClose closes while a session is open and a request under way: that is
// answered, and then the clients are told.
func TestClose(t *testing.T) {
	address := unused(t)
	a := newAcceptor(t)
	arrived, proceed := make(chan struct{}), make(chan struct{})
	g := newGeneration(t, address, "one", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(arrived)
			<-proceed
		}
		a.ServeHTTP(w, r)
	})
	g.start(t)
	_, session, err := open(t, address)
	if err != nil {
		t.Fatal(err)
	}
	take(t, a.sessions)
	c := connect(t, address)
	answered := make(chan error, 1)
	go func() {
		body, err := c.get("/slow")
		if body != "acceptor" {
			err = errors.Join(err, errors.New("the answer was "+body))
		}
		answered <- err
	}()
	take(t, arrived)
	g.Quiesce()
	closed := make(chan error, 1)
	go func() { closed <- g.Close(patience) }()
	select {
	case err := <-closed:
		t.Fatalf("closed before the request was answered: %v", err)
	case <-time.After(2 * linger):
	}
	close(proceed)
	if err := take(t, answered); err != nil {
		t.Error(err)
	}
	if err := take(t, closed); err != nil {
		t.Error(err)
	}
	take(t, c.quic.Context().Done())
	expectCode(t, c.quic, http3.ErrCodeNoError)
	take(t, session.Context().Done())
	// Nobody else could bind the port as long as a socket is open.
	free, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(address.StartPort)})
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
}

// TestCloseCutsOff closes while a request takes longer than the port waits.
func TestCloseCutsOff(t *testing.T) {
	address := unused(t)
	arrived := make(chan struct{})
	g := newGeneration(t, address, "one", func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	})
	g.start(t)
	c := connect(t, address)
	answered := make(chan error, 1)
	go func() {
		_, err := c.get("/")
		answered <- err
	}()
	take(t, arrived)
	g.Quiesce()
	start := time.Now()
	g.claims[0].grace = 10 * time.Millisecond // goes before what Close is told
	if err := g.Close(time.Minute); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > patience {
		t.Errorf("closed after %v", took)
	}
	if err := take(t, answered); err == nil {
		t.Error("a request that was cut off has an answer")
	}
}

// gate is a socket on which nothing is read until it is open: quic-go's client reads
// what the server's parameters say when it opens a stream, and writes it when they come,
// which early data lets it do at the same time.
type gate struct {
	net.PacketConn
	open chan struct{}
}

func (g *gate) ReadFrom(b []byte) (int, net.Addr, error) {
	<-g.open
	return g.PacketConn.ReadFrom(b)
}

func listenUDP(t *testing.T) net.PacketConn {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// smallRequest is GET https://localhost/ in a HEADERS frame (RFC 9114, section 7.2.2)
// of entries of the static table alone, but for the name (RFC 9204, appendix A).
var smallRequest = []byte("\x01\x10\x00\x00\xd1\xd7\xc1\x50\x09localhost")

// TestEarlyData follows the server's allow_0rtt, also that of a later
// configuration.
func TestEarlyData(t *testing.T) {
	address := unused(t)
	one := newGeneration(t, address, "one", func(w http.ResponseWriter, r *http.Request) { answer("one")(w, r) })
	one.start(t)
	ticket := newTickets()
	early := func(known bool) bool {
		t.Helper()
		socket := &gate{PacketConn: listenUDP(t), open: make(chan struct{})}
		open := sync.OnceFunc(func() { close(socket.open) })
		transport := &quic.Transport{Conn: socket}
		defer transport.Close()
		defer open()
		if !known { // it waits for the server
			open()
		}
		config := clientTLS.Clone()
		config.ClientSessionCache, config.ServerName = ticket, "localhost"
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		to := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(address.StartPort)}
		conn, err := transport.DialEarly(ctx, to, config, &quic.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.CloseWithError(0, "") }()
		stream, err := conn.OpenStream()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Write(smallRequest); err != nil {
			t.Fatal(err)
		}
		_ = stream.Close() // fails with the connection
		open()
		_ = stream.SetReadDeadline(time.Now().Add(patience))
		response, err := io.ReadAll(stream)
		if errors.Is(err, quic.Err0RTTRejected) {
			return false
		}
		if !bytes.HasSuffix(response, []byte("one")) || err != nil {
			t.Errorf("got %q, %v", response, err)
		}
		take(t, ticket.put)
		return conn.ConnectionState().Used0RTT
	}
	if early(false) {
		t.Error("early data without a ticket")
	}
	if !early(true) {
		t.Error("no early data, which is allowed by default")
	}
	no := false
	two := newGeneration(t, address, "one", answer("one"))
	two.server.Allow0RTT = &no
	two.server.TLSConnPolicies = one.server.TLSConnPolicies // whose tickets it understands
	two.start(t)
	if early(true) {
		t.Error("early data, which the configuration in force does not allow")
	}
}

// expectClosed checks the code with which a session was closed by the server.
func expectClosed(t *testing.T, session *webtransport.Session, code webtransport.SessionErrorCode) {
	t.Helper()
	_, err := session.OpenStream()
	var closed *webtransport.SessionError
	if !errors.As(err, &closed) || !closed.Remote || closed.ErrorCode != code {
		t.Errorf("the session ended with %v, want %d", err, code)
	}
}
