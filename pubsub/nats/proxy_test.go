package nats_test

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/natstest"
)

// proxy stands between edges and a server, and can stop to read and to write.
type proxy struct {
	listener net.Listener
	server   string
	running  sync.WaitGroup

	mu    sync.Mutex
	flows chan struct{} // closed while it passes on what it reads
	conns []net.Conn
	cut   bool
}

func startProxy(t *testing.T, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, server: server, flows: make(chan struct{})}
	close(p.flows)
	p.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.join(c)
		}
	})
	t.Cleanup(func() {
		p.sever()
		p.resume()
		p.running.Wait()
	})
	return p
}

func (p *proxy) join(c net.Conn) {
	s, err := net.Dial("tcp", p.server)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil || p.cut {
		_ = c.Close()
		if err == nil {
			_ = s.Close()
		}
		return
	}
	_ = c.(*net.TCPConn).SetReadBuffer(128 << 10) // little fits between it and an edge
	p.conns = append(p.conns, c, s)
	for _, way := range [][2]net.Conn{{c, s}, {s, c}} {
		p.running.Go(func() {
			_, _ = io.Copy(gate{p, way[0]}, struct{ io.Reader }{way[1]})
			_ = way[0].Close()
			_ = way[1].Close()
		})
	}
}

// gate is a connection that is written to while the proxy's traffic flows.
type gate struct {
	p *proxy
	io.Writer
}

func (g gate) Write(b []byte) (int, error) {
	g.p.mu.Lock()
	flows := g.p.flows
	g.p.mu.Unlock()
	<-flows
	return g.Writer.Write(b)
}

// hold stops traffic, connections stay; resume lets it go on.
func (p *proxy) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flows = make(chan struct{})
}

func (p *proxy) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.flows:
	default:
		close(p.flows)
	}
}

// sever ends all connections, and takes no others.
func (p *proxy) sever() {
	_ = p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	for _, c := range p.conns {
		_ = c.Close()
	}
}

// connect connects through the proxy. The client itself notices nothing of a
// silent server for ping times two.
func (p *proxy) connect(ping time.Duration) natstest.Connector {
	return func(o ...client.Option) (*client.Conn, error) {
		o = append(o, client.PingInterval(ping), client.SetCustomDialer(narrowDialer{}))
		return natstest.ConnectTo("nats://" + p.listener.Addr().String())(o...)
	}
}

// narrowDialer lets little wait in the kernel.
type narrowDialer struct{}

func (narrowDialer) Dial(network, address string) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, time.Second)
	if err != nil {
		return nil, err
	}
	return c, c.(*net.TCPConn).SetWriteBuffer(16 << 10)
}
