package client

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

// startDrain connects, subscribes to x, and begins a move whose second connection
// is returned. change is for the first link, before that.
func startDrain(t *testing.T, w *world, change func(*fakeLink)) (c *Client, first, second *fakeLink, s *Subscription) {
	c, first = w.mustConnect([]string{edgeA, edgeB}, nil)
	s = mustSubscribe(t, c, "x")
	if change != nil {
		first.set(change)
	}
	first.line("RECONNECT")
	return c, first, <-w.links, s
}

// Answers that never come must not go on with a move when the client is closed.
func TestCloseWhileMoving(t *testing.T) {
	for _, test := range []struct {
		name, mute string
		after      time.Duration
	}{
		{"publishes wait", "PING", 100 * time.Millisecond},
		{"the first is being left", "UNSUB", settleTime + 100*time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				c, _, _, _ := startDrain(t, w, func(l *fakeLink) { l.mute[test.mute] = true })
				time.Sleep(test.after)
				c.Close()
				if err := c.Publish(t.Context(), "t", "x", nil); !errors.Is(err, ErrClosed) {
					t.Errorf("got %v", err)
				}
				for e := range w.events {
					if _, ok := e.(Moved); ok {
						t.Error("moved")
					}
					if _, ok := e.(Closed); ok {
						break
					}
				}
			})
		})
	}
}

// A subscription that is confirmed while the client moves is not lost with the
// first connection.
func TestSubscribeWhileSettling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c, first, second, _ := startDrain(t, w, nil)
		synctest.Wait()
		second.set(func(l *fakeLink) { l.mute["SUB:t:y"] = true })
		y := mustSubscribe(t, c, "y") // the first has confirmed it
		time.Sleep(10 * settleTime)
		if lines, _ := first.sent(); slices.Contains(lines, "UNSUB:t:y") {
			t.Fatal("left too early")
		}
		first.deliver("y", "1", "y")
		payloads(t, y, 1)
		second.line("OK:SUB:t:y")
		event[Moved](w)
	})
}

// A message for a subscription that only the second connection has comes, also if
// the first one delivers it to others.
func TestOverlapWhileLeaving(t *testing.T) {
	for _, order := range []string{"first", "second", "late"} {
		t.Run(order, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				c, first, second, s := startDrain(t, w, func(l *fakeLink) { l.mute["UNSUB"] = true })
				time.Sleep(settleTime + time.Millisecond)
				all := mustSubscribe(t, c, "#")
				one := func() { first.deliver("x", "1", "x"); synctest.Wait() }
				two := func() { second.deliver("x", "1", "x", "#"); synctest.Wait() }
				switch order {
				case "first":
					one()
					two()
				case "second":
					two()
					one()
				default:
					time.Sleep(leaveTime - 2*time.Millisecond)
					one()
					event[Moved](w)
					two()
				}
				if order != "late" {
					event[Moved](w)
				}
				second.deliver("x", "2", "x", "#")
				for _, sub := range []*Subscription{s, all} {
					if got := payloads(t, sub, 2); !slices.Equal(got, []string{"1", "2"}) {
						t.Errorf("%s: got %q", sub.Pattern(), got)
					}
				}
			})
		})
	}
}

// When the second connection dies while the first is left, what the second had
// delivered is not lost, and comes once.
func TestNextDiesWhileLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		_, first, second, s := startDrain(t, w, func(l *fakeLink) { l.mute["UNSUB"] = true })
		time.Sleep(settleTime + time.Millisecond)
		second.deliver("x", "1", "x")
		second.deliver("x", "2", "x") // the first has ended the subscription
		synctest.Wait()
		second.end(1011)
		synctest.Wait()
		first.deliver("x", "1", "x")
		first.deliver("x", "3", "x")
		if got := payloads(t, s, 3); !slices.Equal(got, []string{"1", "2", "3"}) {
			t.Errorf("got %q", got)
		}
	})
}

