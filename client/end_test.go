package client

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// revoke ends the connection as an edge does whose token was revoked.
func (l *fakeLink) revoke() {
	l.line("ERR:token_revoked")
	l.end(4403)
}

// rest reads a subscription to its end.
func rest(s *Subscription) (got []string) {
	for m := range s.Messages() {
		got = append(got, string(m.Payload))
	}
	return got
}

// What came before the client ended by itself reaches the function of a
// subscription, although Close is called as soon as the application learns of the end.
func TestEndGivesWhatCame(t *testing.T) {
	const messages = 3 * direct
	for _, from := range []string{"Done", "OnEvent", "the end of another subscription", "a function"} {
		bubble(t, from, func(t *testing.T, w *world) {
			var c *Client
			c, l := w.mustConnect([]string{edgeA}, func(o *Options) {
				o.OnEvent = func(e Event) {
					if _, ok := e.(Closed); ok && from == "OnEvent" {
						c.Close()
					}
				}
			})
			calls, resume := 0, make(chan struct{})
			if _, err := c.SubscribeFunc(t.Context(), "t", "x", func(Message) {
				<-resume
				if calls++; calls == 1 && from == "a function" {
					c.Close()
				}
			}); err != nil {
				t.Fatal(err)
			}
			other := mustSubscribe(t, c, "y")
			for range messages {
				l.bring("")
			}
			l.revoke()
			closed := make(chan struct{})
			go func() {
				switch from {
				case "Done":
					<-c.Done()
					c.Close()
				case "the end of another subscription":
					rest(other)
					c.Close()
				}
				close(closed)
			}()
			synctest.Wait()
			close(resume)
			<-closed
			if from == "OnEvent" || from == "a function" {
				synctest.Wait() // Close waits for neither
			}
			if calls != messages {
				t.Errorf("%d of %d messages came", calls, messages)
			}
			wantError(t, c.Err(), ErrTokenRevoked)
		})
	}
}

// What the second connection of a move brought, and the first did not yet, comes when
// nothing else can bring it any more.
func TestEndWhileMoving(t *testing.T) {
	all := scenes{}
	for name, end := range map[string]string{
		"the first is told that the token is revoked":      "1 is revoked",
		"the second is told that the token is revoked":     "2 is revoked",
		"both break, the first before the other was ready": "1 ends 1006; settle; 2 ends 1006",
		"both break, the second before the first":          "2 ends 1006; settle; 1 ends 1006",
	} {
		all[name] = "subscribe y; next mute SUB:t:y; drains; 1: 1; settle; 2: 1 2 3 4; settle; 1: 2; settle;" + end + "; got 1 2 3 4"
	}
	all.run(t, twoEdges)
}

func TestEnd(t *testing.T) {
	bubble(t, "an edge that has gone may have sent something before", func(t *testing.T, w *world) {
		w.next(func(l *fakeLink) { l.failed = make(chan struct{}) })
		c, l, s := w.subscribed(edgeA)
		l.set(func(l *fakeLink) { l.hold = make(chan struct{}) })
		l.bring("1", "2")
		synctest.Wait() // the first is in the hand of who receives, the other has come
		close(l.failed)
		must(t, c.Publish(t.Context(), "t", "x", nil))
		synctest.Wait()
		wantError(t, c.Publish(t.Context(), "t", "x", nil), ErrDisconnected)
		close(l.hold)
		wantWaiting(t, s, 2)
		began := time.Now()
		event[Disconnected](w) // although the edge never ends the connection
		equal(t, "lost after", time.Since(began), closeTimeout)
	})
	bubble(t, "a message that is received while the connection is given up is not lost", func(t *testing.T, w *world) {
		c, l, s := w.subscribed(edgeA)
		l.set(func(l *fakeLink) { l.hold = make(chan struct{}) })
		l.bring("1")
		synctest.Wait()
		w.set(edgeA, errUnreachable) // no other connection takes over
		time.Sleep(c.s.KeepAlive + c.s.KeepAlive/spread + c.s.PongTimeout + time.Millisecond)
		<-l.aborted
		close(l.hold)
		wantWaiting(t, s, 1)
		event[Disconnected](w)
	})
	// Once the client is closed, no function of a subscription is called again, however
	// many messages wait.
	bubble(t, "Close while messages wait", func(t *testing.T, w *world) {
		c, l := w.connected(edgeA)
		calls, resume := 0, make(chan struct{})
		if _, err := c.SubscribeFunc(t.Context(), "t", "x", func(Message) { calls++; <-resume }); err != nil {
			t.Fatal(err)
		}
		for range 3 * direct {
			l.bring("")
		}
		synctest.Wait()
		time.AfterFunc(time.Second, func() { close(resume) })
		c.Close()
		if calls != 1 {
			t.Errorf("%d calls", calls)
		}
	})
}

