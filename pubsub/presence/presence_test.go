package presence

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// client is a receiver that keeps who is present as an SDK does.
type client struct {
	t      *testing.T
	shown  map[string]bool // channel and subject
	next   map[string]bool // while it starts over
	counts map[string]uint32
	frames int
	bytes  int
	events []string
	full   bool

	edge, pattern string // in TestRandom
}

func newClient(t *testing.T) *client {
	return &client{t: t, shown: map[string]bool{}, counts: map[string]uint32{}}
}

// barrier orders what receivers write and what tests read, for the race detector.
var barrier sync.Mutex

func (c *client) HasRoom() bool {
	barrier.Lock()
	defer barrier.Unlock()
	return !c.full
}

func (c *client) PushPresence(b []byte) bool {
	barrier.Lock()
	defer barrier.Unlock()
	if c.full {
		return false
	}
	c.frames++
	c.bytes += len(b)
	p, err := wire.DecodePresence(b)
	if err != nil {
		c.t.Errorf("an invalid frame: %v", err)
		return true
	}
	if p.Counts {
		for _, n := range p.Channels {
			c.counts[n.Channel] = n.Members
		}
		return true
	}
	if p.First {
		c.next = map[string]bool{}
	}
	into := c.shown
	if c.next != nil {
		into = c.next
	}
	for _, m := range p.Members {
		name := m.Channel + " " + m.Subject
		if c.next == nil && into[name] != m.Here {
			c.event(name, m.Here)
		}
		if m.Here {
			into[name] = true
		} else {
			delete(into, name)
		}
	}
	if p.Synced && c.next != nil {
		for name := range c.shown {
			if !c.next[name] {
				c.event(name, false)
			}
		}
		for name := range c.next {
			if !c.shown[name] {
				c.event(name, true)
			}
		}
		c.shown, c.next = c.next, nil
	}
	return true
}

func (c *client) event(name string, here bool) {
	sign := "-"
	if here {
		sign = "+"
	}
	c.events = append(c.events, sign+name)
}

func (c *client) list() string { return strings.Join(slices.Sorted(maps.Keys(c.shown)), ", ") }

func set(t *testing.T, members int, linger time.Duration) *Set {
	t.Helper()
	s, err := NewSet([]Definition{{Name: "rooms", Channels: []string{"room.#"}, Members: members, Linger: linger}})
	must(t, err)
	return s
}

func parse(t *testing.T, text string) pattern.Pattern {
	t.Helper()
	p, err := pattern.Parse(text)
	must(t, err)
	return p
}

// network joins registries. Messages take a moment, in order, and may be lost.
type network struct {
	t     *testing.T
	mu    sync.Mutex // guards the rest
	edges map[string]*Registry
	cut   map[[2]string]bool
	lossy *rand.Rand // loses one of ten; nil: none
}

type port struct {
	n    *network
	from string
}

func (p port) SendPresence(to string, message []byte) {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	if p.n.edges[p.from] == nil {
		return // it was killed
	}
	for id, other := range p.n.edges {
		if id == p.from || to != "" && to != id || p.n.cut[[2]string{p.from, id}] || p.n.lossy != nil && p.n.lossy.IntN(10) == 0 {
			continue
		}
		time.AfterFunc(time.Millisecond, func() { // the registry must not be called from here
			equal(p.n.t, "Receive", other.Receive("", p.from, message), nil)
		})
	}
}

// add runs a registry until the test ends.
func (n *network) add(id string, members int, linger time.Duration) *Registry {
	r := New(Options{Link: port{n, id}})
	r.SetDefinitions(set(n.t, members, linger))
	n.change(func() { n.edges[id] = r })
	go r.Run(n.t.Context())
	return r
}

func (n *network) change(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
}

func newNetwork(t *testing.T) *network {
	return &network{t: t, edges: map[string]*Registry{}, cut: map[[2]string]bool{}}
}

// alone is a registry without other edges.
func alone(t *testing.T, members int, linger time.Duration) *Registry {
	r := New(Options{})
	r.SetDefinitions(set(t, members, linger))
	return r
}

func join(t *testing.T, r *Registry, tenant, channel, subject string) {
	t.Helper()
	must(t, r.Join("", Key{tenant, channel, subject}, nil))
}

func watch(t *testing.T, r *Registry, tenant, text string, count bool) *client {
	t.Helper()
	c := newClient(t)
	watchWith(t, r, tenant, text, count, c)
	return c
}

func watchWith(t *testing.T, r *Registry, tenant, text string, count bool, c Receiver) {
	t.Helper()
	_, err := r.Watch("", tenant, parse(t, text), count, c)
	must(t, err)
}

