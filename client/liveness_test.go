package client

import (
	"errors"
	"fmt"
	"strings"
	"testing"
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

// Round trips of more than a second are learned: such a connection is not suspect for ever.
func TestSlowPath(t *testing.T) {
	for _, rtt := range []time.Duration{1500 * time.Millisecond, 4 * time.Second} {
		bubble(t, rtt.String(), func(t *testing.T, w *world) {
			c, l := w.connected(edgeA)
			mustSubscribe(t, c, "x")
			l.set(func(l *fakeLink) { l.mute["PING"] = true })
			w.slow(edgeA+" websocket", 10*time.Second) // nothing comes to the next connection
			for n := range 20 {
				flushed := async(func() error { return c.Flush(t.Context()) })
				time.Sleep(rtt)
				l.line("PONG")
				must(t, <-flushed)
				if got := w.suspicions(); n >= slowTrips && got > 0 {
					t.Errorf("%d suspicions at question %d", got, n)
				}
			}
		})
	}
}

func TestLiveness(t *testing.T) {
	suspect(t, "where messages come, but no PONG, suspicions become rare",
		func(t *testing.T, w *world, c *Client, first *fakeLink, s *Subscription) {
			go c.Flush(t.Context()) // it has no answer
			for _, edge := range []string{edgeA, edgeB} {
				w.slow(edge+" websocket", time.Second)
			}
			for n := range 60 {
				time.Sleep(1500 * time.Millisecond)
				first.bring(fmt.Sprint(n))
				payloads(t, s, 1)
			}
			if n := w.suspicions(); n > 5 || c.Edge() != edgeA {
				t.Errorf("%d suspicions in 90 s, at %s", n, c.Edge())
			}
		})
	bubble(t, "SUBs that were answered do not count as bytes that the edge has yet to read",
		func(t *testing.T, w *world) {
			c, l := w.connected(edgeA, edgeB)
			for n := range 500 {
				mustSubscribe(t, c, fmt.Sprint(strings.Repeat("p", 50), n))
			}
			flow(t, l, mustSubscribe(t, c, "x"))
			l.silence()
			heard := l.heard()
			event[Suspect](w)
			atMost(t, "suspect after", time.Since(heard), 3*time.Second)
		})
	bubble(t, "a message that comes with PONG makes the next silence one to ask in, again",
		func(t *testing.T, w *world) {
			_, l, s := w.subscribed(edgeA, edgeB)
			flow(t, l, s)
			l.set(func(l *fakeLink) { l.mute["PING"] = true })
			time.Sleep(unusualLeast + 200*time.Millisecond)
			l.line("PONG")
			l.bring("1") // in the same moment
			payloads(t, s, 1)
			heard := time.Now()
			event[Suspect](w)
			atMost(t, "suspect after", time.Since(heard), 6*time.Second)
		})
}

// A PONG that waits for the loop as the suspicion begins ends it, even if nobody asks again.
func TestSuspectPongUnderWay(t *testing.T) {
	for n := range 20 { // the loop takes it, or the timer, first
		bubble(t, fmt.Sprint(n), func(t *testing.T, w *world) {
			c, l := w.mustConnect([]string{edgeA}, func(o *Options) { o.KeepAlive = -1 })
			w.set(edgeA, errUnreachable)
			l.set(func(l *fakeLink) { l.mute["PING"] = true })
			flushed := async(func() error { return c.Flush(t.Context()) })
			time.Sleep(500 * time.Millisecond)
			c.post(func() { time.Sleep(1800 * time.Millisecond) }) // a busy machine
			time.Sleep(100 * time.Millisecond)
			l.line("PONG")
			l.set(func(l *fakeLink) { clear(l.mute) })
			noError(t, <-flushed)
			published := async(func() error { return c.Publish(t.Context(), "t", "x", nil) })
			select {
			case err := <-published:
				noError(t, err)
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

func TestKeepAlive(t *testing.T) {
	bubble(t, "KeepAlive", func(t *testing.T, w *world) {
		c, l := w.connected(edgeA)
		start := time.Now()
		const least, most = 25 * time.Second, 25*time.Second + 25*time.Second/spread
		if e := event[RoundTrip](w); e.RTT != 0 || time.Since(start) < least || time.Since(start) > most {
			t.Errorf("%+v after %v", e, time.Since(start))
		}
		l.set(func(l *fakeLink) { l.mute["PING"] = true })
		time.Sleep(20 * time.Second)
		l.line("ERR:broker_unavailable") // something came
		event[EdgeError](w)
		start = time.Now()
		w.set(edgeA, errUnreachable) // no other connection takes over
		e := event[Disconnected](w)
		if since := time.Since(start); !errors.Is(e.Err, ErrTimeout) || since < least+10*time.Second || since > most+10*time.Second {
			t.Errorf("%+v after %v", e, since)
		}
		w.set(edgeA, nil)
		event[Reconnected](w)
		equal(t, "c.Err()", c.Err(), nil)
	})
	bubble(t, "never", func(t *testing.T, w *world) {
		_, l := w.mustConnect([]string{edgeA}, func(o *Options) { o.KeepAlive = -1 })
		time.Sleep(10 * time.Hour)
		wantLines(t, l)
	})
	bubble(t, "an edge that reads slowly", func(t *testing.T, w *world) {
		c, l := w.connected(edgeA)
		l.set(func(l *fakeLink) { l.mute["PING"] = true })
		must(t, c.Publish(t.Context(), "t", "x", make([]byte, 60<<10)))
		w.set(edgeA, errUnreachable) // no other connection takes over
		go c.Flush(t.Context())
		start := time.Now()
		event[Suspect](w)
		if since := time.Since(start); since < 60*time.Second || since > 65*time.Second {
			t.Errorf("suspect after %v", since)
		}
		event[Disconnected](w)
		if since := time.Since(start); since < 95*time.Second || since > 100*time.Second {
			t.Errorf("lost after %v", since)
		}
	})
}
