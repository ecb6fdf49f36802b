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

	"github.com/millrace/millrace/wire"
)

// confirmedAs is what PublishConfirmed has returned.
type confirmedAs struct {
	position string
	err      error
	after    time.Duration
}

// publishConfirmed publishes p to x, in the background.
func publishConfirmed(c *Client, opts ...PublishOption) <-chan confirmedAs {
	done := make(chan confirmedAs, 1)
	start := time.Now()
	go func() {
		position, err := c.PublishConfirmed(context.Background(), "t", "x", []byte("p"), opts...)
		done <- confirmedAs{position, err, time.Since(start)}
	}()
	return done
}

func (l *fakeLink) published() []wire.Publish {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.pubs)
}

// silent leaves publishes without an answer.
func silent(l *fakeLink) { l.judge = func(wire.Publish) string { return "" } }

func TestPublishConfirmed(t *testing.T) {
	refuse := func(code string) func(p wire.Publish) string {
		return func(p wire.Publish) string { return fmt.Sprintf("ERR:%s:PUB:%d", code, p.ID) }
	}
	for _, test := range []struct {
		name     string
		judge    func(p wire.Publish) string
		opts     []PublishOption
		position string
		want     error
	}{
		{"accepted", nil, nil, "", nil},
		{"stored", func(p wire.Publish) string { return string(wire.AppendOKPubAt(nil, p.ID, at(3))) }, nil, at(3).String(), nil},
		{"with a key", func(p wire.Publish) string { return string(wire.AppendOKPubAt(nil, p.ID, at(3))) }, []PublishOption{WithKey("k")}, at(3).String(), nil},
		{"to one", nil, []PublishOption{WithDelivery(OneNearest)}, "", nil},
		{"not allowed", refuse("permission_denied"), nil, "", ErrPermissionDenied},
		{"not kept", refuse("no_history"), []PublishOption{WithKey("k")}, "", ErrNoHistory},
		{"not stored", refuse("history_unavailable"), []PublishOption{WithKey("k")}, "", ErrHistoryUnavailable},
		{"perhaps stored", refuse("unconfirmed"), nil, "", ErrOutcomeUnknown},
	} {
		bubble(t, test.name, func(t *testing.T, w *world) {
			w.next(func(l *fakeLink) {
				withHistories(l)
				l.judge = test.judge
			})
			c, l := w.connected(edgeA)
			got := <-publishConfirmed(c, test.opts...)
			if got.position != test.position || !errors.Is(got.err, test.want) {
				t.Errorf("got %+v, want %q, %v", got, test.position, test.want)
			}
			var e *Error
			if errors.As(got.err, &e) && (e.Tenant != "t" || e.Channel != "x") {
				t.Errorf("got %+v", e)
			}
			if pubs := l.published(); len(pubs) != 1 || string(pubs[0].Payload) != "p" || len(pubs[0].Key) > 0 != (strings.Contains(test.name, "key") || test.want != nil && len(test.opts) > 0) {
				t.Errorf("the edge has got %+v", pubs)
			}
			event[Connected](w)
			wantNone(t, "an event", w.events)
		})
	}
}

