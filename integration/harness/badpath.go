package harness

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/millrace/millrace/internal/loopback"
	"github.com/millrace/millrace/internal/natstest"
)

// A BadPath is a path from clients to the HTTPS site of an edge: a port of its own, TCP and
// UDP. Its methods may be called concurrently.
type BadPath struct {
	t    *testing.T
	port int
	tcp  []*natstest.Proxy
	to   *net.UDPAddr
	lost atomic.Bool // packets over UDP
}

// NewBadPath returns a path without faults, on all addresses of localhost. It ends with
// the test.
func NewBadPath(t *testing.T, e *Edge) *BadPath {
	t.Helper()
	p := &BadPath{t: t, port: loopback.FreePort(t), to: e.udpAddress()}
	for _, host := range []string{"127.0.0.1", "::1"} {
		address := net.JoinHostPort(host, strconv.Itoa(p.port))
		listener, err := net.Listen("tcp", address)
		if err != nil && host == "::1" {
			continue // not every machine has IPv6
		}
		must(t, err)
		p.tcp = append(p.tcp, natstest.ProxyAt(t, listener, p.to.String()))
		packets := value(net.ListenPacket("udp", address))(t)
		var carrying sync.WaitGroup
		carrying.Go(func() { p.carry(packets) }) // ends with the socket
		t.Cleanup(func() {
			packets.Close()
			carrying.Wait()
		})
	}
	return p
}

// Url returns the address of the edge over this path.
func (p *BadPath) Url() string { return fmt.Sprintf("https://localhost:%d", p.port) }

func (p *BadPath) set(lost bool, change func(*natstest.Proxy)) {
	p.lost.Store(lost)
	for _, proxy := range p.tcp {
		change(proxy)
	}
}

// Refuse turns clients away.
func (p *BadPath) Refuse() { p.set(true, (*natstest.Proxy).Cut) }

// Swallow lets nothing through. Packets over UDP are lost, as by [BadPath.SwallowUDP]; TCP
// is held up, since its ends would retransmit what was lost.
func (p *BadPath) Swallow() { p.set(true, (*natstest.Proxy).Hold) }

func (p *BadPath) SwallowUDP() { p.lost.Store(true) }

// Heal lets everything through again, first what TCP has held up.
func (p *BadPath) Heal() { p.set(false, (*natstest.Proxy).Resume) }

// carry forwards the packets of clients over UDP, and the answers. A failed write is a lost
// packet, as on a network.
func (p *BadPath) carry(near net.PacketConn) {
	edges := map[string]net.Conn{} // by the client's address
	var answering sync.WaitGroup
	defer answering.Wait()
	defer func() {
		for _, edge := range edges {
			edge.Close()
		}
	}()
	buffer := make([]byte, 2048)
	for {
		n, client, err := near.ReadFrom(buffer)
		if err != nil {
			return
		}
		edge := edges[client.String()]
		if edge == nil {
			if edge, err = net.DialUDP("udp", nil, p.to); err != nil {
				p.t.Errorf("a path's socket: %v", err)
				return
			}
			edges[client.String()] = edge
			answering.Go(func() { p.answer(near, client, edge) }) // ends with the edge's socket
		}
		if !p.lost.Load() {
			_, _ = edge.Write(buffer[:n])
		}
	}
}

// answer forwards the edge's packets to a client.
func (p *BadPath) answer(near net.PacketConn, client net.Addr, edge net.Conn) {
	buffer := make([]byte, 2048)
	for {
		n, err := edge.Read(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil && !p.lost.Load() { // else the edge is gone; it may come back
			_, _ = near.WriteTo(buffer[:n], client)
		}
	}
}
