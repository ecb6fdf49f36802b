package takeover

import (
	"container/list"
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/millrace/millrace/pubsub"
)

// Limits of idle QUIC connections: those that no request and no session uses. Nobody has
// shown a token on them, each costs about 90 KiB, and the edge's keep-alive packets keep
// them open.
const (
	maxIdle           = 4096 // of all ports together, with handshakes under way
	maxIdlePerAddress = 512  // from one IPv4 address or IPv6 /64, loopback aside

	// idleGrace is how long a connection may be idle before a new one may take its place:
	// a client that has just connected sends its request a round trip later.
	idleGrace = 2 * time.Second
)

// firstRequestTimeout is how long a client may take from its TLS hello to its first
// request. quic-go gives it 5 s for the hello. Changed by tests only.
var firstRequestTimeout = 10 * time.Second

// Why the edge closes or refuses such connections; values of a metric's label.
const (
	noRequest   = "no_request"   // there was no first request in time
	idleTimeout = "idle_timeout" // there was none for Caddy's idle_timeout
	addressFull = "address"      // its address has too many
	edgeFull    = "edge"         // there are too many in all
)

var errTooManyIdle = errors.New("too many idle connections")

// idle has those of all ports, so that more ports do not mean more connections.
var idle = newIdleConns(maxIdle, maxIdlePerAddress)

// idleClosed counts for the whole process: it goes on over a reload.
var idleClosed = newIdleClosed()

// newIdleClosed makes a counter whose series all start at zero.
func newIdleClosed() *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "millrace_http3_idle_closed_total",
		Help: "HTTP/3 connections without a request or session that the edge closed or refused, by the reason.",
	}, []string{"reason"})
	for _, reason := range []string{noRequest, idleTimeout, addressFull, edgeFull} {
		vec.WithLabelValues(reason)
	}
	return vec
}

// IdleClosed is the metric of idle connections that were closed or refused, for the registry
// of a configuration.
func IdleClosed() *prometheus.CounterVec { return idleClosed }

// idleConns bounds idle connections, for each address and in all. When there are too
// many, the one that is idle for longest is closed, or, if that is for less than
// idleGrace, the new one is refused.
type idleConns struct {
	limit, perAddress int

	mu         sync.Mutex
	oldest     list.List // of *connection, by the begin of their idleness
	addresses  map[netip.Addr]*idleAddress
	handshakes int
}

// idleAddress is what an address has. It is deleted when it has nothing.
type idleAddress struct {
	handshakes int       // attempts to connect, from their first packet on
	oldest     list.List // of *connection
}

func (a *idleAddress) count() int { return a.handshakes + a.oldest.Len() }

func newIdleConns(limit, perAddress int) *idleConns {
	return &idleConns{limit: limit, perAddress: perAddress, addresses: map[netip.Addr]*idleAddress{}}
}

// connecting counts an attempt to connect, until the function that it returns is called.
func (s *idleConns) connecting(network netip.Addr) (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.address(network)
	a.handshakes++ // before trim, which may close the last connection of this address and forget it
	s.handshakes++
	end := func() {
		a.handshakes--
		s.handshakes--
		s.forget(network, a)
	}
	s.trim(network, a)
	if reason := s.overLimit(network, a); reason != "" {
		end()
		idleClosed.WithLabelValues(reason).Inc()
		return nil, errTooManyIdle
	}
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		end()
	}), nil
}

// crowded reports whether new clients at an address have to prove that it is theirs: those
// who forge addresses can use up a part of the limits only.
func (s *idleConns) crowded(network netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handshakes+s.oldest.Len() >= s.limit/4 {
		return true
	}
	a := s.addresses[network]
	return a != nil && s.countsAlone(network) && a.count() >= s.perAddress/4
}

// add registers a connection without a request.
func (s *idleConns) add(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.enqueue(c, firstRequestTimeout)
}

// remove forgets a connection that has ended.
func (s *idleConns) remove(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ended = true
	s.dequeue(c)
}

// begin says that a request or a session uses a connection.
func (s *idleConns) begin(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.uses++
	c.requested = true
	s.dequeue(c)
}