func TestConfirm(t *testing.T) {
	bubble(t, "Publish confirmed options", func(t *testing.T, w *world) {
		w.next(withHistories)
		c, l := w.connected(edgeA)
		for what, test := range map[string]struct {
			tenant, channel string
			opt             PublishOption
			want            error
		}{
			"an empty key":    {"t", "x", WithKey(""), ErrBadOption},
			"a long key":      {"t", "x", WithKey(strings.Repeat("k", 65)), ErrBadOption},
			"no delivery":     {"t", "x", WithDelivery(3), ErrBadOption},
			"no channel":      {"t", "x..y", WithKey("k"), ErrBadChannel},
			"no tenant":       {"t:u", "x", WithKey("k"), ErrBadTenant},
			"the longest key": {"t", "x", WithKey(strings.Repeat("k", 64)), nil},
		} {
			wantError(t, errorOf(c.PublishConfirmed(t.Context(), test.tenant, test.channel, nil, test.opt)), test.want, what)
		}
		equal(t, "the edge has got", len(l.published()), 1)
	})
	bubble(t, "with a key, what has no answer is published again when there is a connection",
		func(t *testing.T, w *world) {
			w.next(func(l *fakeLink) { withHistories(l); silent(l) })
			c, l := w.connected(edgeA)
			keyed, plain := publishConfirmed(c, WithKey("k")), publishConfirmed(c)
			synctest.Wait()
			w.set(edgeA, errUnreachable)
			l.end(1001)
			wantError(t, (<-plain).err, ErrOutcomeUnknown)
			synctest.Wait()
			wantError(t, (<-publishConfirmed(c)).err, ErrDisconnected)
			wantNone(t, "an outcome", keyed)
			later := publishConfirmed(c, WithKey("later"))
			w.next(func(l *fakeLink) {
				withHistories(l)
				l.judge = func(p wire.Publish) string { return string(wire.AppendOKPubAt(nil, p.ID, at(8))) }
			})
			w.set(edgeA, nil)
			for _, done := range []<-chan confirmedAs{keyed, later} {
				if got := <-done; got.err != nil || got.position != at(8).String() {
					t.Errorf("got %+v", got)
				}
			}
			first, second := l.published(), (<-w.links).published()
			if len(first) != 2 || len(second) != 2 || !slices.ContainsFunc(second, func(p wire.Publish) bool { return string(p.Key) == "k" }) {
				t.Errorf("the edge has got %+v, then %+v", first, second)
			}
		})
	bubble(t, "Publish confirmed gives up", func(t *testing.T, w *world) {
		w.next(func(l *fakeLink) { withHistories(l); silent(l) })
		c, l := w.connected(edgeA)
		if got := <-publishConfirmed(c, WithKey("k")); !errors.Is(got.err, ErrOutcomeUnknown) || got.after != confirmTimeout {
			t.Errorf("an edge that never answers: %+v", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantError(t, errorOf(c.PublishConfirmed(ctx, "t", "x", nil, WithKey("k"))), ErrTimeout)
		if n := len(l.published()); n != 2 || len(c.current.confirms.waiting) != 0 {
			t.Errorf("%d publishes, and %d that were given up are waited for", n, len(c.current.confirms.waiting))
		}
		keyed := publishConfirmed(c, WithKey("k"))
		synctest.Wait()
		w.set(edgeA, errUnreachable)
		l.end(1001)
		if got := <-keyed; !errors.Is(got.err, ErrOutcomeUnknown) || got.after != confirmTimeout {
			t.Errorf("no edge any more: %+v", got)
		}
		if got := <-publishConfirmed(c, WithKey("k")); !errors.Is(got.err, ErrDisconnected) || got.after != confirmTimeout {
			t.Errorf("never sent: %+v", got)
		}
		waits := publishConfirmed(c, WithKey("k"))
		synctest.Wait()
		c.Close()
		wantError(t, (<-waits).err, ErrClosed)
	})
	bubble(t, "an edge that cannot say whether it is stored is asked again, if there is a key",
		func(t *testing.T, w *world) {
			tries := 0
			w.next(func(l *fakeLink) {
				withHistories(l)
				l.judge = func(p wire.Publish) string {
					if tries++; tries < 3 {
						return string(wire.AppendErrPub(nil, wire.CodeUnconfirmed, p.ID))
					}
					return string(wire.AppendOKPubAt(nil, p.ID, at(3)))
				}
			})
			c, _ := w.connected(edgeA)
			if got := <-publishConfirmed(c, WithKey("k")); got.err != nil || got.position != at(3).String() || got.after < 500*time.Millisecond {
				t.Errorf("got %+v", got)
			}
		})
	bubble(t, "a connection is not left in a move before it has answered what was published on it",
		func(t *testing.T, w *world) {
			w.next(func(l *fakeLink) { withHistories(l); silent(l) })
			c, first := w.connected(edgeA, edgeB)
			plain := publishConfirmed(c)
			synctest.Wait()
			w.next(withHistories)
			first.line("RECONNECT")
			event[Moving](w)
			time.Sleep(settleTime + time.Second)
			synctest.Wait()
			noEvent[Moved](w)
			first.line(fmt.Sprintf("OK:PUB:%d", first.published()[0].ID))
			equal(t, "(<-plain).err", (<-plain).err, nil)
			event[Moved](w)
			if got := <-publishConfirmed(c); got.err != nil || got.after != 0 {
				t.Errorf("got %+v", got)
			}
		})
	bubble(t, "many at once, in no order of their answers", func(t *testing.T, w *world) {
		w.next(func(l *fakeLink) { withHistories(l); silent(l) })
		c, l := w.connected(edgeA)
		var group sync.WaitGroup
		for range 100 {
			group.Go(func() {
				if got := <-publishConfirmed(c); got.err != nil || got.position == "" {
					t.Errorf("got %+v", got)
				}
			})
		}
		synctest.Wait()
		pubs := l.published()
		slices.Reverse(pubs)
		for _, p := range pubs {
			l.in <- wire.AppendOKPubAt(nil, p.ID, at(uint64(p.ID)))
		}
		group.Wait()
		if len(pubs) != 100 || len(c.current.confirms.waiting) > 0 {
			t.Errorf("%d publishes, %d wait", len(pubs), len(c.current.confirms.waiting))
		}
	})
}

// Once an attempt is unknown, only a position or ErrOutcomeUnknown ends the publish, whatever comes later: the error
// is not to be taken by an application for a proof that it was not stored.
func TestPublishStaysUnknown(t *testing.T) {
	certain := []error{ErrHistoryUnavailable, ErrTryLater, ErrPermissionDenied, ErrPayloadTooLarge, ErrNoHistory, ErrTokenRevoked, ErrClosed, ErrDisconnected}
	for name, test := range map[string]struct {
		second string // the answer to the second attempt
		then   func(c *Client, l *fakeLink, cancel func())
		stored bool
		also   error // that it is, too
	}{
		"out of reach":      {second: "history_unavailable", stored: true},
		"try later":         {second: "try_later", stored: true},
		"not known again":   {second: "unconfirmed", stored: true},
		"not allowed":       {second: "permission_denied"},
		"too large":         {second: "payload_too_large"},
		"not kept":          {second: "no_history"},
		"a later edge's":    {second: "not_on_a_sunday"},
		"over a read limit": {then: func(_ *Client, l *fakeLink, _ func()) { l.end(1009) }},
		"revoked":           {then: func(_ *Client, l *fakeLink, _ func()) { l.line("ERR:token_revoked"); l.end(4403) }},
		"closed":            {then: func(c *Client, _ *fakeLink, _ func()) { _ = c.Close() }},
		"cancelled":         {then: func(_ *Client, _ *fakeLink, cancel func()) { cancel() }, also: context.Canceled},
	} {
		bubble(t, name, func(t *testing.T, w *world) {
			tries := 0
			w.next(func(l *fakeLink) {
				withHistories(l)
				l.judge = func(p wire.Publish) string {
					switch tries++; {
					case tries == 1:
						return string(wire.AppendErrPub(nil, wire.CodeUnconfirmed, p.ID))
					case tries == 2 && test.then != nil:
						return ""
					case tries == 2:
						return fmt.Sprintf("ERR:%s:PUB:%d", test.second, p.ID)
					}
					return string(wire.AppendOKPubAt(nil, p.ID, at(3)))
				}
			})
			c, l := w.connected(edgeA)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan confirmedAs, 1)
			go func() {
				position, err := c.PublishConfirmed(ctx, "t", "x", make([]byte, 5000), WithKey("k"))
				done <- confirmedAs{position: position, err: err}
			}()
			time.Sleep(2 * time.Second) // until the second attempt
			if test.then != nil {
				test.then(c, l, cancel)
			}
			got, tries := <-done, len(l.published())
			if test.stored {
				if got.err != nil || got.position != at(3).String() || tries != 3 {
					t.Errorf("got %+v after %d tries", got, tries)
				}
				return
			}
			wantError(t, got.err, ErrOutcomeUnknown, name)
			if test.also != nil {
				wantError(t, got.err, test.also, name)
			}
			for _, e := range certain {
				if errors.Is(got.err, e) {
					t.Errorf("%v is %v", got.err, e)
				}
			}
			equal(t, "tries", tries, 2)
		})
	}
	bubble(t, "out of reach for 100 s", func(t *testing.T, w *world) {
		w.next(func(l *fakeLink) { withHistories(l); silent(l) })
		c, l := w.connected(edgeA)
		keyed := publishConfirmed(c, WithKey("k"))
		synctest.Wait()
		w.next(func(l *fakeLink) {
			withHistories(l)
			l.judge = func(p wire.Publish) string { return string(wire.AppendErrPub(nil, wire.CodeHistoryUnavailable, p.ID)) }
		})
		l.end(1001)
		if got := <-keyed; !errors.Is(got.err, ErrOutcomeUnknown) || got.after != confirmTimeout {
			t.Errorf("got %+v", got)
		}
	})
}

// An edge that confirms nothing is not sent what it does not know.
func TestPublishConfirmedByNobody(t *testing.T) {
	for _, features := range []string{"FEATURES:link", "ERR:bad_request"} {
		bubble(t, features, func(t *testing.T, w *world) {
			w.next(func(l *fakeLink) { l.answer[wire.LineFeatures] = features })
			c, l := w.connected(edgeA)
			wantError(t, (<-publishConfirmed(c, WithKey("k"))).err, ErrNoHistory)
			if pubs := l.published(); len(pubs) > 0 {
				t.Errorf("the edge has got %+v", pubs)
			}
		})
	}
}

// The edge closes with 1009 when a message is over its read limit. The largest publish is
// refused and not sent again; the others are repeated.
func TestPublishTooLarge(t *testing.T) {
	for name, test := range map[string]struct {
		confirmed []int // bytes of payloads, each with a key
		plain     []int
		refused   []int  // of confirmed
		event     string // the channel of the event; empty: none
	}{
		"the largest":            {confirmed: []int{5000, 9000, 6000, 9000}, refused: []int{9000, 9000}},
		"one that nobody awaits": {confirmed: []int{5000}, plain: []int{6000, 9000, 9000}, event: "9000"},
		"of the same size":       {confirmed: []int{5000, 9000}, plain: []int{9008}, refused: []int{9000}, event: "9008"},
		"not what is small":      {confirmed: []int{1, 4000}, plain: []int{4000}},
	} {
		bubble(t, name, func(t *testing.T, w *world) {
			w.next(func(l *fakeLink) { withHistories(l); silent(l) })
			c, l := w.connected(edgeA)
			var refused []int
			var stored int
			var mu sync.Mutex
			var calls sync.WaitGroup
			for _, size := range test.confirmed {
				calls.Go(func() {
					_, err := c.PublishConfirmed(context.Background(), "t", "conf", make([]byte, size), WithKey("k"))
					mu.Lock()
					defer mu.Unlock()
					var e *Error
					switch {
					case err == nil:
						stored++
					case errors.As(err, &e) && e.Code == Code(wire.CodePayloadTooLarge) && e.Channel == "conf":
						refused = append(refused, size)
					default:
						t.Errorf("%d bytes: %v", size, err)
					}
				})
			}
			for _, size := range test.plain {
				must(t, c.Publish(t.Context(), "t", fmt.Sprint(size), make([]byte, size)))
			}
			synctest.Wait()
			event[Connected](w)
			w.next(withHistories)
			l.end(1009)
			if test.event != "" {
				equal[Event](t, "event", <-w.events, refusedPublish("t", test.event, Code(wire.CodePayloadTooLarge)))
			}
			unknown := len(test.plain)
			if test.event != "" {
				unknown-- // that is known
			}
			if unknown > 0 {
				equal[Event](t, "event", <-w.events, PublishUnknown{edgeA, WebSocket, unknown})
			}
			if e, ok := (<-w.events).(Disconnected); !ok || e.Err.(*Error).Close != 1009 {
				t.Errorf("got %+v, want Disconnected", e)
			}
			calls.Wait()
			if !slices.Equal(refused, test.refused) || stored != len(test.confirmed)-len(refused) {
				t.Errorf("refused: %v, want %v; stored: %d", refused, test.refused, stored)
			}
			if again := (<-w.links).published(); len(again) != stored {
				t.Errorf("%d publishes were repeated, want %d", len(again), stored)
			}
		})
	}
}
