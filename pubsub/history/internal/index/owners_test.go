package index

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

// countOwned returns how many messages each owner has, and checks what is counted of owners.
func countOwned(t *testing.T, h *History) map[string]int {
	t.Helper()
	messages, bytes, users := map[string]int{}, map[string]int64{}, map[string]int{}
	for name, tenant := range h.tenants {
		messages[tenant.owner.name] += tenant.live
		bytes[tenant.owner.name] += tenant.bytes
		users[tenant.owner.name]++
		if listed := tenant.ownedIndex >= 0; listed != (tenant.live > 0) || listed && tenant.owner.oldest[tenant.ownedIndex] != tenant {
			t.Fatalf("%s has %d messages and stands at %d of its owner's", name, tenant.live, tenant.ownedIndex)
		}
	}
	for name, o := range h.owners {
		if o.bytes != bytes[name] || o.users != users[name] || o.users == 0 {
			t.Fatalf("%q has %d bytes in %d tenants, want %d in %d", name, o.bytes, o.users, bytes[name], users[name])
		}
		for _, other := range o.oldest {
			if first := o.oldest[0]; other.entries[other.first].T < first.entries[first.first].T {
				t.Fatalf("%s of %q is not the oldest", first.name, name)
			}
		}
	}
	if len(h.owners) != len(users) {
		t.Fatalf("%d owners, want %d", len(h.owners), len(users))
	}
	return messages
}

// An owner of many tenants, each of which has less than half, removes nothing of others by what it
// adds, and is told which of its own goes; alone it has all.
func TestOwnersShareASize(t *testing.T) {
	for _, others := range []bool{true, false} {
		l := history.DefaultLimits()
		l.Size = 1 << 20
		h := New(1, l, nil)
		shrunk := 0
		h.OnShrink(func(string, *Entry) { shrunk++ })
		now := time.UnixMilli(1_000_000)
		add := func(owner, tenant string, i int) {
			h.AddOf(owner, tenant, fmt.Appendf(nil, "c.%d", i), h.Next(tenant, now), nil, nil, 1000)
			now = now.Add(time.Millisecond)
		}
		victim := "a"
		if others {
			victim = "victim"
		}
		for i := range 300 {
			add(victim, "of "+victim, i)
		}
		for i := range 3000 {
			add("a", fmt.Sprint("a.", i%64), i)
		}
		n := countOwned(t, h)
		if kept := h.tenants["of "+victim].live; (kept == 300) != others || (shrunk > 0) != others || n["a"] < 300 || h.bytes > l.Size {
			t.Errorf("others %v: %d of 300 are kept, of the attacker's %d; %d were cut", others, kept, n["a"], shrunk)
		}
	}
}

// What is counted of owners is right whatever happens to their tenants.
func TestOwnersAreCounted(t *testing.T) {
	l := history.DefaultLimits()
	l.Size, l.Messages, l.Age = 1<<20, 3, time.Hour
	h := New(1, l, nil)
	random := rand.New(rand.NewPCG(1, 2))
	now := time.UnixMilli(1_000_000)
	owners := []string{"", "a", "b"}
	for i := range 20_000 {
		tenant := fmt.Sprint(random.IntN(20))
		switch random.IntN(200) {
		case 0:
			for p := NewPurge(h, tenant, ""); !p.Step(); {
			}
		case 1:
			now = now.Add(30 * time.Minute)
			h.Expire(now, MaxStep)
		case 2:
			h.forgetIdle()
		case 3:
			h.SetOwner(tenant, owners[random.IntN(3)])
		default:
			h.AddOf(owners[random.IntN(3)], tenant, fmt.Append(nil, "c.", random.IntN(50)), h.Next(tenant, now), nil, nil, random.IntN(4000))
		}
		if i%50 == 0 {
			countOwned(t, h)
		}
	}
}

// A tenant stays with the owner that it has, until it has no messages.
func TestOwnerOfTenant(t *testing.T) {
	h := New(1, history.DefaultLimits(), nil)
	now := time.UnixMilli(1_000_000)
	add := func(owner string) { h.AddOf(owner, "t", []byte("c"), h.Next("t", now), nil, nil, 0) }
	for _, c := range []struct{ adds, want string }{{"", ""}, {"a", "a"}, {"", "a"}, {"b", "a"}} {
		if takes := h.Takes("t", c.adds); takes != (c.adds == "a") {
			t.Errorf("%q takes it: %v", c.adds, takes)
		}
		add(c.adds)
		if got := h.Owner("t"); got != c.want {
			t.Errorf("after a message of %q, it is %q's, want %q", c.adds, got, c.want)
		}
	}
	for p := NewPurge(h, "t", ""); !p.Step(); {
	}
	if add("b"); h.Owner("t") != "b" {
		t.Error("it stays with who has nothing there")
	}
}

// The keys of an owner take half of those that are remembered, in any number of tenants.
func TestOwnersShareKeys(t *testing.T) {
	l := history.DefaultLimits()
	l.Size = 1 << 20
	limit := int(l.Size / keyBytes)
	for owner, want := range map[string]int{"a": limit / 2, "": limit} {
		h := New(1, l, nil)
		now := time.UnixMilli(1_000_000)
		fill := func(owner string) (n int) {
			for tenant := ""; ; n++ {
				if tenant = fmt.Sprint(owner, n%8); !h.HasKeyRoom(tenant, owner) {
					return n
				}
				at := h.Next(tenant, now)
				h.AddOf(owner, tenant, []byte("c"), at, nil, nil, 0)
				var hash KeyHash
				copy(hash[:], fmt.Sprint(owner, n))
				h.Remember(tenant, hash, wire.Position{Epoch: 1, N: at.N}, now)
			}
		}
		if n := fill(owner); n != want {
			t.Errorf("%q has %d keys, want %d", owner, n, want)
		}
		if n := fill("victim"); n != limit-want {
			t.Errorf("another one has %d, want %d", n, limit-want)
		}
		h.Expire(now.Add(history.KeyTime), MaxStep)
		if len(h.keys.byOwner)+len(h.keys.byTenant) != 0 {
			t.Errorf("%v and %v are left", h.keys.byOwner, h.keys.byTenant)
		}
	}
}
