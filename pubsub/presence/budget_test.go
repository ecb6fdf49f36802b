package presence

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

// raw is a receiver that counts what it is given.
type raw struct {
	t      *testing.T
	given  *int // bytes, by all
	counts uint32
	synced int // frames that say so
	pushed int // frames
	full   bool
}

func (c *raw) HasRoom() bool { return !c.full }

func (c *raw) PushPresence(b []byte) bool {
	if c.full {
		c.t.Error("a frame was made for a receiver without room")
		return false
	}
	if len(b) > MaxFrame {
		c.t.Errorf("a frame of %d bytes", len(b))
	}
	*c.given += len(b)
	c.pushed++
	if b[1]&4 != 0 {
		p, err := wire.DecodePresence(b)
		if err != nil || len(p.Channels) != 1 {
			c.t.Errorf("%+v, %v", p, err)
			return true
		}
		c.counts = p.Channels[0].Members
	}
	if b[1]&2 != 0 {
		c.synced++
	}
	return true
}

// A crowd of 10,000 that 10,000 watch: the edge gives out so many bytes a second and no more,
// and everybody is told within seconds how many there are.
func TestCrowdOfWatchers(t *testing.T) {
	const crowd = 10_000
	r := alone(t, crowd, time.Second)
	given := 0
	watchers := make([]*raw, crowd)
	for i := range watchers {
		watchers[i] = &raw{given: &given, t: t}
		watchWith(t, r, "t", "room.a", false, watchers[i])
	}
	now := time.Now()
	tick := func() {
		now = now.Add(tickEvery)
		before := given
		r.Tick(now)
		if n := given - before; n > tickBytes+MaxFrame {
			t.Fatalf("%d bytes in a tick", n)
		}
	}
	tick()
	for i, c := range watchers {
		if c.synced != 1 {
			t.Fatalf("watcher %d has not begun", i)
		}
	}
	for i := range crowd {
		join(t, r, "t", "room.a", fmt.Sprintf("user-%05d", i))
		if i%(crowd/10) == 0 {
			tick()
		}
	}
	for range 5 {
		tick()
	}
	for i, c := range watchers {
		if c.counts == 0 {
			t.Fatalf("watcher %d does not know of a crowd", i)
		}
	}
	for range 10 {
		tick()
	}
	for i, c := range watchers {
		if c.counts != crowd {
			t.Fatalf("watcher %d knows of %d", i, c.counts)
		}
	}
}

// Who was told counts, being far behind, is told when the members are as new: synced.
func TestSyncedAfterCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := alone(t, 20_000, time.Second)
		go r.Run(t.Context())
		given := 0
		one, wild := &raw{given: &given, t: t}, &raw{given: &given, t: t}
		for text, c := range map[string]*raw{"room.a": one, "room.#": wild} {
			watchWith(t, r, "t", text, false, c)
		}
		wait(time.Second)
		for i := range 2 * farBehind {
			join(t, r, "t", "room.a", fmt.Sprint("user-", i))
		}
		wait(time.Minute)
		for _, c := range []*raw{one, wild} {
			if c.synced != 2 || c.counts == 0 {
				t.Errorf("synced %d times, with counts of %d", c.synced, c.counts)
			}
		}
		join(t, r, "t", "room.a", "one more")
		wait(time.Second)
		if one.synced != 2 || wild.synced != 2 {
			t.Error("synced, and was not behind")
		}
	})
}

// A tenant whose watchers would use all that a tick gives out does not keep others waiting.
func TestTenantsShareTicks(t *testing.T) {
	r := alone(t, 20_000, time.Second)
	given := 0
	watch := func(tenant, text string) *raw {
		c := &raw{given: &given, t: t}
		watchWith(t, r, tenant, text, false, c)
		return c
	}
	for i := range 5000 {
		join(t, r, "loud", "room.a", fmt.Sprint("user-", i))
	}
	for i := range maxWild - 1 {
		for range 4 {
			watch("loud", "room.#")
			watch("loud", fmt.Sprintf("room.x%d.#", i)) // matches nothing, which costs, too
		}
	}
	now := time.Now()
	quiet := watch("quiet", "room.b")
	for i := range 10 {
		join(t, r, "quiet", "room.b", fmt.Sprint("user-", i))
		now = now.Add(tickEvery)
		if r.Tick(now); quiet.pushed != i+1 {
			t.Fatalf("after tick %d the quiet tenant was told %d times", i, quiet.pushed)
		}
		if i == 1 && len(r.dirty) < maxWild/2 {
			t.Fatalf("the loud tenant has only %d patterns left: nothing is shown", len(r.dirty))
		}
	}
}

// Neither an owner of many tenants, nor many owners, whose watchers have more to be told than a tick has,
// keep another owner's watcher waiting; and they get no more than all ticks have.
func TestHoldersShareTicks(t *testing.T) {
	const members, ticks = 16, 10 // members fill a page
	for _, c := range []struct{ owners, tenants int }{{1, 500}, {300, 1}} {
		r := newShared(t)
		r.maxEntries = 20_000
		given := 0
		quiet, loud := &raw{given: &given, t: t}, &raw{given: &given, t: t}
		watchWith(t, r, "quiet.1", "room.#", false, quiet)
		var tenants []string
		for n := range c.owners * c.tenants {
			tenants = append(tenants, fmt.Sprintf("loud-%d.%d", n%c.owners, n))
			watchWith(t, r, tenants[n], "room.#", false, loud)
		}
		now := time.Now()
		for i := range ticks {
			info := bytes.Repeat([]byte{byte('a' + i)}, wire.MaxInfo)
			for n := range members * len(tenants) {
				must(t, r.Join("loud", Key{tenants[n%len(tenants)], "room.a", fmt.Sprint(n)}, info))
			}
			join(t, r, "quiet.1", "room.a", fmt.Sprint(i))
			now = now.Add(tickEvery)
			if r.Tick(now); quiet.pushed != i+1 {
				t.Fatalf("%+v: after tick %d the quiet owner's watcher was told %d times", c, i, quiet.pushed)
			}
		}
		if most := ticks*tickBytes + c.owners*MaxFrame; given > most || given < ticks*tickBytes*3/4 {
			t.Errorf("%+v: %d bytes in %d ticks, want %d at most, and much of that", c, given, ticks, most)
		}
	}
}

// For a watcher that has no room nothing is made.
func TestBlockedWatchers(t *testing.T) {
	r := alone(t, 20_000, time.Second)
	given := 0
	c := &raw{given: &given, t: t, full: true}
	for i := range 3 * farBehind {
		join(t, r, "t", "room.a", fmt.Sprint("user-", i))
	}
	for _, text := range []string{"room.a", "room.#"} {
		for _, count := range []bool{false, true} {
			watchWith(t, r, "t", text, count, c)
		}
	}
	now := time.Now()
	for range 20 {
		now = now.Add(time.Second)
		r.Tick(now)
	}
	c.full = false
	now = now.Add(time.Second)
	r.Tick(now)
	if c.pushed < 4 {
		t.Errorf("%d frames when there is room", c.pushed)
	}
}
