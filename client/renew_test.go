package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func withProvider(p func(context.Context) (AccessToken, error)) func(*Options) {
	return func(o *Options) { o.Token, o.TokenProvider = "", p }
}

func TestRenewToken(t *testing.T) {
	counted := func(n int) string { return fmt.Sprintf("AT_%d", n) }
	bubble(t, "another token", func(t *testing.T, w *world) {
		calls := &asked{}
		c, _ := w.mustConnect([]string{edgeA}, withProvider(provider(time.Hour, calls, nil, counted)))
		must(t, c.RenewToken(t.Context()))
		equal(t, "Moved.Reason", event[Moved](w).Reason, ReasonToken)
		equal(t, "token", (<-w.links).token, "AT_2")
	})
	bubble(t, "the same token", func(t *testing.T, w *world) {
		calls := &asked{}
		c, _ := w.mustConnect([]string{edgeA}, withProvider(provider(time.Hour, calls, nil, func(int) string { return "AT_same" })))
		must(t, c.RenewToken(t.Context()))
		synctest.Wait()
		if len(calls.all()) != 2 || len(w.links) != 0 {
			t.Errorf("%d calls, %d connections", len(calls.all()), len(w.links))
		}
	})
	bubble(t, "it fails", func(t *testing.T, w *world) {
		calls := &asked{}
		c, _ := w.mustConnect([]string{edgeA}, withProvider(provider(time.Hour, calls, func(n int) bool { return n > 1 }, counted)))
		if err := c.RenewToken(t.Context()); !errors.Is(err, ErrTokenProvider) || !strings.HasSuffix(err.Error(), "no token today") {
			t.Errorf("got %v", err)
		}
		if e := event[EdgeError](w); e.Code != CodeTokenProvider || e.Err == nil {
			t.Errorf("got %+v", e)
		}
		equal(t, "c.Err()", c.Err(), nil)
	})
	bubble(t, "calls at the same time share one that begins later", func(t *testing.T, w *world) {
		calls := &asked{}
		c, _ := w.mustConnect([]string{edgeA}, withProvider(func(context.Context) (AccessToken, error) {
			n := calls.now()
			if n == 2 {
				time.Sleep(5 * time.Second)
			}
			return AccessToken{Token: counted(n)}, nil
		}))
		var group sync.WaitGroup
		for i := range 5 {
			group.Go(func() {
				time.Sleep(time.Duration(i) * 1100 * time.Millisecond) // the first begins the call, the others come while it runs
				noError(t, c.RenewToken(t.Context()))
			})
		}
		group.Wait()
		all := calls.all()
		if len(all) != 3 || all[2].Sub(all[1]) != 6*time.Second {
			t.Errorf("calls at %v", all)
		}
	})
	bubble(t, "no provider, and after the end", func(t *testing.T, w *world) {
		calls := &asked{}
		c, _ := w.connected(edgeA)
		wantError(t, c.RenewToken(t.Context()), ErrBadOption)
		c, _ = w.mustConnect([]string{edgeA}, withProvider(provider(time.Hour, calls, nil, counted)))
		c.Close()
		if err := c.RenewToken(t.Context()); !errors.Is(err, ErrClosed) || len(calls.all()) != 1 {
			t.Errorf("got %v after %d calls", err, len(calls.all()))
		}
	})
	bubble(t, "its context ends, and the client goes on", func(t *testing.T, w *world) {
		calls := &asked{}
		c, _ := w.mustConnect([]string{edgeA}, withProvider(func(ctx context.Context) (AccessToken, error) {
			if calls.now() == 2 {
				<-ctx.Done()
				return AccessToken{}, ctx.Err()
			}
			return AccessToken{Token: "AT_1"}, nil
		}))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		wantError(t, c.RenewToken(ctx), context.DeadlineExceeded)
		noError(t, c.RenewToken(t.Context()))
	})
}

