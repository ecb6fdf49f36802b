package nats

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

func TestRemoveExpired(t *testing.T) {
	t.Parallel()
	a, b, _ := openTwo(t)
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	put(t, a, "old", past)
	put(t, a, "old too", past)
	put(t, a, "new", future)
	put(t, a, "kept", time.Time{})
	extended := put(t, a, "extended", past)
	replaced := put(t, a, "replaced", past)
	await(t, "the other store has them", func() bool { return len(b.mirror.ids(access, "", math.MaxInt)) == 6 })
	believe := func(rec tokenstore.Record) {
		a.mirror.mu.Lock()
		defer a.mirror.mu.Unlock()
		a.mirror.entries[entryKey{access, rec.ID}] = entry{record: rec, round: 99}
	}

	// This store does not know yet that a record may be kept for longer.
	longer := extended
	longer.DeleteAfter = future
	must(t, errorOf(b.Update(t.Context(), longer)))
	await(t, "the change is here", func() bool {
		rec, _ := a.mirror.get(access, "extended")
		return rec.Version > extended.Version
	})
	believe(extended)
	// Nor that the bucket was replaced, and its record.
	replaced.Version = 0
	believe(replaced)

	heard := make(chan tokenstore.Change, 100)
	t.Cleanup(a.Watch(func(c tokenstore.Change) { heard <- c }))
	t.Cleanup(b.Watch(func(c tokenstore.Change) { heard <- c }))
	must(t, a.removeExpired(t.Context()))
	for id, forgotten := range map[string]bool{"old": true, "old too": true, "new": false, "kept": false, "extended": false, "replaced": false} {
		if m := messageOf(t, a, id); m == nil || m.deleted != forgotten {
			t.Errorf("%s: the bucket has %+v; forgotten: want %v", id, m, forgotten)
		}
	}
	for _, s := range []testStore{a, b} {
		await(t, "both have forgotten them", func() bool {
			_, old := s.mirror.get(access, "old")
			_, too := s.mirror.get(access, "old too")
			return !old && !too
		})
		_, err := s.Get(t.Context(), access, "old")
		wantErr(t, "Get of what was forgotten", err, tokenstore.ErrNotFound)
		if _, err := s.Get(t.Context(), access, "extended"); err != nil {
			t.Errorf("Get of what was extended: %v", err)
		}
	}
	// Removing an expired record is not a change. That the others are newer than believed may be one.
	marker := put(t, a, "marker", future)
	for markers := 0; markers < 2; {
		switch c := natstest.Receive(t, "a change", heard); c.Record.ID {
		case marker.ID:
			markers++
		case "old", "old too":
			t.Errorf("a watcher heard %+v", c)
		}
	}
	again := put(t, b, "old", future)
	if rec, err := a.Get(t.Context(), access, "old"); err != nil || rec.Version != again.Version {
		t.Errorf("Get of what was created again = %+v, %v", rec, err)
	}
}

func TestRemoveExpiredUnavailable(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	s := openReady(t, natstest.Connect(server))
	put(t, s, "kept", time.Time{})
	server.Shutdown()
	server.WaitForShutdown()
	await(t, "the store has noticed", func() bool { return !s.conn.IsConnected() })
	must(t, s.removeExpired(t.Context())) // no record has expired: no request is made
	s.mirror.put(tokenstore.Record{Kind: access, ID: "old", Version: 99, DeleteAfter: time.Now().Add(-time.Hour)}, 0)
	wantErr(t, "the call", s.removeExpired(t.Context()), tokenstore.ErrUnavailable)
	if _, ok := s.mirror.get(access, "old"); !ok {
		t.Error("the copy has forgotten what the bucket has not")
	}
}

// Delete markers leave the bucket when they are old, and nothing else does.
func TestPurgeDeleteMarkers(t *testing.T) {
	t.Parallel()
	a := openOne(t)
	put(t, a, "kept", time.Time{})
	for _, id := range []string{"deleted", "again"} {
		rec := put(t, a, id, time.Time{})
		must(t, a.Delete(t.Context(), access, id, rec.Version))
	}
	put(t, a, "again", time.Time{})
	purge := func(before time.Time) {
		t.Helper()
		must(t, a.purgeDeleteMarkers(t.Context(), bucketOf(t, a), before))
	}
	purge(time.Now().Add(-time.Hour))
	if m := messageOf(t, a, "deleted"); m == nil || !m.deleted {
		t.Errorf("a new deletion is %+v", m)
	}
	purge(time.Now().Add(time.Hour))
	if m := messageOf(t, a, "deleted"); m != nil {
		t.Errorf("an old deletion is %+v", m)
	}
	for _, id := range []string{"kept", "again"} {
		if m := messageOf(t, a, id); m == nil || m.deleted {
			t.Errorf("%s is %+v", id, m)
		}
	}
	put(t, a, "deleted", time.Time{})
}

// A record is created again while its delete marker is purged.
func TestPurgeDeleteMarkersSparesRecreated(t *testing.T) {
	t.Parallel()
	a := openOne(t)
	rec := put(t, a, "a", time.Time{})
	must(t, a.Delete(t.Context(), access, "a", rec.Version))
	kv := bucketOf(t, a)
	must(t, a.purgeDeleteMarkers(t.Context(), recreating{kv, func() { put(t, a, "a", time.Time{}) }}, time.Now().Add(time.Hour)))
	if m := messageOf(t, a, "a"); m == nil || m.deleted {
		t.Errorf("what was created meanwhile is %+v", m)
	}
}

// recreating is a bucket that calls a function after the entries were read.
type recreating struct {
	jetstream.KeyValue
	then func()
}

func (r recreating) WatchAll(ctx context.Context, o ...jetstream.WatchOpt) (jetstream.KeyWatcher, error) {
	w, err := r.KeyValue.WatchAll(ctx, o...)
	return recreatingWatcher{w, r.then}, err
}

type recreatingWatcher struct {
	jetstream.KeyWatcher
	then func()
}

func (w recreatingWatcher) Stop() error {
	w.then()
	return w.KeyWatcher.Stop()
}
