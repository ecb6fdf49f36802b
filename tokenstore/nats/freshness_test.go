package nats

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// The age of a copy counts from the time for which it was confirmed, not from when the
// confirmation arrived, and watchers are told once each time that it becomes too old.
func TestFreshness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s freshness
		s.start(10*time.Second, 5*time.Second)
		var told atomic.Int32
		s.watch(func() { told.Add(1) })
		check := func(usable bool, want int32) {
			t.Helper()
			synctest.Wait()
			err := s.awaitUsable(t.Context())
			if (err == nil) != usable || err != nil && !errors.Is(err, tokenstore.ErrUnavailable) {
				t.Errorf("error %v; usable: want %v", err, usable)
			}
			if told := told.Load(); told != want {
				t.Errorf("told %d times, want %d", told, want)
			}
		}
		check(false, 0) // waits, and has no copy
		s.confirm(time.Now())
		check(true, 0)
		time.Sleep(8 * time.Second)
		check(true, 0)
		s.confirm(time.Now().Add(-5 * time.Second))
		time.Sleep(4 * time.Second)
		check(true, 0)
		s.confirm(time.Now().Add(-10 * time.Second)) // an answer that was on its way for longer
		time.Sleep(time.Second)
		check(false, 1)
		s.confirm(time.Now().Add(-11 * time.Second))
		time.Sleep(time.Minute)
		check(false, 1)
		s.confirm(time.Now())
		check(true, 1)
		time.Sleep(10 * time.Second)
		check(false, 2)
		s.stop()
	})
}

// After a write lost against one that was not in the copy yet, the copy has the winner:
// otherwise a caller that tries again in a loop might never end.
func TestConflictUpdatesCopy(t *testing.T) {
	t.Parallel()
	s, other, _ := openTwo(t)
	one := put(t, s, "a", time.Time{})
	two, err := other.Update(t.Context(), one)
	must(t, err)
	await(t, "the watch has brought it", func() bool {
		rec, _ := s.mirror.get(access, "a")
		return rec.Version == two
	})
	s.mirror.mu.Lock()
	s.mirror.entries[entryKey{access, "a"}] = entry{record: one}
	s.mirror.mu.Unlock()
	if _, err := s.Update(t.Context(), one); !errors.Is(err, tokenstore.ErrConflict) {
		t.Errorf("error %v", err)
	}
	if rec, ok := s.mirror.get(access, "a"); !ok || rec.Version != two {
		t.Errorf("the copy has %+v, want version %d", rec, two)
	}
}
