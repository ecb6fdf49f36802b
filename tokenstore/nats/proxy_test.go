package nats_test

import (
	"net"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/natstest"
)

// proxy is a link to a server that can be cut, or fall silent.
type proxy struct {
	listener net.Listener
	server   string
	running  sync.WaitGroup

	mu            sync.Mutex
	down          bool
	silent        bool       // nothing gets through
	answersSilent bool       // nothing from the server gets through
	woken         *sync.Cond // when one of them changes
	conns         map[net.Conn]bool
}

// newProxy forwards to a server until the test ends.
func newProxy(t *testing.T, s *server.Server) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, server: s.Addr().String(), conns: map[net.Conn]bool{}}
	p.woken = sync.NewCond(&p.mu)
	p.running.Go(p.accept)
	t.Cleanup(func() {
		listener.Close()
		p.cut()
		p.running.Wait()
	})
	return p
}

func (p *proxy) connect(options ...client.Option) natstest.Connector {
	connect := natstest.ConnectTo("nats://" + p.listener.Addr().String())
	return func(o ...client.Option) (*client.Conn, error) {
		return connect(append(o[:len(o):len(o)], options...)...)
	}
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil || !p.add(client, server) {
			client.Close()
			if err == nil {
				server.Close()
			}
			continue
		}
		p.running.Go(func() { p.forward(client, server, func() bool { return p.silent || p.answersSilent }) })
		p.running.Go(func() { p.forward(server, client, func() bool { return p.silent }) })
	}
}

func (p *proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return false
	}
	for _, c := range conns {
		p.conns[c] = true
	}
	return true
}

func (p *proxy) forward(to, from net.Conn, held func() bool) {
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

// await returns when this way of the link is not held.
func (p *proxy) await(held func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for held() && !p.down {
		p.woken.Wait()
	}
}

// cut ends all connections, and those to come.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for c := range p.conns {
		c.Close()
	}
	clear(p.conns)
	p.woken.Broadcast()
}

// silence keeps the connections, and forwards nothing any more.
func (p *proxy) silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = true
}

// silenceAnswers is silence for what the server sends: requests get through.
func (p *proxy) silenceAnswers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answersSilent = true
}

// restore undoes cut, silence and silenceAnswers.
func (p *proxy) restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down, p.silent, p.answersSilent = false, false, false
	p.woken.Broadcast()
}
