package client

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

// at is the n-th position of the tests' histories.
func at(n uint64) wire.Position {
	return wire.Position{Epoch: 0xabc, N: n, T: 1700000000000 + n}
}

// withHistories makes an edge one with histories, which answers RSUBs from now on, from
// last and behind a position: nothing is missing, and there is nothing.
func withHistories(l *fakeLink) {
	l.answer[wire.LineFeatures] = wire.LineFeaturesHistory
	l.mute["RSUB"] = true
}

// recorded runs a subtest with a client that knows two edges with histories, is at A, and has
// subscribed to x from now on.
func recorded(t *testing.T, name string, f func(t *testing.T, w *world, c *Client, l *fakeLink, s *Subscription)) {
	t.Helper()
	bubble(t, name, func(t *testing.T, w *world) {
		w.next(withHistories)
		c, l := w.connected(edgeA, edgeB)
		f(t, w, c, l, begin(t, c, l, Now, nil))
	})
}

// stored delivers messages to the RSUB of x, whose payloads are their numbers.
func (l *fakeLink) stored(numbers ...uint64) {
	for _, n := range numbers {
		l.in <- wire.AppendDeliverFields(nil, &wire.Deliver{
			Stored: true, Position: at(n), Tenant: []byte("t"), Channel: []byte("x"), Payload: []byte(strconv.FormatUint(n, 10)), Patterns: []string{"x"},
		})
	}
}

// caughtUp answers the RSUB of x.
func (l *fakeLink) caughtUp(n uint64, complete bool) {
	l.in <- wire.AppendOKRsub(nil, "t", "x", at(n), complete)
}

// begin subscribes to x with a history, which has the numbers.
func begin(t *testing.T, c *Client, l *fakeLink, from From, numbers []uint64, opts ...SubscribeOption) *Subscription {
	t.Helper()
	got := make(chan *Subscription, 1)
	go func() { got <- mustSubscribe(t, c, "x", append(opts, WithHistory(from))...) }()
	synctest.Wait()
	l.stored(numbers...)
	head := uint64(0)
	if len(numbers) > 0 {
		head = numbers[len(numbers)-1]
	}
	l.caughtUp(head, true)
	return <-got
}

