package tokenstore_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

func repeat[T any](n int, v T) []T { return slices.Repeat([]T{v}, n) }

func TestIssueRefuses(t *testing.T) {
	const grants = "right.tenant_grants"
	b := newTestbed(t, tokenstore.Config{Regions: []string{"US", "EU"}, MaxKBPerSec: 100})
	m, _ := b.master(t, "app.")
	for _, c := range []struct {
		path  string
		bad   string // a value that the refusal must not quote
		spoil func(*tokenstore.IssueRequest)
	}{
		{"created_by", "", func(r *tokenstore.IssueRequest) { r.CreatedBy = "" }},
		{"created_by", "xxxx", func(r *tokenstore.IssueRequest) { r.CreatedBy = strings.Repeat("x", 257) }},
		{"created_by", "\xff", func(r *tokenstore.IssueRequest) { r.CreatedBy = "a\xff" }},
		{"description", "éé", func(r *tokenstore.IssueRequest) { r.Description = strings.Repeat("é", 513) }},
		{"description", "\xff", func(r *tokenstore.IssueRequest) { r.Description = "a\xff" }},

		{grants, "", func(r *tokenstore.IssueRequest) { r.Right.TenantGrants = nil }},
		{grants, "", func(r *tokenstore.IssueRequest) { r.Right.TenantGrants = repeat(65, r.Right.TenantGrants[0]) }},
		{grants + "[0].tenant_ids", "", func(r *tokenstore.IssueRequest) { r.Right.TenantGrants[0].TenantIDs = nil }},
		{grants + "[0].tenant_ids", "", func(r *tokenstore.IssueRequest) { r.Right.TenantGrants[0].TenantIDs = repeat(257, "t") }},
		{grants, "tttt", func(r *tokenstore.IssueRequest) {
			r.Right.TenantGrants = repeat(64, tokenstore.TenantGrant{TenantIDs: repeat(256, strings.Repeat("t", 100))})
		}},
		{grants + "[0].tenant_ids[1]", "", func(r *tokenstore.IssueRequest) { r.Right.TenantGrants[0].TenantIDs = []string{"t", ""} }},
		{grants + "[0].tenant_ids[0]", "a:b", func(r *tokenstore.IssueRequest) { r.Right.TenantGrants[0].TenantIDs[0] = "a:b" }},
		{grants + "[0].tenant_ids[0]", "tt*", func(r *tokenstore.IssueRequest) { r.Right.TenantGrants[0].TenantIDs[0] = "tt*" }},
		{grants + "[0].tenant_ids[0]", "tttt", func(r *tokenstore.IssueRequest) {
			r.Right.TenantGrants[0].TenantIDs[0] = strings.Repeat("t", 125) // 129 with the prefix
		}},
		{grants + "[0].allow_channels_pub[0]", "zz?", func(r *tokenstore.IssueRequest) { r.Right.TenantGrants[0].AllowChannelsPub = []string{"zz?"} }},
		{grants + "[0].allow_channels_pub[1]", "", func(r *tokenstore.IssueRequest) { r.Right.TenantGrants[0].AllowChannelsPub = []string{"a", "?"} }},
		{grants + "[1].allow_channels_sub[2]", "zz#zz", func(r *tokenstore.IssueRequest) {
			r.Right.TenantGrants = append(r.Right.TenantGrants, tokenstore.TenantGrant{
				TenantIDs: []string{"t"}, AllowChannelsSub: []string{"a", "?", "zz#zz"},
			})
		}},
		{grants + "[0].allow_channels_sub[0]", "qqqq", func(r *tokenstore.IssueRequest) {
			r.Right.TenantGrants[0].AllowChannelsSub = []string{strings.Repeat("q", 257)}
		}},
		{grants + "[0].allow_channels_pub", "", func(r *tokenstore.IssueRequest) { r.Right.TenantGrants[0].AllowChannelsPub = repeat(257, "a") }},
		{grants + "[0].allow_channels_history[1]", "zz>zz", func(r *tokenstore.IssueRequest) {
			r.Right.TenantGrants[0].AllowChannelsHistory = []string{"?", "zz>zz"}
		}},
		{grants + "[0].allow_channels_history", "", func(r *tokenstore.IssueRequest) { r.Right.TenantGrants[0].AllowChannelsHistory = repeat(257, "a") }},
		{grants + "[0].allow_channels_presence[1]", "zz>zz", func(r *tokenstore.IssueRequest) {
			r.Right.TenantGrants[0].AllowChannelsPresence = []string{"?", "zz>zz"}
		}},
		{grants + "[0].allow_channels_presence", "", func(r *tokenstore.IssueRequest) { r.Right.TenantGrants[0].AllowChannelsPresence = repeat(257, "a") }},
		{grants + "[0].allow_channels_sub", "", func(r *tokenstore.IssueRequest) { r.Right.TenantGrants[0].AllowChannelsSub = repeat(257, "a") }},

		{"right.allow_ip_masks[1]", "10.0.0.0/33", func(r *tokenstore.IssueRequest) { r.Right.AllowIPMasks = []string{"::1", "10.0.0.0/33"} }},
		{"right.allow_ip_masks[0]", "fe80::1%eth0", func(r *tokenstore.IssueRequest) { r.Right.AllowIPMasks = []string{"fe80::1%eth0"} }},
		{"right.allow_ip_masks[0]", "fe80::%1/64", func(r *tokenstore.IssueRequest) { r.Right.AllowIPMasks = []string{"fe80::%1/64"} }},
		{"right.allow_ip_masks[0]", "::ffff:1.2.3.4", func(r *tokenstore.IssueRequest) { r.Right.AllowIPMasks = []string{"::ffff:1.2.3.4"} }},
		{"right.allow_ip_masks[0]", "::ffff:1.2.3.0/120", func(r *tokenstore.IssueRequest) { r.Right.AllowIPMasks = []string{"::ffff:1.2.3.0/120"} }},
		{"right.allow_ip_masks[0]", "localhost", func(r *tokenstore.IssueRequest) { r.Right.AllowIPMasks = []string{"localhost"} }},
		{"right.allow_ip_masks[0]", "", func(r *tokenstore.IssueRequest) { r.Right.AllowIPMasks = []string{""} }},
		{"right.allow_ip_masks", "", func(r *tokenstore.IssueRequest) { r.Right.AllowIPMasks = repeat(257, "::1") }},

		{"right.allow_regions[1]", "ASIA", func(r *tokenstore.IssueRequest) { r.Right.AllowRegions = []string{"EU", "ASIA"} }},
		{"right.allow_regions[0]", "eu", func(r *tokenstore.IssueRequest) { r.Right.AllowRegions = []string{"eu"} }},
		{"right.allow_protocols[0]", "quic", func(r *tokenstore.IssueRequest) { r.Right.AllowProtocols = []string{"quic"} }},
		{"right.allow_protocols[0]", "WebSocket", func(r *tokenstore.IssueRequest) { r.Right.AllowProtocols = []string{"WebSocket"} }},
		{"right.allowed_ws_origin", "", func(r *tokenstore.IssueRequest) { r.Right.AllowedWSOrigin = repeat(257, "null") }},

		{"right.ingress_kb_per_sec", "", func(r *tokenstore.IssueRequest) { r.Right.IngressKBPerSec = new(0) }},
		{"right.ingress_kb_per_sec", "101", func(r *tokenstore.IssueRequest) { r.Right.IngressKBPerSec = new(101) }},
		{"right.egress_kb_per_sec", "-7", func(r *tokenstore.IssueRequest) { r.Right.EgressKBPerSec = new(-7) }},
		{"right.egress_kb_per_sec", "101", func(r *tokenstore.IssueRequest) { r.Right.EgressKBPerSec = new(101) }},

		{"right.expires_at", "", func(r *tokenstore.IssueRequest) { r.Right.ExpiresAt = "" }},
		{"right.expires_at", "tomorrow", func(r *tokenstore.IssueRequest) { r.Right.ExpiresAt = "tomorrow" }},
	} {
		t.Run(c.path+" "+c.bad, func(t *testing.T) {
			req := tokenstore.IssueRequest{CreatedBy: "test", Right: grantAll("t")}
			c.spoil(&req)
			_, err := b.Issue(t.Context(), m, req)
			wantInvalid(t, err, c.path, tokenstore.CodeInvalidBody, c.bad)
		})
	}
	if tokens, _, _ := b.List(t.Context(), m, tokenstore.ListOptions{}); len(tokens) != 0 {
		t.Errorf("%d refused tokens are stored", len(tokens))
	}
}

