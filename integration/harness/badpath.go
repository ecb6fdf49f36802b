package harness

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/millrace/millrace/internal/loopback"
)

// A badPath is a path from clients to the HTTPS site of an edge that can break: a port of
// its own, TCP and UDP. Its methods may be called concurrently.
type BadPath struct {
	t    *testing.T
	port int
	to   string // the edge, on loopback
	work sync.WaitGroup

	mu       sync.Mutex
	changed  sync.Cond // signals changes of the fields below; its lock is mu
	closed   bool
	refusing bool
	held     bool        // TCP
	lost     bool        // UDP
	closers  []io.Closer // all sockets
}

// NewBadPath returns a path without faults, on all addresses of localhost. It ends with
// the test.
func NewBadPath(t *testing.T, e *Edge) *BadPath {
	t.Helper()
	p := &BadPath{t: t, port: loopback.FreePort(t), to: fmt.Sprintf("127.0.0.1:%d", e.HTTPS)}
	p.changed.L = &p.mu
	t.Cleanup(func() {
		p.End()
		p.work.Wait()
	})
	for _, host := range []string{"127.0.0.1", "::1"} {
		address := net.JoinHostPort(host, strconv.Itoa(p.port))
		listener, err := net.Listen("tcp", address)
		if err != nil && host == "::1" {
			continue // not every machine has IPv6
		}
		must(t, err)
		packets := value(net.ListenPacket("udp", address))(t)
		p.keep(listener, packets)
		p.work.Go(func() { p.accept(listener) }) // ends with the listener
		p.work.Go(func() { p.carry(packets) })   // ends with the socket
	}
	return p
}

// Url returns the address of the edge over this path.
func (p *BadPath) Url() string { return fmt.Sprintf("https://localhost:%d", p.port) }

func (p *BadPath) change(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.changed.Broadcast()
}

// Refuse turns new clients away.
func (p *BadPath) Refuse() { p.change(func() { p.refusing, p.lost = true, true }) }

// Swallow lets nothing through. Packets over UDP are lost, as by [BadPath.SwallowUDP]; TCP
// is held up, since its ends would retransmit what was lost.
func (p *BadPath) Swallow() { p.change(func() { p.held, p.lost = true, true }) }

func (p *BadPath) SwallowUDP() { p.change(func() { p.lost = true }) }

// Heal lets everything through again, first what TCP has held up.
func (p *BadPath) Heal() {
	p.change(func() { p.refusing, p.held, p.lost = false, false, false })
}

// End closes all connections and sockets.
func (p *BadPath) End() {
	p.change(func() {
		p.closed = true
		for _, c := range p.closers {
			c.Close()
		}
	})
}

// keep notes sockets for the end, and closes them if that was before.
func (p *BadPath) keep(sockets ...io.Closer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closers = append(p.closers, sockets...)
	for _, c := range sockets {
		if p.closed {
			c.Close()
		}
	}
}

func (p *BadPath) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		refused := p.refusing
		p.mu.Unlock()
		if refused {
			_ = client.(*net.TCPConn).SetLinger(0) // a reset
			client.Close()
			continue
		}
		edge, err := net.Dial("tcp", p.to)
		if err != nil {
			client.Close()
			continue
		}
		p.keep(client, edge)
		p.work.Go(func() { p.pump(client, edge) }) // both end with either side, or the path
		p.work.Go(func() { p.pump(edge, client) })
	}
}

// pump copies from one side to the other. What is held up, including the end, waits here
// and in the buffers of the sockets.
func (p *BadPath) pump(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		for !p.closed && p.held {
			p.changed.Wait()
		}
		p.mu.Unlock()
		if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}

// carry forwards the packets of clients over UDP. A failed write is a lost packet, as on a
// network.
func (p *BadPath) carry(near net.PacketConn) {
	buffer := make([]byte, 2048)
	edges := map[string]net.Conn{} // by the client's address
	for {
		n, client, err := near.ReadFrom(buffer)
		if err != nil {
			return
		}
		edge := edges[client.String()]
		if edge == nil {
			if edge, err = net.Dial("udp", p.to); err != nil {
				p.t.Errorf("a path's socket: %v", err)
				return
			}
			edges[client.String()] = edge
			p.keep(edge)
			p.work.Go(func() { p.answer(near, client, edge) }) // ends with the path
		}
		if p.passes() {
			_, _ = edge.Write(buffer[:n])
		}
	}
}

// passes reports whether packets pass.
func (p *BadPath) passes() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.closed && !p.lost
}

// answer forwards the edge's packets to a client.
func (p *BadPath) answer(near net.PacketConn, client net.Addr, edge net.Conn) {
	buffer := make([]byte, 2048)
	for {
		n, err := edge.Read(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil && p.passes() { // else the edge is gone; it may come back
			_, _ = near.WriteTo(buffer[:n], client)
		}
	}
}
