package tokenstore_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/tokenstore"
)

func twoGrants() tokenstore.Right {
	right := grantAll()
	right.TenantGrants = []tokenstore.TenantGrant{
		{TenantIDs: []string{"one", "both", "both"}, AllowChannelsPub: []string{"a.*", "b"}, AllowChannelsSub: []string{"a.#"}},
		{TenantIDs: []string{"two", "both"}, AllowChannelsPub: []string{"c.#"}, AllowChannelsSub: []string{"x.?", "y.(eu|us*)"}},
		{TenantIDs: []string{"mute"}},
	}
	return right
}

func TestPermissions(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	a := b.access(t, twoGrants())
	for _, c := range []struct {
		tenant, name string
		pub, sub     bool
	}{
		{"one", "a.x", true, true},
		{"one", "a", false, true},
		{"one", "b", true, false},
		{"one", "c.x", false, false},
		{"two", "c.x", true, false},
		{"two", "c", true, false},
		{"two", "a.x", false, false},
		{"two", "x.y", false, true},
		{"two", "y.eu", false, true},
		{"two", "y.usa", false, true},
		{"two", "y.asia", false, false},
		{"both", "a.x", true, true},
		{"both", "c.x", true, false},
		{"both", "y.eu", false, true},
		{"mute", "a.x", false, false},
		{"other", "a.x", false, false},
		{"on", "a.x", false, false},
		{"", "a.x", false, false},
	} {
		p, err := pattern.Parse(c.name)
		must(t, err)
		if got := a.CanPublish([]byte(c.tenant), []byte(c.name)); got != c.pub {
			t.Errorf("CanPublish(%q, %q) = %v", c.tenant, c.name, got)
		}
		if got := a.CanSubscribe(c.tenant, p); got != c.sub {
			t.Errorf("CanSubscribe(%q, %q) = %v", c.tenant, c.name, got)
		}
	}
	for text, want := range map[string]bool{"x.*": false, "x.a*": false, "x.a": true, "y.us*": true, "y.*": false, "#": false, "a.>": false} {
		p, err := pattern.Parse(text)
		must(t, err)
		if got := a.CanSubscribe("two", p); got != want {
			t.Errorf("CanSubscribe(two, %q) = %v", text, got)
		}
	}
}

// The rights to the past and to see who is present have rules of their own, which contain
// patterns as those for subscribing do. None needs another one, or gives it.
func TestOtherRights(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	right := twoGrants()
	right.TenantGrants[1].AllowChannelsHistory = []string{"x.?", "z.(eu|us*)"}
	past := b.access(t, right)
	right.TenantGrants[1].AllowChannelsHistory, right.TenantGrants[1].AllowChannelsPresence = nil, right.TenantGrants[1].AllowChannelsHistory
	presence := b.access(t, right)
	for _, c := range []struct {
		tenant, pattern string
		want            bool
	}{
		{"two", "x.a", true}, {"two", "x.*", false}, {"two", "z.us*", true}, {"two", "z.*", false}, {"two", "y.eu", false},
		{"both", "x.a", true}, {"both", "a.x", false}, {"one", "a.x", false}, {"mute", "x.a", false}, {"other", "x.a", false},
	} {
		p, err := pattern.Parse(c.pattern)
		must(t, err)
		if past.CanReadHistory(c.tenant, p) != c.want || past.CanReadPresence(c.tenant, p) {
			t.Errorf("rules for the past: not %v for %q of %q, or they let see who is present", c.want, c.pattern, c.tenant)
		}
		if presence.CanReadPresence(c.tenant, p) != c.want || presence.CanReadHistory(c.tenant, p) {
			t.Errorf("rules for presence: not %v for %q of %q, or they let read the past", c.want, c.pattern, c.tenant)
		}
		for _, a := range []*tokenstore.Access{past, presence} {
			if c.tenant == "two" && a.CanSubscribe("two", p) != strings.Contains("x.a y.eu", c.pattern) {
				t.Errorf("the other rules decide about subscribing to %q", c.pattern)
			}
		}
	}
}

func TestCanPublishAllocatesNothing(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	a := b.access(t, twoGrants())
	for _, c := range [][2]string{{"both", "c.x.y"}, {"both", "nothing"}, {"other", "a.x"}} {
		tenant, channel := []byte(c[0]), []byte(c[1])
		if n := testing.AllocsPerRun(100, func() { a.CanPublish(tenant, channel) }); n != 0 {
			t.Errorf("CanPublish(%q, %q): %v allocations", tenant, channel, n)
		}
	}
}

