package nats

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// A token that was just issued on one edge is used on another one, before that
// one has heard of it. What happens to it later is heard of there.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	a, b, _ := openTwo(t)
	for i := range 100 {
		rec := record(fmt.Sprint(i), "x")
		rec.DeleteAfter = time.Now().Add(time.Hour).Truncate(time.Second)
		wantRecord(t, b, create(t, a, rec))
	}
	_, err := b.Create(t.Context(), record("0", "y"))
	wantErr(t, "Create of what exists", err, tokenstore.ErrExists)

	changes := watch(t, b)
	rec := create(t, a, record("a", "one"))
	wantChange(t, changes, rec)
	rec = update(t, a, rec, "two")
	wantChange(t, changes, rec)
	wantRecord(t, b, rec)
	remove(t, a, rec)
	c := nextOf(t, changes, "a")
	if !c.Deleted || c.Record.Version <= rec.Version || string(c.Record.Value) != "two" {
		t.Errorf("change %+v, want the deletion of %+v with a new version", c, rec)
	}
	wantMissing(t, b, "a")
	if n := len(mustAll(t, b)); n != 100 {
		t.Errorf("Scan after Delete elsewhere has %d records", n)
	}
	_, err = b.Update(t.Context(), rec)
	wantErr(t, "Update after Delete elsewhere", err, tokenstore.ErrNotFound)
	again := create(t, b, record("a", "three"))
	if again.Version <= c.Record.Version {
		t.Errorf("version %d after %d", again.Version, c.Record.Version)
	}
	await(t, "what was created again", func() bool { return has(t, a, again) })
}

// race makes calls on both stores at once, of which one is to succeed. The others must have
// one of the errors that are expected.
func race(t *testing.T, a, b testStore, n int, call func(s testStore, i int) error, expected ...error) {
	t.Helper()
	var wg sync.WaitGroup
	var won atomic.Int64
	begin := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-begin
			err := call([]testStore{a, b}[i%2], i)
			if err == nil {
				won.Add(1)
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
	if n := won.Load(); n != 1 {
		t.Fatalf("%d calls have succeeded, want one", n)
	}
}

func TestOneWins(t *testing.T) {
	t.Parallel()
	a, b, _ := openTwo(t)
	rec := create(t, a, record("a", "0"))
	for round := range 20 {
		var winner atomic.Pointer[tokenstore.Record]
		race(t, a, b, 16, func(s testStore, i int) error {
			next := rec
			next.Value = fmt.Append(nil, round, i)
			var err error
			if next.Version, err = s.Update(t.Context(), next); err == nil {
				winner.Store(&next)
			}
			return err
		}, tokenstore.ErrConflict)
		rec = *winner.Load()
		for _, s := range []testStore{a, b} {
			await(t, "both stores to have the winner", func() bool { return has(t, s, rec) })
		}
		id := fmt.Sprint(round % 2) // also over deleted ones
		var version atomic.Uint64
		race(t, a, b, 16, func(s testStore, i int) error {
			v, err := s.Create(t.Context(), record(id, fmt.Sprint(i)))
			version.Add(v)
			return err
		}, tokenstore.ErrExists)
		race(t, a, b, 4, func(s testStore, _ int) error {
			return s.Delete(t.Context(), access, id, version.Load())
		}, tokenstore.ErrNotFound, tokenstore.ErrConflict)
	}
}
