package nats

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// state is how far the copy can be trusted.
type state struct {
	maxStale time.Duration
	ready    chan struct{} // closed when all of the bucket has been read once

	mu       sync.Mutex // guards the rest
	fresh    time.Time  // when the copy was last known to be what the bucket has
	stale    bool       // that is too long ago
	trouble  error      // why the copy does not follow the bucket, the last time
	timer    *time.Timer
	watchers []*func()
}

func (s *state) start(maxStale time.Duration) {
	s.maxStale, s.ready = maxStale, make(chan struct{})
}

// begun reports whether there has been a copy.
func (s *state) begun() bool {
	select {
	case <-s.ready:
		return true
	default:
		return false
	}
}

// now returns nil if the copy may be used now.
func (s *state) now() error {
	if !s.begun() {
		return fmt.Errorf("%w: the bucket could not be read yet: %s", tokenstore.ErrUnavailable, s.why())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stale {
		return fmt.Errorf("%w for longer than %v", tokenstore.ErrUnavailable, s.maxStale)
	}
	return nil
}

// usable is now, but waits for the first copy.
func (s *state) usable(ctx context.Context) error {
	if !s.begun() {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-s.ready:
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.now()
}

// note keeps why the copy does not follow the bucket.
func (s *state) note(trouble error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = trouble
}

// why is what was noted.
func (s *state) why() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trouble == nil {
		return "it is slow"
	}
	return s.trouble.Error()
}

// confirm notes that the copy was, at a time, what the bucket had.
func (s *state) confirm(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer == nil {
		close(s.ready)
		s.timer = time.AfterFunc(s.maxStale, s.expire)
	}
	if at.After(s.fresh) {
		s.fresh = at
	}
	left := time.Until(s.fresh.Add(s.maxStale))
	if left > 0 {
		s.stale = false
	}
	s.timer.Reset(left)
}

// since is when the copy was last confirmed; the zero time: never.
func (s *state) since() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fresh
}

func (s *state) expire() {
	s.mu.Lock()
	if s.stale || time.Until(s.fresh.Add(s.maxStale)) > 0 {
		s.mu.Unlock()
		return
	}
	s.stale = true
	watchers := slices.Clone(s.watchers)
	s.mu.Unlock()
	for _, fn := range watchers {
		(*fn)()
	}
}

// watch calls fn whenever the copy becomes too old.
func (s *state) watch(fn func()) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, &fn)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.watchers = slices.DeleteFunc(slices.Clone(s.watchers), func(f *func()) bool { return f == &fn })
	}
}

// end stops the clock.
func (s *state) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
}
