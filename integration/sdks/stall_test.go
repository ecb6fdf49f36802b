package sdks

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/millrace/millrace/integration/sdk"
)

// An attempt may stall for good, as some do in a page of Firefox on a busy machine, see
// clients/webtransport_page.js: here, as an edge hears no more of a client, and forgets
// its handshake after 5 s without a word. A client gives such an attempt up in time, and
// it does not stand in the way of the next.
func sdkStalledHandshake(s *sdk.Stage) {
	relay := startUDPRelay(s.T, s.Edges[0].HTTPS)
	address := fmt.Sprintf("https://localhost:%d", relay.port)
	relay.stalls.Store(true)
	_, err := s.Client().Try(s.Connecting(s.Kind, sdk.Options{ConnectTimeout: 2000}, address))
	// That of Go may know more of the transport.
	if err.ErrorCode() != "timeout" && err.ErrorCode() != "unreachable" {
		s.T.Errorf("got %v, want timeout", err)
	}
	if relay.cut.Load() == 0 {
		s.T.Error("no handshake has stalled")
	}
	relay.stalls.Store(false)
	c := s.Connect(sdk.Options{}, address)
	c.Flush()
	c.Close()
}

// A udpRelay is an address of an edge for UDP. Connections that begin while it stalls
// stay cut: the edge hears no more of them once it has answered.
type udpRelay struct {
	port   int
	edge   *net.UDPAddr
	stalls atomic.Bool
	cut    atomic.Int64 // packets
	copies sync.WaitGroup
}

// startUDPRelay runs one on all of localhost; it ends with the test.
func startUDPRelay(t *testing.T, port int) *udpRelay {
	t.Helper()
	r := &udpRelay{edge: &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}}
	t.Cleanup(r.copies.Wait)
	for _, ip := range []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback} {
		socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: ip, Port: r.port})
		if err != nil && r.port != 0 {
			continue // not every machine has IPv6
		}
		if err != nil {
			t.Fatal(err)
		}
		r.port = socket.LocalAddr().(*net.UDPAddr).Port
		t.Cleanup(func() { socket.Close() })
		r.copies.Go(func() { r.toEdge(t, socket) })
	}
	return r
}

// toEdge copies what clients send, until the socket is closed.
func (r *udpRelay) toEdge(t *testing.T, socket *net.UDPConn) {
	type flow struct {
		*net.UDPConn
		stalls   bool
		answered atomic.Bool
	}
	flows := map[netip.AddrPort]*flow{} // as many as a test's clients make
	defer func() {
		for _, f := range flows {
			f.Close()
		}
	}()
	packet := make([]byte, 2048)
	for {
		n, from, err := socket.ReadFromUDPAddrPort(packet)
		if err != nil {
			return
		}
		f := flows[from]
		if f == nil {
			own, err := net.DialUDP("udp", nil, r.edge)
			if err != nil {
				t.Error(err)
				return
			}
			f = &flow{UDPConn: own, stalls: r.stalls.Load()}
			flows[from] = f
			r.copies.Go(func() { // until the flow is closed
				back := make([]byte, 2048)
				for {
					n, err := f.Read(back)
					if err != nil {
						return
					}
					f.answered.Store(true)
					_, _ = socket.WriteToUDPAddrPort(back[:n], from) // as UDP, it may get lost
				}
			})
		}
		if f.stalls && f.answered.Load() {
			r.cut.Add(1)
			continue
		}
		_, _ = f.Write(packet[:n])
	}
}
