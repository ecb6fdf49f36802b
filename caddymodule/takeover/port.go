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
	// linger is how long the last words of ended sessions may take to reach
	// their clients, before the connections are closed with what they still hold.
	linger = 500 * time.Millisecond
	// abandon is how long requests that were cut off may take to notice.
	abandon = 5 * time.Second
)

// port is a UDP port with HTTP/3 and WebTransport, over all configurations that
// use it.
type port struct {
	key       string
	log       *zap.Logger
	socket    net.PacketConn
	transport *quic.Transport
	listener  *quic.EarlyListener
	web       *webtransport.Server
	patience  atomic.Int64 // for requests under way when it closes

	connections tally
	open        sync.Map // *quic.Conn to nothing
	requests    tally
	running     sync.WaitGroup // the accept loop, and a goroutine for each connection

	mu      sync.RWMutex
	stack   []*binding // never empty; the last one is in force
	closing bool       // the last user is gone
}

// leasePort takes a port from the pool, or opens it, and puts the binding in force.
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
		return nil, fmt.Errorf("%s is no network of packets", address.Network)
	}
	p := &port{key: address.String(), log: log, socket: socket, stack: []*binding{first}}
	// MaxHeaderBytes and IdleTimeout stay those of the first configuration.
	p.web = newWebServer(p, first.server.MaxHeaderBytes, time.Duration(first.server.IdleTimeout))
	p.transport = newTransport(socket)
	if storage != nil {
		if p.transport.StatelessResetKey, err = resetKey(storage); err != nil {
			log.Error("without a key for stateless resets, until a restart, clients over HTTP/3 do not notice soon that this edge was killed",
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

// accept runs until the listener is closed and its last connection is taken.
func (p *port) accept() {
	for {
		conn, err := p.listener.Accept(context.Background())
		if err != nil {
			return
		}
		p.connections.begin()
		p.open.Store(conn, nil)
		p.running.Go(func() {
			defer p.connections.end()
			defer p.open.Delete(conn)
			err := p.web.ServeQUICConn(conn) // until the connection ends
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

// ServeHTTP hands a request to the server in force.
func (p *port) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.requests.begin()
	defer p.requests.end()
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

	patience := time.Duration(p.patience.Load())
	if !within(patience, p.requests.idle()) {
		p.log.Warn("requests over HTTP/3 are cut off: they took longer than the port could wait",
			zap.String("listener", p.key), zap.Int("requests", p.requests.count()), zap.Duration("waited", patience))
	}
	within(linger, p.connections.idle())

	// As long as the socket is open, so that the clients are told.
	p.open.Range(func(conn, _ any) bool {
		_ = conn.(*quic.Conn).CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") // fails never
		return true
	})
	err := p.web.Close()
	stopped := make(chan struct{})
	go func() {
		p.running.Wait()
		close(stopped)
	}()
	if !within(abandon, stopped) {
		p.log.Error("requests over HTTP/3 ignore that their connection is closed",
			zap.String("listener", p.key), zap.Int("requests", p.requests.count()))
	}
	return errors.Join(err, p.transport.Close(), p.socket.Close())
}

// within waits, and reports false if it took too long.
func within(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		select { // both may be true, with no time to wait
		case <-done:
			return true
		default:
			return false
		}
	}
}
