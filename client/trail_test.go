package client

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// routed is a router with one subscription, and connections that exist by name alone.
type routed struct {
	*router
	old, next, third *conn
	sub              *Subscription
	group            sync.WaitGroup
}

func newRouted() *routed {
	r := &routed{router: newRouter(), old: &conn{}, next: &conn{}, third: &conn{}}
	r.sub = &Subscription{key: key{"t", "x"}, done: make(chan struct{})}
	r.sub.queue = newQueue(1<<20, DropNewest, &r.group, make(chan struct{}))
	r.add(r.sub, false)
	r.setCurrent(r.old)
	return r
}

// given ends the subscription, and returns all that it got.
func (r *routed) given() (got []Message) {
	r.sub.end(nil, false)
	for m := range r.sub.Messages() {
		got = append(got, m)
	}
	r.group.Wait()
	return got
}

func (r *routed) texts() (got []string) {
	for _, m := range r.given() {
		text := string(m.Payload)
		if m.Late {
			text += " late"
		}
		got = append(got, text)
	}
	return got
}

// play does what a script says: "old:1" has the connection old, next or third bring 1.
func (r *routed) play(script string) {
	conns := map[string]*conn{"old": r.old, "next": r.next, "third": r.third}
	begin := func(suspect bool) {
		r.beginMerge(time.Minute)
		r.setNext(r.third, suspect)
	}
	does := map[string]func(){
		"take-over":     r.takeOver,
		"old-wakes":     r.keepCurrent,
		"trail-ends":    r.endTrail,
		"trail-is-over": r.forgetTrail,
		"third-moves":   func() { begin(false) },
		"third-begins":  func() { begin(true) },
		"promote":       r.promote,
		"third-dies":    func() { r.dropNext(true) },
		"third-leads":   func() { r.setCurrent(r.third) },
		"none-leads":    func() { r.setCurrent(nil) },
		"shelf-time": func() {
			time.Sleep(shelfTime)
			r.giveLate(time.Now())
		},
		"late-life": func() { time.Sleep(lateLife) },
		"10s":       func() { time.Sleep(10 * time.Second) },
		// What there is room for.
		"pile=0":     func() { r.merger.maxPile = 0 },
		"pile=1":     func() { r.merger.maxPile = 1 },
		"shelf=1":    func() { r.trail.merger.maxPile = 1 },
		"shelf=300B": func() { r.trail.merger.maxBytes = 300 },
		"notes=1":    func() { r.trail.merger.notes.limit = 1 },
	}
	for step := range strings.FieldsSeq(script) {
		if c, payload, ok := strings.Cut(step, ":"); ok {
			r.deliver(conns[c], &delivery{tenant: "t", channel: "x", patterns: []string{"x"}, payload: []byte(payload)})
		} else {
			does[step]()
		}
	}
}

// Each message is given once, whatever no longer fits, and in whatever way a suspicion, a trail
// and a move follow each other.
func TestTrailScripts(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"a full pile, and a takeover", "pile=1 next:1 next:2 take-over old:1 old:2", "1, 2"},
		{"a full pile, and the first wakes", "pile=1 next:1 next:2 10s old-wakes old:1 old:2", "1, 2"},
		{"a full shelf", "take-over shelf=1 old:1 old:2 next:1 next:2 next:3", "1 late, 2, 3"},
		{"the bytes of the shelf", "take-over shelf=300B old:1 old:2 next:1 next:2", "1 late, 2"},
		{"forgotten notes", "take-over notes=1 next:1 next:2 old:2 old:1", "1, 2, 1 late"},
		{"an end with a shelf", "take-over old:1 trail-ends old:2 next:1", "1"},
		{
			"a move while it trails",
			"take-over third-moves old:1 old:2 third:1 shelf-time third:2 promote third:3", "1 late, 2 late, 3",
		},
		{
			"another takeover while it trails",
			"take-over old:1 third-begins third:2 take-over old:no next:2 next:3", "1 late, 2, 3 late",
		},
		{"it leaves, and the trail brings it", "take-over third-moves third:1 promote old:1", "1"},
		{"the shelf has it, and it leaves", "take-over third-moves old:1 third:1 promote", "1"},
		{"it was late, and leaves", "take-over old:1 shelf-time third-moves third:1 promote", "1 late"},
		{"it was late, and another takes over", "take-over old:1 shelf-time third-begins third:1 take-over", "1 late"},
		{"no pile", "take-over third-moves pile=0 third:1 old:1 next:1", "1"},
		{"the second dies while the first is left", "take-over third-moves third:1 third-dies old:1", "1"},
		{"another leads", "take-over third-begins third:1 third-leads old:1", "1"},
		{"none leads", "take-over third-begins old:1 third:1 none-leads", "1"},
		{"the same comes long after it was late", "take-over old:1 shelf-time late-life next:1", "1 late, 1"},
	} {
		bubble(t, test.name, func(t *testing.T, _ *world) {
			r := newRouted()
			r.beginMerge(time.Minute)
			r.setNext(r.next, true)
			r.play(test.script)
			if r.trail != nil {
				r.play("shelf-time trail-is-over")
			}
			equal(t, test.script, strings.Join(r.texts(), ", "), test.want)
		})
	}
}

