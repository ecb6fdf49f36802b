package nats_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/millrace/millrace/internal/loopback"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

// restartable runs a server. again stops it and starts it on the same port, with what
// it has on disk.
func restartable(t *testing.T) (s *server.Server, again func()) {
	t.Helper()
	dir, port := t.TempDir(), loopback.FreePort(t)
	run := func() *server.Server {
		return natstest.Server(t, func(o *server.Options) { o.StoreDir, o.Port = dir, port })
	}
	s = run()
	return s, func() {
		s.Shutdown()
		s.WaitForShutdown()
		s = run()
	}
}

// The link of one store is cut and comes back; another one goes on meanwhile.
func TestLinkDown(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	link := newProxy(t, server)
	a, b := openStore(t, link.connect(), withMaxStale(4*time.Second)), openStore(t, natstest.Connect(server))
	awaitReady(t, a)
	awaitReady(t, b)
	kept := create(t, b, record("kept", "x"))
	changed := create(t, b, record("changed", "one"))
	deleted := create(t, b, record("deleted", "x"))
	for _, rec := range []tokenstore.Record{kept, changed, deleted} {
		wantRecord(t, a, rec)
	}
	changes := watch(t, a)

	link.cut()
	stale := make(chan struct{}, 100)
	t.Cleanup(a.WatchStale(func() { stale <- struct{}{} }))
	awaitLog(t, a, "disconnected from NATS")
	wantRecord(t, a, kept)
	wantRecord(t, a, changed)
	if list, err := all(t, a); err != nil || len(list) != 3 {
		t.Errorf("Scan without the link = %v, %v", list, err)
	}
	_, writes := calls(t, a, kept)
	for what, err := range writes {
		wantErr(t, what+" without the link", err, tokenstore.ErrUnavailable, "not connected to NATS")
	}
	_, err := a.Get(t.Context(), access, "unknown")
	wantErr(t, "Get of what only the bucket may know", err, tokenstore.ErrUnavailable, "not connected to NATS")

	changed = update(t, b, changed, "two")
	remove(t, b, deleted)
	added := create(t, b, record("added", "x"))

	select {
	case <-stale:
	case <-time.After(eventTimeout):
		t.Fatal("nobody was told that the copy is too old")
	}
	reads, writes := calls(t, a, kept)
	for what, err := range reads {
		wantErr(t, what+" too late", err, tokenstore.ErrUnavailable, "for longer than 4s")
	}
	for what, err := range writes {
		wantErr(t, what+" too late", err, tokenstore.ErrUnavailable, "for longer than 4s")
	}

	link.restore()
	awaitReady(t, a)
	// As soon as reads are answered, they are from what the bucket has now.
	wantRecord(t, a, kept)
	wantRecord(t, a, changed)
	wantRecord(t, a, added)
	_, err = a.Get(t.Context(), access, "deleted")
	wantErr(t, "Get of what was deleted meanwhile", err, tokenstore.ErrNotFound)
	if list, err := all(t, a); err != nil || len(list) != 3 {
		t.Errorf("Scan with the link = %v, %v", list, err)
	}
	for range 3 {
		select {
		case c := <-changes:
			if c.Deleted != (c.Record.ID == "deleted") {
				t.Errorf("change %+v", c)
			}
		case <-time.After(eventTimeout):
			t.Fatal("a change of meanwhile was not reported")
		}
	}

	// Changes go both ways again.
	theirs := watch(t, b)
	changed = update(t, a, changed, "three")
	if c := nextOf(t, theirs, "changed"); !equal(c.Record, changed) {
		t.Errorf("change %+v, want %+v", c, changed)
	}
	kept = update(t, b, kept, "y")
	if c := nextOf(t, changes, "kept"); !equal(c.Record, kept) {
		t.Errorf("change %+v, want %+v", c, kept)
	}
	if len(stale) > 0 {
		t.Errorf("told of the old copy %d times more", len(stale))
	}
}

// Watchers are told each time that the copy becomes too old.
func TestStaleTwice(t *testing.T) {
	t.Parallel()
	link := newProxy(t, natstest.Server(t))
	s := openStore(t, link.connect(), withMaxStale(2*time.Second))
	awaitReady(t, s)
	var stopped []chan struct{}
	for range 2 {
		stale := make(chan struct{}, 100)
		stop := s.WatchStale(func() { stale <- struct{}{} })
		stopped = append(stopped, stale)
		link.cut()
		select {
		case <-stale:
		case <-time.After(eventTimeout):
			t.Fatal("nobody was told that the copy is too old")
		}
		link.restore()
		awaitReady(t, s)
		stop()
		stop()
	}
	if len(stopped[0]) > 0 {
		t.Error("who had stopped was told again")
	}
}

// The link takes what is sent and nothing comes back, as when a machine on the
// way has lost its power.
func TestLinkSilent(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	link := newProxy(t, server)
	a, b := openStore(t, link.connect()), openStore(t, natstest.Connect(server))
	awaitReady(t, a)
	rec := create(t, a, record("a", "one"))
	wantRecord(t, b, rec)

	link.silence()
	wantRecord(t, a, rec)
	_, err := a.Update(t.Context(), rec)
	wantErr(t, "Update", err, tokenstore.ErrUnavailable)
	awaitLog(t, a, "disconnected from NATS")
	wantRecord(t, a, rec)
	link.cut() // what was sent into it is lost
	rec = update(t, b, rec, "two")

	link.restore()
	eventually(t, "the change of meanwhile is there", func() bool {
		got, err := a.Get(t.Context(), access, "a")
		return err == nil && equal(got, rec)
	})
	changes := watch(t, b)
	rec = update(t, a, rec, "three")
	if c := nextOf(t, changes, "a"); !equal(c.Record, rec) {
		t.Errorf("change %+v, want %+v", c, rec)
	}
}

func TestServerRestarts(t *testing.T) {
	t.Parallel()
	first, again := restartable(t)
	a, b := openStore(t, natstest.Connect(first)), openStore(t, natstest.Connect(first))
	awaitReady(t, a)
	rec := create(t, a, record("a", "one"))
	gone := create(t, a, record("gone", "x"))
	remove(t, a, gone)
	wantRecord(t, b, rec)
	changes := watch(t, b)
	for round := range 2 {
		again()
		eventually(t, "the store can be written", func() bool {
			_, err := a.Create(t.Context(), record(string(rune('p'+round)), "x"))
			return err == nil
		})
		rec = update(t, a, rec, "two")
		for {
			if c := nextOf(t, changes, "a"); equal(c.Record, rec) {
				break
			}
		}
		_, err := b.Get(t.Context(), access, "gone")
		wantErr(t, "Get of what was deleted", err, tokenstore.ErrNotFound)
	}
}

// Close does not wait for a server that is not there.
func TestCloseWithoutLink(t *testing.T) {
	t.Parallel()
	for name, interrupt := range map[string]func(*proxy){"cut": (*proxy).cut, "silent": (*proxy).silence} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			link := newProxy(t, natstest.Server(t))
			s := openStore(t, link.connect())
			awaitReady(t, s)
			rec := create(t, s, record("a", "x"))
			interrupt(link)
			closed := make(chan error, 1)
			go func() { closed <- s.Close() }()
			select {
			case err := <-closed:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(eventTimeout):
				t.Fatal("Close does not return")
			}
			_, err := s.Get(t.Context(), access, rec.ID)
			wantErr(t, "Get", err, tokenstore.ErrClosed)
		})
	}
}
