package client

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// suspicions returns how often the connection was suspect since the last call.
func (w *world) suspicions() (n int) {
	for len(w.events) > 0 {
		if _, ok := (<-w.events).(Suspect); ok {
			n++
		}
	}
	return n
}

// A interest that only the second connection has confirmed is confirmed when the first dies.
func TestSubscribeAndSuspectDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c, first, _ := startSuspect(t, nil)
		w.next(func(l *fakeLink) { l.mute["SUB:t:x"] = true })
		event[Suspect](w)
		second := <-w.links
		synctest.Wait()
		y := mustSubscribeLater(t, c, "y")
		first.end(1001)
		event[Disconnected](w)
		<-y
		second.line("OK:SUB:t:x")
		event[Reconnected](w)
	})
}

// What the first has delivered at its end is not given again as the second brings it.
func TestSuspectDiesDelivering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, first, s := startSuspect(t, nil)
		w.next(muteSub)
		event[Suspect](w)
		second := <-w.links
		time.Sleep(suspectEvery / 2)
		first.deliver("x", "1", "x")
		first.end(1001)
		event[Disconnected](w)
		second.deliver("x", "1", "x")
		second.line("OK:SUB:t:x")
		event[Reconnected](w)
		time.Sleep(time.Second)
		if got := waiting(s); len(got) != 1 {
			t.Errorf("got %q", got)
		}
	})
}

// A last word is no sign of life: what the second has brought is not lost.
func TestSuspectLastWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, first, s := startSuspect(t, nil)
		w.next(muteSub)
		event[Suspect](w)
		second := <-w.links
		second.deliver("x", "1", "x")
		time.Sleep(suspectEvery / 2)
		first.line("ERR:internal")
		time.Sleep(2 * suspectEvery)
		first.end(1011)
		if got := transitions(w, 1); !slices.Equal(got, []string{"Disconnected"}) {
			t.Errorf("got %q", got)
		}
		if got := payloads(t, s, 1); got[0] != "1" {
			t.Errorf("got %q", got)
		}
	})
}

// Round trips of more than a second are learned: such a connection is not suspect for ever.
func TestSlowPath(t *testing.T) {
	for _, rtt := range []time.Duration{1500 * time.Millisecond, 4 * time.Second} {
		t.Run(rtt.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				c, l := w.mustConnect([]string{edgeA}, nil)
				mustSubscribe(t, c, "x")
				l.set(func(l *fakeLink) { l.mute["PING"] = true })
				w.slow(edgeA+" websocket", 10*time.Second) // nothing comes to the second connection
				for n := range 20 {
					flushed := make(chan error, 1)
					go func() { flushed <- c.Flush(t.Context()) }()
					time.Sleep(rtt)
					l.line("PONG")
					if err := <-flushed; err != nil {
						t.Fatal(err)
					}
					if got := w.suspicions(); n >= slowTrips && got > 0 {
						t.Errorf("%d suspicions at question %d", got, n)
					}
				}
			})
		})
	}
}

// Where messages come, but no PONG, suspicions become rare.
func TestPongStaysAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c, first, s := startSuspect(t, nil)
		go c.Flush(t.Context()) // it has no answer
		for _, edge := range []string{edgeA, edgeB} {
			w.slow(edge+" websocket", time.Second)
		}
		for n := range 60 {
			time.Sleep(1500 * time.Millisecond)
			first.deliver("x", fmt.Sprint(n), "x")
			payloads(t, s, 1)
		}
		if n := w.suspicions(); n > 5 || c.Edge() != edgeA {
			t.Errorf("%d suspicions in 90 s, at %s", n, c.Edge())
		}
	})
}