// end takes begin back.
func (s *idleConns) end(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.uses--; c.uses == 0 && !c.ended {
		s.enqueue(c, c.idleTimeout)
		s.trim(c.network, s.addresses[c.network])
	}
}

func (s *idleConns) isIdle(c *connection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.uses == 0
}

// The callers of what follows hold s.mu.

func (s *idleConns) address(network netip.Addr) *idleAddress {
	a := s.addresses[network]
	if a == nil {
		a = new(idleAddress)
		s.addresses[network] = a
	}
	return a
}

// forget deletes an address that has nothing.
func (s *idleConns) forget(network netip.Addr, a *idleAddress) {
	if a.count() == 0 {
		delete(s.addresses, network)
	}
}

func (s *idleConns) enqueue(c *connection, timeout time.Duration) {
	c.idleSince = time.Now()
	c.inAll = s.oldest.PushBack(c)
	c.inAddress = s.address(c.network).oldest.PushBack(c)
	if timeout > 0 {
		c.timer = time.AfterFunc(timeout, func() { s.expire(c, timeout) })
	}
}

func (s *idleConns) dequeue(c *connection) {
	if c.inAll == nil {
		return
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	a := s.addresses[c.network]
	s.oldest.Remove(c.inAll)
	a.oldest.Remove(c.inAddress)
	c.inAll, c.inAddress, c.timer = nil, nil, nil
	s.forget(c.network, a)
}

// expire closes a connection that has been idle for timeout.
func (s *idleConns) expire(c *connection, timeout time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.inAll == nil || time.Since(c.idleSince) < timeout { // it was used meanwhile
		return
	}
	reason := idleTimeout
	if !c.requested {
		reason = noRequest
	}
	s.close(c, http3.ErrCodeNoError, reason)
}

// trim closes what is idle for longest until no limit is exceeded, and spares those that are
// not idle for long.
func (s *idleConns) trim(network netip.Addr, a *idleAddress) {
	for {
		reason := s.overLimit(network, a)
		first := s.oldest.Front()
		if reason == addressFull {
			first = a.oldest.Front()
		}
		if reason == "" || first == nil {
			return
		}
		c := first.Value.(*connection)
		if time.Since(c.idleSince) < idleGrace {
			return
		}
		s.close(c, http3.ErrCodeExcessiveLoad, reason)
	}
}

// overLimit says which limit an address exceeds; empty: none.
func (s *idleConns) overLimit(network netip.Addr, a *idleAddress) string {
	switch {
	case s.countsAlone(network) && a.count() > s.perAddress:
		return addressFull
	case s.handshakes+s.oldest.Len() > s.limit:
		return edgeFull
	}
	return ""
}

// countsAlone reports whether the limit for addresses concerns an address: everything on
// this machine shares loopback.
func (s *idleConns) countsAlone(network netip.Addr) bool {
	return network.IsValid() && !network.IsLoopback()
}

func (s *idleConns) close(c *connection, code http3.ErrCode, reason string) {
	s.dequeue(c)
	c.close(quic.ApplicationErrorCode(code), reason)
	idleClosed.WithLabelValues(reason).Inc()
}

// networkOf is what the limits per address count.
func networkOf(address net.Addr) netip.Addr {
	from, err := netip.ParseAddrPort(address.String())
	if err != nil {
		return netip.Addr{}
	}
	return pubsub.Network(from.Addr().Unmap().WithZone(""))
}

// connectingKey finds, in the context of a QUIC connection, the function that ends its
// count as an attempt to connect.
type connectingKey struct{}

// admit is told of each attempt to connect, and refuses those above the limits.
func (s *idleConns) admit(ctx context.Context, client *quic.ClientInfo) (context.Context, error) {
	done, err := s.connecting(networkOf(client.RemoteAddr))
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, done) // where it fails
	return context.WithValue(ctx, connectingKey{}, done), nil
}

// connected registers a connection that was accepted.
func (s *idleConns) connected(c *connection) {
	s.add(c)
	if done, ok := c.Context().Value(connectingKey{}).(func()); ok {
		done()
	}
}
