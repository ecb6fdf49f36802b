package client

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

const edgeA, edgeB = "https://a.example", "https://b.example"

var (
	errUnreachable = &Error{Code: CodeUnreachable}
	errDraining    = &Error{Code: "draining", Status: 503, RetryAfter: 5 * time.Second}
	errClosedAt9   = &Error{Code: "client_not_allowed", Text: "we are closed: come at 9", Status: 403}
	errTryLater    = &Error{Code: "try_later", Status: 503, RetryAfter: 5 * time.Second}
	errForbiddenIP = &Error{Code: "ip_not_allowed", Status: 403}
	errRegion      = &Error{Code: "region_not_allowed", Status: 403}
	errProtocol    = &Error{Code: "protocol_not_allowed", Status: 403}
	errBadToken    = &Error{Code: "unauthorized", Status: 401}
)

func TestConnectTriesEdges(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b error
		want error  // nil: connected
		edge string // tried last
	}{
		{"the first", nil, nil, nil, edgeA},
		{"the next, as one is gone", errUnreachable, nil, nil, edgeB},
		{"the next, as one drains", errDraining, nil, nil, edgeB},
		{"the next, as the region is wrong", errRegion, nil, nil, edgeB},
		{"the next, as one does not know the token yet", errBadToken, nil, nil, edgeB},
		{"not the next, as the address is wrong", errForbiddenIP, nil, ErrIPNotAllowed, edgeA},
		{"not the next, as the client is not allowed", errClosedAt9, nil, ErrClientNotAllowed, edgeA},
		{"the next, as one cannot say yet", errTryLater, nil, nil, edgeB},
		{"none can say yet", errTryLater, errTryLater, ErrTryLater, edgeB},
		{"none", errUnreachable, errUnreachable, ErrUnreachable, edgeB},
		{"what an edge says", errDraining, errUnreachable, ErrDraining, edgeB},
		{"what an edge says later", errUnreachable, errDraining, ErrDraining, edgeB},
		{"no region", errRegion, errRegion, ErrRegionNotAllowed, edgeB},
		{"the token first of all", errDraining, errBadToken, ErrUnauthorized, edgeB},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.set(edgeA, test.a)
				w.set(edgeB, test.b)
				c, err := w.connect(context.Background(), []string{edgeA, edgeB}, nil)
				if !errors.Is(err, test.want) {
					t.Fatalf("got %v, want %v", err, test.want)
				}
				if got := w.dialed[len(w.dialed)-1]; got != test.edge+" websocket" {
					t.Errorf("tried %s last, want %s", got, test.edge)
				}
				if c == nil {
					return
				}
				if got := event[Connected](w); got != (Connected{test.edge, WebSocket}) || c.Edge() != test.edge {
					t.Errorf("got %+v and %s", got, c.Edge())
				}
				if err := c.Close(); err != nil || c.Err() != nil {
					t.Error(err, c.Err())
				}
				if got := event[Event](w); got != (Closed{}) {
					t.Errorf("got %+v, want Closed", got)
				}
			})
		})
	}
}

func TestTransports(t *testing.T) {
	both := func(o *Options) { o.Transports = nil }
	for _, test := range []struct {
		name   string
		refuse map[string]error
		delay  map[string]time.Duration
		want   Transport
		after  time.Duration
		err    error
	}{
		{"WebTransport first", nil, nil, WebTransport, 0, nil},
		{"WebSocket at once, as the other fails", map[string]error{" webtransport": errUnreachable}, nil, WebSocket, 0, nil},
		{"WebSocket, as the token wants", map[string]error{" webtransport": errProtocol}, nil, WebSocket, 0, nil},
		{"WebSocket after 2 s", nil, map[string]time.Duration{" webtransport": 9 * time.Second}, WebSocket, 2 * time.Second, nil},
		{"WebTransport, as the other is slow", nil, map[string]time.Duration{" webtransport": 3 * time.Second, " websocket": 9 * time.Second}, WebTransport, 3 * time.Second, nil},
		{"none in time", nil, map[string]time.Duration{" webtransport": time.Hour, " websocket": time.Hour}, "", 10 * time.Second, ErrUnreachable},
		{"a refusal says it all", map[string]error{" webtransport": errForbiddenIP}, nil, "", 0, ErrIPNotAllowed},
		{"nothing is allowed", map[string]error{" webtransport": errProtocol, " websocket": errProtocol}, nil, "", 0, ErrProtocolNotAllowed},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				for name, err := range test.refuse {
					w.set(edgeA+name, err)
				}
				for name, d := range test.delay {
					w.delay[edgeA+name] = d
				}
				start := time.Now()
				c, err := w.connect(context.Background(), []string{edgeA}, both)
				if !errors.Is(err, test.err) || time.Since(start) != test.after {
					t.Fatalf("got %v after %v, want %v after %v", err, time.Since(start), test.err, test.after)
				}
				if c == nil {
					return
				}
				defer c.Close()
				if c.Transport() != test.want {
					t.Errorf("got %s", c.Transport())
				}
				// The choice is remembered.
				event[Connected](w)
				for len(w.links) > 0 {
					(<-w.links).end(1001)
				}
				w.mu.Lock()
				w.dialed = nil
				w.mu.Unlock()
				event[Reconnected](w)
				if got := w.dialed[0]; got != edgeA+" "+string(test.want) {
					t.Errorf("reconnected with %s", got)
				}
			})
		})
	}
}

func TestConnectGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.delay[edgeA+" websocket"] = time.Hour
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := w.connect(ctx, []string{edgeA}, nil); !errors.Is(err, ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		ctx, cancel = context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		if _, err := w.connect(ctx, []string{edgeA}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c, l := w.mustConnect([]string{edgeA, edgeB}, nil)
		s := mustSubscribe(t, c, "x.#")
		l.deliver("x", "1", "x.#")
		payloads(t, s, 1)
		time.Sleep(20 * time.Second)
		w.set(edgeA, errUnreachable)
		w.set(edgeB, errUnreachable)
		heard := l.heard()
		l.end(1001)
		if e := event[Disconnected](w); e.Edge != edgeA || !errors.Is(e.Err, ErrDisconnected) || e.Err.(*Error).Close != 1001 {
			t.Errorf("got %+v", e)
		}
		if e := event[Reconnecting](w); e != (Reconnecting{1, 0}) {
			t.Errorf("got %+v", e)
		}
		var slept time.Duration
		for attempt := range 12 {
			e := event[Reconnecting](w)
			bound := min(15*time.Second, 250*time.Millisecond<<attempt)
			if e.Attempt != attempt+2 || e.Delay < 0 || e.Delay > bound {
				t.Errorf("got %+v, want at most %v", e, bound)
			}
			slept += e.Delay
		}
		if err := c.Publish(t.Context(), "t", "x", nil); !errors.Is(err, ErrDisconnected) {
			t.Errorf("got %v", err)
		}
		if err := c.Flush(t.Context()); !errors.Is(err, ErrDisconnected) {
			t.Errorf("got %v", err)
		}
		// A subscription waits for the connection.
		subscribed := make(chan *Subscription)
		go func() { subscribed <- mustSubscribe(t, c, "y") }()
		synctest.Wait()
		w.set(edgeB, nil)
		e := event[Reconnected](w)
		if e.Edge != edgeB || c.Edge() != edgeB || e.Away != time.Since(heard) {
			t.Errorf("got %+v, away %v", e, time.Since(heard))
		}
		l = <-w.links
		y := <-subscribed
		lines, _ := l.sent()
		slices.Sort(lines)
		if want := []string{"SUB:t:x.#", "SUB:t:y"}; !slices.Equal(lines, want) {
			t.Errorf("got %q, want %q", lines, want)
		}
		l.deliver("x", "2", "x.#")
		l.deliver("y", "3", "y")
		if got := append(payloads(t, s, 1), payloads(t, y, 1)...); !slices.Equal(got, []string{"2", "3"}) {
			t.Errorf("got %q", got)
		}
		if err := c.Publish(t.Context(), "t", "x", nil); err != nil {
			t.Error(err)
		}
	})
}