func TestCaps(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	right := grantAll("t")
	right.EgressKBPerSec = new(16384)
	a := b.access(t, right)
	if a.IngressKBPerSec != 0 || a.EgressKBPerSec != 16384 {
		t.Errorf("caps %d, %d; want the edge default, 16384", a.IngressKBPerSec, a.EgressKBPerSec)
	}
}

func TestCheckConnection(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{Regions: []string{"US", "EU", "MOON"}})
	limited := grantAll("t")
	limited.AllowIPMasks = []string{"10.0.0.0/8", "2001:db8::/32", "fe80::/10", "192.0.2.7"}
	limited.AllowRegions = []string{"MOON", "EU"}
	limited.AllowedWSOrigin = []string{"https://example.com", "null"}
	limited.AllowProtocols = []string{tokenstore.ProtocolWebTransport}
	strict, open := b.access(t, limited), b.access(t, grantAll("t"))

	good := tokenstore.Connection{
		IP: netip.MustParseAddr("10.1.2.3"), Origins: []string{"https://example.com"},
		Protocol: tokenstore.ProtocolWebTransport, Region: "EU",
	}
	ip := func(s string) func(*tokenstore.Connection) {
		return func(c *tokenstore.Connection) { c.IP = netip.MustParseAddr(s) }
	}
	origins := func(o ...string) func(*tokenstore.Connection) {
		return func(c *tokenstore.Connection) { c.Origins = o }
	}
	for _, c := range []struct {
		name   string
		change func(*tokenstore.Connection)
		what   string // refused; empty: allowed
	}{
		{"good", func(*tokenstore.Connection) {}, ""},
		{"IPv4-mapped", ip("::ffff:10.1.2.3"), ""},
		{"IPv6", ip("2001:db8::5"), ""},
		{"IPv6 with zone", ip("fe80::1%eth0"), ""},
		{"single address", ip("192.0.2.7"), ""},
		{"neighbour", ip("192.0.2.8"), "ip"},
		{"other", ip("11.0.0.1"), "ip"},
		{"other IPv6", ip("2001:db9::5"), "ip"},
		{"unknown address", func(c *tokenstore.Connection) { c.IP = netip.Addr{} }, "ip"},
		{"null origin", origins("null"), ""},
		{"origin in another form", origins("https://EXAMPLE.com:443"), ""},
		{"no origin", origins(), "origin"},
		{"empty origin", origins(""), "origin"},
		{"repeated origin", origins("https://example.com", "https://example.com"), "origin"},
		{"http origin", origins("http://example.com"), "origin"},
		{"other port", origins("https://example.com:8443"), "origin"},
		{"subdomain", origins("https://a.example.com"), "origin"},
		{"suffix", origins("https://example.com.evil.test"), "origin"},
		{"path", origins("https://example.com/"), "origin"},
		{"page of a file, for null", origins("file://"), "origin"},
		{"protocol", func(c *tokenstore.Connection) { c.Protocol = tokenstore.ProtocolWebSocket }, "protocol"},
		{"region", func(c *tokenstore.Connection) { c.Region = "US" }, "region"},
		{"no region", func(c *tokenstore.Connection) { c.Region = "" }, "region"},
		{"ip before origin", func(c *tokenstore.Connection) { *c = tokenstore.Connection{} }, "ip"},
		{"origin before protocol", func(c *tokenstore.Connection) { *c = tokenstore.Connection{IP: c.IP} }, "origin"},
		{"protocol before region", func(c *tokenstore.Connection) { c.Protocol, c.Region = "", "" }, "protocol"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := good
			c.change(&conn)
			err := strict.CheckConnection(conn)
			var forbidden *tokenstore.ForbiddenError
			switch {
			case c.what == "" && err != nil:
				t.Error(err)
			case c.what != "" && (!errors.As(err, &forbidden) || forbidden.What != c.what):
				t.Errorf("error %v, want %s", err, c.what)
			}
			if err := open.CheckConnection(conn); err != nil || open.AllowedIPs() != nil {
				t.Errorf("a token without limits: %v", err)
			}
			equal(t, "AllowedIPs", strict.AllowedIPs()(conn.IP), c.what != "ip")
		})
	}
}

// The tenants of a token are listed in the order of its right, the first ones.
func TestTenantsOfAccess(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	if got, want := b.access(t, twoGrants()).Tenants, []string{"one", "both", "two", "mute"}; !slices.Equal(got, want) {
		t.Errorf("tenants %q, want %q", got, want)
	}
	var many []string
	for i := range tokenstore.MaxTenants {
		many = append(many, fmt.Sprintf("tenant-%d", i))
	}
	if got, want := b.access(t, grantAll(many...)).Tenants, many[:tokenstore.MaxListedTenants]; !slices.Equal(got, want) {
		t.Errorf("tenants %q, want %q", got, want)
	}
}
