package presence

import (
	"fmt"
	"testing"
	"time"
)

// sink notes the messages that an edge sends.
type sink struct {
	pages map[string]int
	asks  int
}

func (s *sink) SendPresence(to string, message []byte) {
	switch message[0] {
	case kindPage:
		s.pages[to]++
	case kindAsk:
		s.asks++
	}
}

func newSink(t *testing.T, members int, linger time.Duration) (*sink, *Registry) {
	s := &sink{pages: map[string]int{}}
	r := New(Options{Link: s})
	r.SetDefinitions(set(t, members, linger))
	return s, r
}

// pageOf is a page of an edge that has these members.
func pageOf(t *testing.T, keys ...Key) []byte {
	t.Helper()
	r := alone(t, 10_000, time.Second)
	for _, key := range keys {
		must(t, r.Join("", key, nil))
	}
	page, _, _ := r.own.page(0, 0)
	return page
}

func keys(n int) (list []Key) {
	for i := range n {
		list = append(list, Key{"t", "room.a", fmt.Sprint("user-", i)})
	}
	return list
}

// An edge knows so many others; those that are gone make room.
func TestManyEdges(t *testing.T) {
	_, r := newSink(t, 10, time.Second)
	for i := range maxEdges {
		must(t, r.Receive("", fmt.Sprint("edge-", i), encodeBeat(0)))
	}
	if err := r.Receive("", "one more", encodeBeat(0)); err == nil {
		t.Errorf("%d edges are known", len(r.others))
	}
	must(t, r.Receive("", "edge-0", pageOf(t, keys(1)...)))
	r.Tick(time.Now().Add(forgetAfter + time.Second))
	r.Tick(time.Now().Add(forgetAfter + 3*time.Second))
	if len(r.others) > 0 || r.isHere(keys(1)[0]) {
		t.Errorf("%d edges are known after a minute of silence", len(r.others))
	}
	must(t, r.Receive("", "one more", encodeBeat(0)))
}

// An edge that is taken over takes no place of others: the ids of its name are few, and have
// as many members together as one edge.
func TestManyEdgesOfOneName(t *testing.T) {
	_, r := newSink(t, 1000, time.Second)
	r.maxHeld = 10
	all := keys(20)
	refused := 0
	for i := range maxEdges {
		if r.Receive("evil", fmt.Sprint("evil-", i), pageOf(t, all[i%20])) != nil {
			refused++
		}
	}
	if n := len(r.others); n != maxEdgesOfName || refused != maxEdges-n {
		t.Errorf("%d edges of the name are known, %d were refused", n, refused)
	}
	must(t, r.Receive("evil", "evil-0", pageOf(t, all[:15]...)))
	equal(t, "members of the name", r.names["evil"].members, 10)
	must(t, r.Receive("good", "good-0", pageOf(t, all...)))
	equal(t, "members of the other", len(r.others["good-0"].held), 10)
	now := time.Now().Add(forgetAfter)
	for range 3 { // silent members end first
		now = now.Add(2 * time.Second)
		r.Tick(now)
	}
	equal(t, "names that are left", len(r.names), 0)
	must(t, r.Receive("evil", "evil-again", pageOf(t, all...)))
	equal(t, "members of the name after that", r.names["evil"].members, 10)
}

// What is larger than an edge sends is not looked at.
func TestLargeMessages(t *testing.T) {
	_, r := newSink(t, 10_000, time.Second)
	page := pageOf(t, keys(5000)...)
	if len(page) > maxMessage {
		t.Errorf("a page has %d bytes", len(page))
	}
	must(t, r.Receive("", "b", page))
	large := page
	for len(large) <= maxMessage {
		large = append(large, page[26:26+(len(page)-26)/2]...)
	}
	if err := r.Receive("", "c", large); err == nil || r.others["c"] != nil {
		t.Errorf("a message of %d bytes: %v", len(large), err)
	}
}

// Edges that ask and ask are given so many pages in a tick.
func TestManyQuestions(t *testing.T) {
	s, r := newSink(t, 10, time.Second)
	now := time.Now()
	for round := 1; round <= 2; round++ {
		for i := range 10 {
			for range 1000 {
				must(t, r.Receive("", fmt.Sprint("edge-", i), encodeAsk(0, 0)))
			}
		}
		all := 0
		for to, n := range s.pages {
			if all += n; n > round*maxAnswers {
				t.Errorf("%d pages for %s in %d ticks", n, to, round)
			}
		}
		equal(t, "pages", all, round*maxAllAnswers)
		now = now.Add(tickEvery)
		r.Tick(now)
	}
}

// An edge holds so many members of another one, and of all; those that it holds already change.
func TestManyMembers(t *testing.T) {
	_, r := newSink(t, 1000, time.Second)
	r.maxHeld, r.maxEntries = 10, 15
	all := keys(20)
	for _, from := range []string{"b", "c"} {
		list := all[:12]
		if from == "c" {
			list = all[12:]
		}
		must(t, r.Receive("", from, pageOf(t, list...)))
	}
	if b, c := len(r.others["b"].held), len(r.others["c"].held); b != 10 || c != 5 || r.entries != 15 {
		t.Errorf("%d of one edge, %d of the other, %d in all", b, c, r.entries)
	}
	equal(t, "join", r.Join("", all[19], nil), ErrFull)
	must(t, r.Join("", all[0], nil))
	if err := r.Receive("", "d", pageOf(t, all[0], all[19])); err != nil || len(r.find(all[0]).owners) != 3 {
		t.Errorf("one that is there, at another edge: %v", r.find(all[0]).owners)
	}
}

