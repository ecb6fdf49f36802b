package nats_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

// openTwo opens two stores on one bucket.
func openTwo(t *testing.T) (a, b testStore) {
	t.Helper()
	connect := natstest.Connect(natstest.Server(t))
	a, b = openStore(t, connect), openStore(t, connect)
	awaitReady(t, a)
	awaitReady(t, b)
	return a, b
}

// A token that was just issued on one edge is used on another one, before that
// one has heard of it.
func TestCreatedElsewhere(t *testing.T) {
	a, b := openTwo(t)
	for i := range 100 {
		rec := record(fmt.Sprint(i), "x")
		rec.DeleteAfter = time.Now().Add(time.Hour).Truncate(time.Second)
		wantRecord(t, b, create(t, a, rec))
	}
	_, err := b.Create(t.Context(), record("0", "y"))
	wantErr(t, "Create of what exists", err, tokenstore.ErrExists)
}

func TestWatchElsewhere(t *testing.T) {
	a, b := openTwo(t)
	changes := watch(t, b)

	rec := create(t, a, record("a", "one"))
	if c := nextOf(t, changes, "a"); c.Deleted || !equal(c.Record, rec) {
		t.Errorf("change %+v, want %+v", c, rec)
	}
	rec = update(t, a, rec, "two")
	if c := nextOf(t, changes, "a"); c.Deleted || !equal(c.Record, rec) {
		t.Errorf("change %+v, want %+v", c, rec)
	}
	wantRecord(t, b, rec)

	remove(t, a, rec)
	c := nextOf(t, changes, "a")
	if !c.Deleted || c.Record.Version <= rec.Version || string(c.Record.Value) != "two" {
		t.Errorf("change %+v, want the deletion of %+v with a new version", c, rec)
	}
	_, err := b.Get(t.Context(), access, "a")
	wantErr(t, "Get after Delete elsewhere", err, tokenstore.ErrNotFound)
	if list, err := all(t, b); err != nil || len(list) != 0 {
		t.Errorf("Scan after Delete elsewhere = %v, %v", list, err)
	}
	_, err = b.Update(t.Context(), rec)
	wantErr(t, "Update after Delete elsewhere", err, tokenstore.ErrNotFound)

	again := create(t, b, record("a", "three"))
	if again.Version <= c.Record.Version {
		t.Errorf("version %d after %d", again.Version, c.Record.Version)
	}
	wantRecord(t, a, again)
}

// race makes calls on both stores at once, and counts those without an error.
// The others must have one of the errors that are expected.
func race(t *testing.T, a, b testStore, n int, call func(s testStore, i int) error, expected ...error) (won int64) {
	t.Helper()
	var wg sync.WaitGroup
	var wins atomic.Int64
	begin := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-begin
			err := call([]testStore{a, b}[i%2], i)
			if err == nil {
				wins.Add(1)
				return
			}
			for _, e := range expected {
				if errors.Is(err, e) {
					return
				}
			}
			t.Errorf("call %d: %v", i, err)
		})
	}
	close(begin)
	wg.Wait()
	return wins.Load()
}

func TestOneUpdateWins(t *testing.T) {
	a, b := openTwo(t)
	rec := create(t, a, record("a", "0"))
	for round := range 20 {
		var winner atomic.Pointer[tokenstore.Record]
		won := race(t, a, b, 16, func(s testStore, i int) error {
			next := rec
			next.Value = fmt.Append(nil, round, i)
			var err error
			if next.Version, err = s.Update(t.Context(), next); err == nil {
				winner.Store(&next)
			}
			return err
		}, tokenstore.ErrConflict)
		if won != 1 {
			t.Fatalf("%d of 16 updates of one version succeeded", won)
		}
		rec = *winner.Load()
		for _, s := range []testStore{a, b} {
			eventually(t, "both stores have the winner", func() bool {
				got, err := s.Get(t.Context(), access, "a")
				return err == nil && equal(got, rec)
			})
		}
	}
}

func TestOneCreateWins(t *testing.T) {
	a, b := openTwo(t)
	for round := range 20 {
		id := fmt.Sprint(round % 2) // also over deleted ones
		var version atomic.Uint64
		won := race(t, a, b, 16, func(s testStore, i int) error {
			v, err := s.Create(t.Context(), record(id, fmt.Sprint(i)))
			version.Add(v)
			return err
		}, tokenstore.ErrExists)
		if won != 1 {
			t.Fatalf("%d of 16 calls created the record", won)
		}
		won = race(t, a, b, 4, func(s testStore, _ int) error {
			return s.Delete(t.Context(), access, id, version.Load())
		}, tokenstore.ErrNotFound, tokenstore.ErrConflict)
		if won != 1 {
			t.Fatalf("%d of 4 calls deleted the record", won)
		}
	}
}

// A probe that is in flight while writes arrive must not look as if the bucket had lost
// revisions: then it would be read again, which is expensive.
func TestWritesDoNotDisturb(t *testing.T) {
	t.Parallel()
	a, b := openTwo(t)
	var wg sync.WaitGroup
	end := time.Now().Add(4 * time.Second) // some questions
	for i := range 4 {
		wg.Go(func() {
			rec := record(fmt.Sprint(i), "x")
			var err error
			rec.Version, err = a.Create(t.Context(), rec)
			for err == nil && time.Now().Before(end) {
				rec.Version, err = a.Update(t.Context(), rec)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, s := range []testStore{a, b} {
		for line := range strings.Lines(logText(s.logs)) {
			if !strings.Contains(line, "the connection was renewed") { // it says so of the first one, too
				t.Errorf("the store logs %s", line)
			}
		}
	}
}