var must = testcheck.Must

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func wait(d time.Duration) {
	barrier.Lock()
	barrier.Unlock() //nolint:staticcheck // it orders what was written before
	time.Sleep(d)    // in a bubble, where no time passes
	synctest.Wait()
}

func TestOneEdge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := alone(t, 100, 15*time.Second)
		go r.Run(t.Context())
		join(t, r, "t", "room.a", "ann")
		one, all, other := watch(t, r, "t", "room.a", false), watch(t, r, "t", "room.*", false), watch(t, r, "u", "room.*", false)
		numbers := watch(t, r, "t", "room.#", true)
		wait(time.Second)
		join(t, r, "t", "room.a", "bob")
		join(t, r, "t", "room.b", "bob")
		join(t, r, "t", "room.a", "bob") // another session
		wait(2 * time.Second)
		if one.list() != "room.a ann, room.a bob" || all.list() != "room.a ann, room.a bob, room.b bob" || other.list() != "" {
			t.Errorf("%q, %q, %q", one.list(), all.list(), other.list())
		}
		equal(t, "counts", fmt.Sprint(numbers.counts), "map[room.a:2 room.b:1]")
		equal(t, "frames of the other tenant, with the empty list", other.frames, 1)
		r.Leave(Key{"t", "room.a", "bob"}, false)
		wait(2 * time.Second)
		equal(t, "with a session of bob left", one.list(), "room.a ann, room.a bob")
		r.Leave(Key{"t", "room.a", "bob"}, false)
		r.Leave(Key{"t", "room.b", "bob"}, true)
		wait(2 * time.Second)
		if one.list() != "room.a ann" || all.list() != "room.a ann, room.b bob" {
			t.Errorf("%q, %q", one.list(), all.list())
		}
		wait(15 * time.Second)
		if all.list() != "room.a ann" || fmt.Sprint(numbers.counts) != "map[room.a:1 room.b:0]" {
			t.Errorf("after the linger: %q, %v", all.list(), numbers.counts)
		}
		equal(t, "events", strings.Join(all.events, " "), "+room.a ann +room.a bob +room.b bob -room.a bob -room.b bob")
	})
}

// A reconnect within the linger, and a move to another edge, are no leaving.
func TestNoFlicker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t)
		a, b := n.add("a", 100, 15*time.Second), n.add("b", 100, 15*time.Second)
		key := Key{"t", "room.a", "ann"}
		at, bt := watch(t, a, "t", "room.a", false), watch(t, b, "t", "room.*", false)
		join(t, a, key.Tenant, key.Channel, key.Subject)
		wait(time.Second)
		since := a.find(key).since
		a.Leave(key, true)
		wait(10 * time.Second)
		join(t, a, key.Tenant, key.Channel, key.Subject)
		wait(20 * time.Second)
		a.Leave(key, true)
		wait(5 * time.Second)
		join(t, b, key.Tenant, key.Channel, key.Subject)
		wait(30 * time.Second)
		for _, c := range []*client{at, bt} {
			equal(t, "what a watcher saw", strings.Join(c.events, " "), "+room.a ann")
		}
		if a.find(key).since != since || b.find(key).since != since {
			t.Error("since has moved")
		}
		b.Leave(key, false)
		wait(time.Second)
		if at.list() != "" || bt.list() != "" {
			t.Errorf("%q, %q", at.list(), bt.list())
		}
	})
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t)
		a, b := n.add("a", 2, time.Second), n.add("b", 2, time.Second)
		join(t, a, "t", "room.a", "ann")
		join(t, b, "t", "room.b", "bob")
		wait(time.Second)
		equal(t, "join", a.Join("", Key{"t", "room.a", "eve"}, nil), ErrFull)
		must(t, a.Join("", Key{"t", "room.b", "bob"}, nil))
		must(t, a.Join("", Key{"u", "room.a", "eve"}, nil))
		equal(t, "join", a.Join("", Key{"t", "hall", "eve"}, nil), ErrNoPresence)
		if _, err := a.Watch("", "t", parse(t, "#"), false, newClient(t)); err != ErrNoPresence {
			t.Errorf("a pattern that no presence contains: %v", err)
		}
		b.Leave(Key{"t", "room.b", "bob"}, false)
		a.Leave(Key{"t", "room.b", "bob"}, false)
		wait(time.Second)
		must(t, a.Join("", Key{"t", "room.a", "eve"}, nil))
	})
}

