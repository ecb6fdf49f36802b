package pubsub

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/wire"
)

// discard is a transport that is always ready.
type discard struct{}

func (discard) Write([]Outgoing) error             { return nil }
func (discard) Close(wire.CloseCode, string) error { return nil }
func (discard) Abort()                             {}

// discardNow is one that can be written without waiting, too.
type discardNow struct{ discard }

func (discardNow) TryWrite([]Outgoing) (bool, error) { return true, nil }

// admitFor admits a session for the tests of what operators see.
func admitFor(t testing.TB, h *Hub, id Identity, c Client) *Session {
	t.Helper()
	id.Version, id.ExpiresAt, id.Rights = 1, time.Now().Add(time.Hour), allRights{}
	s, err := h.Admit(id, c)
	must(t, err)
	s.Attach(discardNow{})
	return s
}

// emptied closes a hub after its sessions.
func emptied(t testing.TB, h *Hub, sessions []*Session) {
	for _, s := range sessions {
		s.Detach()
	}
	must(t, h.Close())
}

func ids(stats []Stat) (ids []uint64) {
	for _, s := range stats {
		ids = append(ids, s.ID)
	}
	return ids
}

func TestConnectionFilters(t *testing.T) {
	h := NewHub(new(localBroker), fastLimits(), zap.NewNop())
	many := make([]string, MaxTenantsCounted+1)
	for i := range many {
		many[i] = fmt.Sprintf("many.%d", i)
	}
	var sessions []*Session
	for _, c := range []struct {
		token, ip, transport, subscribe string
		tenants                         []string
	}{
		1: {"a", "192.0.2.1", "websocket", "SUB:room:x", []string{"room"}},
		2: {"a", "192.0.2.2", "webtransport", "", []string{"room"}},
		3: {"b", "::ffff:192.0.2.3", "websocket", "SUB:room:x", nil},
		4: {"c", "2001:db8::4%eth0", "websocket", "SUB:other:x", []string{"shop"}},
		5: {"d", "", "websocket", "", many},
	}[1:] {
		client := Client{Transport: c.transport}
		if c.ip != "" {
			client.IP = netip.MustParseAddr(c.ip)
		}
		s := admitFor(t, h, Identity{TokenID: c.token, Subject: "user-" + c.token, Info: json.RawMessage(`{"a":1}`), Tenants: c.tenants}, client)
		if c.subscribe != "" {
			s.HandleLine([]byte(c.subscribe))
		}
		sessions = append(sessions, s)
	}
	for name, c := range map[string]struct {
		filter ConnectionFilter
		want   []uint64
	}{
		"all":                          {ConnectionFilter{}, []uint64{1, 2, 3, 4, 5}},
		"token":                        {ConnectionFilter{TokenID: "a"}, []uint64{1, 2}},
		"unknown token":                {ConnectionFilter{TokenID: "x"}, nil},
		"subject":                      {ConnectionFilter{Subject: "user-a"}, []uint64{1, 2}},
		"unknown subject":              {ConnectionFilter{Subject: "user-"}, nil},
		"subject and another's token":  {ConnectionFilter{Subject: "user-a", TokenID: "b"}, nil},
		"tenant, named and subscribed": {ConnectionFilter{Tenant: "room"}, []uint64{1, 2, 3}},
		"tenant, named":                {ConnectionFilter{Tenant: "shop"}, []uint64{4}},
		"tenant, subscribed":           {ConnectionFilter{Tenant: "other"}, []uint64{4}},
		"the last tenant of a token":   {ConnectionFilter{Tenant: many[MaxTenantsCounted-1]}, []uint64{5}},
		"one tenant too many":          {ConnectionFilter{Tenant: many[MaxTenantsCounted]}, nil},
		"unknown tenant":               {ConnectionFilter{Tenant: "roo"}, nil},
		"address":                      {ConnectionFilter{Network: netip.MustParsePrefix("192.0.2.3/32")}, []uint64{3}},
		"network":                      {ConnectionFilter{Network: netip.MustParsePrefix("192.0.2.0/24")}, []uint64{1, 2, 3}},
		"network of IPv4 as IPv6":      {ConnectionFilter{Network: netip.MustParsePrefix("::ffff:192.0.2.2/127")}, []uint64{2, 3}},
		"network of IPv6":              {ConnectionFilter{Network: netip.MustParsePrefix("2001:db8::/32")}, []uint64{4}},
		"transport":                    {ConnectionFilter{Transport: "webtransport"}, []uint64{2}},
		"all of these": {
			ConnectionFilter{TokenID: "a", Tenant: "room", Network: netip.MustParsePrefix("192.0.2.0/24"), Transport: "websocket"}, []uint64{1},
		},
		"token and another's tenant": {ConnectionFilter{TokenID: "b", Tenant: "shop"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			page := h.Connections(c.filter, 0, 10)
			if got := ids(page.Connections); !slices.Equal(got, c.want) || page.Matching != len(c.want) || page.Total != 5 || page.Next != 0 {
				t.Errorf("got %v, %+v, want %v", got, page, c.want)
			}
			if page := h.Connections(c.filter, 0, 0); len(page.Connections) != 0 || page.Matching != len(c.want) || page.Total != 5 || page.Next != 0 {
				t.Errorf("counted %+v", page)
			}
		})
	}
	if stat := h.Stats()[0]; stat.Subject != "user-a" || string(stat.Info) != `{"a":1}` {
		t.Errorf("described as %+v", stat)
	}
	emptied(t, h, sessions)
}

