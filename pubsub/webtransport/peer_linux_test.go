package webtransport

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/millrace/millrace/wire"
)

// mover passes packets between a client and the edge, which sees them come from
// an address that can change. (quic-go's own way to move a client has a race.)
// Only Linux has all these addresses on loopback.
type mover struct {
	*testing.T
	edge    net.Addr
	front   *net.UDPConn
	client  atomic.Pointer[net.UDPAddr]
	back    atomic.Pointer[net.UDPConn]
	sockets []*net.UDPConn
	running sync.WaitGroup
}

func newMover(e *edge) *mover {
	m := &mover{T: e.T, edge: e.address, front: listen(e.T, "127.0.0.1")}
	m.to("127.0.0.1")
	m.running.Go(func() {
		b := make([]byte, 2048)
		for {
			n, from, err := m.front.ReadFromUDP(b)
			if err != nil {
				return
			}
			m.client.Store(from)
			_, _ = m.back.Load().WriteTo(b[:n], m.edge) // a packet may get lost
		}
	})
	m.Cleanup(func() {
		m.front.Close()
		for _, s := range m.sockets {
			s.Close()
		}
		m.running.Wait()
	})
	return m
}

// to moves the client.
func (m *mover) to(ip string) {
	socket := listen(m.T, ip)
	m.sockets = append(m.sockets, socket)
	m.back.Store(socket)
	m.running.Go(func() {
		b := make([]byte, 2048)
		for {
			n, err := socket.Read(b)
			if err != nil {
				return
			}
			_, _ = m.front.WriteTo(b[:n], m.client.Load())
		}
	})
}

func TestMigration(t *testing.T) {
	var seen sync.Map
	e := newEdge(t, setup{allow: func(ip netip.Addr) bool {
		seen.Store(ip.String(), true)
		return loopback(ip) || ip == netip.MustParseAddr("127.0.0.2")
	}})
	m := newMover(e)
	c := e.dialAt("/serve", m.front.LocalAddr())
	c.open()
	c.subscribe("a")
	m.to("127.0.0.2") // allowed
	for _, there := seen.Load("127.0.0.2"); !there; _, there = seen.Load("127.0.0.2") {
		c.send("PING")
		c.expect("PONG")
	}
	c.subscribe("b")
	m.to("127.0.0.3")
	for got := "PONG"; got != "ERR:forbidden:ip"; got = c.main.read() { // QUIC moves with one of the next packets
		if got != "PONG" {
			t.Fatalf("got %q", got)
		}
		c.send("PING")
	}
	c.expect("FIN")
	c.expectEnd(wire.CloseForbidden)
}

func TestSilentMigration(t *testing.T) {
	t.Parallel()
	e := newEdge(t, setup{allow: loopback})
	m := newMover(e)
	c := e.dialAt("/serve", m.front.LocalAddr())
	c.open()
	c.subscribe("a")
	m.to("127.0.0.2")
	c.expect("ERR:forbidden:ip", "FIN") // some packet has to tell the edge, and then it looks
	c.expectEnd(wire.CloseForbidden)
}
