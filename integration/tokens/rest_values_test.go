package tokens

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

var issuedToken = regexp.MustCompile(`^AT_[0-9a-f]{32}_[0-9a-f]{32}$`)

// Every value of a get-token request at its limits. change makes the row's
// request from a good one.
func TestGetTokenValues(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile) // prefix "paint.", six bytes
	set := func(field string, value any) func(harness.Object) {
		return func(r harness.Object) { r[field] = value }
	}
	right := func(field string, value any) func(harness.Object) {
		return func(r harness.Object) { r["right"].(harness.Object)[field] = value }
	}
	grants := func(grants ...harness.Object) func(harness.Object) { return right("tenant_grants", grants) }
	tenant := func(name string) func(harness.Object) { return grants(harness.AllowAll(name)) }
	sub := func(rules ...string) func(harness.Object) { return grants(harness.Grant("room", nil, rules)) }
	pub := func(rules ...string) func(harness.Object) { return grants(harness.Grant("room", rules, nil)) }
	expires := func(at string) func(harness.Object) { return right("expires_at", at) }
	many := func(n int, format string) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf(format, i)
		}
		return out
	}
	manyGrants := func(n int) func(harness.Object) {
		all := make([]harness.Object, n)
		for i := range all {
			all[i] = harness.AllowAll("room")
		}
		return grants(all...)
	}
	hourAway := time.Now().Add(time.Hour)
	const ok, invalid, outOfRange = "", "invalid_body", "expires_at_out_of_range"

	for _, tc := range []struct {
		name   string
		change func(harness.Object)
		code   string
		path   string // the JSON path that the detail must name
	}{
		{"created_by missing", func(r harness.Object) { delete(r, "created_by") }, invalid, "created_by"},
		{"created_by empty", set("created_by", ""), invalid, "created_by"},
		{"created_by 1 byte", set("created_by", "x"), ok, ""},
		{"created_by 256 bytes", set("created_by", strings.Repeat("ü", 128)), ok, ""},
		{"created_by 257 bytes", set("created_by", strings.Repeat("ü", 128)+"x"), invalid, "created_by"},
		{"description empty", set("description", ""), ok, ""},
		{"description 512 characters", set("description", strings.Repeat("ü", 512)), ok, ""},
		{"description 513 characters", set("description", strings.Repeat("ü", 513)), invalid, "description"},
		{"right missing", func(r harness.Object) { delete(r, "right") }, invalid, "right"},
		{"right null", set("right", nil), invalid, "right"},

		{"no grants", right("tenant_grants", nil), invalid, "right.tenant_grants"},
		{"empty grants", right("tenant_grants", []harness.Object{}), invalid, "right.tenant_grants"},
		{"64 grants", manyGrants(64), ok, ""},
		{"65 grants", manyGrants(65), invalid, "right.tenant_grants"},
		{"no tenants", grants(harness.Object{"allow_channels_pub": []string{"#"}}), invalid, "right.tenant_grants[0].tenant_ids"},
		{"empty tenants", grants(harness.Object{"tenant_ids": []string{}}), invalid, "right.tenant_grants[0].tenant_ids"},
		{"256 tenants", grants(harness.AllowAll(many(256, "t%d")...)), ok, ""},
		{"257 tenants", grants(harness.AllowAll(many(257, "t%d")...)), invalid, "right.tenant_grants[0].tenant_ids"},
		{"empty tenant", tenant(""), invalid, "right.tenant_grants[0].tenant_ids[0]"},
		{"tenant with every character", tenant("azAZ09_-~@."), ok, ""},
		{"tenant with a colon", tenant("a:b"), invalid, "right.tenant_grants[0].tenant_ids[0]"},
		{"tenant with a wildcard", tenant("a*"), invalid, "right.tenant_grants[0].tenant_ids[0]"},
		{"tenant with a space", grants(harness.AllowAll("a", "b c")), invalid, "right.tenant_grants[0].tenant_ids[1]"},
		{"tenant with a letter beyond ASCII", tenant("ü"), invalid, "right.tenant_grants[0].tenant_ids[0]"},
		{"tenant of 128 bytes with its prefix", tenant(strings.Repeat("t", 122)), ok, ""},
		{"tenant of 129 bytes with its prefix", tenant(strings.Repeat("t", 123)), invalid, "right.tenant_grants[0].tenant_ids[0]"},
		{"tenant of 128 bytes that has the prefix", tenant("paint." + strings.Repeat("t", 122)), ok, ""},
		{"tenant of 129 bytes that has the prefix", tenant("paint." + strings.Repeat("t", 123)), invalid, "right.tenant_grants[0].tenant_ids[0]"},

		{"no rules", grants(harness.Object{"tenant_ids": []string{"room"}}), ok, ""},
		{"256 rules", sub(many(256, "c%d")...), ok, ""},
		{"257 rules", sub(many(257, "c%d")...), invalid, "right.tenant_grants[0].allow_channels_sub"},
		{"rule of 256 bytes", pub(strings.Repeat("c", 256)), ok, ""},
		{"rule of 257 bytes", pub(strings.Repeat("c", 257)), invalid, "right.tenant_grants[0].allow_channels_pub[0]"},
		{"rules of every kind", sub("a", "*", "a*", ">", "#", "a.#", "ab>", "ab#", "(eu|us|a*).x", "?.x"), ok, ""},
		{"group in a publish rule", pub("(eu|us).#"), ok, ""},
		{"? in a publish rule", pub("a", "?"), invalid, "right.tenant_grants[0].allow_channels_pub[1]"},
		{"third rule broken", sub("a", "b", "a#b"), invalid, "right.tenant_grants[0].allow_channels_sub[2]"},
		{"empty rule", sub(""), invalid, "right.tenant_grants[0].allow_channels_sub[0]"},
		{"# in the middle", sub("#.a"), invalid, "right.tenant_grants[0].allow_channels_sub[0]"},
		{"group of 17", sub("(" + strings.Join(many(17, "v%d"), "|") + ")"), invalid, "right.tenant_grants[0].allow_channels_sub[0]"},
		{"group in a group", sub("(a|(b|c))"), invalid, "right.tenant_grants[0].allow_channels_sub[0]"},

		{"masks empty", right("allow_ip_masks", []string{}), ok, ""},
		{"masks of both families", right("allow_ip_masks", []string{"127.0.0.1", "10.1.2.3/8", "2001:DB8::/32", "::1"}), ok, ""},
		{"mask too long", right("allow_ip_masks", []string{"10.0.0.0/8", "10.0.0.0/33"}), invalid, "right.allow_ip_masks[1]"},
		{"mask with a zone", right("allow_ip_masks", []string{"fe80::1%eth0"}), invalid, "right.allow_ip_masks[0]"},
		{"mapped mask", right("allow_ip_masks", []string{"::ffff:10.0.0.0/104"}), invalid, "right.allow_ip_masks[0]"},
		{"mapped address", right("allow_ip_masks", []string{"::ffff:10.0.0.1"}), invalid, "right.allow_ip_masks[0]"},
		{"a name for a mask", right("allow_ip_masks", []string{"localhost"}), invalid, "right.allow_ip_masks[0]"},
		{"regions", right("allow_regions", []string{"US", "EU"}), ok, ""},
		{"region in lower case", right("allow_regions", []string{"eu"}), invalid, "right.allow_regions[0]"},
		{"unknown region", right("allow_regions", []string{"EU", "MARS"}), invalid, "right.allow_regions[1]"},
		{"protocols", right("allow_protocols", []string{"websocket", "webtransport"}), ok, ""},
		{"unknown protocol", right("allow_protocols", []string{"mqtt"}), invalid, "right.allow_protocols[0]"},
		{"origins", right("allowed_ws_origin", []string{"https://Example.com", "http://localhost:3000", "https://a:443", "null"}), ok, ""},
		{"origin with a path", right("allowed_ws_origin", []string{"https://example.com/app"}), invalid, "right.allowed_ws_origin[0]"},
		{"origin with a wildcard", right("allowed_ws_origin", []string{"null", "https://*.example.com"}), invalid, "right.allowed_ws_origin[1]"},
		{"origin without scheme", right("allowed_ws_origin", []string{"example.com"}), invalid, "right.allowed_ws_origin[0]"},

		{"ingress 1", right("ingress_kb_per_sec", 1), ok, ""},
		{"egress 16384", right("egress_kb_per_sec", 16384), ok, ""},
		{"ingress 0", right("ingress_kb_per_sec", 0), invalid, "right.ingress_kb_per_sec"},
		{"egress negative", right("egress_kb_per_sec", -1), invalid, "right.egress_kb_per_sec"},
		{"egress 16385", right("egress_kb_per_sec", 16385), invalid, "right.egress_kb_per_sec"},
		{"ingress with a fraction", right("ingress_kb_per_sec", 8.5), invalid, "right.ingress_kb_per_sec"},

		{"expires_at missing", func(r harness.Object) { delete(r["right"].(harness.Object), "expires_at") }, invalid, "right.expires_at"},
		{"expires_at empty", expires(""), invalid, "right.expires_at"},
		{"expires_at without zone", expires(hourAway.UTC().Format("2006-01-02T15:04:05")), invalid, "right.expires_at"},
		{"expires_at without time", expires(hourAway.UTC().Format("2006-01-02")), invalid, "right.expires_at"},
		{"expires_at with a space", expires(hourAway.UTC().Format("2006-01-02 15:04:05Z")), invalid, "right.expires_at"},
		{"expires_at at second 60", expires(hourAway.UTC().Format("2006-01-02T15:04:") + "60Z"), invalid, "right.expires_at"},
		{"expires_at as a number", right("expires_at", hourAway.Unix()), invalid, "right.expires_at"},
		{"expires_at in the past", expires(harness.In(-time.Second)), outOfRange, "right.expires_at"},
		{"expires_at last year", expires(harness.In(-365 * 24 * time.Hour)), outOfRange, "right.expires_at"},
		{"expires_at in 24 hours", func(r harness.Object) { expires(harness.In(24 * time.Hour))(r) }, ok, ""},
		{"expires_at in a year", expires(harness.In(365 * 24 * time.Hour)), outOfRange, "right.expires_at"},
		{"expires_at with an offset", expires(hourAway.In(time.FixedZone("", 5*3600+1800)).Format(time.RFC3339)), ok, ""},
		{"expires_at west of Greenwich", expires(hourAway.In(time.FixedZone("", -8*3600)).Format(time.RFC3339)), ok, ""},
		{"expires_at with a fraction", expires(hourAway.UTC().Format("2006-01-02T15:04:05.123456789Z")), ok, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := e.With(t)
			request := harness.TokenRequest(harness.AllowAll("room"))
			tc.change(request)
			got := e.Rest("POST", "/v1/get-token", e.Master, request)
			harness.CheckNoStore(t, got)
			if tc.code != ok {
				if p := got.Problem(t, http.StatusBadRequest, tc.code); !strings.Contains(p.Detail, tc.path) {
					t.Errorf("the detail %q does not name %s", p.Detail, tc.path)
				}
				return
			}
			var token harness.Issued
			got.Decode(t, http.StatusOK, &token)
			want := harness.WholeSeconds(t, request["right"].(harness.Object)["expires_at"].(string))
			if !issuedToken.MatchString(token.Token) || token.TokenID != token.Token[3:35] || token.ExpiresAt != want {
				t.Errorf("got %+v, want a token with its id, and expires_at %s", token, want)
			}
		})
	}
}

