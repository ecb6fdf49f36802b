package nats

import (
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
	if len(stopped) != n {
		t.Error("who had stopped was told again")
	}
}

// The link takes what is sent and nothing comes back, as when a machine on the
// way has lost its power.
func TestLinkSilent(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	link := natstest.StartProxy(t, server)
	a := openReady(t, link.Connect(client.PingInterval(200*time.Millisecond)), impatient)
	b := openReady(t, natstest.Connect(server))
	rec := create(t, a, record("a", "one"))
	await(t, "the record to be there", func() bool { return has(t, b, rec) })

	link.Hold()
	wantRecord(t, a, rec)
	_, err := a.Update(t.Context(), rec)
	wantErr(t, "Update", err, tokenstore.ErrUnavailable)
	awaitLog(t, a, "disconnected from NATS")
	wantRecord(t, a, rec)
	link.Cut() // what was sent into it is lost
	rec = update(t, b, rec, "two")

	link.Resume()
	await(t, "the change of meanwhile to be here", func() bool { return has(t, a, rec) })
	changes := watch(t, b)
	var next tokenstore.Record
	await(t, "a change", func() bool {
		next = rec
		next.Value = []byte("three")
		next.Version, err = a.Update(t.Context(), next)
		return err == nil
	})
	wantChange(t, changes, next)
}

func TestServerRestarts(t *testing.T) {
	t.Parallel()
	first, again := natstest.Restartable(t)
	a, b := openReady(t, natstest.Connect(first)), openReady(t, natstest.Connect(first))
	rec := create(t, a, record("a", "one"))
	remove(t, a, create(t, a, record("gone", "x")))
	wantRecord(t, b, rec)
	changes := watch(t, b)
	again()
	await(t, "the store to be writable", func() bool {
		_, err := a.Create(t.Context(), record("p", "x"))
		return err == nil
	})
	rec = update(t, a, rec, "two")
	await(t, "the change", func() bool { return equal(nextOf(t, changes, "a").Record, rec) })
	wantMissing(t, b, "gone")
}
