package nats

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

// The link of one store is cut and comes back, twice; another store goes on meanwhile. Watchers
// are told each time that the copy becomes too old.
func TestLinkDown(t *testing.T) {
	t.Parallel()
	const maxStale = 2 * time.Second
	server := natstest.Server(t)
	link := natstest.StartProxy(t, server)
	a, b := openReady(t, link.Connect(), withMaxStale(maxStale)), openReady(t, natstest.Connect(server))
	kept, changed, deleted := create(t, b, record("kept", "x")), create(t, b, record("changed", "one")), create(t, b, record("deleted", "x"))
	for _, rec := range []tokenstore.Record{kept, changed, deleted} {
		await(t, rec.ID+" to be here", func() bool { return has(t, a, rec) })
	}
	changes := watch(t, a)
	stale, stopped := make(chan struct{}, 100), make(chan struct{}, 100)
	stop := a.WatchStale(func() { stopped <- struct{}{} })
	t.Cleanup(a.WatchStale(func() { stale <- struct{}{} }))

	link.Cut()
	await(t, "the store to notice", func() bool { return !a.conn.IsConnected() })
	list, err := all(t, a)
	_, writes := calls(t, a, kept)
	_, unknown := a.Get(t.Context(), access, "unknown")
	if a.Usable() == nil { // else the machine is slow, and the copy too old already
		if err != nil || len(list) != 3 {
			t.Errorf("Scan without the link = %v, %v", list, err)
		}
		wantErrs(t, writes, tokenstore.ErrUnavailable, "not connected to NATS")
		wantErr(t, "Get of what only the bucket may know", unknown, tokenstore.ErrUnavailable, "not connected to NATS")
	}
	changed = update(t, b, changed, "two")
	remove(t, b, deleted)
	added := create(t, b, record("added", "x"))
	natstest.Receive(t, "word that the copy is too old", stale)
	reads, writes := calls(t, a, kept)
	wantErrs(t, reads, tokenstore.ErrUnavailable, "for longer than 2s")
	wantErrs(t, writes, tokenstore.ErrUnavailable, "for longer than 2s")
	stop()
	stop()

	link.Resume()
	awaitReady(t, a)
	// As soon as reads are answered, they are from what the bucket has now.
	for _, rec := range []tokenstore.Record{kept, changed, added} {
		wantRecord(t, a, rec)
	}
	wantMissing(t, a, "deleted")
	if list, err := all(t, a); err != nil || len(list) != 3 {
		t.Errorf("Scan with the link = %v, %v", list, err)
	}
	for range 3 {
		if c := natstest.Receive(t, "a change of meanwhile", changes); c.Deleted != (c.Record.ID == "deleted") {
			t.Errorf("change %+v", c)
		}
	}
	// Changes go both ways again.
	theirs := watch(t, b)
	wantChange(t, theirs, update(t, a, changed, "three"))
	wantChange(t, changes, update(t, b, kept, "y"))

	for len(stale) > 0 {
		<-stale
	}
	n := len(stopped)
	link.Cut()
	natstest.Receive(t, "word that the copy is too old again", stale)
	same(t, "how often one that had stopped was told", len(stopped), n)
}

// The link takes what is sent and nothing comes back, as when a machine on the
// way has lost its power.
func TestLinkSilent(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	link := natstest.StartProxy(t, server)
	a := openReady(t, link.Connect(client.PingInterval(200*time.Millisecond)), impatient)
	b := openReady(t, natstest.Connect(server))
	// a may take a busy machine for a silent link at any time, and so asks for nothing before.
	rec := create(t, b, record("a", "one"))
	await(t, "the record to be here", func() bool { return has(t, a, rec) })

	link.Hold()
	wantRecord(t, a, rec)
	_, err := a.Update(t.Context(), rec)
	wantErr(t, "Update", err, tokenstore.ErrUnavailable)
	await(t, "the link to be found broken", func() bool { return !a.conn.IsConnected() })
	wantRecord(t, a, rec)
	link.Cut() // what was sent into it is lost
	rec = update(t, b, rec, "two")

	link.Resume()
	await(t, "the change of meanwhile to be here", func() bool { return has(t, a, rec) })
	changes := watch(t, b)
	rec.Value = []byte("three")
	await(t, "a change", func() bool {
		_, err = a.Update(t.Context(), rec)
		return err == nil || errors.Is(err, tokenstore.ErrConflict) // one that got no answer was made
	})
	if c := nextOf(t, changes, "a"); c.Deleted || string(c.Record.Value) != "three" {
		t.Errorf("change %+v", c)
	}
}

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
	same(t, "records of a Scan after Delete elsewhere", len(mustAll(t, b)), 100)
	_, err = b.Update(t.Context(), rec)
	wantErr(t, "Update after Delete elsewhere", err, tokenstore.ErrNotFound)
	again := create(t, b, record("a", "three"))
	if again.Version <= c.Record.Version {
		t.Errorf("version %d after %d", again.Version, c.Record.Version)
	}
	await(t, "what was created again", func() bool { return has(t, a, again) })
}

// race makes calls on both stores at once; one is to succeed. The others must have
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
