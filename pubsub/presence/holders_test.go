package presence

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// newShared makes a registry for 100 entries of owners whose tenants begin with their names, each of which
// has half at most.
func newShared(t *testing.T) *Registry {
	_, r := newSink(t, 1000, time.Second)
	r.maxEntries = 100
	r.options.Share = func(all int) int { return all / 2 }
	r.options.Owner = func(tenant, user string) string {
		if owner, _, ok := strings.Cut(tenant, "."); ok {
			return owner
		}
		return user
	}
	return r
}

// counted checks what is counted of holders, and which members other edges have.
func counted(t *testing.T, r *Registry) {
	t.Helper()
	all, entries, left, held := 0, map[*holder]int{}, map[*holder]int{}, map[string]int{}
	for _, tn := range r.tenants {
		n := 0
		for _, c := range tn.channels {
			for _, e := range c.entries {
				n++
				all++
				entries[tn.holder]++
				if !e.here {
					left[tn.holder]++
				}
				for _, o := range e.owners {
					if b := r.others[o.edge]; b != nil {
						held[o.edge]++
						_, has := b.held[e]
						equal(t, "whether the edge has its member", has, true)
					}
				}
			}
		}
		equal(t, "entries of "+tn.name, tn.entries, n)
	}
	for id, b := range r.others {
		equal(t, "members of edge "+id, len(b.held), held[id])
	}
	equal(t, "entries", r.entries, all)
	equal(t, "tenants", len(r.all.list), len(r.tenants))
	for name, h := range r.holders {
		equal(t, "entries of holder "+name, h.entries, entries[h])
		equal(t, "of these, left", h.left, left[h])
		n := 0
		for i, tn := range h.leaving.list {
			n += tn.left
			equal(t, "place of "+tn.name, tn.placeLeaving, i+1)
		}
		equal(t, "of these, in tenants that can be found", n, h.left)
	}
}

// Members that have left make room for others, those of the holder that has most of them first; and a
// holder has its share of all, however many tenants it has.
func TestHoldersShareEntries(t *testing.T) {
	r := newShared(t)
	fill := func(format string, leave bool) (n int) {
		for ; n < 1000; n++ {
			key := Key{fmt.Sprintf(format, n%10), "room.a", fmt.Sprint(n)}
			if r.Join("x", key, nil) != nil {
				return n
			}
			if leave {
				r.Leave(key, false)
			}
		}
		return n
	}
	equal(t, "members of one holder that come and go", fill("a.%d", true), 1000)
	counted(t, r)
	if a := r.holders["a"]; a.entries > 50 || a.entries < 20 {
		t.Errorf("one holder has %d entries, want about half of 100", a.entries)
	}
	equal(t, "members of another holder", fill("b.%d", false), 50)
	equal(t, "members of the first one", fill("a.%d", false), 50)
	counted(t, r)
	key := Key{"c.1", "room.a", "ann"}
	equal(t, "a third one, when all are there", r.Join("x", key, nil), ErrFull)
	r.Leave(Key{"b.1", "room.a", "1"}, false)
	must(t, r.Join("x", key, nil))
	must(t, r.Join("x", Key{"b.2", "room.a", "2"}, nil)) // who is there needs no room
	counted(t, r)
	for tenant := range r.tenants {
		for _, c := range r.tenants[tenant].channels {
			for subject, e := range c.entries {
				for e.here {
					r.Leave(Key{tenant, c.name, subject}, false)
				}
			}
		}
	}
	now := time.Now()
	for i := range 3 {
		r.Tick(now.Add(time.Duration(i+1) * keepGone))
	}
	equal(t, "tenants left", len(r.tenants), 0)
	equal(t, "holders left", len(r.holders), 0)
}

// One holder takes all, and what its members that have left take is for others.
func TestLeftMembersMakeRoom(t *testing.T) {
	_, r := newSink(t, 1000, time.Second)
	r.maxEntries = 100
	for n := range 1000 {
		key := Key{fmt.Sprint("t", n%10), "room.a", fmt.Sprint(n)}
		must(t, r.Join("", key, nil))
		if n < 950 {
			r.Leave(key, false)
		}
	}
	counted(t, r)
	for n := 950; n < 1000; n++ {
		if key := (Key{fmt.Sprint("t", n%10), "room.a", fmt.Sprint(n)}); !r.isHere(key) {
			t.Errorf("%v has gone", key)
		}
	}
	r.Tick(time.Now().Add(2 * keepGone)) // which forgets none twice
	counted(t, r)
}

