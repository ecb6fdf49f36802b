package pubsub

import (
	"container/list"
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"
)

// Limits of connections that came without a token and have not authenticated yet
// (docs/protocol.md, WebTransport), and of handshakes that came with one.
const (
	MaxPending      = 1000 // on an edge
	MaxPendingPerIP = 16   // from one address, unless many are behind it; an IPv6 /64 counts as one

	MaxHandshakes        = 1000              // on an edge
	MaxHandshakesPerIP   = MaxHandshakes / 2 // from one address with those that wait, unless many are behind it
	MaxHandshakesWaiting = 4000              // on an edge, until one of those under way ends
	HandshakeWait        = 5 * time.Second   // how long they wait at most
)

// Refusals of [Hub.AddPending] and [Hub.AddHandshake], beside those of [Hub.Available].
var (
	ErrTooManyPending      = errors.New("too many connections on this edge have not authenticated yet")
	ErrTooManyPendingPerIP = errors.New("too many connections from this address have not authenticated yet")
)

// PendingConn is a connection that has not authenticated yet, or whose token is being
// checked.
type PendingConn struct {
	hub  *Hub
	set  *pendingConns
	ip   netip.Addr
	quit <-chan struct{} // the hub's when it began
	once sync.Once

	token *tokenState // for which Admitted has counted it; nil: for none
}

// pendingConns are the pending connections of one kind. Guarded by the hub's mutex.
type pendingConns struct {
	n       int
	byIP    map[netip.Addr]int // networks; with those that wait
	waiting list.List          // of chan struct{}, which is closed when there is room
}

// AddPending registers a connection that has yet to authenticate. Release must be called
// once it has, or is closed.
func (h *Hub) AddPending(client Client) (*PendingConn, error) {
	// Loopback counts here, too: without a token, nothing tells its clients apart.
	perIP := MaxPendingPerIP
	if !client.IP.IsValid() || client.SharedIP {
		perIP = MaxPending
	}
	limit := MaxPending
	if room := h.limits.Load().Room.Memory; room > 0 && client.Cost.Memory > 0 {
		// Nobody has shown a token for what these take: so they get a quarter of the room, on top of it.
		limit = min(limit, max(1, room/4/client.Cost.Memory))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.addPendingLocked(&h.unauthenticated, Network(client.IP), min(perIP, limit), limit, client.Cost)
}

// AddHandshake registers a handshake with a token that must be checked. Release must be
// called once the client has its session, or is refused. The handshake does not count for
// the token before that is checked: otherwise a client that makes up an id would use the
// share of another token.
//
// It waits for room, in the order of the calls, until ctx is done, the hub drains, or
// [HandshakeWait] has passed: when another edge has died, its clients come all at once.
func (h *Hub) AddHandshake(ctx context.Context, client Client) (*PendingConn, error) {
	ip, counts := client.network()
	perIP := MaxHandshakesPerIP
	if !counts {
		perIP = MaxHandshakes
	}
	set := &h.handshakes
	var admitted chan struct{}
	var element *list.Element
	h.mu.Lock()
	p, err := h.addPendingLocked(set, ip, perIP, MaxHandshakes, client.Cost)
	if errors.Is(err, ErrTooManyPending) && set.waiting.Len() < MaxHandshakesWaiting {
		admitted = make(chan struct{})
		element = set.waiting.PushBack(admitted)
		p = h.newPending(set, ip)
	}
	h.mu.Unlock()
	if admitted == nil {
		return p, err
	}
	timer := time.NewTimer(HandshakeWait)
	defer timer.Stop()
	select {
	case <-admitted:
		return p, nil
	case <-timer.C:
	case <-ctx.Done():
	case <-p.quit:
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-admitted: // meanwhile
		return p, nil
	default:
	}
	set.waiting.Remove(element)
	p.uncount()
	if gone := ctx.Err(); gone != nil {
		return nil, gone
	}
	if unavailable := h.available(client.Cost); unavailable != nil {
		return nil, unavailable
	}
	return nil, err
}

// The caller of addPendingLocked, newPending and uncount holds h.mu.
func (h *Hub) addPendingLocked(set *pendingConns, ip netip.Addr, perIP, limit int, cost Cost) (*PendingConn, error) {
	if err := h.available(cost); err != nil {
		return nil, err
	}
	switch {
	case set.byIP[ip] >= perIP && perIP < limit:
		return nil, ErrTooManyPendingPerIP
	case set.n >= limit:
		return nil, ErrTooManyPending
	}
	set.n++
	return h.newPending(set, ip), nil
}

// newPending counts a connection for its address, and for Close, which waits for all.
func (h *Hub) newPending(set *pendingConns, ip netip.Addr) *PendingConn {
	if set.byIP == nil {
		set.byIP = map[netip.Addr]int{}
	}
	set.byIP[ip]++
	h.wg.Add(1)
	return &PendingConn{hub: h, set: set, ip: ip, quit: h.quit}
}

// uncount takes newPending back.
func (p *PendingConn) uncount() {
	if p.set.byIP[p.ip]--; p.set.byIP[p.ip] == 0 {
		delete(p.set.byIP, p.ip)
	}
	p.hub.wg.Done()
}

// Release says that the connection is not pending any more; calls after the first do
// nothing. The handshake that waits longest takes its place.
func (p *PendingConn) Release() {
	p.once.Do(func() {
		p.hub.mu.Lock()
		defer p.hub.mu.Unlock()
		if p.token != nil {
			p.hub.takeShare(p.token, dividedAdmitted, -1, 0)
		}
		if first := p.set.waiting.Front(); first != nil {
			close(p.set.waiting.Remove(first).(chan struct{}))
		} else {
			p.set.n--
		}
		p.uncount()
	})
}

// Admitted says which session the connection has got, before hooks are asked about it, which may
// take seconds. If the token already has more such connections than there is room for others, this
// one is released: otherwise the clients of one token would take the places of all who have yet to
// show theirs. It is called before Release, by the same goroutine.
func (p *PendingConn) Admitted(s *Session) {
	if p.hub.takeShare(s.token, dividedAdmitted, 1, MaxHandshakes) {
		p.token = s.token
		return
	}
	p.Release()
}

// Draining is closed when the hub drains: there is nothing left to authenticate for.
func (p *PendingConn) Draining() <-chan struct{} { return p.quit }

// Network is what a limit per address counts: an IPv6 client has a whole /64 to
// itself.
func Network(ip netip.Addr) netip.Addr {
	if ip.Is6() {
		if prefix, err := ip.Prefix(64); err == nil {
			return prefix.Addr()
		}
	}
	return ip
}
