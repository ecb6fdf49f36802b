package takeover

import (
	"math"
	"net"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/quic-go/quic-go"
)

// tcpLimits bounds the connections over TCP without a session, to all of Caddy's servers: each is a
// file, and nobody has shown a token on it. Other than over QUIC, an address has no limit of its
// own: proxies keep many. The app sets the limit, which there is where the files are limited.
var tcpLimits = newConnLimits(math.MaxInt32, 0, func(string) { tcpClosed.Inc() })

// tcpClosed counts for the whole process, across reloads.
var tcpClosed = prometheus.NewCounter(prometheus.CounterOpts{
	Name: "millrace_tcp_idle_closed_total",
	Help: "TCP connections without a session that the edge closed or refused, since the process may open no more files.",
})

// TCPClosed is the metric of these connections, for the registry of a configuration.
func TCPClosed() prometheus.Counter { return tcpClosed }

// LimitIdle sets how many connections without a session there may be: over TCP, each of which is a file, and
// over QUIC, each of which takes [IdleQUICMemory]. It holds for those that come from now on.
func LimitIdle(tcp, quic int) {
	tcpLimits.setLimit(tcp)
	limits.setLimit(quic)
}

const (
	// IdleQUICMemory is what a QUIC connection without a session takes, in bytes.
	IdleQUICMemory = 90 << 10
	// MaxIdleQUIC is how many there may be if there is memory for them.
	MaxIdleQUIC = maxConns
)

// tcpConns are those that tcpLimits counts: net.Conn to *connection.
var tcpConns sync.Map

// CountTCP is the hook of an [http.Server] that counts its connections, and makes room for a new one
// or closes it: see connLimits. One that becomes a WebSocket is the hub's to count.
func CountTCP(conn net.Conn, state http.ConnState) {
	if state == http.StateNew {
		admitTCP(tcpLimits, conn)
		return
	}
	v, ok := tcpConns.Load(conn)
	if !ok {
		return // it was refused
	}
	c := v.(*connection)
	switch state {
	case http.StateActive:
		c.limits.setRequests(c, 1)
	case http.StateIdle:
		c.limits.setRequests(c, 0)
	case http.StateHijacked, http.StateClosed:
		tcpConns.Delete(conn)
		c.limits.remove(c)
	}
}

func admitTCP(limits *connLimits, conn net.Conn) {
	network := networkOf(conn.RemoteAddr())
	done, err := limits.connecting(network)
	if err != nil {
		CloseSocket(conn)
		return
	}
	defer done()
	c := &connection{limits: limits, network: network, close: func(quic.ApplicationErrorCode, string) { CloseSocket(conn) }}
	tcpConns.Store(conn, c)
	limits.add(c, 0) // Caddy's servers have a timeout for the first request
}

// setLimit changes how many connections there may be in all.
func (s *connLimits) setLimit(limit int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = limit
}

// setRequests says how many requests use a connection over TCP, as far as Caddy says: one or none.
func (s *connLimits) setRequests(c *connection, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.requests = n
	s.touch(c)
}

// CloseSocket closes the socket of a connection at once: TLS would wait to say farewell.
func CloseSocket(conn net.Conn) {
	for {
		wrapper, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		conn = wrapper.NetConn()
	}
	_ = conn.Close() // that it is closed already is no error here
}
