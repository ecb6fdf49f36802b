package tokenstore_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/millrace/millrace/tokenstore"
)

// largeRights are rights about as large as a request may have, each of another shape.
func largeRights() map[string]tokenstore.Right {
	rules := func(n int, rule func(i int) string) (list []string) {
		for i := range n {
			list = append(list, rule(i))
		}
		return list
	}
	tokens, short, tenants := grantAll("t"), grantAll("t"), grantAll("t")
	for i := range 4 {
		tokens.TenantGrants = append(tokens.TenantGrants, tokenstore.TenantGrant{
			TenantIDs: []string{"t"}, AllowChannelsSub: rules(224, func(j int) string {
				return fmt.Sprintf("%s%c.%c", strings.Repeat("a.", 30), 'a'+i, 'a'+j%26)
			}),
		})
	}
	for range 45 {
		short.TenantGrants = append(short.TenantGrants, tokenstore.TenantGrant{
			TenantIDs: []string{"u"}, AllowChannelsPub: rules(256, func(j int) string { return fmt.Sprintf("%c%c", 'a'+j/26, 'a'+j%26) }),
		})
	}
	groups := grantAll("t")
	groups.TenantGrants = append(groups.TenantGrants, tokenstore.TenantGrant{
		TenantIDs: []string{"u"}, AllowChannelsPub: rules(100, func(int) string { return "(" + strings.Repeat("a|", 15) + "b)" }),
	})
	for i := range 38 {
		tenants.TenantGrants = append(tenants.TenantGrants, tokenstore.TenantGrant{
			TenantIDs: rules(256, func(j int) string { return fmt.Sprintf("%x", i<<8+j) }),
		})
	}
	return map[string]tokenstore.Right{"many tokens": tokens, "many rules": short, "groups": groups, "many tenants": tenants, "small": grantAll("t")}
}

// BenchmarkHandshake is what checking a token costs a connection: time, and the heap that the
// connection holds on to.
func BenchmarkHandshake(b *testing.B) {
	for name, right := range largeRights() {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			s := newTestbed(b, tokenstore.Config{})
			issued := s.issue(b, s.Overlay(), right)
			var held []*tokenstore.Access
			before := liveHeap()
			for b.Loop() {
				access, err := s.Authenticate(b.Context(), issued.Token)
				must(b, err)
				_, err = s.Lookup(b.Context(), issued.TokenID)
				must(b, err)
				if len(held) < 100 {
					held = append(held, access)
				}
			}
			b.ReportMetric(float64(liveHeap()-before)/float64(len(held)), "heap-B/conn")
			runtime.KeepAlive(held)
		})
	}
}

// BenchmarkHandshakeInTurn is what checking a token costs where more tokens connect in turn than the
// edge keeps the rights of.
func BenchmarkHandshakeInTurn(b *testing.B) {
	for name, right := range largeRights() {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			s := newTestbed(b, tokenstore.Config{})
			tokens := make([]string, 1100)
			if name != "small" {
				tokens = tokens[:300]
			}
			for i := range tokens {
				tokens[i] = s.issue(b, s.Overlay(), right).Token
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				_, err := s.Authenticate(b.Context(), tokens[i%len(tokens)])
				must(b, err)
			}
		})
	}
}

// BenchmarkCanPublish is what the right costs a publish: one that the last rule might allow, and the
// one of a small right.
func BenchmarkCanPublish(b *testing.B) {
	for name, right := range largeRights() {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			s := newTestbed(b, tokenstore.Config{})
			access, err := s.Authenticate(b.Context(), s.issue(b, s.Overlay(), right).Token)
			must(b, err)
			tenant, channel := []byte("t"), []byte("a.b")
			if name == "many rules" || name == "groups" {
				tenant, channel = []byte("u"), []byte("none")
			}
			for b.Loop() {
				access.CanPublish(tenant, channel)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*access.Size()), "ns/right-B")
		})
	}
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
