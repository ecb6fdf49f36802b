package pubsub

import (
	"errors"
	"net/netip"
	"sync"
)

// Limits of connections that have not authenticated yet (docs/protocol.md,
// WebTransport).
const (
	MaxArrivals      = 1000 // on an edge
	MaxArrivalsPerIP = 16   // from one address; an IPv6 /64 counts as one
)

// Refusals of [Hub.Arrive], beside those of [Hub.Available].
var (
	ErrArrivals      = errors.New("too many connections on this edge have not authenticated yet")
	ErrArrivalsPerIP = errors.New("too many connections from this address have not authenticated yet")
)

// Arrival is a connection that has not authenticated yet.
type Arrival struct {
	hub  *Hub
	ip   netip.Addr
	once sync.Once
}

// Arrive registers a connection from ip that has yet to authenticate. Leave
// must be called once it has, or is gone.
func (h *Hub) Arrive(ip netip.Addr) (*Arrival, error) {
	ip = Network(ip)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.available(); err != nil {
		return nil, err
	}
	switch {
	case h.arrivals[ip] >= MaxArrivalsPerIP:
		return nil, ErrArrivalsPerIP
	case h.arrived >= MaxArrivals:
		return nil, ErrArrivals
	}
	h.arrived++
	h.arrivals[ip]++
	h.wg.Add(1) // taken back by Leave
	return &Arrival{hub: h, ip: ip}, nil
}

// Leave ends the arrival; calls after the first do nothing.
func (a *Arrival) Leave() {
	a.once.Do(func() {
		h := a.hub
		h.mu.Lock()
		defer h.mu.Unlock()
		h.arrived--
		if h.arrivals[a.ip]--; h.arrivals[a.ip] == 0 {
			delete(h.arrivals, a.ip)
		}
		h.wg.Done()
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