func TestConnectionPages(t *testing.T) {
	h := NewHub(new(localBroker), fastLimits(), zap.NewNop())
	var sessions []*Session
	var all, odd []uint64
	for i := range uint64(100) {
		sessions = append(sessions, admitFor(t, h, Identity{TokenID: fmt.Sprint(i % 2)}, Client{Transport: "test"}))
		if all = append(all, i+1); i%2 == 1 {
			odd = append(odd, i+1)
		}
	}
	for _, limit := range []int{1, 2, 3, 7, 49, 50, 51, 99, 100, 101, 1000, 1 << 62} {
		for token, want := range map[string][]uint64{"": all, "1": odd} {
			var got []uint64
			for after, pages := uint64(0), 0; ; pages++ {
				page := h.Connections(ConnectionFilter{TokenID: token}, after, limit)
				if page.Total != 100 || page.Matching != len(want) || len(page.Connections) > limit || pages > len(want) {
					t.Fatalf("limit %d, after %d: %d of %d matching, %d in all", limit, after, len(page.Connections), page.Matching, page.Total)
				}
				got = append(got, ids(page.Connections)...)
				if after = page.Next; after == 0 {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("limit %d: got %v, want %v", limit, got, want)
			}
		}
	}
	for name, page := range map[string]ConnectionPage{
		"after the last one":    h.Connections(ConnectionFilter{}, 100, 10),
		"with a negative limit": h.Connections(ConnectionFilter{}, 0, -1),
	} {
		if len(page.Connections) != 0 || page.Next != 0 || page.Matching != 100 {
			t.Errorf("%s: %+v", name, page)
		}
	}
	emptied(t, h, sessions)
}

// What an operator reads of a session is what is in effect.
func TestConnectionDetail(t *testing.T) {
	limits := fastLimits()
	limits.DefaultIngressKB, limits.DefaultEgressKB = 8, 0
	limits.MaxSubscriptions = 2000
	h := NewHub(new(localBroker), limits, zap.NewNop())
	s := admitFor(t, h, Identity{TokenID: "a", EgressKB: 100, Tenants: []string{"t"}}, Client{Transport: "websocket", IP: netip.MustParseAddr("192.0.2.1")})
	plain := admitFor(t, h, Identity{TokenID: "b"}, Client{})
	const n = maxPatternsListed + 5
	for i := range n {
		s.HandleLine(fmt.Appendf(nil, "SUB:t:c%04d", n-i))
	}
	s.HandleLine([]byte("SUB:s:z"))
	s.QueueControl(Ping, nil)
	d, ok := h.Connection(1)
	if !ok || d.TokenID != "a" || d.IP != "192.0.2.1" || d.Transport != "websocket" || d.IngressKB != 8 || d.EgressKB != 100 ||
		d.Subscriptions != n+1 || d.Draining || fmt.Sprint(d.Tenants) != "[t]" || d.Since.IsZero() || time.Until(d.ExpiresAt) < 50*time.Minute {
		t.Errorf("got %v %+v", ok, d.Stat)
	}
	if len(d.Patterns) != maxPatternsListed || d.MorePatterns != 6 || d.Patterns[0] != (TenantPattern{Tenant: "s", Pattern: "z"}) ||
		d.Patterns[1] != (TenantPattern{Tenant: "t", Pattern: "c0001"}) || d.Patterns[maxPatternsListed-1] != (TenantPattern{Tenant: "t", Pattern: "c0999"}) {
		t.Errorf("%d patterns and %d more, first %v", len(d.Patterns), d.MorePatterns, d.Patterns[:2])
	}
	d, ok = h.Connection(2)
	text, err := json.Marshal(d)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	for _, part := range []string{`"tenants":[]`, `"patterns":[]`, `"more_patterns":0`, `"ip":""`, `"ingress_kb_per_sec":8`, `"egress_kb_per_sec":0`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%s is not in %s", part, text)
		}
	}
	if _, ok = h.Connection(3); ok {
		t.Error("there is a session that nobody opened")
	}
	emptied(t, h, []*Session{s, plain})
}