// TestIssueAtTheLimits gives every limited value its largest legal size.
func TestIssueAtTheLimits(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{MaxKBPerSec: 100})
	m, _ := b.master(t, "app.")
	right := grantAll("t")
	right.TenantGrants = repeat(64, tokenstore.TenantGrant{TenantIDs: []string{"t"}})
	right.TenantGrants[0] = tokenstore.TenantGrant{
		TenantIDs:        repeat(256, strings.Repeat("t", 124)),
		AllowChannelsPub: repeat(256, "a.(b|c*).#"),
		AllowChannelsSub: repeat(256, "?"),

		AllowChannelsHistory: repeat(256, "?.#"),
	}
	right.TenantGrants[1] = tokenstore.TenantGrant{} // names nobody: harmless
	right.AllowIPMasks = repeat(256, "10.0.0.0/8")
	right.AllowRegions = []string{"US", "EU"}
	right.AllowProtocols = []string{"webtransport", "websocket"}
	right.IngressKBPerSec, right.EgressKBPerSec = new(1), new(100)
	for _, label := range []string{"x", strings.Repeat("x", 256), strings.Repeat("é", 128)} {
		_, err := b.Issue(t.Context(), m, tokenstore.IssueRequest{
			CreatedBy: label, Description: strings.Repeat("é", 512), Right: right,
		})
		noError(t, err)
	}
}

