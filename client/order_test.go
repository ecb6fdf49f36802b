package client

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Whatever the order of losses, drains and subscriptions, the last connection has
// in the end the subscriptions that the application has, and nothing hangs.
func TestAnyOrder(t *testing.T) {
	for seed := range uint64(150) {
		synctest.Test(t, func(t *testing.T) { anyOrder(t, rand.New(rand.NewPCG(seed, 7))) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func anyOrder(t *testing.T, random *rand.Rand) {
	w := newWorld(t)
	w.events = make(chan Event, 100_000)
	c, first := w.connected(edgeA, edgeB)
	links := []*fakeLink{first}
	subs := map[string][]*Subscription{}
	change := func(l *fakeLink) {
		l.mute[[]string{"SUB", "UNSUB", "PING"}[random.IntN(3)]] = true
	}
	for range 60 {
		for len(w.links) > 0 {
			links = append(links, <-w.links)
		}
		l := links[max(0, len(links)-1-random.IntN(2))]
		pattern := fmt.Sprint("p", random.IntN(4))
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(400))*time.Millisecond)
		switch random.IntN(10) {
		case 0:
			l.line("RECONNECT")
		case 1:
			l.end(1001)
		case 2:
			l.set(change)
		case 3, 4, 5:
			if s, err := c.Subscribe(ctx, "t", pattern); err == nil {
				subs[pattern] = append(subs[pattern], s)
			}
		case 6, 7:
			if list := subs[pattern]; len(list) > 0 {
				_ = list[0].Unsubscribe(ctx)
				subs[pattern] = list[1:]
			}
		case 8:
			_ = c.Publish(ctx, "t", "x", nil)
			_ = c.Flush(ctx)
		default:
			l.deliver("x", fmt.Sprint(random.IntN(5)), pattern)
		}
		cancel()
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		for _, l := range links { // answers come in the end
			if random.IntN(4) == 0 {
				l.catchUp()
			}
		}
	}
	for range 100 {
		for len(w.links) > 0 {
			links = append(links, <-w.links)
		}
		for _, l := range links {
			l.catchUp()
		}
		time.Sleep(time.Second)
	}
	noError(t, c.Flush(t.Context()))
	last := links[len(links)-1]
	has := map[string]int{}
	lines, _ := last.sent()
	for _, line := range lines {
		if p, ok := strings.CutPrefix(line, "SUB:t:"); ok {
			has[p]++
		} else if p, ok := strings.CutPrefix(line, "UNSUB:t:"); ok {
			delete(has, p)
		}
	}
	for i := range 4 {
		p := fmt.Sprint("p", i)
		if want := len(subs[p]) > 0; want != (has[p] > 0) || has[p] > 1 {
			t.Errorf("%s: %d subscriptions of the application, %d on the edge: %q", p, len(subs[p]), has[p], lines)
		}
		for _, s := range subs[p] {
			equal(t, "s.Err()", s.Err(), nil)
		}
	}
	c.Close()
}

// catchUp answers what was not answered.
func (l *fakeLink) catchUp() {
	l.set(func(l *fakeLink) {
		clear(l.mute)
		for _, line := range l.owed {
			l.reply(line)
		}
		l.owed = nil
	})
}

func TestOrder(t *testing.T) {
	// What comes until the edge has ended a subscription is not given to the next one to the
	// same pattern: behind it there would be a hole.
	bubble(t, "Subscribe after unsubscribe", func(t *testing.T, w *world) {
		c, l, first := w.subscribed(edgeA)
		l.set(func(l *fakeLink) { l.mute["UNSUB"] = true })
		left := async(func() error { return first.Unsubscribe(context.Background()) })
		synctest.Wait()

		ctx, cancel := context.WithCancel(t.Context())
		given := make(chan error, 1)
		go func() {
			_, err := c.Subscribe(ctx, "t", "x")
			given <- err
		}()
		again := make(chan *Subscription, 1)
		go func() {
			s, _ := c.Subscribe(context.Background(), "t", "x")
			again <- s
		}()
		synctest.Wait()
		cancel()
		wantError(t, <-given, context.Canceled)
		l.bring("old")
		synctest.Wait()
		wantLines(t, l, "SUB:t:x", "UNSUB:t:x")
		l.line("OK:UNSUB:t:x")
		s := <-again
		noError(t, <-left)
		reaches(t, l, s, "new")
		wantLines(t, l, "SUB:t:x", "UNSUB:t:x", "SUB:t:x")

		// The end of the connection is one of the subscription, too.
		async(func() error { return s.Unsubscribe(context.Background()) })
		synctest.Wait()
		go func() {
			s, _ := c.Subscribe(context.Background(), "t", "x")
			again <- s
		}()
		synctest.Wait()
		l.end(1001)
		s = <-again
		(<-w.links).bring("newest")
		wantPayloads(t, s, "newest")
	})
}