// Who joins when there is no room waits while a few members that have left are forgotten, however many
// there are, in however many tenants.
func TestForgetFew(t *testing.T) {
	r := newShared(t)
	r.maxEntries = 2000
	at := func(n int) Key { return Key{fmt.Sprint("t", n), "room.a", "ann"} }
	for n := range r.maxEntries {
		must(t, r.Join("", at(n), nil))
		if n > 0 {
			r.Leave(at(n), false)
		}
	}
	for n := r.maxEntries; n < 2*r.maxEntries; n++ {
		before := r.entries
		must(t, r.Join("", at(n), nil))
		if forgotten := before + 1 - r.entries; forgotten > 300 {
			t.Fatalf("%d members were forgotten at once", forgotten)
		}
		r.Leave(at(n), false)
	}
	counted(t, r)
}

// BenchmarkMakeRoom is a join when an edge has no room, and many tenants.
func BenchmarkMakeRoom(b *testing.B) {
	r := New(Options{})
	s, err := NewSet([]Definition{{Name: "rooms", Channels: []string{"#"}, Members: 10, Linger: time.Second}})
	must(b, err)
	r.SetDefinitions(s)
	r.maxEntries = 100_000
	at := func(n int) Key { return Key{fmt.Sprint("t", n), "room.a", "ann"} }
	for n := range r.maxEntries - 1 {
		must(b, r.Join("", at(n), nil))
	}
	for n := r.maxEntries; b.Loop(); n++ {
		must(b, r.Join("", at(n), nil))
		r.Leave(at(n), false)
	}
}

// A member that has left twice at the same time is forgotten once.
func TestForgottenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r := newSink(t, 1000, time.Second)
		r.maxEntries = 1
		ann, bob := Key{"t", "room.a", "ann"}, Key{"t", "room.a", "bob"}
		for range 2 {
			must(t, r.Join("", ann, nil))
			r.Leave(ann, false)
		}
		must(t, r.Join("", bob, nil))
		r.Tick(time.Now().Add(2 * keepGone))
		counted(t, r)
		if !r.isHere(bob) || r.entries != 1 {
			t.Errorf("%d entries are left", r.entries)
		}
	})
}

// What other edges have of a holder counts for its share, too.
func TestHoldersShareEdges(t *testing.T) {
	r := newShared(t)
	var list []Key
	for n := range 80 {
		list = append(list, Key{fmt.Sprint("a.", n%4), "room.a", fmt.Sprint(n)})
	}
	must(t, r.Receive("", "b", pageOf(t, list...)))
	equal(t, "entries of one holder", r.holders["a"].entries, 50)
	counted(t, r)
}

// Edges tell each other whose tokens members have: what one holder has at another edge, in tenants whose
// names say nothing, counts with what it has here.
func TestEdgesTellUsers(t *testing.T) {
	r, other := newShared(t), alone(t, 1000, time.Second)
	for n := range 80 {
		must(t, other.Join("x", Key{fmt.Sprint("t", n), "room.a", "ann"}, nil))
		if n < 10 {
			must(t, other.Join("y", Key{fmt.Sprint("u", n), "room.a", "ann"}, nil))
			must(t, other.Join("", Key{fmt.Sprint("v", n), "room.a", "ann"}, nil))
		}
	}
	must(t, other.Join("", Key{"u1", "room.b", "bob"}, nil))
	page, _, _ := other.own.page(0, 0)
	must(t, r.Receive("", "b", page))
	for user, want := range map[string]int{"x": 50, "y": 11, "": 10} {
		if h := r.holders[user]; h == nil || h.entries != want {
			t.Errorf("of %q: %+v, want %d entries", user, h, want)
		}
	}
	equal(t, "one more of x", r.Join("x", Key{"new", "room.a", "ann"}, nil), ErrFull)
	counted(t, r)
	for n := range maxHolders {
		r.holder(fmt.Sprint("made up ", n))
	}
	equal(t, "a user with too many others", r.userNamed("another"), "")
	equal(t, "one of them", r.userNamed("x"), "x")
}