func TestNormalized(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	m, _ := b.master(t, "paint")
	right := grantAll("x", "paint.y", "paintball", "paint.")
	right.AllowIPMasks = []string{"10.1.2.3/8", "10.1.2.3", "2001:DB8::1/32", "10.1.2.3/32", "0.0.0.0/0"}
	right.AllowedWSOrigin = []string{"HTTPS://Example.COM:443", "null"}
	before := fmt.Sprint(right)
	b.issue(t, m, right)
	equal(t, "the request after Issue", fmt.Sprint(right), before)
	tokens, _, err := b.List(t.Context(), m, tokenstore.ListOptions{})
	if err != nil || len(tokens) != 1 {
		t.Fatal(tokens, err)
	}
	got := tokens[0].Right
	for what, lists := range map[string][2][]string{
		"tenants": {got.TenantGrants[0].TenantIDs, {"paint.x", "paint.y", "paint.paintball", "paint."}},
		"masks":   {got.AllowIPMasks, {"10.0.0.0/8", "10.1.2.3", "2001:db8::/32", "10.1.2.3", "0.0.0.0/0"}},
		"origins": {got.AllowedWSOrigin, {"https://example.com", "null"}},
	} {
		if !slices.Equal(lists[0], lists[1]) {
			t.Errorf("%s: %q, want %q", what, lists[0], lists[1])
		}
	}
}

func TestNormalizePrefix(t *testing.T) {
	long := strings.Repeat("p", 126)
	for in, want := range map[string]string{
		"": "", "paint": "paint.", "paint.": "paint.", "paint9": "paint9.", "PAINT": "PAINT.",
		"a-": "a-", "a_": "a_", "a~": "a~", "a@": "a@", "a..": "a..", ".": ".",
		long: long + ".", long + "p.": "!", long + ".": long + ".", long + "pp": "!", long + "p": "!",
		"a:b": "!", "a b": "!", "é": "!", "a*": "!", "\x00": "!",
	} {
		got, err := tokenstore.NormalizePrefix(in)
		switch {
		case want == "!":
			wantInvalid(t, err, "tenant_prefix", tokenstore.CodeInvalidBody, in)
		case err != nil || got != want:
			t.Errorf("NormalizePrefix(%q) = %q, %v; want %q", in, got, err, want)
		default:
			if again, err := tokenstore.NormalizePrefix(got); err != nil || again != got {
				t.Errorf("NormalizePrefix(%q) = %q, %v: not stable", got, again, err)
			}
		}
	}
}