// When the linger of many ends at once, the lock is held for some of them at a time.
func TestManyEnd(t *testing.T) {
	_, r := newSink(t, 100_000, time.Second)
	const n = 2*maxEnded + maxEnded/2
	for _, key := range keys(n) {
		join(t, r, key.Tenant, key.Channel, key.Subject)
	}
	for _, key := range keys(n) {
		r.Leave(key, true)
	}
	ends := func(now time.Time, left func() int) {
		t.Helper()
		for i := 1; left() > 0; i++ {
			before := left()
			if r.Tick(now); before-left() > maxEnded || i > 3 {
				t.Fatalf("%d of %d are left after tick %d", left(), before, i)
			}
			now = now.Add(tickEvery)
		}
	}
	ends(time.Now().Add(2*time.Second), func() int { return len(r.own.members) })
	other := alone(t, 100_000, time.Second)
	for _, key := range keys(n) {
		join(t, other, key.Tenant, key.Channel, key.Subject)
	}
	for at, base := uint64(0), uint64(0); at < other.own.log.head; {
		var page []byte
		if page, at, base = other.own.page(at, base); r.Receive("", "b", page) != nil {
			t.Fatal("a page is refused")
		}
	}
	if len(r.others["b"].held) != n {
		t.Fatalf("%d members of the other edge", len(r.others["b"].held))
	}
	r.Tick(time.Now().Add(time.Minute))
	if r.others["b"] != nil && len(r.others["b"].held) > 0 || r.Stats().Members > 0 {
		t.Errorf("%+v are left of an edge that is silent", r.Stats())
	}
}

// When members of a silent edge end, no others are looked at; and it is asked for all when it is heard again.
func TestSilentEdge(t *testing.T) {
	s, r := newSink(t, 10, time.Second)
	must(t, r.Receive("", "b", pageOf(t, keys(3)...)))
	b := r.others["b"]
	at := b.at
	must(t, r.Receive("", "c", pageOf(t, keys(5)[3:]...))) // which is silent, too
	b.ending = true
	r.endHeld(time.Now().Add(time.Minute))
	equal(t, "members left of the edge", len(b.held), 0)
	equal(t, "members left of the other", r.Stats().Members, 2)
	must(t, r.Receive("", "b", encodeBeat(at)))
	equal(t, "questions", s.asks, 1)
}

// A member that comes and goes does not keep those that have gone before it.
func TestFlapping(t *testing.T) {
	_, r := newSink(t, 1000, time.Second)
	now := time.Now()
	come := func(subject string) { r.setOwner(Key{"t", "room.a", subject}, "", owner{edge: "x"}, now) }
	leave := func(subject string) { r.clearOwner(r.find(Key{"t", "room.a", subject}), "x", now) }
	for i := range 2 * int(keepGone/time.Second) {
		come("flapper")
		come(fmt.Sprint("guest-", i))
		leave(fmt.Sprint("guest-", i))
		leave("flapper")
		now = now.Add(time.Second)
		r.Tick(now)
	}
	if most := int(keepGone/time.Second) + 2; r.entries > most {
		t.Errorf("%d are known, want %d at most", r.entries, most)
	}
	if n := len(r.tenants["t"].log.gone); n > 2*int(keepGone/time.Second)+2 {
		t.Errorf("%d have gone", n)
	}
}

// However many come and go, so many that have gone are known, of a tenant and of this edge.
func TestManyGone(t *testing.T) {
	_, r := newSink(t, 1000, time.Second)
	for i := range maxGone + 5000 {
		key := Key{"t", "room.a", fmt.Sprint("user-", i)}
		join(t, r, key.Tenant, key.Channel, key.Subject)
		r.Leave(key, false)
	}
	r.Tick(time.Now().Add(2 * idleEvery))
	if r.entries > maxGone || r.own.log.tree.Len() > maxGone {
		t.Errorf("%d that have gone are known, and %d of this edge", r.entries, r.own.log.tree.Len())
	}
}

// One subject has at most half of the members that a tenant may have, whatever is loaded.
func TestManyOfOneSubject(t *testing.T) {
	_, r := newSink(t, 10, time.Second)
	at := func(i int) Key { return Key{"t", fmt.Sprint("room.", i), "ann"} }
	for i := range 5 {
		join(t, r, "t", at(i).Channel, "ann")
	}
	full := func(what string) {
		t.Helper()
		if err := r.Join("", at(5), nil); err != ErrFull {
			t.Errorf("%s: %v", what, err)
		}
	}
	full("half of them")
	join(t, r, "t", at(0).Channel, "ann") // is there already
	join(t, r, "t", at(5).Channel, "bob")
	join(t, r, "u", at(5).Channel, "ann")
	r.SetDefinitions(set(t, 10, time.Minute))
	full("after a reload")
	r.Leave(at(0), false)
	full("a session of two has left")
	r.Leave(at(0), false)
	join(t, r, "t", at(5).Channel, "ann")
	r.SetDefinitions(set(t, 2, time.Minute))
	r.Leave(at(5), false)
	full("with another limit")
}
