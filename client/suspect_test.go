package client

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// silence makes a link stop answering, as on a path that swallows everything.
func (l *fakeLink) silence() {
	l.set(func(l *fakeLink) { l.mute[""] = true })
}

// flow delivers messages 100 ms apart, so that there is a rhythm, and reads them.
func flow(t *testing.T, l *fakeLink, s *Subscription) {
	t.Helper()
	for n := range 10 {
		l.bring(fmt.Sprint("before ", n))
		payloads(t, s, 1)
		time.Sleep(100 * time.Millisecond)
	}
}

// startSuspect connects to edges A and B, subscribes to x, has a flow, and lets the link to A
// fall silent.
func startSuspect(t *testing.T, w *world, change func(*Options)) (*Client, *fakeLink, *Subscription) {
	t.Helper()
	c, first := w.mustConnect([]string{edgeA, edgeB}, change)
	s := mustSubscribe(t, c, "x")
	flow(t, first, s)
	first.silence()
	return c, first, s
}

// suspect runs a subtest that begins with startSuspect.
func suspect(t *testing.T, name string, f func(t *testing.T, w *world, c *Client, first *fakeLink, s *Subscription)) {
	t.Helper()
	bubble(t, name, func(t *testing.T, w *world) {
		c, first, s := startSuspect(t, w, nil)
		f(t, w, c, first, s)
	})
}

// beside runs a subtest that begins beside a suspect connection with another one, which has yet
// to answer its SUB.
func beside(t *testing.T, name string, f func(t *testing.T, w *world, c *Client, first, second *fakeLink, s *Subscription)) {
	t.Helper()
	suspect(t, name, func(t *testing.T, w *world, c *Client, first *fakeLink, s *Subscription) {
		w.next(muteSub)
		event[Suspect](w)
		f(t, w, c, first, <-w.links, s)
	})
}

// name is that of an event's type.
func name(e Event) string { return fmt.Sprintf("%T", e)[len("client."):] }

// transitions awaits n events of those that tell of the connection.
func transitions(w *world, n int) (got []string) {
	w.t.Helper()
	for len(got) < n {
		switch e := (<-w.events).(type) {
		case Suspect, Recovered, Disconnected, Reconnected, Moving, Moved:
			got = append(got, name(e))
		case Closed:
			w.t.Fatalf("the client ended (%v) after %q", e.Err, got)
		}
	}
	return got
}

