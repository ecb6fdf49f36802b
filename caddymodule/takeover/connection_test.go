package takeover

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	wtconn "github.com/millrace/millrace/pubsub/webtransport"
	"github.com/millrace/millrace/wire"
)

// A client that is turned out loses its connection, unless it has something else
// there.
func TestLeave(t *testing.T) {
	address := unused(t)
	a := newAcceptor(t)
	newGeneration(t, address, "one", a.ServeHTTP).start(t)
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	conn, err := dial(ctx, address)
	must(t, err)
	defer func() { _ = conn.CloseWithError(0, "") }()
	c, err := (&webtransport.Transport{
		Config: &webtransport.Config{MaxIncomingStreams: 1, MaxIncomingUniStreams: 1, MaxIncomingData: 1 << 20},
	}).NewClientConn(conn)
	must(t, err)
	open := func() (near *webtransport.Session, far wtconn.Conn) {
		_, near, err := c.Dial(ctx, "https://"+address.JoinHostPort(0)+"/wt", nil)
		must(t, err)
		return near, take(t, a.sessions)
	}
	near, first := open()
	other, second := open()
	_ = first.CloseWithError(4401, "")
	first.CloseIfIdle()
	first.CloseIfIdle() // changes nothing
	take(t, near.Context().Done())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address.JoinHostPort(0)+"/", nil)
	must(t, err)
	res, err := c.RoundTrip(req)
	must(t, err)
	res.Body.Close()
	if err := context.Cause(other.Context()); err != nil {
		t.Errorf("the other session ended: %v", err)
	}
	_ = second.CloseWithError(4401, "")
	for end := time.Now().Add(testTimeout); conn.Context().Err() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the connection is not closed")
		}
		second.CloseIfIdle() // which changes nothing while the handler of the request, which has its answer, returns
	}
	expectCode(t, conn, http3.ErrCodeNoError)
}

// A client that has no room for the answer must not hold the handler, which
// holds a place among the sessions.
func TestStuckAnswer(t *testing.T) {
	before := upgradeTimeout
	t.Cleanup(func() { upgradeTimeout = before }) // after the edge has ended
	upgradeTimeout = 100 * time.Millisecond
	address := unused(t)
	released := make(chan struct{}, 1)
	newGeneration(t, address, "one", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Big", strings.Repeat("0123456789abcdef", 500))
		e, _ := EntryOf(r)
		_, _ = e.Upgrade(w, r)
		released <- struct{}{}
	}).start(t)
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	conn, err := quic.DialAddr(ctx, address.JoinHostPort(0), clientTLS, &quic.Config{
		EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200,
		InitialStreamReceiveWindow: 1, MaxStreamReceiveWindow: 1, HandshakeIdleTimeout: testTimeout,
	})
	must(t, err)
	defer func() { _ = conn.CloseWithError(0, "") }()
	stream, err := (&http3.Transport{EnableDatagrams: true}).NewClientConn(conn).OpenRequestStream(ctx)
	must(t, err)
	host := address.JoinHostPort(0)
	err = stream.SendRequestHeader(&http.Request{
		Method: http.MethodConnect, Proto: "webtransport", Host: host, Header: http.Header{},
		URL: &url.URL{Scheme: "https", Host: host, Path: "/wt"},
	})
	must(t, err)
	take(t, released) // with an error or a session that is over: the connection is closed
	take(t, conn.Context().Done())
	expectCode(t, conn, http3.ErrCodeExcessiveLoad)
}

func TestSession(t *testing.T) {
	address := unused(t)
	a := newAcceptor(t)
	newGeneration(t, address, "one", a.ServeHTTP).start(t)
	res, session, err := open(t, address)
	must(t, err)
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
	must(t, err)
	const size = 3 << 20
	sent := make(chan error, 1)
	go func() {
		_, err := theirs.Write(make([]byte, size))
		sent <- err
	}()
	ours, err := conn.AcceptStream(t.Context())
	must(t, err)
	if n, err := io.CopyN(io.Discard, ours, size); err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
	noError(t, take(t, sent))
	noError(t, conn.CloseWithError(4401, "why"))
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

// expectClosed checks the code with which a session was closed by the server.
func expectClosed(t *testing.T, session *webtransport.Session, code webtransport.SessionErrorCode) {
	t.Helper()
	_, err := session.OpenStream()
	var closed *webtransport.SessionError
	if !errors.As(err, &closed) || !closed.Remote || closed.ErrorCode != code {
		t.Errorf("the session ended with %v, want %d", err, code)
	}
}