// The answers to what a connection was asked when it was to be left the first time
// do not count the second time.
func TestLeaveTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		_, first, second, _ := startDrain(t, w, func(l *fakeLink) { l.mute["UNSUB"] = true })
		time.Sleep(settleTime + time.Millisecond)
		second.end(1011)
		<-w.links
		time.Sleep(settleTime + time.Millisecond)
		first.line("OK:UNSUB:t:x") // of the first time
		synctest.Wait()
		for len(w.events) > 0 {
			if _, ok := (<-w.events).(Moved); ok {
				t.Error("left before the first has answered")
			}
		}
		first.line("OK:UNSUB:t:x")
		event[Moved](w)
	})
}

// The token that counts as stale is that of the second connection.
func TestTokenOfNextExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, calls := newWorld(t), &asked{}
		names := []string{"AT_1", "AT_2", "AT_3", "AT_3", "AT_3"}
		_, first := w.mustConnect([]string{edgeA}, func(o *Options) {
			o.Token, o.TokenProvider = "", provider(time.Hour, calls, nil, func(n int) string { return names[n-1] })
		})
		second := <-w.links
		if first.token != "AT_1" || second.token != "AT_2" {
			t.Fatal(first.token, second.token)
		}
		second.line("ERR:token_expired")
		second.end(4401)
		if third := <-w.links; third.token != "AT_3" {
			t.Errorf("token %s", third.token)
		}
		event[Moved](w)
	})
}

// While the client is not back, a further loss does not make it away for less long.
func TestAwayTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c, l := w.mustConnect([]string{edgeA}, nil)
		mustSubscribe(t, c, "x")
		heard := l.heard()
		w.next(muteSub)
		l.end(1001)
		l = <-w.links
		time.Sleep(20 * time.Second)
		l.line("ERR:of_later")
		synctest.Wait()
		w.next(nil)
		l.end(1001)
		if e := event[Reconnected](w); e.Away != time.Since(heard) || e.Away < 20*time.Second {
			t.Errorf("away %v", e.Away)
		}
	})
}

// A transport that the token does not allow ends nothing while the other is only
// out of reach.
func TestOneTransportNotAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set(edgeA+" webtransport", errProtocol)
		c, l := w.mustConnect([]string{edgeA}, func(o *Options) { o.Transports = nil })
		w.set(edgeA+" websocket", errUnreachable)
		l.end(1001)
		for range 4 {
			event[Reconnecting](w)
		}
		w.set(edgeA+" websocket", nil)
		event[Reconnected](w)
		if c.Transport() != WebSocket {
			t.Error(c.Transport())
		}
	})
}

// A subscription is confirmed when the connection that leads has it.
func TestSubscribeConfirmedByCurrent(t *testing.T) {
	for _, end := range []string{"answer", "death"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				c, first, second, _ := startDrain(t, w, func(l *fakeLink) { l.mute["SUB:t:#"] = true })
				done := make(chan struct{})
				go func() {
					mustSubscribe(t, c, "#")
					close(done)
				}()
				synctest.Wait()
				if lines, _ := second.sent(); !slices.Contains(lines, "SUB:t:#") {
					t.Errorf("sent %q", lines)
				}
				select {
				case <-done:
					t.Error("confirmed by the second")
				default:
				}
				if end == "answer" {
					first.line("OK:SUB:t:#")
				} else {
					first.end(1001)
				}
				<-done
				event[Moved](w)
			})
		})
	}
}

// Once the client is closed, no function of a subscription is called again, however
// many messages wait.
func TestCloseWhileMessagesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c, l := w.mustConnect([]string{edgeA}, nil)
		calls, resume := 0, make(chan struct{})
		if _, err := c.SubscribeFunc(t.Context(), "t", "x", func(Message) { calls++; <-resume }); err != nil {
			t.Fatal(err)
		}
		for range 3 * direct {
			l.deliver("x", "", "x")
		}
		synctest.Wait()
		time.AfterFunc(time.Second, func() { close(resume) })
		c.Close()
		if calls != 1 {
			t.Errorf("%d calls", calls)
		}
	})
}

func TestSendBufferFinished(t *testing.T) {
	o := newSendBuffer()
	o.finish()
	if _, _, ok := o.publish(wire.Publish{Tenant: []byte("t"), Channel: []byte("x")}); ok {
		t.Error("takes what nobody sends")
	}
	if waiting, more := o.take(); len(waiting) > 0 || more {
		t.Errorf("%q waits, or more may come", waiting)
	}
}