// A PONG that waits for the loop as the suspicion begins ends it, even if nobody asks again.
func TestSuspectPongUnderWay(t *testing.T) {
	for range 20 { // the loop takes it, or the timer, first
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			c, l := w.mustConnect([]string{edgeA}, func(o *Options) { o.KeepAlive = -1 })
			w.set(edgeA, errUnreachable)
			l.set(func(l *fakeLink) { l.mute["PING"] = true })
			flushed := make(chan error, 1)
			go func() { flushed <- c.Flush(t.Context()) }()
			time.Sleep(500 * time.Millisecond)
			c.post(func() { time.Sleep(1800 * time.Millisecond) }) // a busy machine
			time.Sleep(100 * time.Millisecond)
			l.line("PONG")
			l.set(func(l *fakeLink) { clear(l.mute) })
			if err := <-flushed; err != nil {
				t.Error(err)
			}
			published := make(chan error, 1)
			go func() { published <- c.Publish(t.Context(), "t", "x", nil) }()
			select {
			case err := <-published:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(time.Minute):
				t.Error("publishes wait")
				c.Close()
				if err := <-published; err == nil {
					t.Error("published on a client that is closed")
				}
			}
		})
	}
}

// SUBs that were answered do not count as bytes that the edge has yet to read.
func TestSuspectAfterManySubs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c, l := w.mustConnect([]string{edgeA, edgeB}, nil)
		for n := range 500 {
			mustSubscribe(t, c, fmt.Sprint(strings.Repeat("p", 50), n))
		}
		flow(t, l, mustSubscribe(t, c, "x"))
		l.silence()
		heard := l.heard()
		event[Suspect](w)
		if since := time.Since(heard); since > 3*time.Second {
			t.Errorf("suspect after %v", since)
		}
	})
}

// A message that comes with PONG makes the next silence one to ask in, again.
func TestPongWithMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c, l := w.mustConnect([]string{edgeA, edgeB}, nil)
		s := mustSubscribe(t, c, "x")
		flow(t, l, s)
		l.set(func(l *fakeLink) { l.mute["PING"] = true })
		time.Sleep(unusualLeast + 200*time.Millisecond)
		l.line("PONG")
		l.deliver("x", "1", "x") // in the same moment
		payloads(t, s, 1)
		heard := time.Now()
		event[Suspect](w)
		if since := time.Since(heard); since > 6*time.Second {
			t.Errorf("suspect after %v", since)
		}
	})
}

// PINGs that a connection had yet to send as it was replaced are sent: their answers count.
func TestTrailPingsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c, first, _ := startSuspect(t, nil)
		stuck := make(chan struct{})
		first.set(func(l *fakeLink) { l.stuck = stuck })
		for range 3 { // one is being sent
			if err := c.Publish(t.Context(), "t", "x", []byte("p")); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		event[Recovered](w)
		time.Sleep(time.Second)
		woke := time.Now()
		first.set(func(l *fakeLink) { clear(l.mute) })
		close(stuck)
		first.deliver("x", "old", "x")
		<-first.finished
		if since := time.Since(woke); since > 5*time.Second {
			t.Errorf("left after %v", since)
		}
		if _, frames := first.sent(); len(frames) != 1 {
			t.Errorf("%d frames on the first", len(frames))
		}
	})
}

// A second connection that is refused a subscription does not take over, and ends nothing
// that the first has.
func TestSuspectNextRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, first, s := startSuspect(t, nil)
		w.next(muteSub)
		event[Suspect](w)
		second := <-w.links
		w.set(edgeA, errDraining) // there is no third
		w.set(edgeB, errDraining)
		second.line("ERR:too_many_subscriptions:SUB:t:x")
		synctest.Wait()
		select {
		case <-second.aborted:
		default:
			t.Error("it was not given up")
		}
		first.line("PONG")
		if e := event[Recovered](w); e.Away != 0 {
			t.Errorf("got %+v", e)
		}
		first.deliver("x", "1", "x")
		if got := payloads(t, s, 1); !slices.Equal(got, []string{"1"}) {
			t.Errorf("got %q", got)
		}
	})
}