// A pattern that is subscribed twice, once with a stream of its own, is listed once.
func TestPatternsAreListedOnce(t *testing.T) {
	s := &Session{subscriptions: map[subscriptionKey]*subscription{{"t", "a", false}: nil, {"t", "a", true}: nil, {"t", "b", false}: nil}}
	if got := s.patterns(); !slices.Equal(got, []TenantPattern{{Tenant: "t", Pattern: "a"}, {Tenant: "t", Pattern: "b"}}) {
		t.Errorf("got %v", got)
	}
}

func TestDisconnect(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		a, other, b1, b2 := r.connect("a"), r.connect("other"), r.connect("b"), r.connect("b")
		equal(t, "there was such a session", r.hub.Disconnect(a.client.ID), true)
		equal(t, "there was such a session", r.hub.Disconnect(99), false)
		a.ends(wire.CloseTryLater, "ERR:closed_by_operator")
		_, reason := a.CloseStatus()
		equal(t, "reason", reason, "closed_by_operator")
		equal(t, "a session that has ended is there", r.hub.Disconnect(a.client.ID), false)
		equal(t, "sessions of the token", r.hub.DisconnectToken("b"), 2)
		b1.ends(wire.CloseTryLater, "ERR:closed_by_operator")
		b2.ends(wire.CloseTryLater, "ERR:closed_by_operator")
		equal(t, "sessions of a token that has none", r.hub.DisconnectToken("b"), 0)
		other.ends(0)
		equal(t, "lines counted", r.hub.Metrics().Refused[wire.CodeClosedByOperator], 3)
		r.connect("a").Session.Close(wire.CloseNormal, "") // it may come back
		other.Session.Close(wire.CloseNormal, "")
	})
}

// Sessions may come, go and change while they are listed.
func TestConnectionsConcurrently(t *testing.T) {
	h := NewHub(new(localBroker), fastLimits(), zap.NewNop())
	var churn, readers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		churn.Go(func() {
			for range 200 {
				s := admitFor(t, h, Identity{TokenID: "a"}, Client{})
				s.HandleLine([]byte("SUB:t:x"))
				s.Detach()
			}
		})
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				for _, s := range h.Connections(ConnectionFilter{Tenant: "t"}, 0, 10).Connections {
					h.Connection(s.ID)
					h.Disconnect(s.ID)
				}
				h.DisconnectToken("a")
			}
		})
	}
	churn.Wait()
	close(done)
	readers.Wait()
	emptied(t, h, nil)
}
