package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// asked is when a token provider was asked.
type asked struct {
	mu    sync.Mutex
	times []time.Time
}

func (a *asked) now() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.times = append(a.times, time.Now())
	return len(a.times)
}

func (a *asked) all() []time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.times)
}

// provider gives tokens that live so long.
func provider(life time.Duration, calls *asked, fail func(n int) bool, name func(n int) string) func(context.Context) (AccessToken, error) {
	return func(context.Context) (AccessToken, error) {
		n := calls.now()
		if fail != nil && fail(n) {
			return AccessToken{}, errors.New("no token today")
		}
		return AccessToken{Token: name(n), ExpiresAt: time.Now().Add(life)}, nil
	}
}

func TestTokenProvider(t *testing.T) {
	counted := func(n int) string { return fmt.Sprintf("AT_%d", n) }
	same := func(int) string { return "AT_same" }
	// Tokens of a minute are renewed so late.
	inTime := func(d time.Duration) bool { return d >= 48*time.Second && d <= 54*time.Second }
	connect := func(t *testing.T, w *world, p func(context.Context) (AccessToken, error)) (*Client, *fakeLink) {
		return w.mustConnect([]string{edgeA}, func(o *Options) { o.Token, o.TokenProvider = "", p })
	}
	bubble(t, "another token", func(t *testing.T, _ *world) {
		w, calls, start := newWorld(t), &asked{}, time.Now()
		_, first := connect(t, w, provider(time.Minute, calls, nil, counted))
		if e := event[Moving](w); e.Reason != ReasonToken || !inTime(time.Since(start)) {
			t.Errorf("%+v after %v", e, time.Since(start))
		}
		event[Moved](w)
		second := <-w.links
		if first.token != "AT_1" || second.token != "AT_2" {
			t.Errorf("tokens %s and %s", first.token, second.token)
		}
		event[Moved](w)
		if all := calls.all(); len(all) != 3 || !inTime(all[2].Sub(all[1])) {
			t.Errorf("calls %v", all)
		}
	})
	bubble(t, "the last one is revoked meanwhile", func(t *testing.T, w *world) {
		calls := &asked{}
		c, first := connect(t, w, provider(time.Minute, calls, nil, counted))
		s := mustSubscribe(t, c, "x")
		event[Moving](w)
		second := <-w.links
		synctest.Wait() // the client has it, too
		first.line("ERR:token_revoked")
		first.end(4403)
		event[Moved](w)
		reaches(t, second, s, "1")
	})
	bubble(t, "the same token", func(t *testing.T, w *world) {
		calls := &asked{}
		connect(t, w, provider(time.Minute, calls, nil, same))
		time.Sleep(10 * time.Minute)
		if n := len(calls.all()); len(w.links) > 0 || n < 12 || n > 13 { // each 48 to 54 s
			t.Errorf("%d connections, %d calls", len(w.links), n)
		}
	})
	bubble(t, "it fails for a while", func(t *testing.T, w *world) {
		calls := &asked{}
		connect(t, w, provider(time.Minute, calls, func(n int) bool { return n > 1 && n < 5 }, counted))
		for range 3 {
			if e := event[EdgeError](w); e.Code != CodeTokenProvider || e.Err == nil || e.Err.Error() != "no token today" || strings.Contains(e.Detail, string(e.Code)) {
				t.Errorf("got %+v", e)
			}
		}
		event[Moved](w)
		equal(t, "token", (<-w.links).token, "AT_5")
	})
	bubble(t, "it gives tokens that have expired", func(t *testing.T, w *world) {
		calls := &asked{}
		connect(t, w, provider(-time.Hour, calls, nil, same))
		time.Sleep(time.Minute)
		if len(calls.all()) > 65 {
			t.Errorf("%d calls in a minute", len(calls.all()))
		}
	})
	bubble(t, "it fails at first", func(t *testing.T, w *world) {
		calls := &asked{}
		_, err := w.connect(context.Background(), []string{edgeA}, func(o *Options) {
			o.Token, o.TokenProvider = "", provider(0, calls, func(int) bool { return true }, same)
		})
		wantError(t, err, ErrTokenProvider)
	})
	bubble(t, "it hangs", func(t *testing.T, _ *world) {
		w, start := newWorld(t), time.Now()
		_, err := w.connect(context.Background(), []string{edgeA}, func(o *Options) {
			o.Token, o.TokenProvider = "", func(ctx context.Context) (AccessToken, error) {
				<-ctx.Done()
				return AccessToken{}, ctx.Err()
			}
		})
		if !errors.Is(err, ErrTokenProvider) || time.Since(start) != 10*time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
	bubble(t, "it closes the client", func(t *testing.T, _ *world) {
		w, clients, closed := newWorld(t), make(chan *Client, 1), make(chan struct{})
		c, _ := connect(t, w, func(context.Context) (AccessToken, error) {
			select {
			case c := <-clients:
				c.Close()
				close(closed)
			default:
			}
			return AccessToken{Token: "AT_same", ExpiresAt: time.Now().Add(time.Minute)}, nil
		})
		clients <- c
		<-closed
		c.Close()
	})
	bubble(t, "it does not mind its context", func(t *testing.T, w *world) {
		calls := &asked{}
		running := make(chan struct{}, 1) // two at a time would block for good
		connect(t, w, func(context.Context) (AccessToken, error) {
			n := calls.now()
			running <- struct{}{}
			if n > 1 && n < 4 {
				time.Sleep(time.Minute)
			}
			<-running
			return AccessToken{Token: counted(n), ExpiresAt: time.Now().Add(time.Minute)}, nil
		})
		event[EdgeError](w)
		event[Moved](w)
	})
	bubble(t, "the edge says that it has expired", func(t *testing.T, w *world) {
		calls := &asked{}
		_, first := connect(t, w, provider(time.Hour, calls, nil, counted))
		first.line("ERR:token_expired")
		first.end(4401)
		wantError(t, event[Disconnected](w).Err, ErrTokenExpired)
		event[Reconnected](w)
		equal(t, "token", (<-w.links).token, "AT_2")
	})
	bubble(t, "an edge does not accept it any more", func(t *testing.T, w *world) {
		calls := &asked{}
		c, first := connect(t, w, provider(time.Hour, calls, nil, counted))
		w.set("token AT_1", errBadToken)
		first.end(1001)
		event[Reconnected](w)
		second := <-w.links
		equal(t, "token", second.token, "AT_2")
		w.set(edgeA, errBadToken)
		second.end(1001)
		<-c.Done()
		if !errors.Is(c.Err(), ErrUnauthorized) || len(calls.all()) != 3 {
			t.Errorf("got %v after %d calls", c.Err(), len(calls.all()))
		}
	})
}

func TestRenewAt(t *testing.T) {
	now := time.Unix(1e9, 0)
	for left, want := range map[time.Duration][2]time.Duration{ // the latest, and the earliest
		time.Hour:        {54 * time.Minute, 48 * time.Minute},
		50 * time.Second: {45 * time.Second, 40 * time.Second},
		40 * time.Second: {35 * time.Second, 31 * time.Second},
		10 * time.Second: {5 * time.Second, 4 * time.Second},
		5 * time.Second:  {4500 * time.Millisecond, 4 * time.Second},
		time.Second:      {900 * time.Millisecond, 800 * time.Millisecond},
		0:                {},
		-time.Hour:       {},
	} {
		for early, want := range want {
			if got := renewAt(now, now.Add(left), float64(early)).Sub(now); got != want {
				t.Errorf("%v left: asked after %v, want %v", left, got, want)
			}
		}
	}
	if at := renewAt(now, time.Time{}, 0.5); !at.IsZero() {
		t.Errorf("no expiry: asked at %v", at)
	}
}

func TestToken(t *testing.T) {
	bubble(t, "the token that counts as stale is that of the next connection", func(t *testing.T, w *world) {
		calls := &asked{}
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
		equal(t, "token", (<-w.links).token, "AT_3")
		event[Moved](w)
	})
}
