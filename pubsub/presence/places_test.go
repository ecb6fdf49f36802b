package presence

import (
	"fmt"
	"testing"
	"time"
)

// several is a registry with so many members of this edge, each in a tenant of its own.
func several(t *testing.T, n int) *Registry {
	t.Helper()
	_, r := newSink(t, 100_000, time.Second)
	for i := range n {
		join(t, r, fmt.Sprint("t", i), "room.a", "ann")
	}
	return r
}

// All members are visited that are there all the while, some at a time, whatever comes and goes meanwhile.
func TestWalk(t *testing.T) {
	const n = 3 * stepSize
	r := several(t, n)
	for i := range n {
		join(t, r, "crowd", "room.a", fmt.Sprint(i))
	}
	visited := map[Key]int{}
	var w walk
	steps := 0
	for more := true; more; steps++ {
		before := len(visited)
		more = w.step(r, func(e *entry) { visited[e.key()]++ })
		if got := len(visited) - before; got > stepSize {
			t.Fatalf("%d in one step", got)
		}
		gone := Key{fmt.Sprint("t", steps), "room.a", "ann"}
		r.Leave(gone, false)
		r.Tick(time.Now().Add(2 * keepGone * time.Duration(steps+1))) // which removes the tenant
		join(t, r, fmt.Sprint("new", steps), "room.a", "ann")
	}
	counted(t, r)
	for i := steps; i < n; i++ {
		for _, key := range []Key{{fmt.Sprint("t", i), "room.a", "ann"}, {"crowd", "room.a", fmt.Sprint(i)}} {
			if visited[key] == 0 {
				t.Fatalf("%v was not visited", key)
			}
		}
	}
}

// A walk ends when the tenants that were left are gone.
func TestWalkOfFew(t *testing.T) {
	r := several(t, 10)
	var w walk
	w.nextTenant(r)
	for i := range 10 {
		r.Leave(Key{fmt.Sprint("t", i), "room.a", "ann"}, false)
	}
	r.Tick(time.Now().Add(2 * keepGone))
	equal(t, "next tenant", w.nextTenant(r), nil)
}

// Many members end with their presence; others use the registry meanwhile.
func TestDefinitionsInSteps(t *testing.T) {
	const n = 3 * stepSize
	r := several(t, n)
	must(t, r.Receive("", "b", pageOf(t, keys(100)...)))
	left, atFirst := 0, 0
	r.options.Left = func(Key, string) {
		if left++; left == 1 {
			atFirst = r.Stats().OwnMembers
		}
	}
	r.SetDefinitions(nil)
	equal(t, "members that have left", left, n)
	equal(t, "what is left", r.Stats().Members+r.Stats().OwnMembers+len(r.others["b"].held), 0)
	if atFirst < n-stepSize {
		t.Errorf("when the first one is reported, %d of %d are left: the lock was held for all others", atFirst, n)
	}
	counted(t, r)
}

// Members count for the presence that has their channel now.
func TestRenamedPresence(t *testing.T) {
	r := several(t, 10)
	join(t, r, "t1", "room.b", "bob")
	renamed, err := NewSet([]Definition{
		{Name: "others", Channels: []string{"room.b"}, Members: 1, Linger: time.Second},
		{Name: "halls", Channels: []string{"room.a"}, Members: 2, Linger: time.Second},
	})
	must(t, err)
	r.SetDefinitions(renamed)
	equal(t, "tenants with members", len(r.Usage()), 11)
	equal(t, "usage", fmt.Sprint(r.Usage()[1:3]), "[{halls t1 1} {others t1 1}]")
	join(t, r, "t1", "room.a", "eve")
	equal(t, "one more in a full presence", r.Join("", Key{"t1", "room.a", "cid"}, nil), ErrFull)
	r.Leave(Key{"t1", "room.b", "bob"}, false)
	join(t, r, "t1", "room.b", "cid")
}

// What is gone for long is forgotten some at a time.
func TestPruneInSteps(t *testing.T) {
	const n = 2 * stepSize
	r := several(t, n)
	for i := range n {
		r.Leave(Key{fmt.Sprint("t", i), "room.a", "ann"}, false)
	}
	var w walk
	for more := true; more; {
		before := r.entries
		more = r.pruneSome(&w, time.Now().Add(2*keepGone))
		if forgotten := before - r.entries; forgotten > stepSize {
			t.Fatalf("%d were forgotten in one step", forgotten)
		}
	}
	equal(t, "tenants and entries left", len(r.tenants)+r.entries+r.own.log.tree.Len(), 0)
}