func TestHistory(t *testing.T) {
	bubble(t, "History", func(t *testing.T, w *world) {
		w.next(withHistories)
		c, l := w.connected(edgeA)
		s := begin(t, c, l, LastN(3), []uint64{7, 9})
		m := <-s.Messages()
		if m.Position != at(7).String() || !m.Time.Equal(time.UnixMilli(1700000000007)) || string(m.Payload) != "7" || m.Pattern != "x" || m.Late {
			t.Errorf("got %+v", m)
		}
		if got := s.Position(); got != at(7).String() {
			t.Errorf("position %s after the first message", got)
		}
		l.stored(10)
		l.stored(10) // no edge does that
		if got := payloads(t, s, 2); !slices.Equal(got, []string{"9", "10"}) || s.Position() != at(10).String() {
			t.Errorf("got %q, position %s", got, s.Position())
		}
		l.in <- wire.AppendAt(nil, "t", "x", at(99))
		synctest.Wait()
		if got := s.Position(); got != at(99).String() {
			t.Errorf("position %s after AT", got)
		}
		l.in <- wire.AppendAt(nil, "t", "other", at(200)) // concerns nothing
		l.in <- wire.AppendGapReason(nil, "t", "x", at(120), wire.GapPurged)
		wantEvent(w, Gap{Tenant: "t", Pattern: "x", Before: at(120).String(), Reason: GapPurged})
		noError(t, s.Unsubscribe(t.Context()))
		wantLines(t, l, "RSUB:t:x:last.3", "UNSUB:t:x")
	})
	// Subscribe returns with the first message: a long past would otherwise fill the queue
	// before anybody can read it.
	bubble(t, "History begins", func(t *testing.T, w *world) {
		w.next(withHistories)
		c, l := w.connected(edgeA)
		got := make(chan *Subscription, 1)
		go func() { got <- mustSubscribe(t, c, "x", WithHistory(After(at(3).String()))) }()
		wantLines(t, l, "RSUB:t:x:"+at(3).String())
		l.stored(4)
		s := <-got
		if s.Position() != at(3).String() {
			t.Errorf("position %s before anything was read", s.Position())
		}
		l.caughtUp(4, true)
		payloads(t, s, 1)
	})
	bubble(t, "History options", func(t *testing.T, w *world) {
		w.next(withHistories)
		c, l := w.connected(edgeA)
		begin(t, c, l, Now, nil)
		for what, call := range map[string]func() (*Subscription, error){
			"no message":       func() (*Subscription, error) { return c.Subscribe(t.Context(), "t", "a", WithHistory(LastN(0))) },
			"too many":         func() (*Subscription, error) { return c.Subscribe(t.Context(), "t", "a", WithHistory(LastN(100_001))) },
			"a pattern":        func() (*Subscription, error) { return c.Subscribe(t.Context(), "t", "a.*", WithHistory(LastN(1))) },
			"no position":      func() (*Subscription, error) { return c.Subscribe(t.Context(), "t", "a", WithHistory(After("now"))) },
			"one with history": func() (*Subscription, error) { return c.Subscribe(t.Context(), "t", "x") },
			"and another":      func() (*Subscription, error) { return c.Subscribe(t.Context(), "t", "x", WithHistory(Last)) },
		} {
			wantError(t, errorOf(call()), ErrBadOption, what)
		}
		mustSubscribe(t, c, "y")
		wantError(t, errorOf(c.Subscribe(t.Context(), "t", "y", WithHistory(Now))), ErrBadOption)
	})
	bubble(t, "what came without positions is not gone on behind: it would come twice", func(t *testing.T, w *world) {
		c, l := w.connected(edgeA)
		s := mustSubscribe(t, c, "x", WithHistory(After(at(5).String())))
		event[Gap](w)
		reaches(t, l, s, "6")
		w.next(withHistories)
		l.end(1001)
		l = <-w.links
		wantLines(t, l, "RSUB:t:x:now")
		l.caughtUp(9, true)
		event[Gap](w)
		if got := event[Reconnected](w); got.Complete {
			t.Errorf("got %+v", got)
		}
		l.stored(10)
		if got := payloads(t, s, 1); got[0] != "10" || s.Position() != at(10).String() {
			t.Errorf("got %q", got)
		}
	})
	// The pattern is asked for again only when its first subscription has ended: what still
	// comes of that is not taken for the new one's.
	recorded(t, "History subscribed again", func(t *testing.T, w *world, c *Client, l *fakeLink, s *Subscription) {
		l.set(func(l *fakeLink) { l.mute["UNSUB"] = true })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = s.Unsubscribe(ctx)
		got := make(chan *Subscription, 1)
		go func() { got <- mustSubscribe(t, c, "x", WithHistory(LastN(1))) }()
		wantLines(t, l, "RSUB:t:x:now", "UNSUB:t:x")
		l.stored(7)
		l.line("OK:UNSUB:t:x")
		wantLines(t, l, "RSUB:t:x:now", "UNSUB:t:x", "RSUB:t:x:last.1")
		l.stored(7, 8)
		l.caughtUp(8, true)
		wantStrings(t, "payloads(t, <-got, 2)", payloads(t, <-got, 2), "7", "8")
	})
}

