package harness

import (
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
	held     bool // TCP
	lost     bool // UDP
	deaf     bool // UDP to the edge, from clients that have had an answer
	deafened int  // such packets that were lost
	longest  int  // the largest payload over UDP that passes, bytes; 0: any
	pipes    []*pathPipe
	flows    map[string]*pathFlow // by the client's address
	closers  []io.Closer          // the sockets of the path, and those of its clients over TCP
}

// maxPathClients bounds the connections and UDP addresses that a path carries during its
// life. Tests stay far below it.
const maxPathClients = 1024

// NewBadPath returns a path without faults, on all addresses of localhost. It ends with
// the test.
func NewBadPath(t *testing.T, e *Edge) *BadPath {
	t.Helper()
	p := &BadPath{t: t, port: loopback.FreePort(t), to: fmt.Sprintf("127.0.0.1:%d", e.HTTPS), flows: map[string]*pathFlow{}}
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
		p.closers = append(p.closers, listener, packets)
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

// Swallow lets nothing through. Packets over UDP are lost, as by [badPath.swallowUDP]; TCP
// is held up, since its ends would retransmit what was lost.
func (p *BadPath) Swallow() { p.change(func() { p.held, p.lost = true, true }) }

// Deafen loses what clients send over UDP once the edge has answered them.
func (p *BadPath) Deafen() { p.change(func() { p.deaf = true }) }

// Deafened is how many packets were lost so.
func (p *BadPath) Deafened() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.deafened
}

func (p *BadPath) SwallowUDP() { p.change(func() { p.lost = true }) }

// Narrow loses packets over UDP with a larger payload than longest.
func (p *BadPath) Narrow(longest int) { p.change(func() { p.longest = longest }) }

// Heal lets everything through again, first what TCP has held up.
func (p *BadPath) Heal() {
	p.change(func() { p.refusing, p.held, p.lost, p.deaf, p.longest = false, false, false, false, 0 })
}

// Readdress gives the clients another address, as a NAT does after a restart: the edge
// receives packets over UDP from another port, and nothing more over the old TCP
// connections.
func (p *BadPath) Readdress() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pipe := range p.pipes {
		pipe.cut = true
	}
	for _, f := range p.flows {
		p.Connect(f)
	}
}

// End closes all connections and sockets.
func (p *BadPath) End() {
	p.change(func() {
		p.closed = true
		for _, c := range p.closers {
			c.Close()
		}
		for _, f := range p.flows {
			if f.edge != nil {
				f.edge.Close()
			}
		}
	})
}

// A pathPipe is a connection over TCP.
type pathPipe struct {
	cut bool // nothing passes any longer
}

func (p *BadPath) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		refused := p.refusing || p.closed || len(p.pipes) == maxPathClients
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
		pipe := &pathPipe{}
		p.mu.Lock()
		p.pipes, p.closers = append(p.pipes, pipe), append(p.closers, client, edge)
		if p.closed {
			client.Close()
			edge.Close()
		}
		p.mu.Unlock()
		p.work.Go(func() { p.pump(pipe, client, edge) }) // both end with either side, or the path
		p.work.Go(func() { p.pump(pipe, edge, client) })
	}
}

// pump copies from one side to the other. What is held up, including the end, waits here
// and in the buffers of the sockets.
func (p *BadPath) pump(pipe *pathPipe, from, to net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		for !p.closed && (p.held || pipe.cut) {
			p.changed.Wait()
		}
		p.mu.Unlock()
		if n > 0 {
			if _, failed := to.Write(buffer[:n]); failed != nil {
				err = failed
			}
		}
		if err != nil {
			from.Close()
			to.Close()
			return
		}
	}
}

// A pathFlow is the traffic of a client over UDP.
type pathFlow struct {
	near   net.PacketConn // the socket of the path
	client net.Addr
	edge   net.Conn

	answered bool // by the edge
}

// carry forwards the packets of clients.
func (p *BadPath) carry(near net.PacketConn) {
	buffer := make([]byte, 2048)
	for {
		n, client, err := near.ReadFrom(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		f := p.flows[client.String()]
		if f == nil && !p.closed && len(p.flows) < maxPathClients {
			f = &pathFlow{near: near, client: client}
			p.Connect(f)
			p.flows[client.String()] = f
		}
		if f != nil && p.deaf && f.answered {
			p.deafened++
		} else if f != nil && f.edge != nil && p.passes(n) {
			_, _ = f.edge.Write(buffer[:n]) // a failed write is a lost packet, as on a network
		}
		p.mu.Unlock()
	}
}

// passes reports whether a packet of this length passes. The caller holds p.mu.
func (p *BadPath) passes(n int) bool {
	return !p.closed && !p.lost && (p.longest == 0 || n <= p.longest)
}

// Connect gives a flow a new socket to the edge. The caller holds p.mu.
func (p *BadPath) Connect(f *pathFlow) {
	edge, err := net.Dial("udp", p.to)
	if err != nil {
		p.t.Errorf("a path's socket: %v", err)
		return
	}
	if f.edge != nil {
		f.edge.Close()
	}
	f.edge = edge
	p.work.Go(func() { p.Answer(f, edge) }) // ends with the socket
}

// Answer forwards the edge's packets to a client.
func (p *BadPath) Answer(f *pathFlow, edge net.Conn) {
	buffer := make([]byte, 2048)
	for {
		n, err := edge.Read(buffer)
		p.mu.Lock()
		current := f.edge == edge && !p.closed
		passes := current && p.passes(n)
		f.answered = f.answered || passes && err == nil
		p.mu.Unlock()
		switch {
		case !current:
			return
		case err != nil: // the edge is gone; it may come back
			continue
		case passes:
			_, _ = f.near.WriteTo(buffer[:n], f.client) // a failed write is a lost packet
		}
	}
}