// What ends a client without another attempt.
func TestEnds(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(*world, *fakeLink)
		want error
	}{
		{"revoked", func(_ *world, l *fakeLink) { l.line("ERR:token_revoked"); l.end(4403) }, ErrTokenRevoked},
		{"expired", func(_ *world, l *fakeLink) { l.line("ERR:token_expired"); l.end(4401) }, ErrTokenExpired},
		{"moved away", func(_ *world, l *fakeLink) { l.line("ERR:forbidden:ip"); l.end(4403) }, ErrIPNotAllowed},
		{"revoked, and the line is lost", func(_ *world, l *fakeLink) { l.endFor(4403, "token_revoked") }, ErrTokenRevoked},
		{"not allowed any more", func(_ *world, l *fakeLink) { l.line("ERR:forbidden:client:we are closed: come at 9"); l.end(4403) }, errClosedAt9},
		{"not allowed any more, and the line is lost", func(_ *world, l *fakeLink) { l.endFor(4403, "forbidden:client:we are closed: come at 9") }, errClosedAt9},
		{"not allowed when it comes back", func(w *world, l *fakeLink) { w.set(edgeA, errClosedAt9); l.end(1001) }, errClosedAt9},
		{"moved away, and the line is lost", func(_ *world, l *fakeLink) { l.endFor(4403, "forbidden:ip") }, ErrIPNotAllowed},
		{"not accepted any more", func(w *world, l *fakeLink) { w.set(edgeA, errBadToken); l.end(1001) }, ErrUnauthorized},
		{"not accepted when it moves", func(w *world, l *fakeLink) { w.set(edgeA, errBadToken); l.line("RECONNECT") }, ErrUnauthorized},
		{"no region", func(w *world, l *fakeLink) { w.set(edgeA, errRegion); l.end(1001) }, ErrRegionNotAllowed},
	} {
		bubble(t, test.name, func(t *testing.T, w *world) {
			c, l, s := w.subscribed(edgeA)
			test.run(w, l)
			<-c.Done()
			if _, ok := <-s.Messages(); ok { // it ends after Done
				t.Error("a message")
			}
			if text := fmt.Sprint(c.Err()); test.want == errClosedAt9 && !strings.HasSuffix(text, ": we are closed: come at 9") {
				t.Errorf("got %s", text)
			}
			if !errors.Is(c.Err(), test.want) || !errors.Is(s.Err(), test.want) {
				t.Errorf("got %v and %v, want %v", c.Err(), s.Err(), test.want)
			}
			ctx := t.Context()
			_, err := c.Subscribe(ctx, "t", "y")
			for _, err := range []error{err, c.Publish(ctx, "t", "x", nil), c.Flush(ctx)} {
				wantError(t, err, test.want)
			}
			noError(t, s.Unsubscribe(ctx))
			for e := range w.events {
				if closed, ok := e.(Closed); ok {
					wantError(t, closed.Err, test.want)
					break
				}
			}
		})
	}
}

func TestCallbacksMayClose(t *testing.T) {
	for _, from := range []string{"OnEvent", "SubscribeFunc"} {
		bubble(t, from, func(t *testing.T, w *world) {
			closed := make(chan struct{})
			clients := make(chan *Client, 1)
			c, l := w.mustConnect([]string{edgeA}, func(o *Options) {
				o.OnEvent = func(e Event) {
					if _, ok := e.(EdgeError); ok {
						(<-clients).Close()
						close(closed)
					}
				}
			})
			calls := 0
			if _, err := c.SubscribeFunc(t.Context(), "t", "x", func(Message) {
				if calls++; from == "SubscribeFunc" {
					c.Close()
					close(closed)
				}
			}); err != nil {
				t.Fatal(err)
			}
			clients <- c
			if from == "OnEvent" {
				l.line("ERR:of_later")
			} else {
				for range 10 {
					l.bring("")
				}
			}
			<-closed
			c.Close()
			if from == "SubscribeFunc" && calls != 1 {
				t.Errorf("%d calls", calls)
			}
			wantError(t, c.Publish(t.Context(), "t", "x", nil), ErrClosed)
		})
	}
}
