package pubsub

import (
	"errors"
	"net/netip"
	"sync"
)

// Limits of connections that have not authenticated yet, and have no token to do it
// (docs/protocol.md, WebTransport), and of handshakes that have one.
const (
	MaxArrivals      = 1000 // on an edge
	MaxArrivalsPerIP = 16   // from one address, unless many are behind it; an IPv6 /64 counts as one

	MaxHandshakes      = 1000              // on an edge
	MaxHandshakesPerIP = MaxHandshakes / 2 // from one address, unless many are behind it
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
	n    int
	byIP map[netip.Addr]int // networks
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
func (h *Hub) Handshake(client Client) (*Arrival, error) {
	ip, counts := client.network()
	perIP := MaxHandshakesPerIP
	if !counts {
		perIP = MaxHandshakes
	}
	return h.arrive(&h.handshakes, ip, perIP, MaxHandshakes)
}

func (h *Hub) arrive(to *arrivals, ip netip.Addr, perIP, most int) (*Arrival, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.available(); err != nil {
		return nil, err
	}
	switch {
	case to.byIP[ip] >= perIP && perIP < most:
		return nil, ErrArrivalsPerIP
	case to.n >= most:
		return nil, ErrArrivals
	}
	if to.byIP == nil {
		to.byIP = map[netip.Addr]int{}
	}
	to.n++
	to.byIP[ip]++
	h.wg.Add(1) // taken back by Leave
	return &Arrival{hub: h, to: to, ip: ip}, nil
}

// Leave ends the arrival; calls after the first do nothing.
func (a *Arrival) Leave() {
	a.once.Do(func() {
		a.hub.mu.Lock()
		defer a.hub.mu.Unlock()
		a.to.n--
		if a.to.byIP[a.ip]--; a.to.byIP[a.ip] == 0 {
			delete(a.to.byIP, a.ip)
		}
		a.hub.wg.Done()
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