func TestExpiresAt(t *testing.T) {
	const (
		malformed = tokenstore.CodeInvalidBody
		outside   = tokenstore.CodeExpiresAtOutOfRange
	)
	for _, c := range []struct {
		now  time.Duration // after noon
		sent string
		want string // the answer, or a code
	}{
		{0, "2030-01-01T13:00:00Z", "2030-01-01T13:00:00Z"},
		{0, "2030-01-01t13:00:00z", "2030-01-01T13:00:00Z"},
		{0, "2030-01-01T13:00:00.999Z", "2030-01-01T13:00:00Z"},
		{0, "2030-01-01T13:00:00.123456789123Z", "2030-01-01T13:00:00Z"},
		{0, "2030-01-01T15:30:00+02:30", "2030-01-01T13:00:00Z"},
		{0, "2030-01-01T03:00:00-10:00", "2030-01-01T13:00:00Z"},
		{0, "2030-01-01T13:00:00-00:00", "2030-01-01T13:00:00Z"},
		{0, "2030-01-02T12:00:00Z", "2030-01-02T12:00:00Z"}, // exactly 24 h
		{0, "2030-01-02T12:00:01Z", outside},
		{0, "2030-01-02T12:00:00.001Z", outside},
		{0, "2030-01-02T14:00:01+02:00", outside},
		{0, "9999-12-31T23:59:59-23:59", outside},
		{500 * time.Millisecond, "2030-01-02T12:00:00.5Z", "2030-01-02T12:00:00Z"},
		{0, "2030-01-01T12:00:01Z", "2030-01-01T12:00:01Z"},
		{0, "2030-01-01T12:00:00.9Z", outside}, // now, in whole seconds
		{500 * time.Millisecond, "2030-01-01T12:00:00.9Z", outside},
		{0, "2030-01-01T12:00:00Z", outside},
		{0, "2030-01-01T11:59:59Z", outside},
		{0, "0000-01-01T00:00:00Z", outside},
		{0, "2030-01-01T12:30:60Z", malformed},
		{0, "2030-01-01T13:00:00", malformed},
		{0, "2030-01-01T13:00:00 Z", malformed},
		{0, "2030-01-01 13:00:00Z", malformed},
		{0, "2030-01-01T13:00Z", malformed},
		{0, "2030-01-01T13:00:00,5Z", malformed},
		{0, "2030-01-01T13:00:00.Z", malformed},
		{0, "2030-01-01T3:00:00Z", malformed},
		{0, "2030-01-01T24:00:00Z", malformed},
		{0, "2030-02-30T13:00:00Z", malformed},
		{0, "2030-01-01T13:00:00+24:00", malformed},
		{0, "2030-01-01T13:00:00+0100", malformed},
		{0, "2030-01-01", malformed},
		{0, "1893502800", malformed},
		{0, "2030-01-01T13:00:00Z\n", malformed},
		{0, "", malformed},
	} {
		t.Run(c.sent, func(t *testing.T) {
			b := newTestbed(t, tokenstore.Config{})
			id := b.issue(t, b.Overlay(), grantAll("t")).TokenID
			b.advance(c.now)
			right := grantAll("t")
			right.ExpiresAt = c.sent
			issued, err := b.Issue(t.Context(), b.Overlay(), tokenstore.IssueRequest{CreatedBy: "test", Right: right})
			end, refreshErr := b.Refresh(t.Context(), b.Overlay(), id, tokenstore.Expiry{At: c.sent})
			switch c.want {
			case outside: // who has a wrong clock sees it
				const edgesTime = "it is 2030-01-01T12:00:00Z at this edge"
				if !strings.Contains(err.Error(), edgesTime) || !strings.Contains(refreshErr.Error(), edgesTime) {
					t.Errorf("%v, %v: without the edge's time", err, refreshErr)
				}
				wantInvalid(t, err, "right.expires_at", c.want)
				wantInvalid(t, refreshErr, "expires_at", c.want)
				return
			case malformed:
				wantInvalid(t, err, "right.expires_at", c.want, c.sent)
				wantInvalid(t, refreshErr, "expires_at", c.want, c.sent)
				return
			}
			if err != nil || refreshErr != nil {
				t.Fatal(err, refreshErr)
			}
			for _, got := range []time.Time{issued.ExpiresAt, end.ExpiresAt} {
				equal(t, "answered", got.Format(time.RFC3339Nano), c.want)
			}
		})
	}
}

