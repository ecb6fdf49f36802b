package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// watch collects changes; the channel has room for n.
func watch(t *testing.T, s tokenstore.Store, n int) <-chan tokenstore.Change {
	t.Helper()
	changes := make(chan tokenstore.Change, n)
	t.Cleanup(s.Watch(func(c tokenstore.Change) { changes <- c }))
	return changes
}

// next waits for a change.
func next(t *testing.T, changes <-chan tokenstore.Change) tokenstore.Change {
	t.Helper()
	select {
	case c := <-changes:
		return c
	case <-time.After(eventTimeout):
		t.Fatal("no change was reported")
		return tokenstore.Change{}
	}
}

func testWatch(t *testing.T, s tokenstore.Store) {
	changes := watch(t, s, 10)
	second := watch(t, s, 10)

	rec := record(access, "a", "one")
	rec.DeleteAfter = time.Now().Add(time.Hour).Truncate(time.Second)
	rec = create(t, s, rec)
	if c := next(t, changes); c.Deleted || !equal(c.Record, rec) {
		t.Errorf("change %+v, want %+v", c, rec)
	}
	if _, err := s.Create(t.Context(), rec); !errors.Is(err, tokenstore.ErrExists) {
		t.Fatal(err)
	}
	rec.Value = []byte("two")
	var err error
	if rec.Version, err = s.Update(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if c := next(t, changes); c.Deleted || !equal(c.Record, rec) {
		t.Errorf("change %+v, want %+v: a refused write must not be reported", c, rec)
	}
	if err := s.Delete(t.Context(), access, "a", rec.Version); err != nil {
		t.Fatal(err)
	}
	c := next(t, changes)
	if !c.Deleted || c.Record.Version <= rec.Version {
		t.Errorf("change %+v, want a deletion with a version above %d", c, rec.Version)
	}
	c.Record.Version = rec.Version
	if !equal(c.Record, rec) {
		t.Errorf("deletion carries %+v, want %+v", c.Record, rec)
	}
	for range 3 {
		next(t, second)
	}
}

func testWatchStop(t *testing.T, s tokenstore.Store) {
	stopped := make(chan tokenstore.Change, 10)
	stop := s.Watch(func(c tokenstore.Change) { stopped <- c })
	var inside func()
	once := make(chan tokenstore.Change, 10)
	inside = s.Watch(func(c tokenstore.Change) { inside(); once <- c })
	others := watch(t, s, 10)

	create(t, s, record(access, "a", "x"))
	next(t, stopped)
	next(t, once)
	next(t, others)
	stop()
	stop()
	create(t, s, record(access, "b", "x"))
	next(t, others)
	create(t, s, record(access, "c", "x"))
	next(t, others) // by now a call for b would have been made
	if len(stopped) != 0 || len(once) != 0 {
		t.Error("a stopped watch was called")
	}
}

func testWatchOrder(t *testing.T, s tokenstore.Store) {
	const ids, workers, rounds = 3, 6, 20
	type seen struct {
		version uint64
		counter int
	}
	var mu sync.Mutex
	last := map[string]seen{}
	changes := 0
	all := make(chan struct{})
	stop := s.Watch(func(c tokenstore.Change) {
		mu.Lock()
		defer mu.Unlock()
		n, _ := strconv.Atoi(string(c.Record.Value))
		before, known := last[c.Record.ID]
		if known && (c.Record.Version <= before.version || n != before.counter+1) {
			t.Errorf("%s: version %d, value %d after version %d, value %d",
				c.Record.ID, c.Record.Version, n, before.version, before.counter)
		}
		last[c.Record.ID] = seen{c.Record.Version, n}
		if changes++; changes == ids+workers*rounds {
			close(all)
		}
	})
	defer stop()
	for i := range ids {
		create(t, s, record(access, fmt.Sprint(i), "0"))
	}
	parallel(workers, func(i int) {
		for range rounds {
			increment(t, s, fmt.Sprint(i%ids))
		}
	})
	select {
	case <-all:
	case <-time.After(eventTimeout):
		t.Fatal("not every change was reported")
	}
	for id, got := range last {
		rec, err := s.Get(t.Context(), access, id)
		if err != nil || rec.Version != got.version {
			t.Errorf("%s: last change has version %d, the record has %d (%v)", id, got.version, rec.Version, err)
		}
	}
}

// A write is reported before it returns: so an index that is kept up to date by Watch
// has it by then.
func testWatchedBeforeReturn(t *testing.T, s tokenstore.Store) {
	var mu sync.Mutex
	seen := map[string]tokenstore.Change{}
	defer s.Watch(func(c tokenstore.Change) {
		mu.Lock()
		defer mu.Unlock()
		seen[c.Record.ID] = c
	})()
	check := func(what, id string, version uint64, deleted bool) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if c := seen[id]; c.Deleted != deleted || c.Record.Version < version {
			t.Errorf("%s of %s has returned; watched so far: version %d, deleted %v", what, id, c.Record.Version, c.Deleted)
		}
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 10 {
				rec := record(access, fmt.Sprint(i, "-", n), "x")
				var err error
				if rec.Version, err = s.Create(t.Context(), rec); err != nil {
					t.Error(err)
					return
				}
				check("Create", rec.ID, rec.Version, false)
				if rec.Version, err = s.Update(t.Context(), rec); err != nil {
					t.Error(err)
					return
				}
				check("Update", rec.ID, rec.Version, false)
				if err := s.Delete(t.Context(), access, rec.ID, rec.Version); err != nil {
					t.Error(err)
					return
				}
				check("Delete", rec.ID, rec.Version+1, true)
			}
		})
	}
	wg.Wait()
}
