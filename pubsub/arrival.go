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
	MaxArrivals      = 1000 // on an edge
	MaxArrivalsPerIP = 16   // from one address, unless many are behind it; an IPv6 /64 counts as one

	MaxHandshakes        = 1000              // on an edge
	MaxHandshakesPerIP   = MaxHandshakes / 2 // from one address with those that wait, unless many are behind it
	MaxHandshakesWaiting = 4000              // on an edge, for one of those under way to end
	HandshakeWait        = 5 * time.Second   // the longest
)

// Refusals of [Hub.Arrive] and [Hub.Handshake], beside those of [Hub.Available].
var (
	ErrArrivals      = errors.New("too many connections on this edge have not authenticated yet")
	ErrArrivalsPerIP = errors.New("too many connections from this address have not authenticated yet")
)

// Arrival is a connection that has not authenticated yet.
type Arrival struct {
	hub  *Hub
	to   *arrivals
	ip   netip.Addr
	once sync.Once
}

// arrivals are the connections of one kind that have not authenticated yet. Guarded
// by the hub's mutex.
type arrivals struct {
	n       int
	byIP    map[netip.Addr]int // networks; with those that wait
	waiting list.List          // of chan struct{}, which is closed when there is room
}

// Arrive registers a connection that has yet to authenticate. Leave must be called
// once it has, or is gone.
func (h *Hub) Arrive(client Client) (*Arrival, error) {
	// Loopback counts here, too: who has no token is nobody's.
	perIP := MaxArrivalsPerIP
	if !client.IP.IsValid() || client.SharedIP {
		perIP = MaxArrivals
	}
	return h.arrive(&h.arrivals, Network(client.IP), perIP, MaxArrivals)
}

// Handshake registers a handshake with a token that is to be checked. Leave must be
// called once the client has its session, or is refused. Nobody counts for the token
// before it is checked: who makes up its id would take another one's share.
//
// It waits for room, in the order of the calls, until ctx is done, the hub drains, or for
// [HandshakeWait]: when another edge has died its clients come all at once.
func (h *Hub) Handshake(ctx context.Context, client Client) (*Arrival, error) {
	ip, counts := client.network()
	perIP := MaxHandshakesPerIP
	if !counts {
		perIP = MaxHandshakes
	}
	to := &h.handshakes
	var room chan struct{}
	var place *list.Element
	h.mu.Lock()
	a, err := h.arriveLocked(to, ip, perIP, MaxHandshakes)
	if errors.Is(err, ErrArrivals) && to.waiting.Len() < MaxHandshakesWaiting {
		room = make(chan struct{})
		place = to.waiting.PushBack(room)
		a = h.newArrival(to, ip)
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
	a.forget()
	if gone := ctx.Err(); gone != nil {
		return nil, gone
	}
	if unavailable := h.available(); unavailable != nil {
		return nil, unavailable
	}
	return nil, err
}

func (h *Hub) arrive(to *arrivals, ip netip.Addr, perIP, most int) (*Arrival, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.arriveLocked(to, ip, perIP, most)
}

// The caller of arriveLocked, newArrival and forget holds h.mu.
func (h *Hub) arriveLocked(to *arrivals, ip netip.Addr, perIP, most int) (*Arrival, error) {
	if err := h.available(); err != nil {
		return nil, err
	}
	switch {
	case to.byIP[ip] >= perIP && perIP < most:
		return nil, ErrArrivalsPerIP
	case to.n >= most:
		return nil, ErrArrivals
	}
	to.n++
	return h.newArrival(to, ip), nil
}

// newArrival counts an arrival for its address, and for Close, which waits for all.
func (h *Hub) newArrival(to *arrivals, ip netip.Addr) *Arrival {
	if to.byIP == nil {
		to.byIP = map[netip.Addr]int{}
	}
	to.byIP[ip]++
	h.wg.Add(1)
	return &Arrival{hub: h, to: to, ip: ip}
}

// forget takes newArrival back.
func (a *Arrival) forget() {
	if a.to.byIP[a.ip]--; a.to.byIP[a.ip] == 0 {
		delete(a.to.byIP, a.ip)
	}
	a.hub.wg.Done()
}

// Leave ends the arrival; calls after the first do nothing. Who waits longest takes its
// place.
func (a *Arrival) Leave() {
	a.once.Do(func() {
		a.hub.mu.Lock()
		defer a.hub.mu.Unlock()
		if first := a.to.waiting.Front(); first != nil {
			close(a.to.waiting.Remove(first).(chan struct{}))
		} else {
			a.to.n--
		}
		a.forget()
	})
}

// Draining is closed when the hub drains: an arrival has nothing to wait for
// any longer.
func (a *Arrival) Draining() <-chan struct{} { return a.hub.quit }

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
