package pubsub

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// Connections are admitted while there is room for what they cost, whatever max_connections says: a
// transport that needs no file, or less memory, still is when another one is not.
func TestRoomOfConnections(t *testing.T) {
	socket, session := Cost{Files: 1, Memory: 20}, Cost{Memory: 120}
	inBubble(t, with(func(l *Limits) { l.Room = Cost{Files: 4, Memory: 500} }), func(r *rig) {
		var open []*Session
		admit := func(want error, cost Cost, ip string) {
			t.Helper()
			n := len(open)
			s, err := r.hub.Admit(Identity{
				TokenID: fmt.Sprint(n), ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{},
			}, Client{IP: netip.MustParseAddr(ip), Cost: cost})
			if !errors.Is(err, want) {
				t.Fatalf("connection %d of cost %v: %v, want %v", n+1, cost, err, want)
			}
			if err == nil {
				open = append(open, s)
			}
		}
		for i := range 2 {
			admit(nil, socket, "192.0.2.1")
			admit(nil, socket, fmt.Sprintf("192.0.2.%d", i+2))
		}
		admit(ErrFilesFull, socket, "192.0.2.9")
		admit(ErrFull, socket, "192.0.2.9") // which is what it is to the client
		admit(nil, session, "192.0.2.8")
		admit(nil, session, "192.0.2.9")
		admit(nil, session, "192.0.2.7")
		admit(ErrMemoryFull, session, "192.0.2.6")
		equal(t, "for any", r.hub.Available(), nil)
		equal(t, "for a session", errors.Is(r.hub.AvailableFor(session), ErrMemoryFull), true)
		if _, err := r.hub.AddPending(Client{IP: netip.MustParseAddr("192.0.2.5"), Cost: session}); !errors.Is(err, ErrMemoryFull) {
			t.Errorf("without a token: %v", err)
		}
		equal(t, "used", fmt.Sprint(r.hub.Metrics().Used), "map[connections:7e-05 files:1 memory:0.88]")

		open[0].Detach()
		admit(nil, socket, "192.0.2.9")
		r.hub.SetLimits(with(func(l *Limits) { l.Room = Cost{Files: 2} })) // by a reload
		admit(ErrFilesFull, socket, "192.0.2.5")
		admit(nil, session, "192.0.2.5")
		for _, s := range open[1:] {
			s.Detach()
		}
		equal(t, "taken", r.hub.taken, Cost{})
	})
}

// Nobody takes more than half of the room, but for who may have connections by an option.
func TestRoomIsShared(t *testing.T) {
	cost := Cost{Files: 1, Memory: 100}
	for name, c := range map[string]struct {
		change                  func(*Limits)
		sameToken, sameTenant   bool
		sameAddress, sameIssuer bool
		want                    int
		err                     error
	}{
		"a token":   {nil, true, false, false, false, 5, ErrTokenFull},
		"a tenant":  {nil, false, true, false, false, 5, ErrTenantFull},
		"an issuer": {nil, false, false, false, true, 5, ErrIssuerFull},
		"an address, by memory": {func(l *Limits) { l.Room = Cost{Memory: 650} },
			false, false, true, false, 3, ErrAddressFull},
		"a tenant that owns all":                      {func(l *Limits) { l.MaxConnectionsPerTenant = 100 }, false, true, false, false, 10, ErrFilesFull},
		"without max_connections there are no shares": {func(l *Limits) { l.MaxConnections = 0 }, true, true, true, false, 10, ErrFilesFull},
		"room for one":                                {func(l *Limits) { l.Room = cost }, true, true, true, false, 1, ErrFilesFull},
	} {
		t.Run(name, func(t *testing.T) {
			limits := with(func(l *Limits) { l.Room = Cost{Files: 10, Memory: 1000} })
			if c.change != nil {
				c.change(&limits)
			}
			inBubble(t, limits, func(r *rig) {
				r.hub.SetIssuers(testIssuers{true})
				var open []*Session
				one := func(same bool, i int) string {
					if same {
						return "1"
					}
					return fmt.Sprint(i + 2)
				}
				for i := 0; ; i++ {
					s, err := r.hub.Admit(Identity{
						TokenID: one(c.sameToken, i), ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{},
						Tenants: []string{one(c.sameTenant, i)}, Issuer: one(c.sameIssuer, i),
					}, Client{IP: netip.MustParseAddr("192.0.2." + one(c.sameAddress, i)), Cost: cost})
					if err == nil {
						open = append(open, s)
						continue
					}
					if i != c.want || !errors.Is(err, c.err) {
						t.Errorf("connection %d: %v, want %v for %d", i+1, err, c.err, c.want+1)
					}
					break
				}
				for _, s := range open {
					s.Detach()
				}
			})
		})
	}
}

// Connections that have not shown a token take a quarter of the room at most.
func TestRoomOfPendingConns(t *testing.T) {
	client := Client{Cost: Cost{Memory: 100}}
	inBubble(t, with(func(l *Limits) { l.Room.Memory = 1000 }), func(r *rig) {
		for i := range 2 {
			client.IP = netip.MustParseAddr(fmt.Sprintf("192.0.2.%d", i))
			p, err := r.hub.AddPending(client)
			must(t, err)
			defer p.Release()
		}
		if _, err := r.hub.AddPending(client); !errors.Is(err, ErrTooManyPending) {
			t.Errorf("a third one: %v", err)
		}
	})
}
