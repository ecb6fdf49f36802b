package natstest

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
)

// Proxy is a link to a server that can be cut, fall silent, or be late. Its methods may be
// called concurrently.
type Proxy struct {
	listener net.Listener
	server   string
	running  sync.WaitGroup

	mu          sync.Mutex
	cut         bool
	held        bool          // nothing gets through
	repliesHeld bool          // nothing from the server does
	late, slow  time.Duration // to the server, and from there
	changed     *sync.Cond    // when one of these changes
	conns       map[net.Conn]bool
}

// StartProxy forwards to a server until the test ends.
func StartProxy(t testing.TB, s *server.Server) *Proxy {
	t.Helper()
	return ProxyTo(t, s.Addr().String())
}

// StartProxy forwards to the node, also after a restart, until the test ends.
func (n *Node) StartProxy(t testing.TB) *Proxy {
	t.Helper()
	return ProxyTo(t, fmt.Sprintf("127.0.0.1:%d", n.Client))
}

// ProxyTo forwards to an address until the test ends.
func ProxyTo(t testing.TB, server string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ProxyAt(t, listener, server)
}

// ProxyAt is ProxyTo with a listener of the caller, which it closes.
func ProxyAt(t testing.TB, listener net.Listener, server string) *Proxy {
	t.Helper()
	p := &Proxy{listener: listener, server: server, conns: map[net.Conn]bool{}}
	p.changed = sync.NewCond(&p.mu)
	p.running.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.Cut()
		p.running.Wait()
	})
	return p
}

// Connect returns a Connector through the proxy. Its connections have these options, too.
func (p *Proxy) Connect(options ...client.Option) Connector {
	connect := ConnectTo(p.URL())
	return func(o ...client.Option) (*client.Conn, error) {
		return connect(append(o[:len(o):len(o)], options...)...)
	}
}

// URL is that of the server, through the proxy.
func (p *Proxy) URL() string { return "nats://" + p.listener.Addr().String() }

// Hold keeps the connections, and forwards nothing until Resume.
func (p *Proxy) Hold() { p.set(func() { p.held = true }) }

// HoldReplies is Hold for what the server sends.
func (p *Proxy) HoldReplies() { p.set(func() { p.repliesHeld = true }) }

// Cut ends all connections, and those to come until Resume. What was held is lost.
func (p *Proxy) Cut() {
	p.set(func() {
		p.cut = true
		for c := range p.conns {
			_ = c.Close()
		}
		clear(p.conns)
	})
}

// Delay holds up each piece that is sent to the server, or from there, by so long.
func (p *Proxy) Delay(toServer, fromServer time.Duration) {
	p.set(func() { p.late, p.slow = toServer, fromServer })
}

// Resume undoes Hold, HoldReplies and Cut.
func (p *Proxy) Resume() { p.set(func() { p.cut, p.held, p.repliesHeld = false, false, false }) }

// Heal is Resume where TCP has given up what was held: it ends the connections.
func (p *Proxy) Heal() {
	p.Cut()
	p.Resume()
}

func (p *Proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.changed.Broadcast()
}

// accept ends with the listener.
func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		if !p.add(c) { // before the server sees a connection
			continue
		}
		_ = c.(*net.TCPConn).SetReadBuffer(128 << 10) // so that little fits between proxy and client
		s, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = c.Close()
			continue
		}
		if !p.add(s) {
			continue
		}
		p.running.Go(func() { p.forward(s, c, func() (time.Duration, bool) { return p.late, p.held }) })
		p.running.Go(func() { p.forward(c, s, func() (time.Duration, bool) { return p.slow, p.held || p.repliesHeld }) })
	}
}

// add notes a connection for Cut. Where the link is cut, it closes it and reports false.
func (p *Proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut {
		_ = c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

// forward copies until one side ends, as late as the link is then, while it is not held.
func (p *Proxy) forward(to, from net.Conn, state func() (late time.Duration, held bool)) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.await(state)
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

// await returns when the link is not held, or cut.
func (p *Proxy) await(state func() (late time.Duration, held bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if late, _ := state(); late > 0 {
		p.mu.Unlock()
		time.Sleep(late)
		p.mu.Lock()
	}
	for _, held := state(); held && !p.cut; _, held = state() {
		p.changed.Wait()
	}
}
