package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/wire"
)

// bubble runs a subtest in virtual time, in a world of its own.
func bubble(t *testing.T, name string, f func(t *testing.T, w *world)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) { f(t, newWorld(t)) })
	})
}

var must, noError = testcheck.Must, testcheck.NoError

func wantError(t *testing.T, got, want error, of ...any) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%serror %v, want %v", fmt.Sprint(of...), got, want)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

func atMost(t *testing.T, what string, got, most time.Duration) {
	t.Helper()
	if got > most {
		t.Errorf("%s %v, want at most %v", what, got, most)
	}
}

func wantStrings(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// wantEvent awaits the next event of a type.
func wantEvent[E interface {
	comparable
	Event
}](w *world, want E) {
	w.t.Helper()
	equal(w.t, name(want), event[E](w), want)
}

// noEvent fails if an event of a type waits, and takes what waits before it.
func noEvent[E Event](w *world) {
	w.t.Helper()
	synctest.Wait()
	for len(w.events) > 0 {
		if e, ok := (<-w.events).(E); ok {
			w.t.Errorf("got %T%+v", e, e)
		}
	}
}

// wantNone fails if a channel has something, or is closed.
func wantNone[E any](t *testing.T, what string, from <-chan E) {
	t.Helper()
	synctest.Wait()
	select {
	case e := <-from:
		t.Errorf("%s: %+v", what, e)
	default:
	}
}

// wantLines is for all lines that the edge has got, without FEATURES.
func wantLines(t *testing.T, l *fakeLink, want ...string) {
	t.Helper()
	synctest.Wait()
	lines, _ := l.sent()
	wantStrings(t, "the edge has got", lines, want...)
}

// wantFrames is for all publishes, as channel=payload, that the edge has got.
func wantFrames(t *testing.T, l *fakeLink, want ...string) {
	t.Helper()
	synctest.Wait()
	_, frames := l.sent()
	wantStrings(t, "the edge has got", frames, want...)
}

func mustSubscribe(t *testing.T, c *Client, pattern string, opts ...SubscribeOption) *Subscription {
	t.Helper()
	s, err := c.Subscribe(context.Background(), "t", pattern, opts...)
	must(t, err)
	return s
}

func publish(t *testing.T, c *Client, payload string) {
	t.Helper()
	noError(t, c.Publish(t.Context(), "t", "x", []byte(payload)))
}

// payloads reads n messages of a subscription, and says which are late.
func payloads(t *testing.T, s *Subscription, n int) (got []string) {
	t.Helper()
	for range n {
		m, ok := <-s.Messages()
		if !ok {
			t.Fatalf("the subscription ended (%v) after %q", s.Err(), got)
		}
		text := string(m.Payload)
		if m.Late {
			text += " late"
		}
		got = append(got, text)
	}
	return got
}

func wantPayloads(t *testing.T, s *Subscription, want ...string) {
	t.Helper()
	wantStrings(t, s.Pattern()+" has got", payloads(t, s, len(want)), want...)
}

// reaches has a link bring what the subscription to x must have next.
func reaches(t *testing.T, l *fakeLink, s *Subscription, payloads ...string) {
	t.Helper()
	l.bring(payloads...)
	wantPayloads(t, s, payloads...)
}

// wantEnd is for a subscription that has given all, and ended with an error, or without.
func wantEnd(t *testing.T, s *Subscription, want error) {
	t.Helper()
	if m, ok := <-s.Messages(); ok {
		t.Errorf("%s has got %q, want its end", s.Pattern(), m.Payload)
	}
	wantError(t, s.Err(), want)
}

// async returns what a call returns that is made at the same time.
func async(call func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	return done
}

// errorOf is what a call of two results has failed with.
func errorOf[T any](_ T, err error) error { return err }

// waiting takes what can be read without waiting.
func waiting(s *Subscription) (got []string) {
	for range len(s.Messages()) {
		got = append(got, string((<-s.Messages()).Payload))
	}
	return got
}

func wantWaiting(t *testing.T, s *Subscription, n int) {
	t.Helper()
	synctest.Wait()
	if got := waiting(s); len(got) != n {
		t.Errorf("%q can be read, want %d messages", got, n)
	}
}

// refusedPublish is the event of a publish that an edge refuses without a reason.
func refusedPublish(tenant, channel string, code Code) PublishError {
	return PublishError{tenant, channel, code, why(toPublish, code, tenant, channel, wire.Denial{})}
}
