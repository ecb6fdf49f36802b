package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var errNoToken = errors.New("no token today")

// issuer is a token provider, of AT_1, AT_2 and so on, each of which lives so long.
type issuer struct {
	life  time.Duration
	same  bool                                   // AT_1 again and again
	first func(ctx context.Context, n int) error // is called before each answer; nil: nothing to do

	mu    sync.Mutex
	times []time.Time // of the calls
}

func (i *issuer) provide(ctx context.Context) (AccessToken, error) {
	i.mu.Lock()
	i.times = append(i.times, time.Now())
	n, same := len(i.times), i.same
	i.mu.Unlock()
	if i.first != nil {
		if err := i.first(ctx, n); err != nil {
			return AccessToken{}, err
		}
	}
	if same {
		n = 1
	}
	return AccessToken{Token: fmt.Sprint("AT_", n), ExpiresAt: time.Now().Add(i.life)}, nil
}

func (i *issuer) options(o *Options) { o.Token, o.TokenProvider = "", i.provide }

func (i *issuer) wantCalls(t *testing.T, least, most int) (times []time.Time) {
	t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	if n := len(i.times); n < least || n > most {
		t.Errorf("the provider was asked %d times, want %d to %d", n, least, most)
	}
	return i.times
}

// failing is for the first of an issuer: these calls fail.
func failing(from, to int) func(context.Context, int) error {
	return func(_ context.Context, n int) error {
		if n >= from && n <= to {
			return errNoToken
		}
		return nil
	}
}

const ever = 1 << 30

// inTime reports whether a token of a minute is renewed after d.
func inTime(d time.Duration) bool { return d >= 48*time.Second && d <= 54*time.Second }