// To an edge of an earlier version, what says whose tokens members have is a member that is gone.
func TestUsersForEarlierVersions(t *testing.T) {
	longest := strings.Repeat("x", 127) // a prefix
	for _, user := range []string{"", "paint.", longest} {
		b := wire.NewReader(appendUser(nil, user))
		here, tenant := b.Number(1), b.Take(int(b.Number(1)))
		channel, subject := b.Take(int(b.Number(2))), b.Take(int(b.Number(1)))
		if here == 1 || wire.CheckTenant(tenant) != nil || wire.CheckChannel(channel) != nil || len(subject) == 0 || !wire.IsSender(subject) || b.Short() || b.Len() > 0 {
			t.Errorf("%q: here %d, %q, %q, %q", user, here, tenant, channel, subject)
		}
	}
	last := &ownMember{
		user: longest, linger: MaxLinger, info: []byte(`"` + strings.Repeat("x", wire.MaxInfo-2) + `"`),
		key: Key{strings.Repeat("t", wire.MaxTenant), strings.Repeat("c", wire.MaxChannel), strings.Repeat("s", wire.MaxSender)},
	}
	if n := edgePageBytes + len(last.encode(appendUser(nil, longest))); n > maxMessage {
		t.Errorf("a page may have %d bytes, which is too large", n)
	}
}

// An issuer watches its share of the patterns, in any number of tenants.
func TestHoldersSharePatterns(t *testing.T) {
	r := newShared(t)
	r.options.Patterns = func() (all, ofTenant int) { return 8, 8 }
	var watchers []*Watcher
	watch := func(user string, n int) error {
		p, err := pattern.Parse("room.a")
		must(t, err)
		w, err := r.Watch(user, fmt.Sprint(user, ".", n), p, false, new(deaf))
		if err == nil {
			watchers = append(watchers, w)
		}
		return err
	}
	for n := range 4 {
		must(t, watch("a", n))
	}
	equal(t, "more than half", watch("a", 4), ErrTooManyPatterns)
	must(t, watch("a", 1)) // which is watched already
	must(t, watch("b", 1))
	for _, w := range watchers {
		r.Unwatch(w)
	}
	r.Tick(time.Now().Add(time.Hour))
	equal(t, "holders left", len(r.holders), 0)
}

// A tenant belongs to whom its name says, otherwise to the first who has a member in it: who only looks on
// takes nothing of others' shares.
func TestHolderOfTenant(t *testing.T) {
	r := newShared(t)
	known := map[string]string{}
	r.options.Owner = func(tenant, user string) string {
		if owner := known[tenant]; owner != "" {
			return owner
		}
		return user
	}
	holds := func(when, want string) {
		t.Helper()
		equal(t, when, r.tenants["t"].holder.name, want)
		counted(t, r)
	}
	_, err := r.Watch("a", "t", parse(t, "room.#"), true, new(deaf))
	must(t, err)
	holds("a watches", "")
	must(t, r.Join("b", Key{"t", "room.a", "bob"}, nil))
	holds("b joins", "b")
	must(t, r.Join("c", Key{"t", "room.a", "cid"}, nil))
	r.Leave(Key{"t", "room.a", "cid"}, false)
	holds("c joins", "b")
	known["t"] = "d"
	must(t, r.Join("c", Key{"t", "room.b", "cid"}, nil))
	holds("it is of d by its name", "d")
	equal(t, "entries of d", r.holders["d"].entries, 3)
	if r.holders["b"] != nil {
		t.Error("b holds something")
	}
}

// It is told whose token a member has, not whose the tenant is.
func TestUsersOfMembers(t *testing.T) {
	r := newShared(t)
	var told []string
	r.options.Joined = func(key Key, user string, _ []byte) { told = append(told, "+"+key.Subject+" of "+user) }
	r.options.Left = func(key Key, user string) { told = append(told, "-"+key.Subject+" of "+user) }
	ann, bob, cid := Key{"a.1", "room.a", "ann"}, Key{"a.1", "room.a", "bob"}, Key{"a.1", "room.a", "cid"}
	must(t, r.Join("a", ann, nil))
	must(t, r.Join("guest", bob, nil))
	must(t, r.Join("other guest", bob, nil))
	must(t, r.Join("guest", cid, nil))
	r.Leave(bob, false)
	r.Leave(bob, false)
	r.Leave(cid, true)
	r.Tick(time.Now().Add(time.Minute))
	r.Close()
	equal(t, "what was told", fmt.Sprint(told),
		"[+ann of a +bob of guest +cid of guest -bob of other guest -cid of guest -ann of a]")
}

// deaf is a receiver that takes nothing.
type deaf struct{}

func (*deaf) HasRoom() bool            { return false }
func (*deaf) PushPresence([]byte) bool { return false }