func TestReconnectTimes(t *testing.T) {
	t.Run("an edge that ends connections at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			_, l := w.mustConnect([]string{edgeA}, nil)
			start := time.Now()
			for range 30 {
				l.end(1011)
				l = <-w.links
			}
			if since := time.Since(start); since < 30*time.Second {
				t.Errorf("30 connections in %v", since)
			}
			// A connection that lasts starts anew.
			time.Sleep(stableAfter)
			before := time.Now()
			l.end(1011)
			<-w.links
			if time.Since(before) != 0 {
				t.Errorf("waited %v", time.Since(before))
			}
		})
	})
	t.Run("an edge that asks to wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			_, l := w.mustConnect([]string{edgeA}, nil)
			w.set(edgeA, errDraining)
			l.end(1001)
			event[Reconnecting](w)
			if e := event[Reconnecting](w); e.Delay < 5*time.Second {
				t.Errorf("got %+v", e)
			}
			w.set(edgeA, &Error{Code: "draining", Status: 503, RetryAfter: time.Hour})
			event[Reconnecting](w)
			if e := event[Reconnecting](w); e.Delay > 15*time.Second {
				t.Errorf("got %+v", e)
			}
		})
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
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				c, l := w.mustConnect([]string{edgeA}, nil)
				s := mustSubscribe(t, c, "x")
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
					if !errors.Is(err, test.want) {
						t.Errorf("got %v, want %v", err, test.want)
					}
				}
				if err := s.Unsubscribe(ctx); err != nil {
					t.Error(err)
				}
				for e := range w.events {
					if closed, ok := e.(Closed); ok {
						if !errors.Is(closed.Err, test.want) {
							t.Errorf("got %+v", closed)
						}
						break
					}
				}
			})
		})
	}
}

func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c, l := w.mustConnect([]string{edgeA}, nil)
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
		if c.Err() != nil {
			t.Error(c.Err())
		}
	})
	t.Run("never", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			_, l := w.mustConnect([]string{edgeA}, func(o *Options) { o.KeepAlive = -1 })
			time.Sleep(10 * time.Hour)
			if lines, _ := l.sent(); len(lines) > 0 {
				t.Errorf("sent %q", lines)
			}
		})
	})
	t.Run("an edge that reads slowly", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			c, l := w.mustConnect([]string{edgeA}, nil)
			l.set(func(l *fakeLink) { l.mute["PING"] = true })
			if err := c.Publish(t.Context(), "t", "x", make([]byte, 60<<10)); err != nil {
				t.Fatal(err)
			}
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
	})
}

func TestSubscriptionLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c, l := w.mustConnect([]string{edgeA}, nil)
		l.set(func(l *fakeLink) {
			l.answer["SUB:t:no"] = "ERR:permission_denied:SUB:t:no"
			l.mute["SUB:t:slow"] = true
		})
		_, err := c.Subscribe(t.Context(), "t", "no")
		var e *Error
		if !errors.Is(err, ErrPermissionDenied) || !errors.As(err, &e) || e.Tenant != "t" || e.Pattern != "no" {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err = c.Subscribe(ctx, "t", "slow"); !errors.Is(err, ErrTimeout) {
			t.Errorf("got %v", err)
		}
		first := mustSubscribe(t, c, "x")
		second := mustSubscribe(t, c, "x")
		l.deliver("x", "1", "x")
		for _, s := range []*Subscription{first, second} {
			got := <-s.Messages()
			if want := (Message{"t", "x", "x", []string{"x"}, []byte("1"), false}); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v", got)
			}
		}
		if err := first.Unsubscribe(t.Context()); err != nil {
			t.Error(err)
		}
		if _, ok := <-first.Messages(); ok || first.Err() != nil {
			t.Error("not closed, or", first.Err())
		}
		l.deliver("x", "2", "x")
		payloads(t, second, 1)
		if err := second.Unsubscribe(t.Context()); err != nil {
			t.Error(err)
		}
		if err := second.Unsubscribe(t.Context()); err != nil {
			t.Error(err)
		}
		if s, err := c.Subscribe(t.Context(), "", "*"); err != nil || s.Tenant() != "~" || s.Pattern() != "*" {
			t.Error(s, err)
		}
		want := []string{"SUB:t:no", "SUB:t:slow", "UNSUB:t:slow", "SUB:t:x", "UNSUB:t:x", "SUB:~:*"}
		if lines, _ := l.sent(); !slices.Equal(lines, want) {
			t.Errorf("got %q, want %q", lines, want)
		}
	})
}

// A subscription that is restored may be refused then.
func TestRestoreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c, l := w.mustConnect([]string{edgeA}, nil)
		s, kept := mustSubscribe(t, c, "x"), mustSubscribe(t, c, "y")
		w.next(func(l *fakeLink) { l.answer["SUB:t:x"] = "ERR:permission_denied:SUB:t:x" })
		l.end(1001)
		if e := event[SubscriptionError](w); e != (SubscriptionError{"t", "x", "permission_denied"}) {
			t.Errorf("got %+v", e)
		}
		event[Reconnected](w)
		if _, ok := <-s.Messages(); ok || !errors.Is(s.Err(), ErrPermissionDenied) {
			t.Error(s.Err())
		}
		if kept.Err() != nil {
			t.Error(kept.Err())
		}
	})
}

func TestEventsOfLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		_, l := w.mustConnect([]string{edgeA}, nil)
		event[Connected](w)
		for line, want := range map[string]Event{
			"ERR:permission_denied:PUB:t:x":   PublishError{"t", "x", "permission_denied"},
			"ERR:payload_too_large:PUB:t:x.y": PublishError{"t", "x.y", "payload_too_large"},
			"ERR:slow_consumer:17":            SlowConsumer{17},
			"ERR:egress_limited:3":            EgressLimited{3 * time.Second},
			"ERR:broker_unavailable":          EdgeError{"broker_unavailable", ""},
			"ERR:of_later:a:b":                EdgeError{"of_later", "a:b"},
		} {
			l.line(line)
			if got := <-w.events; got != want {
				t.Errorf("%s: got %+v, want %+v", line, got, want)
			}
		}
		l.line("HELLO") // of a later edge
		l.line("PONG")  // nobody asked
		synctest.Wait()
		if len(w.events) > 0 {
			t.Errorf("got %+v", <-w.events)
		}
	})
}

// The application is told once of each change of the link that its edge has to others;
// which it also is when it comes to another edge.
func TestLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c, first := w.mustConnect([]string{edgeA, edgeB}, nil)
		event[Connected](w)
		for _, line := range []string{"LINK:up", "LINK:down", "LINK:down"} {
			first.line(line)
		}
		if got := event[LinkDown](w); got.Edge != first.edge {
			t.Errorf("got %+v", got)
		}
		first.line("RECONNECT")
		second := <-w.links
		event[Moved](w)
		if got := event[LinkUp](w); got.Edge != second.edge {
			t.Errorf("got %+v", got)
		}
		second.line("LINK:down")
		event[LinkDown](w)
		second.line("LINK:up")
		event[LinkUp](w)
		synctest.Wait()
		for len(w.events) > 0 {
			switch e := (<-w.events).(type) {
			case LinkUp, LinkDown:
				t.Errorf("got %+v once more", e)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// An edge of an earlier version knows no features, which is nothing to tell.
func TestEdgeWithoutFeatures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.ready = func(l *fakeLink) { l.answer[wire.LineFeatures] = "ERR:bad_request" }
		_, l := w.mustConnect([]string{edgeA}, nil)
		event[Connected](w)
		l.line("ERR:bad_request") // this one is of something else
		if got := event[EdgeError](w); got.Code != "bad_request" {
			t.Errorf("got %+v", got)
		}
		synctest.Wait()
		if len(w.events) > 0 {
			t.Errorf("got %+v", <-w.events)
		}
	})
}

func TestCallbacksMayClose(t *testing.T) {
	for _, from := range []string{"OnEvent", "SubscribeFunc"} {
		t.Run(from, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
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
						l.deliver("x", "", "x")
					}
				}
				<-closed
				c.Close()
				if from == "SubscribeFunc" && calls != 1 {
					t.Errorf("%d calls", calls)
				}
				if err := c.Publish(t.Context(), "t", "x", nil); !errors.Is(err, ErrClosed) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestIllegalArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c, l := w.mustConnect([]string{edgeA}, nil)
		ctx := t.Context()
		sub := func(tenant, pattern string, opts ...SubscribeOption) error {
			_, err := c.Subscribe(ctx, tenant, pattern, opts...)
			return err
		}
		_, noFunc := c.SubscribeFunc(ctx, "t", "x", nil)
		for i, test := range []struct{ got, want error }{
			{sub("a:b", "x"), ErrBadTenant},
			{sub("t", "x..y"), ErrBadPattern},
			{sub("t", "#.x"), ErrBadPattern},
			{sub("t", "x", WithQueue(-1, DropOldest)), ErrBadOption},
			{sub("t", "x", WithQueue(1, "often")), ErrBadOption},
			{noFunc, ErrBadOption},
			{c.Publish(ctx, "a:b", "x", nil), ErrBadTenant},
			{c.Publish(ctx, "t", "x.*", nil), ErrBadChannel},
			{c.Publish(ctx, "t", "x", make([]byte, maxPayload+1)), ErrPayloadTooLarge},
			{c.PublishTo(ctx, 3, "t", "x", nil), ErrBadOption},
		} {
			if !errors.Is(test.got, test.want) {
				t.Errorf("%d: got %v, want %v", i, test.got, test.want)
			}
		}
		if lines, frames := l.sent(); len(lines)+len(frames) > 0 {
			t.Errorf("sent %q %q", lines, frames)
		}
	})
}
