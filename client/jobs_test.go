package client

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

// withCredit makes an edge that waits for credit.
func withCredit(l *fakeLink) { l.answer[wire.LineFeatures] = wire.LineFeatures + furtherFeatures }

// give brings messages to this connection alone, numbered from first to last, for the pattern x.
func (l *fakeLink) give(first, last int) {
	for i := first; i <= last; i++ {
		l.in <- wire.AppendDeliverFields(nil, &wire.Deliver{ToOne: true, Tenant: []byte("t"), Channel: []byte("x"), Payload: []byte(strconv.Itoa(i)), Patterns: []string{"x"}})
	}
}

// jobsOf runs a subtest with a client whose edges wait for credit.
func jobsOf(t *testing.T, name string, f func(t *testing.T, w *world, c *Client, l *fakeLink)) {
	t.Helper()
	bubble(t, name, func(t *testing.T, w *world) {
		w.next(withCredit)
		c, l := w.connected(edgeA)
		f(t, w, c, l)
	})
}

func TestCredit(t *testing.T) {
	jobsOf(t, "of the queue, and more when half of it is read", func(t *testing.T, _ *world, c *Client, l *fakeLink) {
		s := mustSubscribe(t, c, "x", WithQueue(10, DropOldest))
		wantLines(t, l, "SUB:t:x", "CREDIT:t:x:10")
		l.give(1, 10)
		l.bring("broadcast") // has no room, and is the one that is dropped
		wantLines(t, l, "SUB:t:x", "CREDIT:t:x:10")
		wantPayloads(t, s, "1", "2", "3", "4")
		wantLines(t, l, "SUB:t:x", "CREDIT:t:x:10")
		wantPayloads(t, s, "5", "6")
		synctest.Wait()
		l.give(11, 11) // by another edge, before it knew
		wantPayloads(t, s, "7", "8", "9", "10", "11")
		synctest.Wait()
		lines, _ := l.sent()
		total := 0
		for _, line := range lines[1:] {
			var credit wire.Line
			credit, err := wire.ParseLine([]byte(line))
			must(t, err)
			total += int(credit.Credit)
		}
		if total < 15 || total > 21 {
			t.Errorf("%q: credit %d after 11 messages, want room for 10 at most, and half of it at least", lines, total)
		}
	})
	jobsOf(t, "of a function as its calls return", func(t *testing.T, _ *world, c *Client, l *fakeLink) {
		done := make(chan struct{})
		_, err := c.SubscribeFunc(t.Context(), "t", "x", func(Message) { <-done }, WithQueue(1, ""))
		must(t, err)
		l.give(1, 1)
		wantLines(t, l, "SUB:t:x", "CREDIT:t:x:1") // while it works
		done <- struct{}{}
		wantLines(t, l, "SUB:t:x", "CREDIT:t:x:1", "CREDIT:t:x:1")
	})
	jobsOf(t, "again on the next connection, and not for a history", func(t *testing.T, w *world, c *Client, l *fakeLink) {
		mustSubscribe(t, c, "x")
		l.end(1001)
		event[Reconnected](w)
		wantLines(t, <-w.links, "SUB:t:x", "CREDIT:t:x:1024")
	})
	bubble(t, "not from an edge of an earlier version", func(t *testing.T, w *world) {
		_, l, _ := w.subscribed(edgeA)
		wantLines(t, l, "SUB:t:x")
	})
	jobsOf(t, "for a subscription that has ended meanwhile is nothing to tell", func(t *testing.T, w *world, _ *Client, l *fakeLink) {
		l.line("ERR:bad_request:CREDIT:t:x")
		event[Connected](w)
		wantNone(t, "an event", w.events)
	})
}

// No message to one connection is lost without a word, however slow its subscriber is.
func TestJobsAreNotDropped(t *testing.T) {
	for _, policy := range []QueuePolicy{DropOldest, DropNewest, EndOnFull} {
		for _, limit := range []int{1, 2, 100} {
			jobsOf(t, string(policy)+strconv.Itoa(limit), func(t *testing.T, _ *world, c *Client, l *fakeLink) {
				s := mustSubscribe(t, c, "x", WithQueue(limit, policy))
				for i := range 2 * limit { // as in a move, where two edges give as much as they may
					l.give(i, i)
					if policy != EndOnFull {
						l.bring("broadcast")
					}
				}
				synctest.Wait()
				next := 0
				for next < 2*limit {
					m := <-s.Messages()
					if !m.toOne {
						continue
					}
					equal(t, "message", string(m.Payload), strconv.Itoa(next))
					next++
				}
			})
		}
	}
	// Two with the same payload are two, on whichever connections they come.
	bubble(t, "in a move", func(t *testing.T, w *world) {
		w.next(withCredit)
		c, first := w.connected(edgeA, edgeB)
		s := mustSubscribe(t, c, "x")
		first.line("RECONNECT")
		second := <-w.links
		synctest.Wait()
		second.give(7, 7)
		first.give(7, 7)
		wantPayloads(t, s, "7", "7")
	})
}