// However a provider is asked, and whatever it answers, a second passes before it is
// asked again.
func TestProviderIsAskedOnceASecond(t *testing.T) {
	for _, test := range []struct {
		name string
		fail func(n int) bool
		life time.Duration
		do   func(c *Client, l *fakeLink)
	}{
		{name: "it fails, and is asked again by the clock", life: 6 * time.Second, fail: func(n int) bool { return n > 1 }},
		{
			name: "it fails as the client reconnects", life: time.Hour, fail: func(n int) bool { return n > 1 },
			do: func(_ *Client, l *fakeLink) {
				l.line("ERR:token_expired")
				l.end(4401)
			},
		},
		{
			name: "it fails as the application asks", life: time.Hour, fail: func(n int) bool { return n > 1 },
			do: func(c *Client, _ *fakeLink) {
				for range 10 {
					if err := c.RenewToken(context.Background()); !errors.Is(err, ErrTokenProvider) {
						c.events.emit(EdgeError{Code: "unexpected", Err: err})
					}
				}
			},
		},
		{
			name: "it succeeds as the application asks", life: time.Hour,
			do: func(c *Client, _ *fakeLink) {
				for range 10 {
					if err := c.RenewToken(context.Background()); err != nil {
						c.events.emit(EdgeError{Code: "unexpected", Err: err})
					}
				}
			},
		},
	} {
		bubble(t, test.name, func(t *testing.T, w *world) {
			calls := &asked{}
			inner := provider(test.life, calls, test.fail, func(int) string { return "AT_same" })
			c, l := w.mustConnect([]string{edgeA}, func(o *Options) {
				withProvider(func(ctx context.Context) (AccessToken, error) {
					defer time.Sleep(100 * time.Millisecond) // it takes its time
					return inner(ctx)
				})(o)
				o.MinBackOff, o.MaxBackOff = time.Millisecond, 10*time.Millisecond
			})
			if test.do != nil {
				test.do(c, l)
			}
			time.Sleep(20 * time.Second)
			all := calls.all()
			if len(all) < 10 {
				t.Errorf("%d calls", len(all))
			}
			for i := range all[1:] {
				if d := all[i+1].Sub(all[i]); d < 1100*time.Millisecond {
					t.Errorf("call %d came %v after the one before", i+1, d)
				}
			}
			c.Close()
			for len(w.events) > 0 {
				if e, ok := (<-w.events).(EdgeError); ok && e.Code == "unexpected" {
					t.Errorf("%v", e.Err)
				}
			}
		})
	}
}

func TestLoggedOut(t *testing.T) {
	cause := fmt.Errorf("session 5 has ended: %w", ErrLoggedOut)
	check := func(t *testing.T, err error) {
		t.Helper()
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeLoggedOut || e.Err != cause {
			t.Errorf("got %v", err)
		}
	}
	out := func(calls *asked, from int, life time.Duration) func(context.Context) (AccessToken, error) {
		return func(context.Context) (AccessToken, error) {
			if calls.now() >= from {
				return AccessToken{}, cause
			}
			return AccessToken{Token: "AT_1", ExpiresIn: life}, nil
		}
	}
	bubble(t, "as it connects", func(t *testing.T, w *world) {
		_, err := w.connect(t.Context(), []string{edgeA}, withProvider(out(&asked{}, 1, 0)))
		check(t, err)
	})
	for name, do := range map[string]func(w *world, c *Client, l *fakeLink){
		"by the clock":      func(*world, *Client, *fakeLink) {},
		"as it asks itself": func(_ *world, c *Client, _ *fakeLink) { _ = c.RenewToken(context.Background()) },
		"as it reconnects":  func(_ *world, _ *Client, l *fakeLink) { l.line("ERR:token_expired"); l.end(4401) },
		"as it moves": func(w *world, _ *Client, l *fakeLink) {
			w.set("token AT_1", errBadToken)
			l.line("RECONNECT")
		},
		"in a suspicion": func(w *world, c *Client, l *fakeLink) {
			w.set("token AT_1", errBadToken)
			l.set(func(l *fakeLink) { l.mute["PING"] = true })
		},
	} {
		bubble(t, name, func(t *testing.T, w *world) {
			calls := &asked{}
			c, l := w.mustConnect([]string{edgeA}, withProvider(out(calls, 2, time.Minute)))
			s := mustSubscribe(t, c, "x")
			time.Sleep(5 * time.Second)
			do(w, c, l)
			<-c.Done()
			check(t, c.Err())
			if _, ok := <-s.Messages(); ok {
				t.Error("a message")
			}
			check(t, s.Err())
			if len(calls.all()) != 2 {
				t.Errorf("%d calls", len(calls.all()))
			}
		})
	}
	bubble(t, "the call that asks gets the error", func(t *testing.T, w *world) {
		c, _ := w.mustConnect([]string{edgeA}, withProvider(out(&asked{}, 2, time.Hour)))
		check(t, c.RenewToken(t.Context()))
		<-c.Done()
	})
	bubble(t, "the answer comes too late", func(t *testing.T, w *world) {
		calls := &asked{}
		c, _ := w.mustConnect([]string{edgeA}, withProvider(func(context.Context) (AccessToken, error) {
			if calls.now() == 2 {
				time.Sleep(15 * time.Second)
				return AccessToken{}, ErrLoggedOut
			}
			return AccessToken{Token: "AT_1"}, nil
		}))
		wantError(t, c.RenewToken(t.Context()), ErrTokenProvider)
		<-c.Done()
		if err := c.Err(); !errors.Is(err, ErrLoggedOut) || strings.Count(err.Error(), "logged_out") != 1 {
			t.Errorf("got %v", err)
		}
	})
}