func TestSuspect(t *testing.T) {
	suspect(t, "the next connection takes over 2 s after the last message, with what it has brought", func(t *testing.T, w *world, c *Client, first *fakeLink, s *Subscription) {
		w.next(muteSub)
		heard := first.heard()
		flushed := make(chan error, 1)
		time.AfterFunc(unusualLeast, func() { flushed <- c.Flush(t.Context()) })
		e := event[Suspect](w)
		if after := time.Since(heard) - unusualLeast - minPongTimeout; e != (Suspect{edgeA, WebSocket}) || after < 0 || after > 50*time.Millisecond {
			t.Errorf("%+v after %v", e, time.Since(heard)) // what was sent before PING gives it some milliseconds
		}
		published := make(chan error, 1)
		go func() {
			err := c.Publish(t.Context(), "t", "x", []byte("p"))
			if err == nil {
				err = c.Flush(t.Context())
			}
			published <- err
		}()
		second := <-w.links
		second.bring("1")
		synctest.Wait()
		if got := waiting(s); len(got) > 0 || second.edge != edgeB {
			t.Errorf("got %q of %s before it takes over", got, second.edge)
		}
		time.Sleep(100 * time.Millisecond)
		second.line("OK:SUB:t:x")
		if e := event[Recovered](w); e != (Recovered{edgeB, WebSocket, time.Since(heard)}) || c.Edge() != edgeB {
			t.Errorf("got %+v", e)
		}
		for _, done := range []chan error{published, flushed} {
			noError(t, <-done)
		}
		second.bring("2")
		wantPayloads(t, s, "1", "2")
		wantFrames(t, first)
		wantFrames(t, second, "x=p")
	})
	// What made a connection suspect is no usual pause: a second hole is noticed as soon as
	// the current one.
	bubble(t, "Holes", func(t *testing.T, w *world) {
		_, first, s := w.subscribed(edgeA)
		w.set(edgeA, errDraining)
		for range 3 {
			flow(t, first, s)
			heard := first.heard()
			first.silence()
			event[Suspect](w)
			atMost(t, "suspect after", time.Since(heard), 3*time.Second)
			time.Sleep(6 * time.Second)
			first.set(func(l *fakeLink) { clear(l.mute) })
			first.line("PONG") // of the question
			event[Recovered](w)
		}
	})
	// The current connection that wakes stays, and delivers what the next one has brought; the
	// second is closed.
	beside(t, "Suspect wakes", func(t *testing.T, w *world, c *Client, first, second *fakeLink, s *Subscription) {
		second.bring("1")
		flushed := async(func() error { return c.Flush(t.Context()) })
		time.Sleep(2 * time.Second)
		if lines, _ := first.sent(); len(lines) > 2 {
			t.Errorf("sent %q", lines) // one question in a silence
		}
		first.set(func(l *fakeLink) { clear(l.mute) })
		woke := time.Now()
		first.bring("1", "2")
		if e := event[Recovered](w); e != (Recovered{edgeA, WebSocket, 0}) || time.Since(woke) > suspectEvery {
			t.Errorf("%+v after %v", e, time.Since(woke))
		}
		first.line("PONG")
		noError(t, <-flushed)
		<-second.finished
		wantPayloads(t, s, "1", "2")
		wantWaiting(t, s, 0)
	})
	// What a trailing connection brings is given once: as late if the current one does
	// not bring it.
	beside(t, "Trail", func(t *testing.T, w *world, _ *Client, first, second *fakeLink, s *Subscription) {
		second.bring("both")
		synctest.Wait()
		second.line("OK:SUB:t:x")
		event[Recovered](w)
		second.bring("after")
		time.Sleep(8 * time.Second)
		first.bring("missed", "both", "after", "soon")
		wantPayloads(t, s, "both", "after")
		time.Sleep(shelfTime / 2)
		second.bring("soon")
		wantPayloads(t, s, "soon", "missed late")
		second.bring("missed") // very late
		reaches(t, second, s, "end")
		// It is asked to leave, and closed when it has answered what it was asked before, too.
		first.line("PONG")
		synctest.Wait()
		wantNone(t, "closed before it has answered", first.finished)
		first.line("PONG")
		<-first.finished
		wantLines(t, first, "SUB:t:x", "PING", "UNSUB:t:x", "PING")
	})
	// Publishers that wait for room on the old connection go on at the new one, and a Flush
	// fails if what was sent before it may be lost.
	suspect(t, "Suspect publishes", func(t *testing.T, w *world, c *Client, first *fakeLink, _ *Subscription) {
		w.slow(edgeB+" websocket", 100*time.Millisecond)
		first.set(func(l *fakeLink) { l.stuck = make(chan struct{}) })
		for range 3 { // one is being sent, one waits
			go c.Publish(t.Context(), "t", "x", make([]byte, sendBufferLimit-20)) //nolint:errcheck // the frames that come say it
			synctest.Wait()
		}
		published := async(func() error { return c.Publish(t.Context(), "t", "x", []byte("last")) })
		event[Suspect](w)
		flushed := async(func() error { return c.Flush(t.Context()) })
		event[Recovered](w)
		noError(t, <-published)
		wantError(t, <-flushed, ErrDisconnected)
		noError(t, c.Flush(t.Context()))
		second := <-w.links
		synctest.Wait()
		if _, frames := second.sent(); len(frames) != 2 || !slices.Contains(frames, "x=last") {
			t.Errorf("%d frames on the second", len(frames))
		}
		close(first.stuck)
		synctest.Wait()
		if _, frames := first.sent(); len(frames) != 1 {
			t.Errorf("%d frames on the first", len(frames))
		}
	})
	// The current connection that has woken stays, although the next one is ready before the client
	// has looked.
	beside(t, "Suspect woke before", func(t *testing.T, w *world, _ *Client, first, second *fakeLink, _ *Subscription) {
		synctest.Wait()
		first.bring("1")
		synctest.Wait()
		second.line("OK:SUB:t:x")
		if e := event[Recovered](w); e.Edge != edgeA || e.Away != 0 {
			t.Errorf("got %+v", e)
		}
	})
	// The time of a PING that waited for the end of a hole does not make the next suspicion
	// later.
	suspect(t, "Suspect twice", func(t *testing.T, w *world, _ *Client, first *fakeLink, s *Subscription) {
		for _, edge := range []string{edgeA, edgeB} {
			w.set(edge, errUnreachable)
		}
		for range 2 {
			heard := first.heard()
			event[Suspect](w)
			atMost(t, "suspect after", time.Since(heard), 2100*time.Millisecond)
			time.Sleep(8 * time.Second)
			first.line("PONG")
			event[Recovered](w)
			flow(t, first, s)
		}
	})
	// What ends the client on the current connection ends only the next one of a suspicion:
	// the current one may wake.
	suspect(t, "Suspect second revoked", func(t *testing.T, w *world, c *Client, first *fakeLink, s *Subscription) {
		w.next(muteSub)
		event[Suspect](w)
		(<-w.links).revoke()
		synctest.Wait()
		first.bring("1")
		event[Recovered](w)
		payloads(t, s, 1)
		equal(t, "c.Err()", c.Err(), nil)
	})
	suspect(t, "subscribe and Unsubscribe come to their end during a suspicion", func(t *testing.T, w *world, c *Client, _ *fakeLink, s *Subscription) {
		w.slow(edgeB+" websocket", 2*time.Second)
		old := mustSubscribeLater(t, c, "y")
		event[Suspect](w)
		y := mustSubscribeLater(t, c, "z")
		unsubscribed := async(func() error { return s.Unsubscribe(t.Context()) })
		event[Recovered](w)
		second := <-w.links
		noError(t, <-unsubscribed)
		for sub, channel := range map[*Subscription]string{<-old: "y", <-y: "z"} {
			second.deliver(channel, "1", channel)
			payloads(t, sub, 1)
		}
	})
}

