package pubsub

import (
	"container/list"
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"
)

// Limits of connections that have not authenticated yet, and have no token to do it
// (docs/protocol.md, WebTransport), and of handshakes that have one.
const (
	MaxPending      = 1000 // on an edge
	MaxPendingPerIP = 16   // from one address, unless many are behind it; an IPv6 /64 counts as one

	MaxHandshakes        = 1000              // on an edge
	MaxHandshakesPerIP   = MaxHandshakes / 2 // from one address with those that wait, unless many are behind it
	MaxHandshakesWaiting = 4000              // on an edge, for one of those under way to end
	HandshakeWait        = 5 * time.Second   // the longest
)

// Refusals of [Hub.Arrive] and [Hub.Handshake], beside those of [Hub.Available].
var (
	ErrTooManyPending      = errors.New("too many connections on this edge have not authenticated yet")
	ErrTooManyPendingPerIP = errors.New("too many connections from this address have not authenticated yet")
)

// PendingConn is a connection that has not authenticated yet.
type PendingConn struct {
	hub  *Hub
	set  *pendingConns
	ip   netip.Addr
	once sync.Once
}

// pendingConns are the connections of one kind that have not authenticated yet. Guarded
// by the hub's mutex.
type pendingConns struct {
	n       int
	byIP    map[netip.Addr]int // networks; with those that wait
	waiting list.List          // of chan struct{}, which is closed when there is room
}

// AddPending registers a connection that has yet to authenticate. Leave must be called
// once it has, or is gone.
func (h *Hub) AddPending(client Client) (*PendingConn, error) {
	// Loopback counts here, too: who has no token is nobody's.
	perIP := MaxPendingPerIP
	if !client.IP.IsValid() || client.SharedIP {
		perIP = MaxPending
	}
	return h.addPending(&h.unauthenticated, Network(client.IP), perIP, MaxPending)
}

// AddHandshake registers a handshake with a token that is to be checked. Leave must be
// called once the client has its session, or is refused. Nobody counts for the token
// before it is checked: who makes up its id would take another one's share.
//
// It waits for room, in the order of the calls, until ctx is done, the hub drains, or for
// [HandshakeWait]: when another edge has died its clients come all at once.
func (h *Hub) AddHandshake(ctx context.Context, client Client) (*PendingConn, error) {
	ip, counts := client.network()
	perIP := MaxHandshakesPerIP
	if !counts {
		perIP = MaxHandshakes
	}
	to := &h.handshakes
	var room chan struct{}
	var place *list.Element
	h.mu.Lock()
	a, err := h.addPendingLocked(to, ip, perIP, MaxHandshakes)
	if errors.Is(err, ErrTooManyPending) && to.waiting.Len() < MaxHandshakesWaiting {
		room = make(chan struct{})
		place = to.waiting.PushBack(room)
		a = h.newPending(to, ip)
	}
	h.mu.Unlock()
	if room == nil {
		return a, err
	}
	timer := time.NewTimer(HandshakeWait)
	defer timer.Stop()
	select {
	case <-room:
		return a, nil
	case <-timer.C:
	case <-ctx.Done():
	case <-h.quit:
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-room: // meanwhile
		return a, nil
	default:
	}
	to.waiting.Remove(place)
	a.uncount()
	if gone := ctx.Err(); gone != nil {
		return nil, gone
	}
	if unavailable := h.available(); unavailable != nil {
		return nil, unavailable
	}
	return nil, err
}

func (h *Hub) addPending(to *pendingConns, ip netip.Addr, perIP, most int) (*PendingConn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.addPendingLocked(to, ip, perIP, most)
}

// The caller of arriveLocked, newArrival and forget holds h.mu.
func (h *Hub) addPendingLocked(to *pendingConns, ip netip.Addr, perIP, most int) (*PendingConn, error) {
	if err := h.available(); err != nil {
		return nil, err
	}
	switch {
	case to.byIP[ip] >= perIP && perIP < most:
		return nil, ErrTooManyPendingPerIP
	case to.n >= most:
		return nil, ErrTooManyPending
	}
	to.n++
	return h.newPending(to, ip), nil
}

// newPending counts an arrival for its address, and for Close, which waits for all.
func (h *Hub) newPending(to *pendingConns, ip netip.Addr) *PendingConn {
	if to.byIP == nil {
		to.byIP = map[netip.Addr]int{}
	}
	to.byIP[ip]++
	h.wg.Add(1)
	return &PendingConn{hub: h, set: to, ip: ip}
}

// uncount takes newArrival back.
func (a *PendingConn) uncount() {
	if a.set.byIP[a.ip]--; a.set.byIP[a.ip] == 0 {
		delete(a.set.byIP, a.ip)
	}
	a.hub.wg.Done()
}

// Release ends the arrival; calls after the first do nothing. Who waits longest takes its
// place.
func (a *PendingConn) Release() {
	a.once.Do(func() {
		a.hub.mu.Lock()
		defer a.hub.mu.Unlock()
		if first := a.set.waiting.Front(); first != nil {
			close(a.set.waiting.Remove(first).(chan struct{}))
		} else {
			a.set.n--
		}
		a.uncount()
	})
}

// Draining is closed when the hub drains: an arrival has nothing to wait for
// any longer.
func (a *PendingConn) Draining() <-chan struct{} { return a.hub.quit }

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