func TestUnsubscribeCountsJobs(t *testing.T) {
	jobsOf(t, "of a sequence, and what comes until the edge has heard of it", func(t *testing.T, w *world, c *Client, l *fakeLink) {
		s := mustSubscribe(t, c, "x", WithQueue(100, ""))
		l.give(1, 100)
		wantPayloads(t, s, "1")
		synctest.Wait()
		l.set(func(l *fakeLink) { l.mute["UNSUB"] = true })
		ended := async(func() error { return s.Unsubscribe(t.Context()) })
		synctest.Wait()
		equal(t, "thrown away", event[Discarded](w).Count, 99)
		l.give(101, 101)
		equal(t, "came too late", event[Discarded](w).Count, 1)
		l.line("OK:UNSUB:t:x")
		noError(t, <-ended)
		wantEnd(t, s, nil)
	})
	jobsOf(t, "of a function, and at Close", func(t *testing.T, w *world, c *Client, l *fakeLink) {
		begun, resume := make(chan struct{}), make(chan struct{})
		_, err := c.SubscribeFunc(t.Context(), "t", "x", func(Message) { close(begun); <-resume })
		must(t, err)
		l.give(1, 200)
		<-begun
		synctest.Wait()
		closed := async(c.Close)
		synctest.Wait()
		if n := event[Discarded](w).Count; n < 198 || n > 199 { // the function may have taken one more
			t.Errorf("%d were thrown away", n)
		}
		close(resume)
		noError(t, <-closed)
	})
}

func TestDrain(t *testing.T) {
	jobsOf(t, "a sequence gives all, and ends", func(t *testing.T, w *world, c *Client, l *fakeLink) {
		s := mustSubscribe(t, c, "x", WithQueue(200, ""))
		l.give(1, 150)
		l.set(func(l *fakeLink) { l.mute["UNSUB"] = true })
		drained := async(func() error { return s.Drain(t.Context()) })
		synctest.Wait()
		l.give(151, 151) // before the edge has read UNSUB
		again := async(func() error { _, err := c.Subscribe(t.Context(), "t", "x"); return err })
		wantNone(t, "the edge has not answered", drained)
		l.line("OK:UNSUB:t:x")
		noError(t, <-drained)
		noError(t, <-again)
		for i := 1; i <= 151; i++ {
			wantPayloads(t, s, strconv.Itoa(i))
		}
		wantEnd(t, s, nil)
		noEvent[Discarded](w)
	})
	jobsOf(t, "a function returns for all", func(t *testing.T, w *world, c *Client, l *fakeLink) {
		done := 0
		s, err := c.SubscribeFunc(t.Context(), "t", "x", func(Message) { time.Sleep(time.Second); done++ })
		must(t, err)
		l.give(1, 100)
		synctest.Wait()
		noError(t, s.Drain(t.Context()))
		equal(t, "done", done, 100)
		noEvent[Discarded](w)
	})
	jobsOf(t, "a connection that is lost meanwhile ends it", func(t *testing.T, _ *world, c *Client, l *fakeLink) {
		s := mustSubscribe(t, c, "x")
		l.give(1, 2)
		l.set(func(l *fakeLink) { l.mute["UNSUB"] = true })
		drained := async(func() error { return s.Drain(t.Context()) })
		synctest.Wait()
		l.end(1001)
		noError(t, <-drained)
		wantPayloads(t, s, "1", "2")
		wantEnd(t, s, nil)
	})
	jobsOf(t, "the client waits for its readers, and closes", func(t *testing.T, w *world, c *Client, l *fakeLink) {
		s := mustSubscribe(t, c, "x")
		l.give(1, 5)
		synctest.Wait()
		drained := async(func() error { return c.Drain(t.Context()) })
		time.Sleep(time.Minute)
		wantNone(t, "nobody has read", drained)
		wantPayloads(t, s, "1", "2", "3", "4", "5")
		noError(t, <-drained)
		wantEvent(w, Closed{})
	})
	jobsOf(t, "the client does not wait for ever", func(t *testing.T, w *world, c *Client, l *fakeLink) {
		mustSubscribe(t, c, "x")
		l.give(1, 5)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		wantError(t, c.Drain(ctx), ErrTimeout)
		equal(t, "thrown away", event[Discarded](w).Count, 5)
	})
}

// A client knows what it has published itself, and may leave it out.
func TestOwn(t *testing.T) {
	bubble(t, "as the edge says", func(t *testing.T, w *world) {
		c, l := w.connected(edgeA)
		all, others := mustSubscribe(t, c, "x"), mustSubscribe(t, c, "x", WithoutEcho())
		l.in <- wire.AppendDeliverFields(nil, &wire.Deliver{Own: true, Key: []byte("k"), Tenant: []byte("t"), Channel: []byte("x"), Payload: []byte("mine"), Patterns: []string{"x"}})
		l.bring("theirs")
		if m := <-all.Messages(); !m.Own || m.Key != "k" {
			t.Errorf("got %+v", m)
		}
		if m := <-all.Messages(); m.Own || m.Key != "" {
			t.Errorf("got %+v", m)
		}
		wantPayloads(t, others, "theirs")
	})
	bubble(t, "in what a history gives again", func(t *testing.T, w *world) {
		w.next(func(l *fakeLink) {
			withHistories(l)
			l.judge = func(p wire.Publish) string { return string(wire.AppendOKPubAt(nil, p.ID, at(2))) }
		})
		c, l := w.connected(edgeA)
		s := begin(t, c, l, Now, nil, WithoutEcho())
		position, err := c.PublishConfirmed(t.Context(), "t", "x", nil, WithKey("k"))
		equal(t, "position", position, at(2).String())
		noError(t, err)
		l.stored(1, 2, 3)
		wantPayloads(t, s, "1", "3")
		equal(t, "s.Position()", s.Position(), at(3).String())
	})
	t.Run("what it remembers is bounded", func(t *testing.T) {
		r := newRouter()
		for i := range uint64(3 * maxOwn) {
			r.noteOwn(at(i), "k")
			r.noteOwn(at(i), "k")
		}
		if len(r.own.keys) != maxOwn || len(r.own.order) != maxOwn {
			t.Errorf("%d positions, %d in order", len(r.own.keys), len(r.own.order))
		}
		d := delivery{position: at(3*maxOwn - 1)}
		if r.own.mark(&d); !d.own || d.key != "k" {
			t.Errorf("the newest one is %+v", d)
		}
	})
}
