package client

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

// senderFrame is a deliver frame for c of the tenant t that says who has published it; with a
// position it is stored.
func senderFrame(sender, channel, payload string, at *wire.Position) []byte {
	d := wire.Deliver{
		Tenant: []byte("t"), Channel: []byte(channel), Payload: []byte(payload), Patterns: []string{channel},
		HasSender: true, Sender: []byte(sender),
	}
	if at != nil {
		d.Stored, d.Position = true, *at
	}
	return wire.AppendDeliverFields(nil, &d)
}

func (l *fakeLink) deliverFrom(sender, channel, payload string) {
	l.in <- senderFrame(sender, channel, payload, nil)
}

func (l *fakeLink) features() (asked string) {
	l.set(func(l *fakeLink) { asked = l.asked })
	return asked
}

// said reads n messages of a subscription, as "sender: payload".
func said(t *testing.T, s *Subscription, n int) []string {
	t.Helper()
	var got []string
	for range n {
		m, ok := <-s.Messages()
		if !ok {
			t.Fatalf("the subscription ended (%v) after %q", s.Err(), got)
		}
		got = append(got, fmt.Sprintf("%s: %s", m.Sender, m.Payload))
	}
	return got
}

func withSender(o *Options) { o.Sender = true }

func TestSender(t *testing.T) {
	const asks, doesNot = wire.LineFeaturesSender, wire.LineFeatures
	for name, test := range map[string]struct {
		change func(*Options)
		answer string
		asked  string
	}{
		"an edge that knows it":        {withSender, wire.LineFeaturesSender, asks},
		"an edge that does not":        {withSender, wire.LineFeatures, asks},
		"an edge of the first version": {withSender, "ERR:bad_request", asks},
		"without the option":           {nil, wire.LineFeaturesSender, doesNot},
	} {
		bubble(t, name, func(t *testing.T, w *world) {
			w.next(func(l *fakeLink) { l.answer[asks], l.answer[doesNot] = test.answer, test.answer })
			c, l := w.mustConnect([]string{edgeA}, test.change)
			s := mustSubscribe(t, c, "x")
			equal(t, "asked", l.features(), test.asked)
			if test.asked == test.answer {
				l.deliverFrom("alice", "x", "1")
				l.deliverFrom("bob", "x", "2")
				l.deliverFrom("", "x", "3")
			}
			l.bring("4")
			want := []string{": 4"}
			if test.asked == test.answer && test.change != nil {
				want = []string{"alice: 1", "bob: 2", ": 3", ": 4"}
			}
			wantStrings(t, "got", said(t, s, len(want)), want...)
			l.end(1006) // the next connection asks again
			next := <-w.links
			synctest.Wait()
			equal(t, "asked", next.features(), test.asked)
		})
	}
}

func TestSenders(t *testing.T) {
	bubble(t, "Sender of history", func(t *testing.T, w *world) {
		w.next(func(l *fakeLink) { l.answer[wire.LineFeaturesSender] = wire.LineFeaturesHistory })
		c, l := w.mustConnect([]string{edgeA}, withSender)
		l.set(func(l *fakeLink) { l.mute["RSUB"] = true })
		time.AfterFunc(100*time.Millisecond, func() { // RSUB has come
			l.in <- senderFrame("alice", "x", "1", &wire.Position{Epoch: 1, N: 1})
		})
		s, err := c.Subscribe(t.Context(), "t", "x", WithHistory(Now))
		must(t, err)
		equal(t, "said(t, s, 1)[0]", said(t, s, 1)[0], "alice: 1")
	})
	// A takeover: what only the next connection has brought keeps its sender, as does what only the
	// trailing one has.
	bubble(t, "Suspect sender", func(t *testing.T, w *world) {
		_, first, s := startSuspect(t, w, withSender)
		second := <-w.links
		second.deliverFrom("alice", "x", "1")
		event[Recovered](w)
		equal(t, "said(t, s, 1)[0]", said(t, s, 1)[0], "alice: 1")
		first.bring("1") // a copy, from an edge of an earlier version
		first.deliverFrom("bob", "x", "2")
		if m := <-s.Messages(); m.Sender != "bob" || !m.Late {
			t.Errorf("got %+v", m)
		}
	})
}

// A move between an edge that knows the sender and one that does not: copies are recognised, and
// what the application gets says what the one that gave it says.
func TestMoveSender(t *testing.T) {
	for name, knowing := range map[string]int{"the first knows it": 0, "the second does": 1} {
		bubble(t, name, func(t *testing.T, w *world) {
			c, first := w.mustConnect([]string{edgeA, edgeB}, withSender)
			s := mustSubscribe(t, c, "x")
			first.set(func(l *fakeLink) { l.mute["UNSUB"] = true })
			first.line("RECONNECT")
			second := <-w.links
			synctest.Wait()
			both := func(payload string) {
				for i, l := range []*fakeLink{first, second} {
					if i == knowing {
						l.deliverFrom("alice", "x", payload)
					} else {
						l.bring(payload)
					}
				}
			}
			both("1") // the second waits for the first
			synctest.Wait()
			both("2")
			first.line("OK:UNSUB:t:x")
			event[Moved](w)
			second.deliverFrom("bob", "x", "3")
			time.Sleep(2 * time.Second) // whatever waits has come
			want := []string{"alice: 1", "alice: 2", "bob: 3"}
			if knowing == 1 {
				want = []string{": 1", ": 2", "bob: 3"}
			}
			wantStrings(t, "got", said(t, s, 3), want...)
			if n := len(s.Messages()); n > 0 {
				t.Errorf("%d copies", n)
			}
		})
	}
}
