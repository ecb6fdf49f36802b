package takeover

import (
	"net"
	"net/http"
	"testing"
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
	if e.Listener() != "udp/"+address.JoinHostPort(0) || e.Closing() {
		t.Errorf("came in by %s, closing: %v", e.Listener(), e.Closing())
	}
	if want := c.quic.LocalAddr().(*net.UDPAddr).Port; e.Peer().String() != "127.0.0.1" || e.conn.RemoteAddr().(*net.UDPAddr).Port != want {
		t.Errorf("peer %s, connection from %s", e.Peer(), e.conn.RemoteAddr())
	}
	if _, batched := e.port.transport.Conn.(*net.UDPConn); !batched {
		t.Errorf("quic-go sees a %T, not the UDP socket", e.port.transport.Conn)
	}
}
