package client

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// routed is a router with one subscription, and connections that exist by name alone.
type routed struct {
	*router
	old, next *conn
	sub       *Subscription
	group     sync.WaitGroup
}

func newRouted() *routed {
	r := &routed{router: newRouter(), old: &conn{}, next: &conn{}}
	r.sub = &Subscription{key: key{"t", "x"}, done: make(chan struct{})}
	r.sub.queue = newQueue(1<<20, DropNewest, &r.group, make(chan struct{}))
	r.add(r.sub, false)
	r.setCurrent(r.old)
	return r
}

func (r *routed) bring(c *conn, payloads ...string) {
	for _, p := range payloads {
		r.deliver(c, &delivery{tenant: "t", channel: "x", patterns: []string{"x"}, payload: []byte(p)})
	}
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

// What no longer fits is given, and not once more when the other connection brings it.
func TestTrailOverflow(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(r *routed)
		want []string
	}{
		{"the pile, and the second takes over", func(r *routed) {
			r.merger.maxPile = 1
			r.bring(r.next, "1", "2")
			r.takeOver()
			r.bring(r.old, "1", "2")
			time.Sleep(shelfTime)
			r.giveLate(time.Now())
		}, []string{"1", "2"}},
		{"the pile, and the first wakes", func(r *routed) {
			r.merger.maxPile = 1
			r.bring(r.next, "1", "2")
			time.Sleep(10 * time.Second)
			r.keepCurrent()
			r.bring(r.old, "1", "2")
		}, []string{"1", "2"}},
		{"the shelf", func(r *routed) {
			r.takeOver()
			r.trail.merger.maxPile = 1
			r.bring(r.old, "1", "2")
			r.bring(r.next, "1", "2", "3")
		}, []string{"1 late", "2", "3"}},
		{"the bytes of the shelf", func(r *routed) {
			r.takeOver()
			r.trail.merger.maxBytes = 300
			r.bring(r.old, "1", "2")
			r.bring(r.next, "1", "2")
		}, []string{"1 late", "2"}},
		{"the notes", func(r *routed) {
			r.takeOver()
			r.trail.merger.notes.limit = 1
			r.bring(r.next, "1", "2")
			r.bring(r.old, "2")
			r.bring(r.old, "1") // nobody knows any more
			time.Sleep(shelfTime)
			r.giveLate(time.Now())
		}, []string{"1", "2", "1 late"}},
		{"a trail that ends, with something on the shelf", func(r *routed) {
			r.takeOver()
			r.bring(r.old, "1")
			r.endTrail()
			r.bring(r.old, "2")
			r.bring(r.next, "1")
			r.forgetTrail()
		}, []string{"1"}},
		{"a move while it trails", func(r *routed) {
			r.takeOver()
			third := &conn{}
			r.beginMerge(noteLife)
			r.setNext(third, false)
			r.bring(r.old, "1", "2")
			r.bring(third, "1")
			time.Sleep(shelfTime)
			r.giveLate(time.Now())
			r.bring(third, "2")
			r.promote()
			r.bring(third, "3")
		}, []string{"1 late", "2 late", "3"}},
		{"another takes over while it trails", func(r *routed) {
			r.takeOver()
			r.bring(r.old, "1")
			third := &conn{}
			r.beginMerge(time.Minute)
			r.setNext(third, true)
			r.bring(third, "2")
			r.takeOver()
			r.bring(r.old, "of nobody")
			r.bring(r.next, "2", "3")
			time.Sleep(shelfTime)
			r.giveLate(time.Now())
		}, []string{"1 late", "2", "3 late"}},
	} {
		bubble(t, test.name, func(t *testing.T, _ *world) {
			r := newRouted()
			r.beginMerge(time.Minute)
			r.setNext(r.next, true)
			test.run(r)
			if got := r.texts(); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// What a move or another suspicion gives beside a trail is given once.
func TestTrailAndMove(t *testing.T) {
	begin := func(r *routed, suspect bool) *conn {
		third := &conn{}
		r.beginMerge(time.Minute)
		r.setNext(third, suspect)
		return third
	}
	for name, run := range map[string]func(r *routed){
		"leave, and the trail brings it": func(r *routed) {
			third := begin(r, false)
			r.bring(third, "1")
			r.promote()
			r.bring(r.old, "1")
		},
		"the shelf has it, and leave": func(r *routed) {
			third := begin(r, false)
			r.bring(r.old, "1")
			r.bring(third, "1")
			r.promote()
		},
		"it was late, and leave": func(r *routed) {
			r.bring(r.old, "1")
			time.Sleep(shelfTime)
			r.giveLate(time.Now())
			third := begin(r, false)
			r.bring(third, "1")
			r.promote()
		},
		"it was late, and another takes over": func(r *routed) {
			r.bring(r.old, "1")
			time.Sleep(shelfTime)
			r.giveLate(time.Now())
			third := begin(r, true)
			r.bring(third, "1")
			r.takeOver()
		},
		"the pile is full": func(r *routed) {
			third := begin(r, false)
			r.merger.maxPile = 0
			r.bring(third, "1")
			r.bring(r.old, "1")
			r.bring(r.next, "1")
		},
		"the second is gone while the first is left": func(r *routed) {
			third := begin(r, false)
			r.bring(third, "1")
			r.dropNext(true)
			r.bring(r.old, "1")
		},
		"another leads": func(r *routed) {
			third := begin(r, true)
			r.bring(third, "1")
			r.setCurrent(third)
			r.bring(r.old, "1")
		},
		"none leads": func(r *routed) {
			third := begin(r, true)
			r.bring(r.old, "1")
			r.bring(third, "1")
			r.setCurrent(nil)
		},
	} {
		bubble(t, name, func(t *testing.T, _ *world) {
			r := newRouted()
			r.beginMerge(time.Minute)
			r.setNext(r.next, true)
			r.takeOver()
			run(r)
			time.Sleep(shelfTime)
			r.giveLate(time.Now())
			r.forgetTrail()
			equal(t, "len(r.texts())", len(r.texts()), 1)
		})
	}
}

func TestTrails(t *testing.T) {
	bubble(t, "a new message that looks like a late one is given, unless it comes right behind it", func(t *testing.T, _ *world) {
		r := newRouted()
		r.beginMerge(time.Minute)
		r.setNext(r.next, true)
		r.takeOver()
		r.bring(r.old, "1")
		time.Sleep(shelfTime)
		r.giveLate(time.Now())
		time.Sleep(lateLife)
		r.bring(r.next, "1")
		wantStrings(t, "r.texts()", r.texts(), "1 late", "1")
	})
	suspect(t, "a subscription that is made after the takeover gets nothing of before", func(t *testing.T, w *world, c *Client, first *fakeLink, s *Subscription) {
		event[Recovered](w)
		must(t, s.Unsubscribe(t.Context()))
		time.Sleep(3 * time.Second)
		s = mustSubscribe(t, c, "x")
		first.deliver("x", "old", "x")
		time.Sleep(3 * time.Second)
		wantWaiting(t, s, 0)
	})
	// PINGs that a connection had yet to send as it was replaced are sent: their answers count.
	suspect(t, "Trail pings not sent", func(t *testing.T, w *world, c *Client, first *fakeLink, _ *Subscription) {
		stuck := make(chan struct{})
		first.set(func(l *fakeLink) { l.stuck = stuck })
		for range 3 { // one is being sent
			noError(t, c.Publish(t.Context(), "t", "x", []byte("p")))
			synctest.Wait()
		}
		event[Recovered](w)
		time.Sleep(time.Second)
		woke := time.Now()
		first.set(func(l *fakeLink) { clear(l.mute) })
		close(stuck)
		first.deliver("x", "old", "x")
		<-first.finished
		atMost(t, "left after", time.Since(woke), 5*time.Second)
		if _, frames := first.sent(); len(frames) != 1 {
			t.Errorf("%d frames on the first", len(frames))
		}
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
				add(at, func() { r.bring(r.old, text) })
			} else {
				add(max(at, wakes), func() { r.bring(r.old, text) })
			}
			if at+lag >= joins {
				onSecond[text] = true
				add(at+lag, func() { r.bring(r.next, text) })
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
