package harness

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/loopback"
)

// A link forwards TCP to a server, and can break. Its methods may be called concurrently.
type link struct {
	to   string
	work sync.WaitGroup

	mu       sync.Mutex
	changed  sync.Cond // signals changes of the fields below; its lock is mu
	closed   bool
	refusing bool
	held     bool
	lost     bool // packets over UDP
	Late
	conns, listeners []io.Closer
}

// Late says how long a link holds things up.
type Late struct{ ToServer, ToEdge time.Duration }

// start makes the link end with the test.
func (l *link) start(t *testing.T, to string) {
	l.to, l.changed.L = to, &l.mu
	t.Cleanup(func() {
		l.change(func() {
			l.closed = true
			for _, c := range slices.Concat(l.listeners, l.conns) {
				c.Close()
			}
		})
		l.work.Wait()
	})
}

func (l *link) listen(listener net.Listener) {
	l.listeners = append(l.listeners, listener)
	l.work.Go(func() { l.accept(listener) }) // ends with the listener
}

func (l *link) change(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	l.changed.Broadcast()
}

// keep notes a connection for the end, and closes it if that was before.
func (l *link) keep(c net.Conn) {
	l.change(func() {
		l.conns = append(l.conns, c)
		if l.closed {
			c.Close()
		}
	})
}

func (l *link) accept(listener net.Listener) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		var refused bool
		l.change(func() { refused = l.refusing })
		var far net.Conn
		if !refused {
			far, err = net.Dial("tcp", l.to)
		}
		if refused || err != nil {
			_ = near.(*net.TCPConn).SetLinger(0) // a reset
			near.Close()
			continue
		}
		l.keep(near)
		l.keep(far)
		l.pump(near, far, &l.ToServer)
		l.pump(far, near, &l.ToEdge)
	}
}

// pump copies until either side ends, each time as late as is said then. What is held up,
// including the end, waits here and in the buffers of the sockets.
func (l *link) pump(from, to net.Conn, late *time.Duration) {
	type piece struct {
		due  time.Time
		data []byte
	}
	waiting := make(chan piece, 1<<12)
	l.work.Go(func() { // ends with what comes from the other side
		for b := range waiting {
			time.Sleep(time.Until(b.due))
			l.pass()
			_, _ = to.Write(b.data) // fails when it is closed
		}
		l.pass()
		to.Close()
	})
	l.work.Go(func() {
		defer close(waiting)
		defer from.Close()
		for buffer := make([]byte, 32<<10); ; {
			n, err := from.Read(buffer)
			if err != nil {
				return
			}
			b := piece{data: slices.Clone(buffer[:n])}
			l.change(func() { b.due = time.Now().Add(*late) })
			waiting <- b
		}
	})
}

// pass returns when nothing is held up.
func (l *link) pass() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.held && !l.closed {
		l.changed.Wait()
	}
}

// A BadPath is a path from clients to the HTTPS site of an edge: a port of its own, TCP and
// UDP.
type BadPath struct {
	link
	t    *testing.T
	port int
}

// NewBadPath returns a path without faults, on all addresses of localhost. It ends with
// the test.
func NewBadPath(t *testing.T, e *Edge) *BadPath {
	t.Helper()
	p := &BadPath{t: t, port: loopback.FreePort(t)}
	p.start(t, fmt.Sprintf("127.0.0.1:%d", e.HTTPS))
	for _, host := range []string{"127.0.0.1", "::1"} {
		address := net.JoinHostPort(host, strconv.Itoa(p.port))
		listener, err := net.Listen("tcp", address)
		if err != nil && host == "::1" {
			continue // not every machine has IPv6
		}
		must(t, err)
		p.listen(listener)
		packets := value(net.ListenPacket("udp", address))(t)
		p.listeners = append(p.listeners, packets)
		p.work.Go(func() { p.carry(packets) }) // ends with the socket
	}
	return p
}

// Url returns the address of the edge over this path.
func (p *BadPath) Url() string { return fmt.Sprintf("https://localhost:%d", p.port) }

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

// A Cutter is a TCP proxy before a NATS server, which can part the network without a word, and
// be late.
type Cutter struct {
	link
	url string
}

func NewCutter(t *testing.T, target string) *Cutter {
	t.Helper()
	listener := value(net.Listen("tcp", "127.0.0.1:0"))(t)
	c := &Cutter{url: "nats://" + listener.Addr().String()}
	c.start(t, target)
	c.listen(listener)
	return c
}

func (c *Cutter) Url() string { return c.url }

// Delay holds up what is sent from now on.
func (c *Cutter) Delay(by Late) { c.change(func() { c.Late = by }) }

func (c *Cutter) Part() { c.change(func() { c.held = true }) }

// Heal ends the connections on which something was lost, as TCP would in time,
// and lets new ones through.
func (c *Cutter) Heal() {
	c.change(func() {
		c.held = false
		for _, conn := range c.conns {
			conn.Close()
		}
		c.conns = nil
	})
}