func TestRenewal(t *testing.T) {
	bubble(t, "Expires in", func(t *testing.T, _ *world) {
		w, calls, start := newWorld(t), &asked{}, time.Now()
		c, _ := w.mustConnect([]string{edgeA}, withProvider(func(context.Context) (AccessToken, error) {
			calls.now()
			// The time would say that it has ended long ago.
			return AccessToken{Token: "AT_same", ExpiresAt: time.Unix(1, 0), ExpiresIn: time.Minute}, nil
		}))
		time.Sleep(time.Minute)
		all := calls.all()
		if len(all) != 2 || all[1].Sub(start) < 48*time.Second || all[1].Sub(start) > 54*time.Second {
			t.Errorf("calls at %v", all)
		}
		c.Close()
		_, err := w.connect(t.Context(), []string{edgeA}, withProvider(func(context.Context) (AccessToken, error) {
			return AccessToken{Token: "AT_1", ExpiresIn: -1}, nil
		}))
		wantError(t, err, ErrTokenProvider)
	})
	bubble(t, "Retry", func(t *testing.T, w *world) {
		c, l := w.mustConnect([]string{edgeA}, func(o *Options) { o.MinBackOff, o.MaxBackOff = time.Second, time.Hour })
		c.Retry() // nothing to do
		w.set(edgeA, errUnreachable)
		l.end(1001)
		for e := event[Reconnecting](w); e.Delay < 10*time.Minute; {
			e = event[Reconnecting](w)
		}
		dialed := func() int {
			w.mu.Lock()
			defer w.mu.Unlock()
			return len(w.dialed)
		}
		before, now := dialed(), time.Now()
		c.Retry()
		e := event[Reconnecting](w)
		if dialed() != before+1 || time.Since(now) > 0 || e.Delay > time.Second {
			t.Errorf("%d attempts in %v, then %+v", dialed()-before, time.Since(now), e)
		}
		w.set(edgeA, nil)
		c.Retry()
		event[Reconnected](w)
		if time.Since(now) > 0 {
			t.Errorf("back after %v", time.Since(now))
		}
		c.Close()
		c.Retry()
	})
	bubble(t, "what an edge asks for does not hold a client back that the application sends", func(t *testing.T, w *world) {
		c, l := w.connected(edgeA)
		w.set(edgeA, errDraining)
		l.end(1001)
		event[Reconnecting](w)
		equal(t, "Reconnecting.Delay", event[Reconnecting](w).Delay, 5*time.Second)
		w.set(edgeA, nil)
		now := time.Now()
		c.Retry()
		event[Reconnected](w)
		if time.Since(now) > 0 {
			t.Errorf("back after %v", time.Since(now))
		}
	})
}
