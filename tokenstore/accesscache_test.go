package tokenstore

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"weak"
)

// rulesOf compiles a version of a token with rules of so many bytes.
func rulesOf(t *testing.T, id string, version uint64, bytes int, more ...string) *Access {
	t.Helper()
	rules := more
	for ; bytes > 0; bytes -= 100 {
		rules = append(rules, strings.Repeat("r", 100))
	}
	a, err := compile(id, version, &accessRecord{Right: Right{TenantGrants: []TenantGrant{{TenantIDs: []string{"t"}, AllowChannelsPub: rules}}}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// However often a token is refreshed, and whatever else was compiled since, its connections share
// one right, and its version is compiled once.
func TestConnectionsShareARight(t *testing.T) {
	var c accessCache
	first := c.add(rulesOf(t, "a", 1, 1000))
	for version := uint64(2); version < 10; version++ {
		for i := range 2 * maxRecent {
			c.add(rulesOf(t, fmt.Sprint(i), version, 0))
		}
		runtime.GC()
		next := c.add(rulesOf(t, "a", version, 1000))
		if next.right != first.right || next.Version != version {
			t.Fatalf("version %d has a right of its own", version)
		}
		if again := c.add(rulesOf(t, "a", version, 1000)); again != next || c.get("a", version) != next {
			t.Error("the same version is there twice")
		}
		if c.get("a", version-1) != nil {
			t.Error("an earlier version is given")
		}
	}
	if other := c.add(rulesOf(t, "a", 10, 1000, "more")); other.right == first.right || !other.CanPublish([]byte("t"), []byte("more")) {
		t.Error("a right that was changed is the old one")
	}
	runtime.KeepAlive(first)
}

// What nobody has is forgotten; what is kept for later is bounded in number and size.
func TestAccessCacheIsBounded(t *testing.T) {
	for size, n := range map[int]int{0: 4 * minSwept, 12_000: minSwept} {
		var c accessCache
		held := c.add(rulesOf(t, "held", 1, size))
		for i := range n {
			c.add(rulesOf(t, fmt.Sprint(i), 1, size))
			if len(c.recent) > maxRecent || c.bytes > maxRecentBytes {
				t.Fatalf("%d tokens of %d bytes are kept", len(c.recent), c.bytes)
			}
			if i%maxRecent == 0 {
				runtime.GC()
			}
		}
		if c.get(fmt.Sprint(n-1), 1) == nil || len(c.recent) < maxRecent/2 {
			t.Errorf("the last one is not kept, or few are: %d", len(c.recent))
		}
		if len(c.inUse) > 2*minSwept {
			t.Errorf("%d tokens are known", len(c.inUse))
		}
		if c.get("held", 1) != held {
			t.Error("a token in use is forgotten")
		}
	}
}

// A reload makes another Service: nothing holds on to the cache of the one before.
func TestDroppedCacheIsFreed(t *testing.T) {
	c := new(accessCache)
	c.add(rulesOf(t, "a", 1, 100))
	dropped := weak.Make(c)
	runtime.GC()
	if dropped.Value() != nil {
		t.Error("the cache is still in memory")
	}
}

// A right takes about as much memory as its text, of whatever shape it is.
func TestRightIsSmall(t *testing.T) {
	var tokens, short, tenants []string
	for i := range MaxRules {
		tokens = append(tokens, fmt.Sprintf("%s%d", strings.Repeat("a.", 30), i))
		short = append(short, fmt.Sprintf("%x", i))
		tenants = append(tenants, fmt.Sprintf("%x", i))
	}
	for name, grant := range map[string]TenantGrant{
		"tokens": {TenantIDs: []string{"t"}, AllowChannelsSub: tokens}, "rules": {TenantIDs: []string{"t"}, AllowChannelsPub: short},
		"groups": {AllowChannelsPub: []string{"(" + strings.Repeat("a|", 15) + "b)"}}, "tenants": {TenantIDs: tenants},
	} {
		r := accessRecord{Right: Right{TenantGrants: []TenantGrant{grant, grant, grant, grant, grant, grant}}}
		for i := range r.Right.TenantGrants { // each has other tenants
			g := &r.Right.TenantGrants[i]
			g.TenantIDs = nil
			for _, name := range grant.TenantIDs {
				g.TenantIDs = append(g.TenantIDs, fmt.Sprint(i, name))
			}
		}
		record, err := r.encode("id", 1)
		if err != nil {
			t.Fatal(err)
		}
		var kept []*Access
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for range 50 {
			a, err := compile("id", 1, &r)
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, a)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		each := int(after.HeapAlloc-before.HeapAlloc) / len(kept)
		if most := 3*len(record.Value) + 2048; each > most || kept[0].Size() < each/2 || kept[0].Size() > most {
			t.Errorf("%s: a record of %d bytes takes %d, and says %d", name, len(record.Value), each, kept[0].Size())
		}
	}
}
