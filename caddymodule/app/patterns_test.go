package app

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// What the hub would cut is refused, with what to write instead.
func TestPatternLimitsAreHonouredOrRefused(t *testing.T) {
	n := func(n int) *int { return &n }
	for _, c := range []struct {
		limits Limits
		want   string // part of the error; empty: none
	}{
		{Limits{MaxPatternsPerTenant: 500_000, MaxPatternsPerToken: 500_000}, ""},
		{Limits{MaxPatternsPerTenant: 500_001}, "limits.max_patterns_per_tenant: is 500001, and may be at most half of max_patterns, which is 1000000: lower it to 500000, or set max_patterns to 1000002"},
		{Limits{MaxPatterns: n(1000), MaxPatternsPerToken: 501}, "limits.max_patterns_per_token: is 501"},
		{Limits{MaxPatterns: n(1002), MaxPatternsPerToken: 501}, ""},
		{Limits{MaxPatterns: n(0), MaxPatternsPerTenant: 1 << 30}, ""},
	} {
		a := App{Limits: c.limits, Drain: caddy.Duration(0)}
		err := a.provisionLimits()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.limits, err, c.want)
		}
	}
}
