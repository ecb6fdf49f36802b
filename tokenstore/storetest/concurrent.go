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

// patience is how long an event may take before a test fails.
const patience = 10 * time.Second

// parallel runs fn n times at once and waits for all.
func parallel(n int, fn func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			fn(i)
		})
	}
	close(start)
	wg.Wait()
}

// watch collects changes; the channel has room for n.
func watch(t *testing.T, s tokenstore.Store, n int) <-chan tokenstore.Change {
	t.Helper()
	changes := make(chan tokenstore.Change, n)
	t.Cleanup(s.Watch(func(c tokenstore.Change) { changes <- c }))
	return changes
}

func next(t *testing.T, changes <-chan tokenstore.Change) tokenstore.Change {
	t.Helper()
	select {
	case c := <-changes:
		return c
	case <-time.After(patience):
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

func testCloseWaits(t *testing.T, s tokenstore.Store) {
	create(t, s, record(access, "seed", "x"))
	started := make(chan struct{}, 8)
	closed := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := 0; ; n++ {
				_, err := s.Create(t.Context(), record(access, fmt.Sprintf("%d-%d", i, n), "x"))
				if n == 0 {
					started <- struct{}{}
				}
				if errors.Is(err, tokenstore.ErrClosed) {
					return
				}
				if err != nil {
					t.Errorf("Create during Close: %v", err)
					return
				}
			}
		})
	}
	for range 8 {
		<-started
	}
	go func() {
		defer close(closed)
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}()
	wg.Wait()
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("Close does not return")
	}
}

func testCreateRace(t *testing.T, s tokenstore.Store) {
	for round := range 20 {
		id := fmt.Sprint("race-", round)
		var mu sync.Mutex
		wins := 0
		parallel(8, func(i int) {
			_, err := s.Create(t.Context(), record(access, id, fmt.Sprint(i)))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				wins++
			case !errors.Is(err, tokenstore.ErrExists):
				t.Errorf("Create: %v", err)
			}
		})
		if wins != 1 {
			t.Fatalf("%d of 8 created the record", wins)
		}
	}
}

// increment adds one to a counter by compare-and-swap.
func increment(t *testing.T, s tokenstore.Store, id string) {
	for {
		rec, err := s.Get(t.Context(), access, id)
		if err != nil {
			t.Errorf("Get: %v", err)
			return
		}
		n, err := strconv.Atoi(string(rec.Value))
		if err != nil {
			t.Errorf("value: %v", err)
			return
		}
		rec.Value = strconv.AppendInt(nil, int64(n+1), 10)
		_, err = s.Update(t.Context(), rec)
		if err == nil {
			return
		}
		if !errors.Is(err, tokenstore.ErrConflict) {
			t.Errorf("Update: %v", err)
			return
		}
	}
}

func testUpdateRace(t *testing.T, s tokenstore.Store) {
	const workers, rounds = 8, 20
	create(t, s, record(access, "n", "0"))
	parallel(workers, func(int) {
		for range rounds {
			increment(t, s, "n")
		}
	})
	rec, err := s.Get(t.Context(), access, "n")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(rec.Value), fmt.Sprint(workers*rounds); got != want {
		t.Errorf("counter = %s, want %s", got, want)
	}
}

func testDeleteRace(t *testing.T, s tokenstore.Store) {
	for round := range 50 {
		rec := create(t, s, record(access, fmt.Sprint("r", round), "x"))
		var errs [2]error
		parallel(2, func(i int) {
			if i == 0 {
				errs[i] = s.Delete(t.Context(), access, rec.ID, rec.Version)
			} else {
				_, errs[i] = s.Update(t.Context(), rec)
			}
		})
		_, err := s.Get(t.Context(), access, rec.ID)
		switch {
		case errs[0] == nil && errors.Is(errs[1], tokenstore.ErrNotFound) && errors.Is(err, tokenstore.ErrNotFound):
		case errors.Is(errs[0], tokenstore.ErrConflict) && errs[1] == nil && err == nil:
		default:
			t.Fatalf("Delete: %v, Update: %v, then Get: %v", errs[0], errs[1], err)
		}
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
	case <-time.After(patience):
		t.Fatal("not every change was reported")
	}
	for id, got := range last {
		rec, err := s.Get(t.Context(), access, id)
		if err != nil || rec.Version != got.version {
			t.Errorf("%s: last change has version %d, the record has %d (%v)", id, got.version, rec.Version, err)
		}
	}
}

// Whoever keeps an index of a store by watching it finds in it what was written.
func testWatchFirst(t *testing.T, s tokenstore.Store) {
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