// 24 h and one second are refused. The edge's clock goes on while the request
// is on its way, so an attempt counts only when it took less than the second.
func TestGetTokenBeyondADay(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	for range 20 {
		request := harness.TokenRequest(harness.AllowAll("room"))
		begin := time.Now()
		request["right"].(harness.Object)["expires_at"] = begin.Add(24*time.Hour + time.Second).Format(time.RFC3339Nano)
		got := e.Rest("POST", "/v1/get-token", e.Master, request)
		if time.Since(begin) < time.Second {
			got.Problem(t, http.StatusBadRequest, "expires_at_out_of_range")
			return
		}
	}
	t.Fatal("no request was answered within a second")
}

// The names that a token is good for are the physical ones.
func TestTenantPrefix(t *testing.T) {
	t.Parallel()
	e, m := startRestEdge(t)
	for _, tc := range []struct{ name, master, asked, physical, foreign string }{
		{"prepended", e.Master, "room", "paint.room", "room"},
		{"there already", e.Master, "paint.room", "paint.room", "paint.paint.room"},
		{"same letters, no dot", e.Master, "painter", "paint.painter", "painter"},
		{"prefix without its dot", e.Master, "paint", "paint.paint", "paint"},
		{"dot added to the setting", m.twin, "room", "paint.room", "paintroom"},
		{"nested", m.nested, "room", "paint.eu.room", "paint.room"},
		{"the whole overlay", m.all, "room", "room", "paint.room"},
		{"the default tenant", m.all, "~", "~", "paint.~"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := e.With(t)
			s := e.Dial(e.IssueAs(tc.master, harness.TokenRequest(harness.AllowAll(tc.asked))).Token)
			s.Subscribe(tc.physical, "x")
			s.SendLine("SUB:" + tc.foreign + ":x")
			s.ExpectText("ERR:permission_denied:SUB:" + tc.foreign + ":x")
			s.Close()
		})
	}
}