func TestHistoryRefused(t *testing.T) {
	for _, test := range []struct {
		name    string
		from    From
		answers map[string]string
		want    error // nil: subscribed
		gap     bool
		code    Code // of the gap
		lines   []string
	}{
		{"no history", Last, map[string]string{"RSUB:t:x:last": "ERR:no_history:RSUB:t:x"}, ErrNoHistory, false, "", []string{"RSUB:t:x:last"}},
		{"too many channels", Last, map[string]string{"RSUB:t:x:last": "ERR:too_many_channels:RSUB:t:x"}, ErrTooManyChannels, false, "", []string{"RSUB:t:x:last"}},
		{"try later", Last, map[string]string{"RSUB:t:x:last": "ERR:try_later:RSUB:t:x"}, ErrTryLater, false, "", []string{"RSUB:t:x:last"}},
		{"no right to subscribe", Now, map[string]string{"RSUB:t:x:now": "ERR:permission_denied:RSUB:t:x"}, ErrPermissionDenied, false, "", []string{"RSUB:t:x:now"}},
		{"no right to the past", LastN(2), map[string]string{
			"RSUB:t:x:last.2": "ERR:permission_denied:RSUB:t:x", "RSUB:t:x:now": "OK:RSUB:t:x:" + at(5).String() + ":complete",
		}, nil, true, "permission_denied", []string{"RSUB:t:x:last.2", "RSUB:t:x:now"}},
		{"no right at all", LastN(2), map[string]string{
			"RSUB:t:x:last.2": "ERR:permission_denied:RSUB:t:x", "RSUB:t:x:now": "ERR:permission_denied:RSUB:t:x",
		}, ErrPermissionDenied, false, "", []string{"RSUB:t:x:last.2", "RSUB:t:x:now"}},
		{"something is gone", After(at(1).String()), map[string]string{
			"RSUB:t:x:" + at(1).String(): "OK:RSUB:t:x:" + at(5).String() + ":gap",
		}, nil, true, "", []string{"RSUB:t:x:" + at(1).String()}},
		{"an edge without histories, from now on", Now, map[string]string{wire.LineFeatures: "FEATURES:link"}, nil, false, "", []string{"SUB:t:x"}},
		{"an edge without histories", Last, map[string]string{wire.LineFeatures: "FEATURES:link"}, nil, true, "no_history", []string{"SUB:t:x"}},
		{"an edge of an earlier version", Last, map[string]string{wire.LineFeatures: "ERR:bad_request"}, nil, true, "no_history", []string{"SUB:t:x"}},
		{"and no right to subscribe there", Last, map[string]string{
			wire.LineFeatures: "ERR:bad_request", "SUB:t:x": "ERR:permission_denied:SUB:t:x",
		}, ErrPermissionDenied, false, "", []string{"SUB:t:x"}},
	} {
		bubble(t, test.name, func(t *testing.T, w *world) {
			w.next(func(l *fakeLink) {
				l.answer[wire.LineFeatures] = wire.LineFeaturesHistory
				for line, answer := range test.answers {
					l.answer[line] = answer
				}
			})
			c, l := w.connected(edgeA)
			s, err := c.Subscribe(t.Context(), "t", "x", WithHistory(test.from))
			if !errors.Is(err, test.want) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			wantLines(t, l, test.lines...)
			if test.gap {
				if got := event[Gap](w); got.Tenant != "t" || got.Pattern != "x" || got.Code != test.code {
					t.Errorf("got %+v", got)
				}
			} else {
				event[Connected](w)
				wantNone(t, "an event", w.events)
			}
			if s == nil {
				return
			}
			if test.lines[0] == "SUB:t:x" { // its messages have no positions
				l.bring("plain")
				if m := <-s.Messages(); string(m.Payload) != "plain" || m.Position != "" || s.Position() != "" {
					t.Errorf("got %+v, position %q", m, s.Position())
				}
			}
		})
	}
}

// What a queue has no room for stays at the edge until the application has read it.
func TestHistoryQueueFull(t *testing.T) {
	for _, limit := range []int{1, 2, 3, 100, 500} {
		bubble(t, strconv.Itoa(limit), func(t *testing.T, w *world) {
			w.next(withHistories)
			c, l := w.connected(edgeA)
			s := begin(t, c, l, Now, nil, WithQueue(limit, DropOldest))
			last := 3*limit + 10
			sent := 0
			for read := 1; read <= last; read++ {
				if lines, _ := l.sent(); len(lines) > sent { // the edge gives what comes behind
					if n := len(lines); lines[n-1] != "UNSUB:t:x" {
						sent = n
						for i := read; i <= last; i++ {
							l.stored(uint64(i))
						}
					}
				}
				synctest.Wait()
				if waiting := len(s.queue.out) + len(s.queue.list); waiting > limit {
					t.Fatalf("%d messages wait", waiting)
				}
				if got := payloads(t, s, 1); got[0] != strconv.Itoa(read) {
					t.Fatalf("got %s, want %d", got, read)
				}
				if got := s.Position(); got != at(uint64(read)).String() && got != at(uint64(read-1)).String() {
					t.Fatalf("position %s behind message %d", got, read)
				}
				synctest.Wait()
			}
			wantNone(t, "a message", s.Messages())
			noEvent[QueueFull](w)
		})
	}
}