// A watcher that takes nothing for long starts over, and is told what has changed only.
func TestSlowWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := alone(t, 1000, time.Second)
		go r.Run(t.Context())
		join(t, r, "t", "room.a", "ann")
		join(t, r, "t", "room.a", "bob")
		c, wild := watch(t, r, "t", "room.a", false), watch(t, r, "t", "room.#", false)
		wait(time.Second)
		c.full, wild.full = true, true
		r.Leave(Key{"t", "room.a", "bob"}, false)
		join(t, r, "t", "room.a", "eve")
		wait(3 * keepGone)
		equal(t, "who has left", r.find(Key{"t", "room.a", "bob"}), nil)
		c.full, wild.full = false, false
		wait(2 * time.Second)
		for _, c := range []*client{c, wild} {
			slices.Sort(c.events[:2]) // in one frame
			slices.Sort(c.events[2:])
			if got := strings.Join(c.events, " "); c.list() != "room.a ann, room.a eve" || got != "+room.a ann +room.a bob +room.a eve -room.a bob" {
				t.Errorf("%q; %s", c.list(), got)
			}
		}
	})
}

// truth is who is there, by edge.
type truth map[string]map[Key]int

func (tr truth) list(pattern func(Key) bool) string {
	all := map[string]bool{}
	for _, keys := range tr {
		for key := range keys {
			if pattern(key) {
				all[key.Channel+" "+key.Subject] = true
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}

// Whatever joins, leaves, is lost on the way, cut off, or ends: 10 s after the last fault every
// watcher has exactly those that are there.
func TestRandom(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) { random(t, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func random(t *testing.T, rnd *rand.Rand) {
	n := newNetwork(t)
	n.lossy = rand.New(rand.NewPCG(rnd.Uint64(), 2))
	there := truth{}
	const linger = time.Second
	var watchers []*client
	edges := 0
	start := func() {
		id := fmt.Sprint("edge-", edges)
		edges++
		r := n.add(id, 1000, linger)
		there[id] = map[Key]int{}
		for _, text := range []string{"room.*", "room.1"} {
			c := watch(t, r, "t", text, false)
			c.edge, c.pattern = id, text
			watchers = append(watchers, c)
		}
	}
	for range 3 {
		start()
	}
	for range 400 {
		id := slices.Sorted(maps.Keys(n.edges))[rnd.IntN(len(n.edges))]
		r, key := n.edges[id], Key{"t", fmt.Sprint("room.", rnd.IntN(3)), fmt.Sprint("user-", rnd.IntN(20))}
		switch k := rnd.IntN(100); {
		case k < 50:
			join(t, r, key.Tenant, key.Channel, key.Subject)
			there[id][key]++
		case k < 90:
			if there[id][key] > 0 {
				r.Leave(key, rnd.IntN(2) == 0)
				if there[id][key]--; there[id][key] == 0 {
					delete(there[id], key)
				}
			}
		case k < 93:
			other := slices.Sorted(maps.Keys(n.edges))[rnd.IntN(len(n.edges))]
			n.change(func() { n.cut[[2]string{id, other}] = true })
		case k < 97:
			n.change(func() { clear(n.cut) })
		case k < 98: // killed, and another one started
			n.change(func() { delete(n.edges, id) })
			delete(there, id)
			watchers = slices.DeleteFunc(watchers, func(c *client) bool { return c.edge == id })
			start()
		}
		wait(time.Duration(rnd.IntN(300)) * time.Millisecond)
	}
	n.change(func() { clear(n.cut); n.lossy = nil })
	wait(10 * time.Second)
	all := there.list(func(Key) bool { return true })
	one := there.list(func(k Key) bool { return k.Channel == "room.1" })
	for _, c := range watchers {
		want := all
		if c.pattern == "room.1" {
			want = one
		}
		if got := c.list(); got != want {
			t.Errorf("a watcher of %s at %s has %q, want %q", c.pattern, c.edge, got, want)
		}
	}
	for _, r := range n.edges {
		r.mu.Lock()
		counted(t, r)
		r.mu.Unlock()
	}
}

func TestMessages(t *testing.T) {
	r := New(Options{Link: port{newNetwork(t), "a"}})
	r.SetDefinitions(set(t, 10, time.Second))
	for _, b := range [][]byte{nil, {'b'}, {'x', 0}, []byte("p\x01"), append(encodeBeat(1), 0), encodeAsk(1, 1)[:16], append(encodeAsk(1, 1), 0),
		append([]byte{'p', 1}, make([]byte, 25)...), append(append([]byte{'p', 1}, make([]byte, 24)...), "\x01\x01/\x00\x01c\x01s"...)} {
		if r.Receive("", "b", b) == nil {
			t.Errorf("%q was taken", b)
		}
	}
	// What a member may be.
	good := ownMember{key: Key{"t", "room.a", "ann"}, since: maxSince, linger: MaxLinger, info: []byte(`{"a":"é"}`)}
	for name, c := range map[string]struct {
		change func(*ownMember)
		taken  bool
	}{
		"as it is":     {func(*ownMember) {}, true},
		"without info": {func(m *ownMember) { m.info = nil }, true},
		"the longest names": {func(m *ownMember) {
			m.key = Key{strings.Repeat("t", 128), "room." + strings.Repeat("c", 251), strings.Repeat("s", 128)}
		}, true},
		"the longest info":       {func(m *ownMember) { m.info = []byte(`{"a":"` + strings.Repeat("x", wire.MaxInfo-8) + `"}`) }, true},
		"info that is longer":    {func(m *ownMember) { m.info = []byte(`{"a":"` + strings.Repeat("x", wire.MaxInfo-7) + `"}`) }, false},
		"info that is no JSON":   {func(m *ownMember) { m.info = []byte(`{"a":`) }, false},
		"info that is no object": {func(m *ownMember) { m.info = []byte(`["a"]`) }, false},
		"info that is not UTF-8": {func(m *ownMember) { m.info = []byte("{\"a\":\"\xff\"}") }, false},
		"a date without end":     {func(m *ownMember) { m.since = maxSince + 1 }, false},
		"a linger without end":   {func(m *ownMember) { m.linger = MaxLinger + time.Millisecond }, false},
		"an invalid tenant":      {func(m *ownMember) { m.key.Tenant = "t:u" }, false},
		"a pattern":              {func(m *ownMember) { m.key.Channel = "room.*" }, false},
		"no subject":             {func(m *ownMember) { m.key.Subject = "" }, false},
		"a long subject":         {func(m *ownMember) { m.key.Subject = strings.Repeat("s", 129) }, false},
		"a subject of control":   {func(m *ownMember) { m.key.Subject = "a\nb" }, false},
	} {
		m := good
		c.change(&m)
		b := m.encode(append([]byte{'p', 1}, make([]byte, 24)...))
		if err := r.Receive("", "b", b); (err == nil) != c.taken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Operators see all members, in pages.
func TestList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t)
		a, b := n.add("a", 100_000, time.Second), n.add("b", 100_000, time.Second)
		const members = chunk + 2000
		for i := range members {
			join(t, a, "t", fmt.Sprintf("room.%d", i%(chunk+10)), fmt.Sprintf("m%05d", i))
		}
		join(t, b, "t", "room.7", "bob")
		join(t, b, "u", "room.7", "eve")
		wait(10 * time.Second)
		a.Leave(Key{"t", "room.0", "m00000"}, false)
		for name, r := range map[string]*Registry{"own": a, "another": b} {
			wait(10 * time.Second)
			all := func(text, subject string, limit int) (list []string, pages int) {
				q := Query{Tenant: "t", Pattern: parse(t, text), Subject: subject, Limit: limit}
				for {
					page, next := r.Members(q)
					pages++
					if len(page) > limit || next != 0 && len(page) < limit {
						t.Fatalf("%s: a page of %d members with more behind it", name, len(page))
					}
					for _, m := range page {
						list = append(list, m.Channel+" "+m.Subject)
					}
					if q.After = next; next == 0 {
						return list, pages
					}
				}
			}
			list, pages := all("#", "", 1000)
			distinct := slices.Compact(slices.Sorted(slices.Values(list)))
			if len(list) != members || len(distinct) != members || pages != members/1000+1 {
				t.Errorf("%s: %d members in %d pages, %d of them different", name, len(list), pages, len(distinct))
			}
			if list, pages := all("room.7", "", 2); len(list) != 3 || pages != 2 || !slices.Contains(list, "room.7 bob") {
				t.Errorf("%s: room.7 has %q in %d pages", name, list, pages)
			}
			if list, pages := all("#", "bob", 1); fmt.Sprint(list) != "[room.7 bob]" || pages != 1 {
				t.Errorf("%s: bob is in %q, %d pages", name, list, pages)
			}
			if list, _ := all("hall.*", "", 10); list != nil {
				t.Errorf("%s: %q are in the hall", name, list)
			}
			for text, want := range map[string]string{"#": fmt.Sprint(members, chunk+10), "room.7": "3 1", "room.0": "1 1", "hall.#": "0 0", "hall": "0 0"} {
				m, c := r.Count("t", parse(t, text))
				if got := fmt.Sprint(m, c); got != want {
					t.Errorf("%s: members and channels of %s: %s, want %s", name, text, got, want)
				}
			}
			usage := r.Usage()
			slices.SortFunc(usage, func(a, b Usage) int { return strings.Compare(a.Tenant, b.Tenant) })
			if got := fmt.Sprint(usage); got != fmt.Sprintf("[{rooms t %d} {rooms u 1}]", members) {
				t.Errorf("%s: usage %s", name, got)
			}
		}
		if list, next := a.Members(Query{Tenant: "nobody", Pattern: parse(t, "#"), Limit: 1}); list != nil || next != 0 {
			t.Errorf("an unknown tenant has %v", list)
		}
	})
}
