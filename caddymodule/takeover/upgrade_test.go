package takeover

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/wire"
)

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