func TestHistoryQueue(t *testing.T) {
	bubble(t, "History queue ends", func(t *testing.T, w *world) {
		w.next(withHistories)
		c, l := w.connected(edgeA)
		s := begin(t, c, l, Now, nil, WithQueue(4, EndOnFull))
		l.stored(1, 2, 3, 4, 5, 6)
		synctest.Wait()
		if got := payloads(t, s, 4); got[3] != "4" {
			t.Errorf("got %q", got)
		}
		wantEnd(t, s, ErrQueueFull)
		wantLines(t, l, "RSUB:t:x:now", "UNSUB:t:x")
	})
}

// The edge reports a gap among the messages that a full queue has when the queue is full already.
func TestHistoryQueueGap(t *testing.T) {
	bubble(t, "History queue gap", func(t *testing.T, w *world) {
		w.next(withHistories)
		c, l := w.connected(edgeA)
		s := begin(t, c, l, Now, nil, WithQueue(2, DropOldest))
		l.stored(1, 3, 4)
		l.in <- wire.AppendGap(nil, "t", "x", at(5))
		l.stored(6)
		wantEvent(w, Gap{Tenant: "t", Pattern: "x", Before: at(5).String(), Reason: GapUnknown})
		if got := payloads(t, s, 2); got[1] != "3" {
			t.Errorf("got %q", got)
		}
		synctest.Wait()
		wantLines(t, l, "RSUB:t:x:now", "UNSUB:t:x", "RSUB:t:x:"+at(3).String()) // not behind the gap
	})
}

// An application that closes the client at the first message after a gap is still notified of the gap.
func TestGapBeforeTheEnd(t *testing.T) {
	bubble(t, "Gap before the end", func(t *testing.T, w *world) {
		w.next(withHistories)
		c, l := w.connected(edgeA)
		s := begin(t, c, l, Now, nil)
		read := make(chan struct{})
		c.post(func() { // the loop is behind
			<-read
			c.end(nil)
		})
		l.in <- wire.AppendGap(nil, "t", "x", at(5))
		l.stored(6)
		payloads(t, s, 1)
		close(read)
		wantEvent(w, Gap{Tenant: "t", Pattern: "x", Before: at(5).String(), Reason: GapUnknown})
	})
}

func TestHistoryBegins(t *testing.T) {
	// Subscribe returns with the first message also behind a gap: what fills the queue comes before
	// OK:RSUB, which then nobody waits for any more.
	bubble(t, "History begins with gap", func(t *testing.T, w *world) {
		w.next(withHistories)
		c, l := w.connected(edgeA)
		got := make(chan *Subscription, 1)
		go func() {
			got <- mustSubscribe(t, c, "x", WithHistory(After(at(1).String())), WithQueue(2, DropOldest))
		}()
		wantLines(t, l, "RSUB:t:x:"+at(1).String())
		l.in <- wire.AppendGap(nil, "t", "x", at(3))
		l.stored(4, 5, 6)
		var s *Subscription
		select {
		case s = <-got:
		case <-time.After(time.Minute):
			t.Fatal("Subscribe does not return")
		}
		wantPayloads(t, s, "4", "5")
		wantLines(t, l, "RSUB:t:x:"+at(1).String(), "UNSUB:t:x", "RSUB:t:x:"+at(5).String())
	})
	// The application reads what a full queue has before the edge has answered to what came
	// before: its answer does not count for what is asked for next.
	bubble(t, "History queue read early", func(t *testing.T, w *world) {
		w.next(withHistories)
		c, l := w.connected(edgeA)
		got := make(chan *Subscription, 1)
		go func() { got <- mustSubscribe(t, c, "x", WithHistory(LastN(8)), WithQueue(4, DropOldest)) }()
		synctest.Wait()
		l.set(func(l *fakeLink) { l.mute["UNSUB"] = true })
		l.stored(1, 2, 3, 4)
		synctest.Wait() // the queue is full before it is read
		s := <-got
		payloads(t, s, 4)
		wantLines(t, l, "RSUB:t:x:last.8", "UNSUB:t:x")
		l.stored(5, 6, 7, 8)
		l.caughtUp(8, true)
		synctest.Wait()
		l.line("OK:UNSUB:t:x")
		wantLines(t, l, "RSUB:t:x:last.8", "UNSUB:t:x", "RSUB:t:x:"+at(4).String())
		l.stored(5, 6)
		wantPayloads(t, s, "5", "6")
	})
}

