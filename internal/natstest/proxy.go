package natstest

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
)

// Proxy is a link to a server that can be cut, or fall silent. Its methods may be
// called concurrently.
type Proxy struct {
	listener net.Listener
	server   string
	running  sync.WaitGroup

	mu          sync.Mutex
	cut         bool
	held        bool       // nothing gets through
	repliesHeld bool       // nothing from the server does
	changed     *sync.Cond // when one of these changes
	conns       map[net.Conn]bool
}

// StartProxy forwards to a server until the test ends.
func StartProxy(t testing.TB, s *server.Server) *Proxy {
	t.Helper()
	return startProxy(t, s.Addr().String())
}

// StartProxy forwards to the node, also after a restart, until the test ends.
func (n *Node) StartProxy(t testing.TB) *Proxy {
	t.Helper()
	return startProxy(t, fmt.Sprintf("127.0.0.1:%d", n.Client))
}

func startProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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

// Resume undoes Hold, HoldReplies and Cut.
func (p *Proxy) Resume() { p.set(func() { p.cut, p.held, p.repliesHeld = false, false, false }) }

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
		p.running.Go(func() { p.forward(s, c, func() bool { return p.held }) })
		p.running.Go(func() { p.forward(c, s, func() bool { return p.held || p.repliesHeld }) })
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

// forward copies until one side ends, while the link is not held.
func (p *Proxy) forward(to, from net.Conn, held func() bool) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.await(held)
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

// await returns when the link is not held, or cut.
func (p *Proxy) await(held func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for held() && !p.cut {
		p.changed.Wait()
	}
}