func TestTokenProvider(t *testing.T) {
	bubble(t, "another token", func(t *testing.T, w *world) {
		i, start := &issuer{life: time.Minute}, time.Now()
		_, first := w.mustConnect([]string{edgeA}, i.options)
		if e := event[Moving](w); e.Reason != ReasonToken || !inTime(time.Since(start)) {
			t.Errorf("%+v after %v", e, time.Since(start))
		}
		event[Moved](w)
		equal(t, "tokens", first.token+" "+(<-w.links).token, "AT_1 AT_2")
		event[Moved](w)
		if times := i.wantCalls(t, 3, 3); !inTime(times[2].Sub(times[1])) {
			t.Errorf("asked at %v", times)
		}
	})
	bubble(t, "the last one is revoked meanwhile", func(t *testing.T, w *world) {
		c, first := w.mustConnect([]string{edgeA}, (&issuer{life: time.Minute}).options)
		s := mustSubscribe(t, c, "x")
		event[Moving](w)
		second := <-w.links
		synctest.Wait() // the client has it, too
		first.revoke()
		event[Moved](w)
		reaches(t, second, s, "1")
	})
	bubble(t, "the same token", func(t *testing.T, w *world) {
		i := &issuer{life: time.Minute, same: true}
		w.mustConnect([]string{edgeA}, i.options)
		time.Sleep(10 * time.Minute)
		i.wantCalls(t, 12, 13) // each 48 to 54 s
		equal(t, "further connections", len(w.links), 0)
	})
	bubble(t, "it fails for a while", func(t *testing.T, w *world) {
		w.mustConnect([]string{edgeA}, (&issuer{life: time.Minute, first: failing(2, 4)}).options)
		for range 3 {
			wantEvent(w, EdgeError{Code: CodeTokenProvider, Detail: "the token provider gave no token", Err: errNoToken})
		}
		event[Moved](w)
		equal(t, "token", (<-w.links).token, "AT_5")
	})
	bubble(t, "it gives tokens that have expired", func(t *testing.T, w *world) {
		i := &issuer{life: -time.Hour, same: true}
		w.mustConnect([]string{edgeA}, i.options)
		time.Sleep(time.Minute)
		i.wantCalls(t, 1, 1) // this machine's clock is wrong
	})
	bubble(t, "it fails at first, or hangs", func(t *testing.T, w *world) {
		_, err := w.connect(t.Context(), []string{edgeA}, (&issuer{first: failing(1, ever)}).options)
		wantError(t, err, ErrTokenProvider)
		start := time.Now()
		_, err = w.connect(t.Context(), []string{edgeA}, (&issuer{first: func(ctx context.Context, _ int) error {
			<-ctx.Done()
			return ctx.Err()
		}}).options)
		wantError(t, err, ErrTokenProvider)
		equal(t, "failed after", time.Since(start), 10*time.Second)
	})
	bubble(t, "it closes the client", func(t *testing.T, w *world) {
		clients, closed := make(chan *Client, 1), make(chan struct{})
		c, _ := w.mustConnect([]string{edgeA}, (&issuer{life: time.Minute, same: true, first: func(context.Context, int) error {
			select {
			case c := <-clients:
				c.Close()
				close(closed)
			default:
			}
			return nil
		}}).options)
		clients <- c
		<-closed
		c.Close()
	})
	bubble(t, "it does not mind its context", func(t *testing.T, w *world) {
		running := make(chan struct{}, 1) // two at a time would block for good
		w.mustConnect([]string{edgeA}, (&issuer{life: time.Minute, first: func(_ context.Context, n int) error {
			running <- struct{}{}
			if n > 1 && n < 4 {
				time.Sleep(time.Minute)
			}
			<-running
			return nil
		}}).options)
		event[EdgeError](w)
		event[Moved](w)
	})
	bubble(t, "the edge says that it has expired", func(t *testing.T, w *world) {
		_, first := w.mustConnect([]string{edgeA}, (&issuer{life: time.Hour}).options)
		first.line("ERR:token_expired")
		first.end(4401)
		wantError(t, event[Disconnected](w).Err, ErrTokenExpired)
		event[Reconnected](w)
		equal(t, "token", (<-w.links).token, "AT_2")
	})
	bubble(t, "an edge does not accept it any more", func(t *testing.T, w *world) {
		i := &issuer{life: time.Hour}
		c, first := w.mustConnect([]string{edgeA}, i.options)
		w.set("token AT_1", errBadToken)
		first.end(1001)
		event[Reconnected](w)
		second := <-w.links
		equal(t, "token", second.token, "AT_2")
		w.set(edgeA, errBadToken) // whatever the provider gives
		refused := time.Now()
		second.end(1001)
		for time.Since(refused) < 40*time.Second { // pauses are below 15 s
			equal(t, "event", event[EdgeError](w).Code, codeUnauthorized)
		}
		noError(t, c.Err())
		<-c.Done()
		wantError(t, c.Err(), ErrUnauthorized)
		if d := time.Since(refused); d < time.Minute || d > 90*time.Second {
			t.Errorf("ended after %v", d)
		}
		i.wantCalls(t, 10, 40)
	})
	bubble(t, "it gives the same token for a while, which no edge accepts", func(t *testing.T, w *world) {
		i := &issuer{life: time.Hour, same: true}
		_, first := w.mustConnect([]string{edgeA}, i.options)
		w.set("token AT_1", errBadToken)
		first.end(1001)
		time.Sleep(40 * time.Second)
		i.mu.Lock()
		i.same = false
		i.mu.Unlock()
		event[Reconnected](w)
	})
	bubble(t, "that of the next connection is not accepted for minutes", func(t *testing.T, w *world) {
		c, _ := w.mustConnect([]string{edgeA}, (&issuer{life: time.Hour}).options)
		w.set(edgeA, errBadToken)
		must(t, c.RenewToken(t.Context()))
		time.Sleep(5 * time.Minute) // the connection that is there goes on
		w.set(edgeA, nil)
		event[Moved](w)
	})
	// It is not asked again for each connection that fails: the token that counts as stale is
	// that of the next connection.
	bubble(t, "that of the next connection expires", func(t *testing.T, w *world) {
		c, first := w.mustConnect([]string{edgeA}, (&issuer{life: time.Hour}).options)
		must(t, c.RenewToken(t.Context()))
		second := <-w.links
		equal(t, "tokens", first.token+" "+second.token, "AT_1 AT_2")
		second.line("ERR:token_expired")
		second.end(4401)
		equal(t, "token", (<-w.links).token, "AT_3")
		event[Moved](w)
	})
	bubble(t, "ExpiresIn holds whatever ExpiresAt says", func(t *testing.T, w *world) {
		i, start := &issuer{}, time.Now()
		give := AccessToken{Token: "AT_1", ExpiresAt: time.Unix(1, 0), ExpiresIn: time.Minute}
		change := func(o *Options) {
			o.Token, o.TokenProvider = "", func(ctx context.Context) (AccessToken, error) {
				_, err := i.provide(ctx)
				return give, err
			}
		}
		c, _ := w.mustConnect([]string{edgeA}, change)
		time.Sleep(time.Minute)
		if times := i.wantCalls(t, 2, 2); !inTime(times[1].Sub(start)) {
			t.Errorf("asked at %v", times)
		}
		c.Close()
		give.ExpiresIn = -1
		_, err := w.connect(t.Context(), []string{edgeA}, change)
		wantError(t, err, ErrTokenProvider)
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

func TestAccessTokenJSON(t *testing.T) {
	noon := time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]AccessToken{ // zero: refused
		`{"token":"a","token_id":"1","expires_at":"2030-01-31T12:00:00Z","expires_in":60}`:                 {"a", time.Minute, noon}, // of an edge
		`{"token":"a","tokenId":"1","expiresAt":"2030-01-31T12:00:00.000Z","expiresIn":60,"clamped":true}`: {"a", time.Minute, noon}, // of the SDK for TypeScript
		`{"token":"a","expiresIn":"1m30s","expires_in":null}`:                                              {"a", 90 * time.Second, time.Time{}},
		`{"token":"a","expires_in":0.5}`:                                                                   {"a", time.Second / 2, time.Time{}},
		`{"token":"a","expires":60}`:                                                                       {},
		`{"token":"a","expires_in":0}`:                                                                     {},
		`{"token":"a","expires_in":"60"}`:                                                                  {},
		`{"token":"a","expires_in":{}}`:                                                                    {},
		`{"token":"a","expires_at":1900000000}`:                                                            {},
		`"a"`:                                                                                              {},
	} {
		var got AccessToken
		err := json.Unmarshal([]byte(text), &got)
		if got != want || (err != nil) != (want == AccessToken{}) || err != nil && !errors.Is(err, ErrBadOption) {
			t.Errorf("%s: got %+v %v", text, got, err)
		}
	}
}

// A token as it is read from a file.
func TestTokenWithLineBreak(t *testing.T) {
	for _, token := range []string{"AT_s3cret\n", "AT_s3cret\r\n", "\tAT_s3cret"} {
		provider := func(context.Context) (AccessToken, error) { return AccessToken{Token: token}, nil }
		_, admin := NewTokenAdmin("https://edge.test", token)
		for name, err := range map[string]error{
			"token":    errorOf(Connect(t.Context(), []string{"https://edge.test"}, Options{Token: token})),
			"provider": errorOf(Connect(t.Context(), []string{"https://edge.test"}, Options{TokenProvider: provider})),
			"admin":    admin,
		} {
			wantError(t, err, ErrBadOption, name)
			if !strings.Contains(err.Error(), "white space at its beginning or end") || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
}