func TestHistoryReconnects(t *testing.T) {
	const begin, lost = "1 stores 4 5; got 4 5; ", "1 ends 1001; told Disconnected; link; settle; "
	scenes{
		"complete": begin + lost + `
			2 stores 6 7; 2 caught 7; told Reconnected Complete:true; got 6 7; 2 heard RSUB:t:x:@5; got nothing`,
		"with a gap": begin + lost + "2 stores 6 7; 2 caught 7 gap; told Gap; told Reconnected Complete:false; got 6 7; got nothing",
		"beside another subscription": "subscribe y; " + begin + lost + `
			2 stores 6 7; 2 caught 7; told Reconnected Complete:false; got 6 7; got nothing`,
		"no right to the past any more": begin + lost + `
			2 says ERR:permission_denied:RSUB:t:x; settle; 2 caught 5; 2 stores 6 7
			told Gap; told Reconnected Complete:false; got 6 7; got nothing`,
		"no such history any more": begin + lost + `
			2 says ERR:no_history:RSUB:t:x; settle; 2: 6 7; told Gap; told Reconnected Complete:false; got 6 7; got nothing`,
		"an edge without histories": begin + "next plain; " + lost + `
			2: 6 7; told Gap; told Reconnected Complete:false; got 6 7; got nothing`,
		"a history that is out of reach holds nothing up": lost + `
			2 says ERR:history_unavailable:RSUB:t:x; told EdgeError Code:history_unavailable Detail:RSUB:t:x
			told Reconnected Complete:false; 2 stores 1; 2 caught 1; got 1; flush`,
		// A store that does not know a position goes back: what it gives is not taken for what came
		// before. The gap is told once, at its place.
		"a store that goes back": "1 stores 5 6; got 5 6; " + lost + `
			2 heard RSUB:t:x:@6; 2 gap 1; 2 stores 2 3; 2 caught 3 gap; 2 stores 4; got 2 3 4; position @4
			told Gap Before:@1; told Reconnected Complete:false; silent on Gap`,
		// The next connection is asked when the first one is left, and goes on exactly behind it.
		"a move": `
			subscribe y; 1 stores 1; next mute SUB; 1 says RECONNECT; told Moving; link; 2 heard SUB:t:y
			1 stores 2 3; 2 stores 3; 2 says OK:SUB:t:y # no edge stores 3 there
			1 mute UNSUB; after settleTime; settle; 1 stores 4; 2 heard SUB:t:y
			1 says OK:UNSUB:t:y; told Moved; 2 heard SUB:t:y RSUB:t:x:@4; 1 stores 5; 2 stores 5 6; 2 caught 6; 2 stores 7
			got 1 2 3 4 5 6 7; got nothing; 1 counts UNSUB:t:x 0; silent on Gap; quiet`,
		// The first one still has the history when it was asked for the end.
		"the next connection of a move dies": `
			subscribe y; 1 mute UNSUB; drains; 2 heard SUB:t:y; after settleTime; settle; 2 ends 1001; settle
			1 stores 1 2; got 1 2; 1 asked RSUB:t:x:now SUB:t:y SUB:t:y UNSUB:t:y`,
		// The client is back when the next one has the history, too.
		"the first dies in a move": `
			1 stores 1; got 1; next mute FEATURES; 1 says RECONNECT; told Moving; link; settle; 1 ends 1001; told Disconnected
			2 says features; 2 heard RSUB:t:x:@1; told Moved; silent on Reconnected
			2 stores 2; 2 caught 2; told Reconnected Complete:true; got 2`,
		"the first dies in a move, with a gap": `
			1 stores 1; got 1; next mute FEATURES; drains; settle; 1 ends 1001; told Disconnected
			2 says features; 2 heard RSUB:t:x:@1; 2 stores 2; 2 caught 2 gap; told Reconnected Complete:false; got 2`,
		// What the suspect one still brings is not given again.
		"a takeover": `
			1 stores 1; got 1; 1 mute PING; told Suspect; link; told Recovered; 2 heard RSUB:t:x:@1; 1 stores 2 3
			2 stores 2; 2 caught 2; 2 stores 3; got 2 3; after trailTime+trailTime; got nothing`,
	}.run(t, withHistory)
}
