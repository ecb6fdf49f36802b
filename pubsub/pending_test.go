package pubsub

import (
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

func TestPendingConnsAreLimited(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		add := func(ip netip.Addr, want error) *PendingConn {
			t.Helper()
			p, err := r.hub.AddPending(Client{IP: ip})
			if !errors.Is(err, want) {
				t.Fatalf("%v: got %v, want %v", ip, err, want)
			}
			return p
		}
		var all []*PendingConn
		first := netip.MustParseAddr("2001:db8::1")
		for range MaxPendingPerIP {
			all = append(all, add(first, nil))
		}
		add(netip.MustParseAddr("2001:db8::2"), ErrTooManyPendingPerIP) // the same network
		all[0].Release()
		all[0].Release() // changes nothing
		all[0] = add(first, nil)
		add(first, ErrTooManyPendingPerIP)

		// Addresses that are not known, or many clients', are nobody's.
		for range 2 * MaxPendingPerIP {
			for _, many := range []Client{{}, {IP: netip.MustParseAddr("10.1.0.1"), SharedIP: true}} {
				p, err := r.hub.AddPending(many)
				must(t, err)
				all = append(all, p)
			}
		}

		ip := netip.MustParseAddr("10.0.0.0")
		for len(all) < MaxPending {
			ip = ip.Next()
			all = append(all, add(ip, nil))
		}
		add(ip.Next(), ErrTooManyPending)
		add(first, ErrTooManyPendingPerIP)
		for _, p := range all {
			p.Release()
		}
		equal(t, "addresses are remembered", len(r.hub.unauthenticated.byIP), 0)
	})
}

func TestPendingConnsWhileTheEdgeIsFullOrDrains(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.MaxConnections = 1 }), func(r *rig) {
		ip := netip.MustParseAddr("10.0.0.1")
		early, err := r.hub.AddPending(Client{IP: ip})
		must(t, err)
		r.connect("s")
		if _, err := r.hub.AddPending(Client{IP: ip}); !errors.Is(err, ErrFull) {
			t.Errorf("full: %v", err)
		}
		select {
		case <-early.Draining():
			t.Error("the hub does not drain yet")
		default:
		}
		r.hub.Drain()
		<-early.Draining()
		if _, err := r.hub.AddPending(Client{IP: ip}); !errors.Is(err, ErrDraining) {
			t.Errorf("draining: %v", err)
		}
		closed := make(chan error)
		go func() { closed <- r.hub.Close() }()
		time.Sleep(time.Hour)
		select {
		case err := <-closed:
			t.Errorf("the hub closed before an arrival left: %v", err)
		default:
		}
		early.Release()
		must(t, <-closed)
	})
}

func TestDrainListener(t *testing.T) {
	limits := fastLimits()
	limits.MaxConnectionsPerToken = 1
	inBubble(t, limits, func(r *rig) {
		c, other := r.connectStreams("c"), r.connect("o")
		if gone := r.hub.DrainListener("another port"); !closed(gone) {
			t.Error("a listener without sessions is still drained")
		}
		gone := r.hub.DrainListener("port")
		c.expect("RECONNECT")
		other.expect()
		late := r.connectStreams("late")
		again := r.connectStreams("c") // its client moves, within max_connections_per_token
		if _, err := r.admit("c"); !errors.Is(err, ErrTokenFull) {
			t.Errorf("one connection too many: %v", err)
		}
		time.Sleep(r.hub.limits.Load().Drain)
		c.expectClose(wire.CloseGoingAway)
		again.expect()
		synctest.Wait()
		if !closed(gone) {
			t.Error("the drain does not end with the last session")
		}
		late.expect()
		other.expect()
		equal(t, "Available", r.hub.Available(), nil)
	})
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
