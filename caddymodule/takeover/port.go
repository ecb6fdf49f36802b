package takeover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"
	"go.uber.org/zap"
)

const (
	// lingerTimeout is how long the last messages of ended sessions may take to
	// reach their clients, before the connections are closed with what they still hold.
	lingerTimeout = 500 * time.Millisecond
	// abortTimeout is how long requests that were cut off may take to notice.
	abortTimeout = 5 * time.Second
	// OwnGrace is how long a server that stops waits for requests to our handlers, and for those that
	// are not complete, over every version of HTTP. It waits for other requests as Caddy is configured.
	OwnGrace = 10 * time.Second
)

// port is a UDP port with HTTP/3 and WebTransport, over all configurations that
// use it.
type port struct {
	key         string
	log         *zap.Logger
	socket      net.PacketConn
	transport   *quic.Transport
	listener    *quic.EarlyListener
	server      *webtransport.Server
	gracePeriod atomic.Int64  // in nanoseconds, for requests in flight when it closes
	ownGrace    time.Duration // likewise, for those to our handlers: OwnGrace, except in tests

	connections inflight
	conns       sync.Map // the open ones: *quic.Conn to *connection
	requests    inflight
	others      inflight       // requests that no handler of ours serves
	running     sync.WaitGroup // the accept loop, and a goroutine for each connection

	mu       sync.RWMutex
	bindings []*binding // never empty; the last one is in effect
	closing  bool       // no configuration uses it any more
}

// leasePort takes a port from the pool, or opens it, and puts the binding into effect.
func leasePort(address caddy.NetworkAddress, b *binding, storage certmagic.Storage, log *zap.Logger) (*port, error) {
	key := address.String()
	v, loaded, err := ports.LoadOrNew(key, func() (caddy.Destructor, error) {
		return openPort(address, b, storage, log)
	})
	if err != nil {
		return nil, fmt.Errorf("HTTP/3 on %s: %w", key, err)
	}
	p := v.(*port)
	if loaded && !p.add(b) {
		_, err := ports.Delete(key)
		return nil, errors.Join(fmt.Errorf("HTTP/3 on %s: the port is being closed", key), err)
	}
	return p, nil
}

func openPort(address caddy.NetworkAddress, first *binding, storage certmagic.Storage, log *zap.Logger) (*port, error) {
	ln, err := address.Listen(context.Background(), 0, net.ListenConfig{})
	if err != nil {
		return nil, err
	}
	socket, ok := ln.(net.PacketConn)
	if !ok {
		return nil, fmt.Errorf("%s is not a packet network", address.Network)
	}
	p := &port{key: address.String(), log: log, socket: socket, ownGrace: OwnGrace, bindings: []*binding{first}}
	// MaxHeaderBytes and IdleTimeout stay those of the first configuration.
	p.server = p.newServer(first.server.MaxHeaderBytes, time.Duration(first.server.IdleTimeout))
	p.transport = newTransport(socket)
	if storage != nil {
		if p.transport.StatelessResetKey, err = resetKey(storage); err != nil {
			log.Error("there is no key for stateless resets: until a restart, clients over HTTP/3 do not notice soon that this edge was killed",
				zap.String("listener", p.key), zap.Error(err))
		}
	}
	p.listener, err = p.transport.ListenEarly(http3.ConfigureTLSConfig(p.tlsConfig()), p.quicConfig())
	if err != nil {
		return nil, errors.Join(err, p.transport.Close(), socket.Close())
	}
	p.running.Go(p.accept)
	return p, nil
}

// accept runs until the listener is closed and its last connection is accepted.
func (p *port) accept() {
	for {
		conn, err := p.listener.Accept(context.Background())
		if err != nil {
			return
		}
		c := p.newConnection(conn)
		p.connections.begin()
		p.conns.Store(conn, c)
		limits.connected(c)
		p.running.Go(func() {
			defer p.connections.end()
			defer p.conns.Delete(conn)
			defer limits.remove(c)
			err := p.server.ServeQUICConn(conn) // until the connection ends
			if err != nil && !errors.Is(err, http.ErrServerClosed) {
				if c := p.log.Check(zap.DebugLevel, "HTTP/3 connection"); c != nil {
					c.Write(zap.Error(err))
				}
			}
			// One that could not even be set up is still open.
			_ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeInternalError), "")
			<-conn.Context().Done()
		})
	}
}

func (p *port) newConnection(conn *quic.Conn) *connection {
	return &connection{
		Conn: conn, limits: limits, network: networkOf(conn.RemoteAddr()),
		close: func(code quic.ApplicationErrorCode, reason string) {
			// Closing waits for the connection's goroutine.
			p.running.Go(func() { _ = conn.CloseWithError(code, reason) })
		},
	}
}

// ServeHTTP hands a request to the current server.
func (p *port) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.requests.begin()
	defer p.requests.end()
	p.others.begin()
	defer p.others.end()
	e := p.entry(r)
	e.conn.begin()
	defer e.conn.end()
	p.current().handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), entryKey{}, e)))
}

// Destruct implements [caddy.Destructor]: the last configuration is gone.
func (p *port) Destruct() error {
	p.mu.Lock()
	p.closing = true
	p.mu.Unlock()
	p.listener.Close()

	began, gracePeriod := time.Now(), time.Duration(p.gracePeriod.Load())
	own := min(gracePeriod, p.ownGrace)
	if !waitFor(p.requests.idle(), own) {
		waitFor(p.others.idle(), gracePeriod-own)
	}
	if n := p.requests.count(); n > 0 {
		p.log.Warn("requests over HTTP/3 are cut off: they took longer than the port could wait",
			zap.String("listener", p.key), zap.Int("requests", n), zap.Duration("waited", time.Since(began)))
	}
	waitFor(p.connections.idle(), lingerTimeout)

	// The socket is still open, so that the clients are told.
	p.conns.Range(func(conn, _ any) bool {
		_ = conn.(*quic.Conn).CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") // never fails
		return true
	})
	err := p.server.Close()
	stopped := make(chan struct{})
	go func() {
		p.running.Wait()
		close(stopped)
	}()
	if !waitFor(stopped, abortTimeout) {
		p.log.Error("requests over HTTP/3 did not stop after close",
			zap.String("listener", p.key), zap.Int("requests", p.requests.count()))
	}
	return errors.Join(err, p.transport.Close(), p.socket.Close())
}

// waitFor waits until done is closed, and reports false if that takes longer than timeout.
func waitFor(done <-chan struct{}, timeout time.Duration) bool {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		select { // with a timeout of zero both may be ready
		case <-done:
			return true
		default:
			return false
		}
	}
}