// The trail ends after its time, by its own end, with the client, and when another one
// begins; none of it is told.
func TestTrailEnds(t *testing.T) {
	for name, end := range map[string]func(w *world, c *Client, first, second *fakeLink){
		"time": func(_ *world, _ *Client, _, _ *fakeLink) { time.Sleep(trailTime + trailEvery) },
		"its own end": func(_ *world, _ *Client, first, _ *fakeLink) {
			first.revoke()
			time.Sleep(time.Second)
		},
		"the client": func(_ *world, c *Client, _, _ *fakeLink) { c.Close() },
		"another": func(w *world, _ *Client, _, second *fakeLink) {
			for range 5 {
				second.bring("")
				time.Sleep(100 * time.Millisecond)
			}
			second.silence()
			event[Recovered](w)
			time.Sleep(time.Millisecond)
		},
	} {
		suspect(t, name, func(t *testing.T, w *world, c *Client, first *fakeLink, _ *Subscription) {
			event[Recovered](w)
			end(w, c, first, <-w.links)
			synctest.Wait()
			c.post(func() {
				if c.trail != nil && c.trail.conn != nil && c.trail.conn.link == first {
					t.Error("kept")
				}
			})
			select {
			case <-first.aborted:
			default:
				t.Error("not closed")
			}
			for len(w.events) > 0 {
				switch e := (<-w.events).(type) {
				case Disconnected, EdgeError:
					t.Errorf("got %+v", e)
				}
			}
			if name != "the client" && c.Err() != nil {
				t.Error(c.Err())
			}
		})
	}
}

// The current one ends while it is suspect.
func TestSuspectDies(t *testing.T) {
	suspect(t, "before there is another", func(t *testing.T, w *world, c *Client, first *fakeLink, _ *Subscription) {
		w.slow(edgeB+" websocket", 2*time.Second)
		event[Suspect](w)
		flushed := async(func() error { return c.Flush(t.Context()) })
		synctest.Wait()
		first.end(1006)
		wantStrings(t, "transitions(w, 2)", transitions(w, 2), "Disconnected", "Reconnected")
		wantError(t, <-flushed, ErrDisconnected)
	})
	beside(t, "before the other is ready", func(t *testing.T, w *world, c *Client, first, second *fakeLink, s *Subscription) {
		second.bring("1")
		synctest.Wait()
		first.end(1006)
		event[Disconnected](w)
		payloads(t, s, 1)
		noError(t, c.Publish(t.Context(), "t", "x", nil))
		second.line("OK:SUB:t:x")
		equal(t, "Reconnected.Edge", event[Reconnected](w).Edge, edgeB)
	})
	beside(t, "before the other is ready, which drains", func(t *testing.T, w *world, _ *Client, first, second *fakeLink, _ *Subscription) {
		second.line("RECONNECT")
		synctest.Wait()
		w.next(nil)
		first.end(1006)
		event[Disconnected](w)
		equal(t, "Moving.Edge", event[Moving](w).Edge, edgeB)
		event[Moved](w)
	})
	suspect(t, "nobody is there", func(t *testing.T, w *world, _ *Client, first *fakeLink, _ *Subscription) {
		w.set(edgeA, errBadToken) // ends the client only when the current one is lost
		w.set(edgeB, errBadToken)
		heard := first.heard()
		event[Disconnected](w)
		if since := time.Since(heard); since < 35*time.Second || since > 36*time.Second {
			t.Errorf("lost after %v", since)
		}
		if e := event[Closed](w); !errors.Is(e.Err, ErrUnauthorized) {
			t.Errorf("got %+v", e)
		}
	})
}