func TestTrails(t *testing.T) {
	suspect(t, "a subscription that is made after the takeover gets nothing of before",
		func(t *testing.T, w *world, c *Client, first *fakeLink, s *Subscription) {
			event[Recovered](w)
			must(t, s.Unsubscribe(t.Context()))
			time.Sleep(3 * time.Second)
			s = mustSubscribe(t, c, "x")
			first.bring("old")
			time.Sleep(3 * time.Second)
			wantWaiting(t, s, 0)
		})
	// Their answers count.
	suspect(t, "PINGs that a connection had yet to send as it was replaced are sent",
		func(t *testing.T, w *world, c *Client, first *fakeLink, _ *Subscription) {
			stuck := make(chan struct{})
			first.set(func(l *fakeLink) { l.stuck = stuck })
			for range 3 { // one is being sent
				publish(t, c, "p")
				synctest.Wait()
			}
			event[Recovered](w)
			time.Sleep(time.Second)
			woke := time.Now()
			first.set(func(l *fakeLink) { clear(l.mute) })
			close(stuck)
			first.bring("old")
			<-first.finished
			atMost(t, "left after", time.Since(woke), 5*time.Second)
			wantFrames(t, first, "x=p")
		})
}

// The current connection breaks off, and may wake before or after the next one has taken over,
// which is behind by up to a second: each message comes once, those of a publisher in
// order unless they are late, and late ones are those that the next one never brought.
func TestTrailOracle(t *testing.T) {
	for seed := range uint64(500) {
		synctest.Test(t, func(t *testing.T) {
			noError(t, trailOracle(rand.New(rand.NewPCG(seed, 2))))
		})
	}
}

func trailOracle(random *rand.Rand) error {
	const publishers, each, gap = 3, 60, 50 * time.Millisecond
	within := func(from, to time.Duration) time.Duration { return from + time.Duration(random.Int64N(int64(to-from))) }
	lag := within(0, 900*time.Millisecond)
	breaks := within(0, 3*time.Second)
	joins := breaks + within(2*time.Second, 3*time.Second)
	ready := joins + within(0, time.Second)
	wakes := breaks + within(2*time.Second, 8*time.Second)
	type step struct {
		at time.Duration
		do func()
	}
	r := newRouted()
	var steps []step
	add := func(at time.Duration, do func()) { steps = append(steps, step{at, do}) }
	onSecond := map[string]bool{}
	for n := range each {
		for p := range publishers {
			text := fmt.Sprint(n*publishers + p)
			at := time.Duration(n)*gap + time.Duration(random.IntN(int(gap)))
			if at < breaks {
				add(at, func() { r.play("old:" + text) })
			} else {
				add(max(at, wakes), func() { r.play("old:" + text) })
			}
			if at+lag >= joins {
				onSecond[text] = true
				add(at+lag, func() { r.play("next:" + text) })
			}
		}
	}
	stays := wakes < ready
	add(breaks+2*time.Second-1, func() { r.beginMerge(time.Minute) })
	add(joins-1, func() {
		if r.merger != nil {
			r.setNext(r.next, true)
		}
	})
	if stays {
		add(wakes-1, r.keepCurrent)
	} else {
		add(ready, r.takeOver)
	}
	for at := ready + trailEvery; at < ready+trailTime; at += trailEvery {
		add(at, func() { r.giveLate(time.Now()) })
	}
	add(ready+trailTime, func() { r.endTrail() })
	add(ready+trailTime+shelfTime, r.forgetTrail)
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	start := time.Now()
	for _, s := range steps {
		time.Sleep(time.Until(start.Add(s.at)))
		s.do()
	}
	seen, last := map[string]bool{}, [publishers]int{-1, -1, -1}
	for _, m := range r.given() {
		text := string(m.Payload)
		if seen[text] {
			return fmt.Errorf("%s twice", text)
		}
		seen[text] = true
		if m.Late && (stays || onSecond[text]) {
			return fmt.Errorf("%s is late", text)
		}
		if m.Late {
			continue
		}
		var n int
		_, _ = fmt.Sscan(text, &n) // it is what was printed
		if last[n%publishers] > n {
			return fmt.Errorf("%d behind %d", n, last[n%publishers])
		}
		last[n%publishers] = n
	}
	if len(seen) != publishers*each {
		return fmt.Errorf("%d messages", len(seen))
	}
	return nil
}
