package client

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestConnect(t *testing.T) {
	// A transport that the token does not allow ends nothing while the other is only
	// out of reach.
	bubble(t, "One transport not allowed", func(t *testing.T, w *world) {
		w.set(edgeA+" webtransport", errProtocol)
		c, l := w.mustConnect([]string{edgeA}, func(o *Options) { o.Transports = nil })
		w.set(edgeA+" websocket", errUnreachable)
		l.end(1001)
		for range 4 {
			event[Reconnecting](w)
		}
		w.set(edgeA+" websocket", nil)
		event[Reconnected](w)
		equal(t, "c.Transport()", c.Transport(), WebSocket)
	})
	bubble(t, "Connect gives up", func(t *testing.T, w *world) {
		w.delay[edgeA+" websocket"] = time.Hour
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := w.connect(ctx, []string{edgeA}, nil); !errors.Is(err, ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		ctx, cancel = context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		wantError(t, errorOf(w.connect(ctx, []string{edgeA}, nil)), context.Canceled)
	})
}

// patient has Connect try again.
func patient(o *Options) { o.FailFast = false }

func TestConnectWaits(t *testing.T) {
	bubble(t, "for an edge", func(t *testing.T, w *world) {
		w.set(edgeA, errUnreachable)
		w.set(edgeB, errDraining)
		connected := async(func() error {
			c, err := w.connect(t.Context(), []string{edgeA, edgeB}, patient)
			if err == nil {
				defer c.Close()
			}
			return err
		})
		for attempt := 1; attempt <= 3; attempt++ {
			e := event[Connecting](w)
			equal(t, "attempt", e.Attempt, attempt)
			if !errors.Is(e.Err, ErrDraining) || e.Delay > 15*time.Second {
				t.Errorf("told %+v", e)
			}
		}
		w.set(edgeB, nil)
		noError(t, <-connected)
		wantEvent(w, Connected{edgeB, WebSocket})
		wantEvent(w, Closed{})
	})
	for name, test := range map[string]struct {
		refuse error
		within time.Duration // of the context
		want   []error
		after  [2]time.Duration // no sooner, no later
	}{
		"until its context ends":                  {errUnreachable, time.Minute, []error{ErrTimeout, context.DeadlineExceeded, ErrUnreachable}, [2]time.Duration{time.Minute, time.Minute}},
		"not where no edge is":                    {errNoEdge, time.Hour, []error{ErrUnreachable}, [2]time.Duration{}},
		"not for another region":                  {errRegion, time.Hour, []error{ErrRegionNotAllowed}, [2]time.Duration{}},
		"not with a bad token":                    {errBadToken, time.Hour, []error{ErrUnauthorized}, [2]time.Duration{}},
		"while a provider may give another token": {errBadToken, time.Hour, []error{ErrUnauthorized}, [2]time.Duration{refusalTime, 2 * refusalTime}},
	} {
		bubble(t, name, func(t *testing.T, w *world) {
			w.set(edgeA, test.refuse)
			ctx, cancel := context.WithTimeout(t.Context(), test.within)
			defer cancel()
			start := time.Now()
			_, err := w.connect(ctx, []string{edgeA}, func(o *Options) {
				if patient(o); test.after[0] == refusalTime {
					o.Token, o.TokenProvider = "", func(context.Context) (AccessToken, error) { return AccessToken{Token: "AT_a"}, nil }
				}
			})
			for _, want := range test.want {
				wantError(t, err, want)
			}
			if took := time.Since(start); took < test.after[0] || took > test.after[1] {
				t.Errorf("took %v, want %v", took, test.after)
			}
		})
	}
}

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
		{"the next, as one is no edge", errNoEdge, nil, nil, edgeB},
		{"what an edge says, not another server", errNoEdge, errDraining, ErrDraining, edgeB},
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
		bubble(t, test.name, func(t *testing.T, w *world) {
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
			wantEvent(w, Closed{})
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
		bubble(t, test.name, func(t *testing.T, w *world) {
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
			equal(t, "c.Transport()", c.Transport(), test.want)
			// The choice is remembered.
			event[Connected](w)
			w.endAll()
			w.mu.Lock()
			w.dialed = nil
			w.mu.Unlock()
			event[Reconnected](w)
			equal(t, "reconnected with", w.dialed[0], edgeA+" "+string(test.want))
		})
	}
}
