package takeover

import (
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// socket is a connection over TCP that says whether it was closed.
type socket struct {
	net.Conn
	from   netAddr
	closed bool
}

func (s *socket) RemoteAddr() net.Addr { return s.from }
func (s *socket) Close() error         { s.closed = true; return nil }

// wrapped is a connection over TLS.
type wrapped struct{ *socket }

func (w wrapped) NetConn() net.Conn { return w.socket }
func (wrapped) Close() error        { panic("it would wait for the client") }

// Connections without a session make room for those of other addresses; a WebSocket does not count.
func TestTCPIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := tcpLimits.limit
		LimitIdle(8, MaxIdleQUIC)
		defer LimitIdle(before, MaxIdleQUIC)
		var open []*socket
		connect := func(from netAddr) *socket {
			s := &socket{from: from}
			CountTCP(wrapped{s}, http.StateNew)
			open = append(open, s)
			return s
		}
		expect := func(what string, s *socket, closed bool) {
			t.Helper()
			if s.closed != closed {
				t.Errorf("%s: closed %v", what, s.closed)
			}
		}
		for range 100 {
			connect("192.0.2.1:1")
		}
		for i, s := range open {
			expect("of an address that takes all", s, i >= 8)
		}
		CountTCP(wrapped{open[0]}, http.StateActive)
		other := connect("192.0.2.2:1")
		expect("of another address", other, false)
		expect("with a request", open[0], false)
		expect("idle for longest", open[1], true)

		CountTCP(wrapped{other}, http.StateHijacked)
		expect("after one has become a WebSocket", connect("192.0.2.3:1"), false)
		expect("that one", open[2], false)
		expect("and it is full again", connect("192.0.2.4:1"), false)
		expect("that was idle", open[2], true)

		CountTCP(wrapped{open[0]}, http.StateIdle)
		time.Sleep(idleGrace)
		expect("of the address itself, later", connect("192.0.2.1:1"), false)
		expect("in its place", open[3], true)
		for _, s := range open {
			CountTCP(wrapped{s}, http.StateClosed)
		}
		if len(tcpLimits.addresses) != 0 || tcpLimits.conns != 0 {
			t.Errorf("%d addresses with %d connections are left", len(tcpLimits.addresses), tcpLimits.conns)
		}
	})
}
