package tokenstore_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

func TestExplain(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	right := twoGrants()
	right.TenantGrants[1].AllowChannelsHistory = []string{"x.a", "#"}
	right.TenantGrants[1].AllowChannelsPresence = []string{"x.a", "z.#"}
	right.AllowIPMasks = []string{"10.0.0.0/8"}
	right.AllowedWSOrigin = []string{"https://example.com"}
	right.AllowRegions = []string{"EU"}
	right.AllowProtocols = []string{tokenstore.ProtocolWebSocket}
	a := b.access(t, right)
	good := tokenstore.Query{
		IP: netip.MustParseAddr("10.1.1.1"), Origin: "https://example.com",
		Region: "EU", Protocol: tokenstore.ProtocolWebSocket,
	}
	for _, c := range []struct {
		name    string
		ask     func(*tokenstore.Query)
		allowed bool
		reason  string // a part of it
		rule    string
	}{
		{"publish", func(q *tokenstore.Query) { q.Tenant, q.Channel = "one", "b" }, true,
			"allows it", `right.tenant_grants[0].allow_channels_pub[1] "b"`},
		{"publish by the second grant", func(q *tokenstore.Query) { q.Tenant, q.Channel = "both", "c.x" }, true,
			"allows it", `right.tenant_grants[1].allow_channels_pub[0] "c.#"`},
		{"subscribe", func(q *tokenstore.Query) { q.Action, q.Tenant, q.Channel = "subscribe", "two", "y.us*" }, true,
			"allows it", `right.tenant_grants[1].allow_channels_sub[1] "y.(eu|us*)"`},
		{"history", func(q *tokenstore.Query) { q.Action, q.Tenant, q.Channel = "history", "two", "y.us*" }, true,
			"allows it", `right.tenant_grants[1].allow_channels_history[1] "#"`},
		{"history without the right to subscribe", func(q *tokenstore.Query) { q.Action, q.Tenant, q.Channel = "history", "two", "z" }, false,
			`no rule of the tenant alone contains the pattern; it has right.tenant_grants[1].allow_channels_sub[0] "x.?"`, ""},
		{"subscribe without the right to the past", func(q *tokenstore.Query) { q.Action, q.Tenant, q.Channel = "history", "one", "a.b" }, false,
			"no rule in allow_channels_history", ""},
		{"bad pattern of history", func(q *tokenstore.Query) { q.Action, q.Tenant, q.Channel = "history", "one", "a#b" }, false, "the pattern is not legal", ""},
		{"presence", func(q *tokenstore.Query) { q.Action, q.Tenant, q.Channel = "presence", "two", "z.*" }, true, // not to be subscribed to
			"allows it", `right.tenant_grants[1].allow_channels_presence[1] "z.#"`},
		{"bad pattern of presence", func(q *tokenstore.Query) { q.Action, q.Tenant, q.Channel = "presence", "two", "x.?" }, false, "the pattern is not legal", ""},
		{"presence where no rule contains it", func(q *tokenstore.Query) { q.Action, q.Tenant, q.Channel = "presence", "two", "x.*" }, false,
			`no rule of the tenant alone contains the pattern; it has right.tenant_grants[1].allow_channels_presence[0] "x.a", right.tenant_grants[1].allow_channels_presence[1] "z.#"`, ""},
		{"subscribe without the right to presence", func(q *tokenstore.Query) { q.Action, q.Tenant, q.Channel = "presence", "one", "a.b" }, false,
			"no rule in allow_channels_presence", ""},
		{"connect", func(q *tokenstore.Query) { q.Action = "connect" }, true, "allows this connection", ""},
		{"publish, nothing known of the connection", func(q *tokenstore.Query) {
			*q = tokenstore.Query{Action: "publish", Tenant: "one", Channel: "b"}
		}, true, "allows it", `right.tenant_grants[0].allow_channels_pub[1] "b"`},

		{"no grant", func(q *tokenstore.Query) { q.Tenant, q.Channel = "other", "b" }, false, "no grant of the token names the tenant", ""},
		{"the default tenant", func(q *tokenstore.Query) { q.Channel = "b" }, false, "no grant of the token names the tenant", ""},
		{"no rule matches", func(q *tokenstore.Query) { q.Tenant, q.Channel = "one", "z" }, false,
			`no rule of the tenant matches the channel; it has right.tenant_grants[0].allow_channels_pub[0] "a.*", right.tenant_grants[0].allow_channels_pub[1] "b"`, ""},
		{"no rule contains", func(q *tokenstore.Query) { q.Action, q.Tenant, q.Channel = "subscribe", "both", "x.*" }, false,
			`no rule of the tenant alone contains the pattern; it has right.tenant_grants[0].allow_channels_sub[0] "a.#", right.tenant_grants[1].allow_channels_sub[0] "x.?"`, ""},
		{"no rules", func(q *tokenstore.Query) { q.Tenant, q.Channel = "mute", "z" }, false, "no rule in allow_channels_pub", ""},
		{"bad tenant", func(q *tokenstore.Query) { q.Tenant, q.Channel = "a:b", "z" }, false, "the tenant is not legal", ""},
		{"bad channel", func(q *tokenstore.Query) { q.Tenant, q.Channel = "one", "a.*" }, false, "the channel is not legal", ""},
		{"bad tenant of subscribe", func(q *tokenstore.Query) { q.Action, q.Tenant, q.Channel = "subscribe", "a:b", "z" }, false, "the tenant is not legal", ""},
		{"bad pattern", func(q *tokenstore.Query) { q.Action, q.Tenant, q.Channel = "subscribe", "one", "a#b" }, false, "the pattern is not legal", ""},
		{"bad action", func(q *tokenstore.Query) { q.Action = "read" }, false, "publish, subscribe, history, presence or connect", ""},

		{"ip", func(q *tokenstore.Query) { q.IP = netip.MustParseAddr("11.1.1.1") }, false, "this address", "right.allow_ip_masks [10.0.0.0/8]"},
		{"origin", func(q *tokenstore.Query) { q.Origin = "https://evil.test" }, false, "this origin", "right.allowed_ws_origin [https://example.com]"},
		{"region", func(q *tokenstore.Query) { q.Region = "US" }, false, "this region", "right.allow_regions [EU]"},
		{"protocol", func(q *tokenstore.Query) { q.Protocol = "webtransport" }, false, "this protocol", "right.allow_protocols [websocket]"},
		{"connect from nowhere", func(q *tokenstore.Query) { q.Action, q.IP = "connect", netip.Addr{} }, false, "none is known", "right.allow_ip_masks [10.0.0.0/8]"},
		{"connect without origin", func(q *tokenstore.Query) { q.Action, q.Origin = "connect", "" }, false, "none is known", "right.allowed_ws_origin [https://example.com]"},
		{"connect without region", func(q *tokenstore.Query) { q.Action, q.Region = "connect", "" }, false, "none is known", "right.allow_regions [EU]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := good
			q.Action = "publish"
			c.ask(&q)
			q.TokenID = a.ID
			byID := b.Explain(t.Context(), q)
			if byID.Allowed != c.allowed || byID.Rule != c.rule || !strings.Contains(byID.Reason, c.reason) {
				t.Errorf("Explain = %+v, want %v, %q, %q", byID, c.allowed, c.reason, c.rule)
			}
			q.TokenID, q.Access = "", a
			equal(t, "by Access, and by id", b.Explain(t.Context(), q), byID)
		})
	}
}