// What next connections brought before they died is not lost, and comes once.
func TestSuspectSecondDies(t *testing.T) {
	for _, end := range []string{"a third takes over", "the first wakes", "the first dies"} {
		beside(t, end, func(t *testing.T, w *world, _ *Client, first, second *fakeLink, s *Subscription) {
			second.bring("1", "2")
			synctest.Wait()
			second.end(1006)
			synctest.Wait()
			want := []string{"1", "2", "3"}
			switch end {
			case "a third takes over":
				third := <-w.links
				third.bring("2", "3")
				synctest.Wait()
				third.line("OK:SUB:t:x")
			case "the first wakes":
				for _, m := range want {
					first.deliver("x", m, "x")
				}
			case "the first dies":
				w.set(edgeA, errUnreachable)
				w.set(edgeB, errUnreachable)
				want = want[:2]
				first.end(1006)
			}
			wantPayloads(t, s, want...)
			time.Sleep(3 * time.Second)
			wantWaiting(t, s, 0)
		})
	}
}

func mustSubscribeLater(t *testing.T, c *Client, pattern string) <-chan *Subscription {
	done := make(chan *Subscription, 1)
	go func() { done <- mustSubscribe(t, c, pattern) }()
	synctest.Wait()
	return done
}

// What falls due while the client is suspect is done afterwards.
func TestMovesWaitForSuspicion(t *testing.T) {
	for _, which := range []string{"first", "first drains", "second"} {
		bubble(t, which, func(t *testing.T, w *world) {
			// The provider is asked again after 4 to 5 s.
			c, first := w.mustConnect([]string{edgeA, edgeB}, (&issuer{life: 10 * time.Second}).options)
			s := mustSubscribe(t, c, "x")
			flow(t, first, s)
			first.silence()
			w.next(muteSub)
			event[Suspect](w)
			second := <-w.links
			time.Sleep(2200 * time.Millisecond) // the next token is there
			w.next(nil)
			switch which {
			case "first":
				first.set(func(l *fakeLink) { clear(l.mute) })
			case "first drains":
				first.set(func(l *fakeLink) { clear(l.mute) })
				first.line("RECONNECT")
			default:
				second.line("RECONNECT")
				second.line("OK:SUB:t:x")
			}
			first.line("PONG")
			start := time.Now()
			if got := transitions(w, 2); !slices.Equal(got, []string{"Recovered", "Moving"}) || time.Since(start) > suspectEvery {
				t.Errorf("got %q after %v", got, time.Since(start))
			}
			wantStrings(t, "transitions(w, 1)", transitions(w, 1), "Moved")
		})
	}
}

// Behind RECONNECT a PONG may be held up, and a connection that has yet to subscribe may
// be slow: neither is suspect.
func TestNotSuspect(t *testing.T) {
	for name, start := range map[string]func(w *world) *fakeLink{
		"it drains": func(w *world) *fakeLink {
			c, l := w.connected(edgeA)
			flow(w.t, l, mustSubscribe(w.t, c, "x"))
			w.set(edgeA, errDraining)
			l.line("RECONNECT")
			go c.Flush(w.t.Context()) // its PING is what counts
			return l
		},
		"it restores": func(w *world) *fakeLink {
			c, l := w.connected(edgeA)
			mustSubscribe(w.t, c, "x")
			w.next(muteSub)
			l.end(1001)
			l = <-w.links
			for range 5 {
				l.deliver("y", "", "y")
				time.Sleep(100 * time.Millisecond)
			}
			go c.Flush(w.t.Context()) // as above
			return l
		},
	} {
		bubble(t, name, func(t *testing.T, w *world) {
			l := start(w)
			l.silence()
			time.Sleep(20 * time.Second)
			noEvent[Suspect](w)
		})
	}
}

// The current one wakes, and is to be left at once, in the moment in which the next one is ready:
// whichever leads, nothing is lost, and the client goes on.
func TestSuspectAtOnce(t *testing.T) {
	for n := range 50 {
		beside(t, fmt.Sprint(n), func(t *testing.T, w *world, c *Client, first, second *fakeLink, s *Subscription) {
			w.next(nil)
			time.Sleep(suspectEvery - time.Nanosecond)
			first.set(func(l *fakeLink) { clear(l.mute) })
			go second.line("OK:SUB:t:x")
			go func() {
				first.bring("1")
				first.line("RECONNECT")
			}()
			go second.bring("1")
			go c.Flush(t.Context()) // it may fail here
			event[Recovered](w)
			time.Sleep(5 * time.Second)
			wantWaiting(t, s, 1)
			if got := transitionsNow(w); len(got)%2 != 0 || slices.Contains(got, "Disconnected") {
				t.Errorf("got %q", got)
			}
			noError(t, c.Flush(t.Context()))
		})
	}
}
