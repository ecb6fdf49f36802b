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
	messages, bytes, idle := map[string]int{}, map[string]int64{}, map[string]int{}
	for name, tenant := range h.tenants {
		messages[tenant.owner.name] += tenant.live
		bytes[tenant.owner.name] += tenant.bytes
		if tenant.live == 0 {
			idle[tenant.owner.name]++
		}
		if listed := tenant.ownedIndex >= 0; listed != (tenant.live > 0) || listed && tenant.owner.oldest[tenant.ownedIndex] != tenant {
			t.Fatalf("%s has %d messages and stands at %d of its owner's", name, tenant.live, tenant.ownedIndex)
		}
	}
	for name, o := range h.owners {
		if o.bytes != bytes[name] || o.idle.n != idle[name] || len(o.oldest)+o.idle.n == 0 {
			t.Fatalf("%q has %d bytes and %d idle tenants, want %d and %d", name, o.bytes, o.idle.n, bytes[name], idle[name])
		}
		listed := 0
		for tenant := o.idle.first; tenant != nil; tenant = tenant.idle.after {
			if listed++; tenant.owner != o || tenant.live > 0 || tenant.idle.after == nil && tenant != o.idle.last {
				t.Fatalf("%s, with %d messages, is an idle tenant of %q", tenant.name, tenant.live, name)
			}
		}
		if listed != o.idle.n {
			t.Fatalf("%d idle tenants of %q, want %d", listed, name, o.idle.n)
		}
		for _, other := range o.oldest {
			if first := o.oldest[0]; other.entries[other.first].T < first.entries[first.first].T {
				t.Fatalf("%s of %q is not the oldest", first.name, name)
			}
		}
	}
	if len(h.owners) != len(messages) {
		t.Fatalf("%d owners, want %d", len(h.owners), len(messages))
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
		h.OnShrink(func(string, string, *Entry) bool { shrunk++; return true })
		now := time.UnixMilli(1_000_000)
		add := func(owner, tenant string, i int) {
			h.Add(owner, tenant, fmt.Appendf(nil, "c.%d", i), h.Next(tenant, now), nil, nil, 1000)
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

// Whoever has got more than half of a history while there was room gives it back when others store
// something, and loses nothing more; and so where its size gets less.
func TestLargestMakesRoom(t *testing.T) {
	for _, c := range []struct {
		name, large string
		tenants     int
	}{{"a tenant", "", 1}, {"an owner", "a", 64}} {
		l := history.DefaultLimits()
		l.Size = 1 << 20
		h := New(1, l, nil)
		told := map[string]bool{}
		h.OnShrink(func(owner, _ string, _ *Entry) bool { told[owner] = true; return true })
		now := time.UnixMilli(1_000_000)
		add := func(owner, tenant string, i int) {
			h.Add(owner, tenant, fmt.Appendf(nil, "c.%d", i%50), h.Next(tenant, now), nil, nil, 1000)
			now = now.Add(time.Millisecond)
		}
		for i := range 200 {
			add("b", "victim", i)
		}
		for i := 0; h.bytes < l.Size-2000; i++ {
			add(c.large, fmt.Sprint("large", i%c.tenants), i)
		}
		kept := func() (victims int, bytes int64) {
			for name, t := range h.tenants {
				if name == "victim" || name == "another" {
					victims += t.live
				} else {
					bytes += t.bytes
				}
			}
			return victims, bytes
		}
		_, before := kept()
		for i := range 100 {
			add("b", "victim", i)
		}
		if n, bytes := kept(); n != 300 || bytes >= before || bytes < l.Size/2 {
			t.Errorf("%s: %d messages of others, want 300; %d of %d bytes are left of the large one's", c.name, n, bytes, before)
		}
		for i := range 100 {
			add("c", "another", i)
		}
		n, bytes := kept()
		if _, large := told[c.large]; n != 400 || !large || len(told) != 1 {
			t.Errorf("%s: %d messages of others, want 400; %v had to make room", c.name, n, told)
		}
		l.Size = bytes + 200_000
		for s := h.SetLimits(l); !s.Step(h, now); {
		}
		if n, bytes := kept(); n < 180 || bytes > l.Size/2 || bytes < l.Size/2-2000 {
			t.Errorf("%s, of %d bytes: %d messages of others, %d bytes of the large one's", c.name, l.Size, n, bytes)
		}
	}
}

// What belongs to nobody known is nobody's share, in particular where nothing is divided: whoever has the
// oldest message of all makes room, and the store need not be asked.
func TestNobodyIsNoOwner(t *testing.T) {
	l := history.DefaultLimits()
	l.Size, l.Messages = 1<<20, 1000
	h := New(1, l, nil)
	h.OnShrink(func(owner, tenant string, e *Entry) bool {
		t.Errorf("%d of %s, of %q, is cut", e.N, tenant, owner)
		return true
	})
	now := time.UnixMilli(1_000_000)
	h.Add("a", "first", []byte("c"), wire.Position{Epoch: 1, N: 1, T: 1}, nil, nil, 1000)
	for i := uint64(2); i < 3000; i++ { // many in one millisecond, by numbers of all
		owner, tenant := "", fmt.Sprint("t", i*7919%32)
		if i%10 < 4 {
			owner, tenant = "c", "c"
		}
		h.Add(owner, tenant, []byte("c"), wire.Position{Epoch: 1, N: i, T: uint64(now.UnixMilli()) + i/100}, nil, nil, 1000)
		if oldest := h.oldest[0]; oldest.entries[oldest.first].N+uint64(h.messages) != i+1 {
			t.Fatalf("%d is the oldest of %d up to %d", oldest.entries[oldest.first].N, h.messages, i)
		}
	}
}

// Where nothing is divided any more, what was said of owners before has no effect.
func TestMessagesWithoutOwner(t *testing.T) {
	l := history.DefaultLimits()
	l.Size, l.Messages = 1<<20, 1000
	h := New(1, l, nil)
	now := time.UnixMilli(1_000_000)
	add := func(owner, tenant string) {
		h.Add(owner, tenant, []byte("c"), h.Next(tenant, now), nil, nil, 1000)
		now = now.Add(time.Millisecond)
	}
	for range 100 {
		add("b", "b")
	}
	for i := range 2000 {
		add("", fmt.Sprint("a", i%10))
		if i == 0 { // from then on they belong to somebody
			for j := range 10 {
				add("a", fmt.Sprint("a", j))
			}
		}
	}
	if n := h.tenants["b"].live; n != 0 || h.owners["a"].bytes < l.Size/2 {
		t.Errorf("%d messages of the other one are left, which were the oldest", n)
	}
}

// With less size, too, whoever has more than half of it makes room first.
func TestLessSize(t *testing.T) {
	for large, tenants := range map[string]int{"": 1, "a": 20} {
		l := history.DefaultLimits()
		l.Size, l.Messages = 1<<20, 1000
		h := New(1, l, nil)
		now := time.UnixMilli(1_000_000)
		for i := range 500 {
			owner, tenant := "b", "victim"
			if i >= 150 {
				owner, tenant = large, fmt.Sprint("large", i%tenants)
			}
			h.Add(owner, tenant, []byte("c"), h.Next(tenant, now), nil, nil, 1000)
			now = now.Add(time.Millisecond)
		}
		for l.Size = 400_000; l.Size > 100_000; l.Size -= 100_000 { // of two that have more than half, both
			for s := h.SetLimits(l); !s.Step(h, now); {
			}
			if n := h.tenants["victim"].live; n < min(150, int(l.Size/2)/1128-2) || h.bytes > l.Size {
				t.Errorf("%q, of %d bytes: %d of 150 messages of the other one, %d bytes of all", large, l.Size, n, h.bytes)
			}
		}
	}
}

// A store that says no has the oldest of all go.
func TestStoreSaysNo(t *testing.T) {
	l := history.DefaultLimits()
	l.Size, l.Messages = 1<<20, 10_000
	h := New(1, l, nil)
	asked := 0
	h.OnShrink(func(string, string, *Entry) bool { asked++; return false })
	now := time.UnixMilli(1_000_000)
	add := func(owner, tenant string) {
		h.Add(owner, tenant, []byte("c"), h.Next(tenant, now), nil, nil, 1000)
		now = now.Add(time.Millisecond)
	}
	for range 100 {
		add("b", "b")
	}
	for i := range 2000 {
		add("a", fmt.Sprint("a", i%10))
	}
	if asked == 0 || h.tenants["b"].live != 0 || h.bytes > l.Size {
		t.Errorf("asked %d times; %d messages of the other one are left", asked, h.tenants["b"].live)
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
		tenant := fmt.Sprintf("%c%d", "ax"[random.IntN(2)], random.IntN(10)) // by their names, some are a's
		switch random.IntN(200) {
		case 0:
			for p := NewPurge(h, tenant, ""); !p.Step(); {
			}
		case 1:
			now = now.Add(30 * time.Minute)
			h.Expire(now, MaxStep)
		case 2:
			if len(h.tenants) > 0 {
				h.forgetIdle(owners[random.IntN(3)])
			}
		case 3:
			h.SetOwner(tenant, owners[random.IntN(3)])
		default:
			h.Add(owners[random.IntN(3)], tenant, fmt.Append(nil, "c.", random.IntN(50)), h.Next(tenant, now), nil, nil, random.IntN(4000))
		}
		if i%50 == 0 {
			countOwned(t, h)
		}
	}
}

// Whoever makes very many tenants has none of others' forgotten, whose clients would be notified of a gap, also
// where these have more; of its own those that have been idle for longest, some at a time.
func TestIdleTenantsOfOthers(t *testing.T) {
	h, forgotten := New(1, history.DefaultLimits(), nil), []string{}
	h.OnForget(func(tenant string) { forgotten = append(forgotten, tenant) })
	now := time.UnixMilli(1_000_000)
	add := func(owner, tenant string) {
		before := len(forgotten)
		h.Add(owner, tenant, []byte("c"), h.Next(tenant, now), nil, nil, 0)
		for p := NewPurge(h, tenant, ""); !p.Step(); {
		}
		if n := len(forgotten) - before; n > forgetEach {
			t.Fatalf("%d tenants are forgotten at once", n)
		}
	}
	const quiet = maxIdleTenants * 3 / 4
	for i := range quiet {
		add("b", fmt.Sprint("b", i))
	}
	for i := range 3 * maxIdleTenants {
		add("a", fmt.Sprint("a", i))
	}
	if n := h.owners["b"].idle.n; n != quiet || len(h.tenants) > maxIdleTenants+1 || len(forgotten) == 0 {
		t.Errorf("%d tenants are known, of the other one's %d", len(h.tenants), n)
	}
	for i, tenant := range forgotten {
		if want := fmt.Sprint("a", i); tenant != want {
			t.Fatalf("%s is forgotten before %s", tenant, want)
		}
	}
	countOwned(t, h)
	for i := range 2 * maxIdleTenants { // nobody has many
		add(fmt.Sprint("owner", i), fmt.Sprint("of owner", i))
	}
	if len(h.tenants) > maxIdleTenants+1 || len(h.owners) > maxIdleTenants+1 {
		t.Errorf("%d tenants of %d owners are known", len(h.tenants), len(h.owners))
	}
}

// A tenant stays with the owner that it has, until it has no messages, or its name says whose it is.
func TestOwnerOfTenant(t *testing.T) {
	h := New(1, history.DefaultLimits(), nil)
	now := time.UnixMilli(1_000_000)
	add := func(owner string) { h.Add(owner, "t.u.v", []byte("c"), h.Next("t.u.v", now), nil, nil, 0) }
	for _, c := range []struct{ adds, want string }{
		{"", ""}, {"a", "a"}, {"", "a"}, {"bbb", "a"}, {"t.", "t."}, {"bbb", "t."}, {"t.u.", "t.u."}, {"t.", "t.u."}, {"", "t.u."},
	} {
		if takes := h.Takes("t.u.v", c.adds); takes != (c.adds != h.Owner("t.u.v") && c.adds == c.want) {
			t.Errorf("%q takes it: %v", c.adds, takes)
		}
		add(c.adds)
		countOwned(t, h)
		if got := h.Owner("t.u.v"); got != c.want {
			t.Errorf("after a message of %q, it is %q's, want %q", c.adds, got, c.want)
		}
	}
	for p := NewPurge(h, "t.u.v", ""); !p.Step(); {
	}
	if add("b"); h.Owner("t.u.v") != "b" {
		t.Error("it stays with who has nothing there")
	}
}

// The limit of keys is that of the owner of the tenant whose message has the key, and of nobody
// where that has no owner. Keys that are not remembered yet count, until they are given back.
func TestKeysOfOwner(t *testing.T) {
	l := history.DefaultLimits()
	l.Size = 1 << 20
	limit := int(l.Size / keyBytes)
	h := New(1, l, nil)
	now := time.UnixMilli(1_000_000)
	var reserved []ReservedKey
	fill := func(owner string) (n int) {
		for ; ; n++ {
			tenant := fmt.Sprint(owner, n%8)
			r, ok := h.ReserveKey(tenant, owner)
			if !ok {
				return n
			}
			reserved = append(reserved, r)
		}
	}
	h.Add("b", "taken", []byte("c"), h.Next("taken", now), nil, nil, 0)
	for p := NewPurge(h, "taken", ""); !p.Step(); { // idle, and still b's
	}
	h.Add("a", "a's", []byte("c"), h.Next("a's", now), nil, nil, 0)
	if n := fill("a"); n != limit/2 {
		t.Errorf("%d keys are reserved for an owner, want %d", n, limit/2)
	}
	for _, c := range []struct {
		tenant, owner string
		want          bool
	}{{"new", "a", false}, {"taken", "a", false}, {"a's", "b", false}, {"a's", "", true}, {"taken", "b", true}} {
		if got := h.HasKeyRoom(c.tenant, c.owner); got != c.want {
			t.Errorf("room for a key in %s for %q: %v", c.tenant, c.owner, got)
		}
	}
	if n := fill("b"); n != limit-limit/2 || h.HasKeyRoom("new", "c") {
		t.Errorf("another one has %d, want %d, and there is room for more", n, limit-limit/2)
	}
	for _, r := range reserved {
		r.Release()
	}
	if k := &h.keys; k.reserved != 0 || len(k.byOwner)+len(k.byTenant) != 0 {
		t.Errorf("%d, %v and %v are left", k.reserved, k.byOwner, k.byTenant)
	}
}

// Who reads later what an owner's tenants have is notified of what was removed for its share: of those that
// are known, and of those that have nothing left; but not of the tenants of others. What is removed goes,
// and nothing else.
func TestFloorsOfOwner(t *testing.T) {
	h, told := New(1, history.DefaultLimits(), nil), ""
	h.OnShrink(func(owner, tenant string, e *Entry) bool { told += fmt.Sprint(owner, tenant, e.N, " "); return false })
	add := func(owner, tenant string, n uint64) {
		h.Add(owner, tenant, []byte("c"), wire.Position{Epoch: 1, N: n, T: n}, nil, nil, 0)
	}
	add("b", "b", 2)
	for i, tenant := range []string{"a", "moves", "a", "a"} {
		add("a", tenant, uint64(i)+3)
	}
	add("", "whose", 7)
	h.RaiseOwnerFloors("a", wire.Position{Epoch: 1, N: 5, T: 5})
	if h.RemoveOwnedTo("a", 5); told != "aa3 amoves4 aa5 " {
		t.Errorf("the store is called for %s", told)
	}
	add("a", "later", 8)
	add("b", "moves", 9)
	for tenant, want := range map[string]struct {
		floor uint64
		left  int
	}{"a": {5, 1}, "b": {0, 1}, "whose": {5, 1}, "later": {5, 1}, "gone": {5, 0}, "moves": {5, 1}} {
		if floor, n := h.Floor(tenant).N, len(h.Numbers(tenant, "", 10)); floor != want.floor || n != want.left {
			t.Errorf("of %s, all up to %d is removed and %d are left, want %+v", tenant, floor, n, want)
		}
	}
	countOwned(t, h)
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
			for ; ; n++ {
				tenant := fmt.Sprint(owner, n%8)
				if !h.HasKeyRoom(tenant, owner) {
					return n
				}
				at := h.Next(tenant, now)
				h.Add(owner, tenant, []byte("c"), at, nil, nil, 0)
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
