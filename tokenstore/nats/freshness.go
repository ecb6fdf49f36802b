package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// freshness is whether the copy may be used: it was read, and confirmed not too long
// ago.
type freshness struct {
	maxStale time.Duration
	patience time.Duration // how long a call waits for the first copy
	ready    chan struct{} // closed when the whole bucket has been read once

	mu          sync.Mutex    // guards the rest
	confirmedAt time.Time     // when the copy was last known to be what the bucket has
	answeredAt  time.Time     // when the leader last answered a probe
	pulseAt     time.Time     // when the process last ran, see pulse; zero: nobody looks
	resumedAt   time.Time     // when it went on after it had stood still
	stoodStill  time.Duration // for how long, until takeStandstill
	stale       bool          // confirmedAt is too long ago
	lastError   error         // why the copy does not follow the bucket; nil: it does
	errorSince  time.Time     // when it stopped, with this error or an earlier one
	refused     chan struct{} // closed while lastError is errRefused
	timer       *time.Timer   // of expire; nil: the copy was never confirmed
	watchers    []*func()
}

func (f *freshness) start(maxStale, patience time.Duration) {
	f.patience, f.maxStale, f.ready, f.refused = patience, maxStale, make(chan struct{}), make(chan struct{})
}

// loaded reports whether there has been a copy at all.
func (f *freshness) loaded() bool {
	select {
	case <-f.ready:
		return true
	default:
		return false
	}
}

// usable returns nil if the copy may be used now.
func (f *freshness) usable() error {
	if !f.loaded() {
		return fmt.Errorf("%w: the bucket could not be read yet: %s", tokenstore.ErrUnavailable, f.lastErrorText())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.stale && f.lastError != nil:
		return fmt.Errorf("%w for longer than %v: %s", tokenstore.ErrUnavailable, f.maxStale, f.lastError.Error())
	case f.stale:
		return fmt.Errorf("%w for longer than %v", tokenstore.ErrUnavailable, f.maxStale)
	}
	return nil
}

// awaitUsable is usable, but waits for the first copy, unless the servers refuse to make
// the bucket.
func (f *freshness) awaitUsable(ctx context.Context) error {
	if !f.loaded() {
		timer := time.NewTimer(f.patience)
		defer timer.Stop()
		select {
		case <-f.ready:
		case <-f.refusal():
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return f.usable()
}

// setError notes why the copy does not follow the bucket.
func (f *freshness) setError(trouble error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noteError(trouble)
}

// noteError is setError for callers that hold f.mu.
func (f *freshness) noteError(trouble error) {
	if f.lastError == nil {
		f.errorSince = time.Now()
	}
	was, is := errors.Is(f.lastError, errRefused), errors.Is(trouble, errRefused)
	switch {
	case is && !was:
		close(f.refused)
	case was && !is:
		f.refused = make(chan struct{})
	}
	f.lastError = trouble
}

// fault returns why the copy does not follow the bucket, and since when; nil: it does.
func (f *freshness) fault() (since time.Time, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.errorSince, f.lastError
}

// refusal returns a channel that is closed when the servers refuse to make the bucket.
func (f *freshness) refusal() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refused
}

// lastErrorText is what setError noted.
func (f *freshness) lastErrorText() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lastError == nil {
		return "it is slow"
	}
	return f.lastError.Error()
}

// confirm notes that the copy was, at a time, what the bucket had.
func (f *freshness) confirm(at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timer == nil {
		close(f.ready)
		f.timer = time.AfterFunc(f.maxStale, f.expire)
	}
	if at.After(f.confirmedAt) {
		f.confirmedAt = at
	}
	f.noteError(nil)
	left := time.Until(f.confirmedAt.Add(f.maxStale))
	if left > 0 {
		f.stale = false
	}
	f.timer.Reset(left)
}

// lastConfirmed is when the copy was last confirmed; the zero time: never.
func (f *freshness) lastConfirmed() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.confirmedAt
}

// expire tells the watchers that the copy has become too old, unless it was confirmed
// meanwhile. The timer calls it.
func (f *freshness) expire() {
	f.mu.Lock()
	if f.stale || time.Until(f.confirmedAt.Add(f.maxStale)) > 0 {
		f.mu.Unlock()
		return
	}
	f.stale = true
	watchers := slices.Clone(f.watchers)
	f.mu.Unlock()
	for _, fn := range watchers {
		(*fn)()
	}
}

// watch calls fn whenever the copy becomes too old.
func (f *freshness) watch(fn func()) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watchers = append(f.watchers, &fn)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.watchers = slices.DeleteFunc(slices.Clone(f.watchers), func(w *func()) bool { return w == &fn })
	}
}

// stop stops the timer.
func (f *freshness) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timer != nil {
		f.timer.Stop()
	}
}