func TestOriginEntries(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	for _, c := range []struct {
		entry string
		want  string // normalised; empty: refused
	}{
		{"https://example.com", "https://example.com"},
		{"https://example.com:443", "https://example.com"},
		{"http://example.com:80", "http://example.com"},
		{"http://example.com:443", "http://example.com:443"},
		{"https://EXAMPLE.com:08443", "https://example.com:8443"},
		{"HTTPS://example.com", "https://example.com"},
		{"http://127.0.0.1:3000", "http://127.0.0.1:3000"},
		{"http://[::1]:3000", "http://[::1]:3000"},
		{"https://[2001:DB8:0::1]", "https://[2001:db8::1]"},
		{"https://xn--bcher-kva.example", "https://xn--bcher-kva.example"},
		{"capacitor://localhost", "capacitor://localhost"},
		{"chrome-extension://abcdefghijklmnop", "chrome-extension://abcdefghijklmnop"},
		{"null", "null"},
		{"file://", "file://"}, {"FILE://", "file://"}, {"file:///", ""}, {"file:", ""}, {"https://", ""},
		{"NULL", ""}, {"", ""}, {"*", ""}, {"example.com", ""}, {"//example.com", ""},
		{"https://*.example.com", ""}, {"https://example.com/", ""}, {"https://example.com/a", ""},
		{"https://example.com?a", ""}, {"https://example.com#a", ""}, {"https://me@example.com", ""},
		{"https://example.com:", ""}, {"https://example.com:0", ""}, {"https://example.com:65536", ""},
		{"https://example.com:+1", ""}, {"https://example.com:8o", ""}, {"https://a:1:2", ""},
		{"https://bücher.example", ""}, {"https://\u212aelvin.example", ""}, {"https://a b", ""},
		{"https://[::1", ""}, {"https://[::1]x", ""}, {"https://[1.2.3.4]", ""}, {"https://[fe80::1%25eth0]", ""},
		{"1http://a", ""}, {"ht tp://a", ""}, {"https:/a", ""}, {"null ", ""},
	} {
		right := grantAll("t")
		right.AllowedWSOrigin = []string{"null", c.entry}
		issued, err := b.Issue(t.Context(), b.Overlay(), tokenstore.IssueRequest{CreatedBy: "test", Right: right})
		if c.want == "" {
			wantInvalid(t, err, "right.allowed_ws_origin[1]", tokenstore.CodeInvalidBody)
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.entry, err)
			continue
		}
		a, err := b.Lookup(t.Context(), issued.TokenID)
		must(t, err)
		for _, sent := range []string{c.entry, c.want} {
			if err := a.CheckConnection(tokenstore.Connection{Origins: []string{sent}}); err != nil {
				t.Errorf("an entry %q refuses the origin %q", c.entry, sent)
			}
		}
	}
}

// A lifetime does not depend on the caller's clock. It is rounded up to the next whole
// second, and cut to the limit.
func TestExpiresIn(t *testing.T) {
	for _, c := range []struct {
		now     time.Duration
		at      string
		in      int64
		want    string
		seconds int64
	}{
		{0, "", 1, "2030-01-01T12:00:01Z", 1},
		{time.Nanosecond, "", 60, "2030-01-01T12:01:01Z", 60},
		{0, "", 86400, "2030-01-02T12:00:00Z", 86400},
		{0, "", 86401, "2030-01-02T12:00:00Z", 86400},
		{0, "", math.MaxInt64, "2030-01-02T12:00:00Z", 86400},
		{0, "", 0, tokenstore.CodeInvalidBody, 0},
		{0, "", math.MinInt64, tokenstore.CodeInvalidBody, 0},
		{0, "2030-01-01T13:00:00Z", 60, tokenstore.CodeInvalidBody, 0},
	} {
		b := newTestbed(t, tokenstore.Config{})
		id := b.issue(t, b.Overlay(), grantAll("t")).TokenID
		b.advance(c.now)
		right := grantAll("t")
		right.ExpiresAt, right.ExpiresIn = c.at, &c.in
		issued, err := b.Issue(t.Context(), b.Overlay(), tokenstore.IssueRequest{CreatedBy: "test", Right: right})
		refreshed, refreshErr := b.Refresh(t.Context(), b.Overlay(), id, tokenstore.Expiry{At: c.at, In: &c.in})
		if c.seconds == 0 {
			wantInvalid(t, err, "right.expires_in", c.want)
			wantInvalid(t, refreshErr, "expires_in", c.want)
			continue
		}
		must(t, errors.Join(err, refreshErr))
		for _, got := range []tokenstore.Lifetime{issued.Lifetime, refreshed} {
			equal(t, "end", got.ExpiresAt.Format(time.RFC3339Nano), c.want)
			equal(t, "seconds", got.ExpiresIn, c.seconds)
		}
		info, err := b.Lookup(t.Context(), issued.TokenID)
		must(t, err)
		equal(t, "stored", info.ExpiresAt, issued.ExpiresAt)
	}
}
