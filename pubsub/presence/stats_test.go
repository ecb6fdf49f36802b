package presence

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t)
		a, b := n.add("a", 100, 15*time.Second), n.add("b", 100, 15*time.Second)
		for _, subject := range []string{"ann", "bob"} {
			join(t, a, "t", "room.a", subject)
			join(t, a, "t", "room.a", subject)
		}
		join(t, b, "t", "room.a", "bob")
		join(t, b, "u", "room.b", "eve")
		w, err := b.Watch("", "t", parse(t, "room.#"), false, newClient(t))
		must(t, err)
		watch(t, b, "t", "room.a", true)
		wait(5 * time.Second)
		is := func(r *Registry, want Stats) {
			t.Helper()
			got := r.Stats()
			if got.Asked > 2 {
				t.Errorf("asked %d times", got.Asked)
			}
			if want.Asked = got.Asked; got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		}
		is(a, Stats{Members: 3, OwnMembers: 2, Edges: 1})
		is(b, Stats{Members: 3, OwnMembers: 2, Watchers: 2, Edges: 1})
		b.Unwatch(w)
		b.Unwatch(w)
		a.Leave(Key{"t", "room.a", "ann"}, false)
		a.Leave(Key{"t", "room.a", "ann"}, true) // it lingers
		b.Leave(Key{"u", "room.b", "eve"}, false)
		wait(5 * time.Second)
		is(a, Stats{Members: 2, OwnMembers: 2, Edges: 1})
		is(b, Stats{Members: 2, OwnMembers: 1, Watchers: 1, Edges: 1})
		n.change(func() { delete(n.edges, "a") })
		before := b.Stats().Asked
		wait(2 * time.Minute)
		is(b, Stats{Members: 1, OwnMembers: 1, Watchers: 1})
		c := n.add("c", 100, time.Second) // is told, or asks
		wait(5 * time.Second)
		is(c, Stats{Members: 1, Edges: 1})
		if c.Stats().Asked == 0 || b.Stats().Asked != before {
			t.Errorf("the new edge has asked %d times, the other %d", c.Stats().Asked, b.Stats().Asked-before)
		}
	})
}
