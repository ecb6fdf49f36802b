package takeover

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/quic-go/quic-go/http3"

	wtconn "github.com/millrace/millrace/pubsub/webtransport"
)

// ErrLeaving is why a port that is closing opens no session.
var ErrLeaving = errors.New("the port is being closed")

// Entry is how a request came in.
type Entry struct {
	port *port
	conn *connection
	peer netip.Addr
	// before is the request's context before Caddy got it. A session keeps its
	// context for life, and this one holds none of Caddy's state.
	before context.Context
}

type (
	entryKey struct{} // in the context of a request: *Entry
	connKey  struct{} // in the context of a connection: *connection
)

func (p *port) entry(r *http.Request) *Entry {
	e := &Entry{port: p, before: r.Context(), conn: r.Context().Value(connKey{}).(*connection)}
	if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		e.peer = peer.Addr().Unmap().WithZone("")
	}
	return e
}

// EntryOf returns how a request came in, if it came in by a port that was taken
// over.
func EntryOf(r *http.Request) (*Entry, bool) {
	e, ok := r.Context().Value(entryKey{}).(*Entry)
	return e, ok
}

// Listener names the port.
func (e *Entry) Listener() string { return e.port.key }

// Leaving reports whether the port is closing, so that no session should open.
func (e *Entry) Leaving() bool { return e.port.leaving() }

// Peer is the address that the request came from: the client's, or a proxy's.
func (e *Entry) Peer() netip.Addr { return e.peer }

// Upgrade accepts a WebTransport session: the client gets its 200. Whoever opens
// a session under the name of the listener does that before: either the session
// is among those that leave with the listener, or Upgrade returns [ErrLeaving].
func (e *Entry) Upgrade(w http.ResponseWriter, r *http.Request) (wtconn.Conn, error) {
	if e.Leaving() {
		return wtconn.Conn{}, ErrLeaving
	}
	raw, ok := unwrap(w)
	if !ok {
		return wtconn.Conn{}, fmt.Errorf("there is no HTTP/3 response beneath %T", w)
	}
	// The library writes the answer without a deadline: a client that grants no
	// credit for it must not hold the handler.
	slow := time.AfterFunc(answerTime, e.conn.refuse)
	defer slow.Stop()
	session, err := e.port.web.Upgrade(writer{w, raw, raw}, r.WithContext(e.before))
	if err != nil {
		return wtconn.Conn{}, err
	}
	// Caddy has armed the deadlines of a response for the session's stream.
	control := http.NewResponseController(raw)
	if err := errors.Join(control.SetWriteDeadline(time.Time{}), control.SetReadDeadline(time.Time{})); err != nil {
		return wtconn.Conn{}, errors.Join(err, session.CloseWithError(0, ""))
	}
	e.conn.begin()
	over := sync.OnceFunc(e.conn.end)
	context.AfterFunc(session.Context(), over)
	return wtconn.Conn{
		Session: session, Request: raw.HTTPStream(), QUIC: e.conn.Conn,
		CloseIfIdle: func() {
			over()
			e.conn.leave()
		},
	}, nil
}

// response is an HTTP/3 response as quic-go makes it.
type response interface {
	http.ResponseWriter
	http3.Settingser
	http3.HTTPStreamer
}

// unwrap finds it beneath Caddy's writers.
func unwrap(w http.ResponseWriter) (response, bool) {
	for {
		if raw, ok := w.(response); ok {
			return raw, true
		}
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return nil, false
		}
		w = wrapper.Unwrap()
	}
}

// writer has what an upgrade asks of a response. The status passes through
// Caddy's writers, so that its access log has it.
type writer struct {
	http.ResponseWriter
	http3.Settingser
	http3.HTTPStreamer
}

// Flush implements [http.Flusher], which some of Caddy's writers do not.
func (w writer) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }
