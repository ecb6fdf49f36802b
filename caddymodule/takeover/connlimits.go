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

// Limits of QUIC connections without a WebTransport session. Nobody has shown a token on
// them, each costs about 90 KiB, and the edge's keep-alive packets keep them open. Those
// with a request count as well: the rest of it may never come.
const (
	maxConns           = 4096 // of all ports together, with handshakes under way
	maxConnsPerAddress = 512  // from one IPv4 address or IPv6 /64, loopback aside

	// idleGrace is how long a connection may be idle before a new one of its address may
	// take its place: a client that has just connected sends its request a round trip later.
	idleGrace = 2 * time.Second

	// firstRequestTimeout is how long a client may take from its TLS hello to its first
	// request. quic-go gives it 5 s for the hello.
	firstRequestTimeout = 10 * time.Second
)

// Why the edge closes or refuses such connections; values of a metric's label.
const (
	noRequest   = "no_request" // there was no first request in time
	addressFull = "address"    // its address has too many
	edgeFull    = "edge"       // there are too many in all
)

var errTooManyConns = errors.New("too many connections without a session")

// limits holds for all ports, so that more ports do not mean more connections.
var limits = newConnLimits(maxConns, maxConnsPerAddress, func(reason string) { idleClosed.WithLabelValues(reason).Inc() })

// idleClosed counts for the whole process, across reloads.
var idleClosed = newIdleClosed()

// newIdleClosed makes a counter whose series all start at zero.
func newIdleClosed() *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "millrace_http3_idle_closed_total",
		Help: "HTTP/3 connections without a session that the edge closed or refused, by the reason.",
	}, []string{"reason"})
	for _, reason := range []string{noRequest, addressFull, edgeFull} {
		vec.WithLabelValues(reason)
	}
	return vec
}

// IdleClosed is the metric of connections without a session that were closed or refused, for
// the registry of a configuration.
func IdleClosed() *prometheus.CounterVec { return idleClosed }

// connLimits bounds connections without a session, for each address and in all. An address
// that has too many closes its own that is idle for longest, or, if that is for less than
// idleGrace, gets no new one. When there are too many in all, a new one takes the place of
// one of the address that has most, idle or not, unless its own has as many: so a few
// addresses keep nobody else out.
type connLimits struct {
	count func(reason string) // counts a connection that is closed or refused

	mu                sync.Mutex
	limit, perAddress int // perAddress 0: none
	addresses         map[netip.Addr]*address
	sizes             []*list.List // of *address: those with 1 connection, with 2, …; the last is not empty
	handshakes, conns int          // of all addresses
	opening           int          // addresses that have handshakes
}

// address is what an address has. It is deleted when it has nothing.
type address struct {
	network    netip.Addr
	handshakes int           // attempts to connect, from their first packet on
	conns      list.List     // of *connection, by when their last request began or ended
	inSize     *list.Element // of the list of addresses that have as many
}

func (a *address) count() int { return a.handshakes + a.conns.Len() }

func newConnLimits(limit, perAddress int, count func(reason string)) *connLimits {
	return &connLimits{count: count, limit: limit, perAddress: perAddress, addresses: map[netip.Addr]*address{}}
}

// connecting counts an attempt to connect, until the function that it returns is called.
func (s *connLimits) connecting(network netip.Addr) (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.address(network)
	s.handshake(a, 1)
	end := func() {
		s.handshake(a, -1)
		s.forget(a)
	}
	if reason := s.makeRoom(a); reason != "" {
		end()
		s.count(reason)
		return nil, errTooManyConns
	}
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		end()
	}), nil
}

// crowded reports whether new clients at an address have to prove that it is theirs: those
// who forge addresses can use up a part of the limits only.
func (s *connLimits) crowded(network netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handshakes+s.conns >= s.limit/4 {
		return true
	}
	a := s.addresses[network]
	return a != nil && a.countsAlone() && a.count() >= s.perAddress/4
}

// add registers a connection without a request, for which it gets so much time; 0: any.
func (s *connLimits) add(c *connection, firstRequest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.register(c)
	if firstRequest > 0 {
		c.timer = time.AfterFunc(firstRequest, func() { s.expire(c) })
	}
}

// expire closes a connection that had no first request in time.
func (s *connLimits) expire(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.timer != nil { // else there was one in the last moment
		s.close(c, http3.ErrCodeNoError, noRequest)
	}
}

// remove forgets a connection that has ended.
func (s *connLimits) remove(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(c)
}

// beginRequest says that a request uses a connection.
func (s *connLimits) beginRequest(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.requests++
	c.stopTimer()
	s.touch(c)
}

// endRequest takes beginRequest back.
func (s *connLimits) endRequest(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.requests--
	s.touch(c)
}

// beginSession says that a connection has a session: others count it, by its token.
func (s *connLimits) beginSession(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.sessions++
	s.unregister(c)
}

// endSession takes beginSession back.
func (s *connLimits) endSession(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.sessions--; c.sessions > 0 || c.ended {
		return
	}
	s.register(c)
	if reason := s.exceeded(c.address); reason != "" {
		if oldest := c.address.longIdle(); oldest != nil {
			s.close(oldest, http3.ErrCodeExcessiveLoad, reason)
		}
	}
}

func (s *connLimits) isIdle(c *connection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.requests == 0 && c.sessions == 0
}

// The callers of what follows hold s.mu.

func (s *connLimits) address(network netip.Addr) *address {
	a := s.addresses[network]
	if a == nil {
		a = &address{network: network}
		s.addresses[network] = a
	}
	return a
}

// handshake counts one, or takes that back.
func (s *connLimits) handshake(a *address, n int) {
	if max(a.handshakes, a.handshakes+n) == 1 { // the first or the last
		s.opening += n
	}
	a.handshakes += n
	s.handshakes += n
}

// forget deletes an address that has nothing.
func (s *connLimits) forget(a *address) {
	if a.count() == 0 {
		delete(s.addresses, a.network)
	}
}

func (s *connLimits) register(c *connection) {
	a := s.address(c.network)
	c.address, c.inAddress, c.lastUse = a, a.conns.PushBack(c), time.Now()
	s.conns++
	s.resized(a, a.conns.Len()-1)
}

func (s *connLimits) unregister(c *connection) {
	a := c.address
	if a == nil {
		return
	}
	a.conns.Remove(c.inAddress)
	c.address, c.inAddress = nil, nil
	s.conns--
	s.resized(a, a.conns.Len()+1)
	s.forget(a)
}

// resized sorts in an address that had one connection more or less before.
func (s *connLimits) resized(a *address, before int) {
	if before > 0 {
		s.sizes[before-1].Remove(a.inSize)
	}
	if n := a.conns.Len(); n > 0 {
		if n > len(s.sizes) {
			s.sizes = append(s.sizes, list.New())
		}
		a.inSize = s.sizes[n-1].PushBack(a)
	}
	if last := len(s.sizes) - 1; s.sizes[last].Len() == 0 {
		s.sizes = s.sizes[:last]
	}
}

// touch notes that a connection is in use.
func (s *connLimits) touch(c *connection) {
	if a := c.address; a != nil {
		c.lastUse = time.Now()
		a.conns.MoveToBack(c.inAddress)
		s.sizes[a.conns.Len()-1].MoveToBack(a.inSize)
	}
}

// makeRoom closes connections until there is room for the newest handshake of an address, or
// says which limit leaves none.
func (s *connLimits) makeRoom(a *address) string {
	// Handshakes cannot be closed. So they have half of the limit, a half of that for the
	// first ones of addresses: who has many takes no place of these.
	count := s.opening
	if a.handshakes > 1 {
		count = s.handshakes - s.opening
	}
	if count > s.limit/4 {
		return edgeFull
	}
	for {
		reason := s.exceeded(a)
		if reason == "" {
			return ""
		}
		c := a.longIdle()
		if reason == edgeFull && len(s.sizes) >= a.count() { // the new one counts in a alone
			c = s.ofLargest()
		}
		if c == nil {
			return reason
		}
		s.close(c, http3.ErrCodeExcessiveLoad, reason)
	}
}

// exceeded says which limit an address exceeds; empty: none.
func (s *connLimits) exceeded(a *address) string {
	switch {
	case s.perAddress > 0 && a.countsAlone() && a.count() > s.perAddress:
		return addressFull
	case s.handshakes+s.conns > s.limit:
		return edgeFull
	}
	return ""
}

// ofLargest returns the connection that was not used for longest, of the addresses that have
// most: an idle one or, failing that, one with a request.
func (s *connLimits) ofLargest() *connection {
	largest := s.sizes[len(s.sizes)-1]
	for e := largest.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*address).idle(); c != nil {
			return c
		}
	}
	return largest.Front().Value.(*address).conns.Front().Value.(*connection)
}

// idle returns the connection that is idle for longest; nil: none is.
func (a *address) idle() *connection {
	for e := a.conns.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*connection); c.requests == 0 {
			return c
		}
	}
	return nil
}

// longIdle returns that connection if it is idle for long enough.
func (a *address) longIdle() *connection {
	if c := a.idle(); c != nil && time.Since(c.lastUse) >= idleGrace {
		return c
	}
	return nil
}

// countsAlone reports whether the limits for addresses concern an address: everything on
// this machine shares loopback.
func (a *address) countsAlone() bool {
	return a.network.IsValid() && !a.network.IsLoopback()
}

func (s *connLimits) close(c *connection, code http3.ErrCode, reason string) {
	s.end(c)
	c.close(quic.ApplicationErrorCode(code), reason)
	s.count(reason)
}

func (s *connLimits) end(c *connection) {
	c.ended = true
	c.stopTimer()
	s.unregister(c)
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

// admit is notified of each attempt to connect, and refuses those above the limits.
func (s *connLimits) admit(ctx context.Context, client *quic.ClientInfo) (context.Context, error) {
	done, err := s.connecting(networkOf(client.RemoteAddr))
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, done) // where it fails
	return context.WithValue(ctx, connectingKey{}, done), nil
}

// connected registers a connection that was accepted.
func (s *connLimits) connected(c *connection) {
	s.add(c, firstRequestTimeout)
	if done, ok := c.Context().Value(connectingKey{}).(func()); ok {
		done()
	}
}
