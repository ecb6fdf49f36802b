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

func TestRenewToken(t *testing.T) {
	bubble(t, "the same token", func(t *testing.T, w *world) {
		i := &issuer{life: time.Hour, same: true}
		c, _ := w.mustConnect([]string{edgeA}, i.options)
		must(t, c.RenewToken(t.Context()))
		synctest.Wait()
		i.wantCalls(t, 2, 2)
		equal(t, "further connections", len(w.links), 0)
	})
	bubble(t, "it fails", func(t *testing.T, w *world) {
		c, _ := w.mustConnect([]string{edgeA}, (&issuer{life: time.Hour, first: failing(2, ever)}).options)
		err := c.RenewToken(t.Context())
		wantError(t, err, ErrTokenProvider)
		wantError(t, err, errNoToken)
		equal(t, "EdgeError.Code", event[EdgeError](w).Code, CodeTokenProvider)
		equal(t, "c.Err()", c.Err(), nil)
	})
	bubble(t, "calls at the same time share one that begins later", func(t *testing.T, w *world) {
		i := &issuer{first: func(_ context.Context, n int) error {
			if n == 2 {
				time.Sleep(5 * time.Second)
			}
			return nil
		}}
		c, _ := w.mustConnect([]string{edgeA}, i.options)
		var group sync.WaitGroup
		for i := range 5 {
			group.Go(func() { // the first begins the call, the others come while it runs
				time.Sleep(time.Duration(i) * 1100 * time.Millisecond)
				noError(t, c.RenewToken(t.Context()))
			})
		}
		group.Wait()
		times := i.wantCalls(t, 3, 3)
		equal(t, "the third call after the second", times[2].Sub(times[1]), 6*time.Second)
	})
	bubble(t, "no provider, and after the end", func(t *testing.T, w *world) {
		c, _ := w.connected(edgeA)
		wantError(t, c.RenewToken(t.Context()), ErrBadOption)
		i := &issuer{life: time.Hour}
		c, _ = w.mustConnect([]string{edgeA}, i.options)
		c.Close()
		wantError(t, c.RenewToken(t.Context()), ErrClosed)
		i.wantCalls(t, 1, 1)
	})
	bubble(t, "its context ends, and the client goes on", func(t *testing.T, w *world) {
		c, _ := w.mustConnect([]string{edgeA}, (&issuer{first: func(ctx context.Context, n int) error {
			if n == 2 {
				<-ctx.Done()
			}
			return ctx.Err()
		}}).options)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		wantError(t, c.RenewToken(ctx), context.DeadlineExceeded)
		noError(t, c.RenewToken(t.Context()))
	})
}

// However a provider is asked, and whatever it answers, a second passes before it is
// asked again.
func TestProviderIsAskedOnceASecond(t *testing.T) {
	asks := func(t *testing.T, c *Client, want error) {
		for range 10 {
			wantError(t, c.RenewToken(t.Context()), want)
		}
	}
	for name, test := range map[string]struct {
		fails bool
		life  time.Duration
		do    func(t *testing.T, c *Client, l *fakeLink)
	}{
		"it fails, and is asked again by the clock": {true, 6 * time.Second, func(*testing.T, *Client, *fakeLink) {}},
		"it fails as the client reconnects": {true, time.Hour, func(_ *testing.T, _ *Client, l *fakeLink) {
			l.line("ERR:token_expired")
			l.end(4401)
		}},
		"it fails as the application asks": {true, time.Hour, func(t *testing.T, c *Client, _ *fakeLink) {
			asks(t, c, ErrTokenProvider)
		}},
		"it succeeds as the application asks": {false, time.Hour, func(t *testing.T, c *Client, _ *fakeLink) { asks(t, c, nil) }},
	} {
		bubble(t, name, func(t *testing.T, w *world) {
			i := &issuer{life: test.life, same: true, first: func(_ context.Context, n int) error {
				if test.fails && n > 1 {
					return errNoToken
				}
				return nil
			}}
			c, l := w.mustConnect([]string{edgeA}, func(o *Options) {
				o.Token, o.TokenProvider = "", func(ctx context.Context) (AccessToken, error) {
					defer time.Sleep(100 * time.Millisecond) // it takes its time
					return i.provide(ctx)
				}
				o.MinBackOff, o.MaxBackOff = time.Millisecond, 10*time.Millisecond
			})
			test.do(t, c, l)
			time.Sleep(20 * time.Second)
			times := i.wantCalls(t, 10, ever)
			for i := range times[1:] {
				if d := times[i+1].Sub(times[i]); d < 1100*time.Millisecond {
					t.Errorf("call %d came %v after the one before", i+1, d)
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
	out := func(from int) *issuer {
		return &issuer{life: time.Minute, first: func(_ context.Context, n int) error {
			if n >= from {
				return cause
			}
			return nil
		}}
	}
	bubble(t, "as it connects", func(t *testing.T, w *world) {
		_, err := w.connect(t.Context(), []string{edgeA}, out(1).options)
		check(t, err)
	})
	for name, do := range map[string]func(w *world, c *Client, l *fakeLink){
		"by the clock":      func(*world, *Client, *fakeLink) {},
		"as it asks itself": func(w *world, c *Client, _ *fakeLink) { check(w.t, c.RenewToken(w.t.Context())) },
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
			i := out(2)
			c, l := w.mustConnect([]string{edgeA}, i.options)
			s := mustSubscribe(t, c, "x")
			time.Sleep(5 * time.Second)
			do(w, c, l)
			<-c.Done()
			check(t, c.Err())
			wantEnd(t, s, ErrLoggedOut)
			i.wantCalls(t, 2, 2)
		})
	}
	bubble(t, "the answer comes too late", func(t *testing.T, w *world) {
		c, _ := w.mustConnect([]string{edgeA}, (&issuer{first: func(_ context.Context, n int) error {
			if n == 2 {
				time.Sleep(15 * time.Second)
				return ErrLoggedOut
			}
			return nil
		}}).options)
		wantError(t, c.RenewToken(t.Context()), ErrTokenProvider)
		<-c.Done()
		wantError(t, c.Err(), ErrLoggedOut)
		equal(t, "codes in "+c.Err().Error(), strings.Count(c.Err().Error(), "logged_out"), 1)
	})
}

func TestRetry(t *testing.T) {
	bubble(t, "a pause ends, and the next ones are short again", func(t *testing.T, w *world) {
		c, l := w.mustConnect([]string{edgeA}, func(o *Options) { o.MinBackOff, o.MaxBackOff = time.Second, time.Hour })
		c.Retry() // nothing to do
		w.set(edgeA, errUnreachable)
		l.end(1001)
		for event[Reconnecting](w).Delay < 10*time.Minute { // they grow
		}
		before, now := w.attempts(), time.Now()
		c.Retry()
		atMost(t, "the next pause is", event[Reconnecting](w).Delay, time.Second)
		equal(t, "attempts", w.attempts(), before+1)
		w.set(edgeA, nil)
		c.Retry()
		event[Reconnected](w)
		equal(t, "back after", time.Since(now), 0)
		c.Close()
		c.Retry()
	})
	bubble(t, "what an edge asks for does not hold it back", func(t *testing.T, w *world) {
		c, l := w.connected(edgeA)
		w.set(edgeA, errDraining)
		l.end(1001)
		event[Reconnecting](w)
		equal(t, "Reconnecting.Delay", event[Reconnecting](w).Delay, 5*time.Second)
		w.set(edgeA, nil)
		now := time.Now()
		c.Retry()
		event[Reconnected](w)
		equal(t, "back after", time.Since(now), 0)
	})
}