// What a client is told that was refused: the rules of the kind that it lacks in this tenant, or the token's tenants.
func TestDenial(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	right := twoGrants()
	right.TenantGrants[1].AllowChannelsHistory, right.TenantGrants[1].AllowChannelsPresence = []string{"old"}, []string{"here.#"}
	for i := range 256 { // more than a line has room for
		right.TenantGrants[2].AllowChannelsPub = append(right.TenantGrants[2].AllowChannelsPub, fmt.Sprint("channel.", i))
	}
	a := b.access(t, right)
	for ask, want := range map[[3]string]string{
		{"pub", "both", "no"}: "1 [a.* b c.#]", {"sub", "one", "no"}: "1 [a.#]", {"join", "two", "no"}: "1 [x.? y.(eu|us*)]",
		{"who", "both", "no"}: "1 [here.#]", {"rsub", "two", "no"}: "1 [x.? y.(eu|us*)]", {"rsub", "two", "x.a"}: "1 [old]",
		{"sub", "mute", "no"}: "1 []", {"pub", "other", "no"}: "2 [one both two mute]",
	} {
		kind, names := a.Denial(ask[0], ask[1], ask[2])
		if got := fmt.Sprint(kind, " ", names); got != want {
			t.Errorf("%v: got %s, want %s", ask, got, want)
		}
	}
	if _, names := a.Denial("pub", "mute", "no"); len(names) < 50 || len(names) > 150 {
		t.Errorf("%d of 256 rules are gathered", len(names))
	}
	many := twoGrants()
	for i := range tokenstore.MaxListedTenants {
		many.TenantGrants[0].TenantIDs = append(many.TenantGrants[0].TenantIDs, fmt.Sprint("t", i))
	}
	if _, names := b.access(t, many).Denial("pub", "other", "no"); len(names) != tokenstore.MaxListedTenants+1 || names[len(names)-1] != "..." {
		t.Errorf("tenants %v", names)
	}
}

func TestExplainToken(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	issued := b.issue(t, b.Overlay(), grantAll("t"))
	a, err := b.Authenticate(t.Context(), issued.Token)
	must(t, err)
	want := func(q tokenstore.Query, reason string) {
		t.Helper()
		q.Action, q.Tenant, q.Channel = "publish", "t", "c"
		got := b.Explain(t.Context(), q)
		if got.Allowed != (reason == "") || !strings.Contains(got.Reason, reason) {
			t.Errorf("Explain = %+v, want %q", got, reason)
		}
		if strings.Contains(got.Reason, someSecret) {
			t.Error("the answer quotes a token")
		}
	}
	byID := tokenstore.Query{TokenID: issued.TokenID}
	want(byID, "")
	want(tokenstore.Query{TokenID: someID}, "no token with this id")
	want(tokenstore.Query{TokenID: "AT_" + someID + "_" + someSecret}, "32 lower-case hex digits")
	b.advance(time.Hour)
	want(byID, "expired at 2030-01-01T13:00:00Z")
	want(tokenstore.Query{Access: a}, "expired at 2030-01-01T13:00:00Z")
	must(t, b.RevokeByID(t.Context(), b.Overlay(), issued.TokenID))
	want(byID, "revoked")
	broken := newTestbedOn(t, broken{b.store}, tokenstore.Config{})
	if got := broken.Explain(t.Context(), byID); got.Allowed || !strings.Contains(got.Reason, errBroken.Error()) {
		t.Errorf("with a broken store: %+v", got)
	}
}
