package presence

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// Who begins to watch gets all pages, although members have left, and are forgotten, that had
// come later than those of the first page: with long memberships, that is nearly always so.
func TestPagesBehindForgottenMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t)
		r := n.add("a", 20_000, time.Second)
		const members = 3000 // some ten pages for watchers, and two for edges
		for i := range members {
			join(t, r, "t", fmt.Sprint("room.", i%2), fmt.Sprintf("user-%05d", i))
		}
		for range 2 { // of one of them the newest entry is forgotten
			join(t, r, "t", "room.0", "eve")
			r.Leave(Key{"t", "room.0", "eve"}, false)
			wait(2 * keepGone)
		}
		one, wild := watch(t, r, "t", "room.0", false), watch(t, r, "t", "room.#", false)
		counts := watch(t, r, "t", "room.#", true)
		b := n.add("b", 20_000, time.Second)
		there := watch(t, b, "t", "room.#", false)
		// They go on leaving, so that there is something to forget at any time.
		for i := range 100 {
			key := Key{"t", "room.0", fmt.Sprint("guest-", i)}
			join(t, r, key.Tenant, key.Channel, key.Subject)
			r.Leave(key, false)
			wait(100 * time.Millisecond)
		}
		for name, c := range map[string]*client{"one": one, "wild": wild, "other edge": there} {
			want := members
			if c == one {
				want = members / 2
			}
			if len(c.shown) != want {
				t.Errorf("%s: %d members, want %d, after %d frames", name, len(c.shown), want, c.frames)
			}
			if c.bytes > 60*members {
				t.Errorf("%s got %d bytes", name, c.bytes)
			}
		}
		equal(t, "counts", fmt.Sprint(counts.counts), fmt.Sprintf("map[room.0:%d room.1:%[1]d]", members/2))
	})
}

// An edge that starts has all that others have soon, however much that is.
func TestLargeSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t)
		a := n.add("a", 100_000, time.Second)
		const members = 45_000 // some 33 pages
		for i := range members {
			join(t, a, "t", "room.0", fmt.Sprintf("user-%05d", i))
		}
		wait(30 * time.Second)
		b := n.add("b", 100_000, time.Second)
		wait(beatEvery + time.Second)
		if got := b.Stats(); got.Members != members {
			t.Errorf("after seconds it has %d members, by %d questions", got.Members, got.Asked)
		}
	})
}
