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

// ErrClosing is why a port that is closing opens no session.
var ErrClosing = errors.New("the port is being closed")

// Entry says by which port and connection a request came in.
type Entry struct {
	port *port
	conn *connection
	peer netip.Addr
	// base is the request's context before Caddy got it. A session keeps its
	// context for life, and this one holds none of Caddy's state.
	base context.Context
}

type (
	entryKey struct{} // in the context of a request: *Entry
	connKey  struct{} // in the context of a connection: *connection
)

func (p *port) entry(r *http.Request) *Entry {
	e := &Entry{port: p, base: r.Context(), conn: r.Context().Value(connKey{}).(*connection)}
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

// Closing reports whether the port is closing, so that no session should open.
func (e *Entry) Closing() bool { return e.port.isClosing() }

// Own says that a handler of ours serves the request, until done is called.
func (e *Entry) Own() (done func()) {
	e.port.others.end()
	return e.port.others.begin
}

// Peer is the address that the request came from: the client's, or a proxy's.
func (e *Entry) Peer() netip.Addr { return e.peer }

// Upgrade accepts a WebTransport session: the client gets its 200. Whoever opens
// a session under the name of the listener does that before: either the session
// is among those that leave with the listener, or Upgrade returns [ErrClosing].
func (e *Entry) Upgrade(w http.ResponseWriter, r *http.Request) (wtconn.Conn, error) {
	if e.Closing() {
		return wtconn.Conn{}, ErrClosing
	}
	raw, ok := unwrap(w)
	if !ok {
		return wtconn.Conn{}, fmt.Errorf("%T wraps no HTTP/3 response", w)
	}
	// The library writes the answer without a deadline: a client that grants no
	// flow-control credit for it must not hold the handler.
	timer := time.AfterFunc(upgradeTimeout, e.conn.closeForLoad)
	defer timer.Stop()
	session, err := e.port.server.Upgrade(writer{w, raw, raw}, r.WithContext(e.base))
	if err != nil {
		return wtconn.Conn{}, err
	}
	// Caddy has armed the deadlines of a response for the session's stream.
	control := http.NewResponseController(raw)
	if err := errors.Join(control.SetWriteDeadline(time.Time{}), control.SetReadDeadline(time.Time{})); err != nil {
		return wtconn.Conn{}, errors.Join(err, session.CloseWithError(0, ""))
	}
	e.conn.limits.beginSession(e.conn)
	end := sync.OnceFunc(func() { e.conn.limits.endSession(e.conn) })
	context.AfterFunc(session.Context(), end)
	return wtconn.Conn{
		Session: session, Request: raw.HTTPStream(), QUIC: e.conn.Conn,
		CloseIfIdle: func() {
			end()
			e.conn.closeIfIdle()
		},
	}, nil
}

// response is an HTTP/3 response as quic-go makes it.
type response interface {
	http.ResponseWriter
	http3.Settingser
	http3.HTTPStreamer
}

// unwrap returns the HTTP/3 response that Caddy's writers wrap.
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
