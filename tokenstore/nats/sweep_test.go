package nats

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

func openOn(t *testing.T, connect natstest.Connector) (*Store, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zap.InfoLevel)
	s, err := Open(Config{
		Connect: connect, Bucket: "tokens", Create: true, Replicas: 1,
		Storage: jetstream.FileStorage, MaxStale: time.Minute, Log: zap.New(core),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, logs
}

// openReady returns a store that has its copy.
func openReady(t *testing.T, connect natstest.Connector) (*Store, *observer.ObservedLogs) {
	t.Helper()
	s, logs := openOn(t, connect)
	select {
	case <-s.freshness.ready:
	case <-time.After(30 * time.Second):
		t.Fatal("the bucket is not read")
	}
	return s, logs
}

func put(t *testing.T, s *Store, id string, after time.Time) tokenstore.Record {
	t.Helper()
	rec := tokenstore.Record{Kind: access, ID: id, Value: []byte("x"), DeleteAfter: after}
	var err error
	if rec.Version, err = s.Create(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	return rec
}

// await waits until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it has not come to: %s", what)
		}
	}
}

// messageOf returns the last message of a record that the bucket has.
func messageOf(t *testing.T, s *Store, id string) *message {
	t.Helper()
	m, err := s.lastMessage(t.Context(), s.subject(access, id))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRemoveExpired(t *testing.T) {
	connect := natstest.Connect(natstest.Server(t))
	a, _ := openReady(t, connect)
	b, _ := openReady(t, connect)
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	put(t, a, "old", past)
	put(t, a, "old too", past)
	put(t, a, "new", future)
	put(t, a, "kept", time.Time{})
	extended := put(t, a, "extended", past)
	await(t, "the other store has them", func() bool { return len(b.mirror.ids(access, "", math.MaxInt)) == 5 })

	// This store does not know yet that a record may be kept for longer.
	longer := extended
	longer.DeleteAfter = future
	if _, err := b.Update(t.Context(), longer); err != nil {
		t.Fatal(err)
	}
	await(t, "the change is here", func() bool {
		rec, _ := a.mirror.get(access, "extended")
		return rec.Version > extended.Version
	})
	a.mirror.mu.Lock()
	a.mirror.entries[entryKey{access, "extended"}] = entry{record: extended, round: 99}
	a.mirror.mu.Unlock()

	heard := make(chan tokenstore.Change, 100)
	t.Cleanup(a.Watch(func(c tokenstore.Change) { heard <- c }))
	t.Cleanup(b.Watch(func(c tokenstore.Change) { heard <- c }))
	if err := a.removeExpired(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, forgotten := range map[string]bool{"old": true, "old too": true, "new": false, "kept": false, "extended": false} {
		if m := messageOf(t, a, id); m == nil || m.deleted != forgotten {
			t.Errorf("%s: the bucket has %+v; forgotten: want %v", id, m, forgotten)
		}
	}
	for _, s := range []*Store{a, b} {
		await(t, "both have forgotten them", func() bool {
			_, old := s.mirror.get(access, "old")
			_, too := s.mirror.get(access, "old too")
			return !old && !too
		})
		_, err := s.Get(t.Context(), access, "old")
		if !errors.Is(err, tokenstore.ErrNotFound) {
			t.Errorf("Get of what was forgotten: %v", err)
		}
		if _, err := s.Get(t.Context(), access, "extended"); err != nil {
			t.Errorf("Get of what was extended: %v", err)
		}
	}
	// Removing an expired record is not a change.
	marker := put(t, a, "marker", future)
	for range 2 {
		if c := <-heard; c.Record.ID != marker.ID {
			t.Errorf("a watcher heard %+v", c)
		}
	}
	again := put(t, b, "old", future)
	if rec, err := a.Get(t.Context(), access, "old"); err != nil || rec.Version != again.Version {
		t.Errorf("Get of what was created again = %+v, %v", rec, err)
	}
}

// When no record has expired, no request is made.
func TestRemoveExpiredWithoutAny(t *testing.T) {
	s, _ := openReady(t, natstest.Connect(natstest.Server(t)))
	put(t, s, "a", time.Time{})
	sent := s.conn.Stats().OutMsgs
	if err := s.removeExpired(t.Context()); err != nil {
		t.Fatal(err)
	}
	// A probe may be among them.
	if n := s.conn.Stats().OutMsgs - sent; n > 1 {
		t.Errorf("%d messages were sent", n)
	}
}

func TestRemoveExpiredUnavailable(t *testing.T) {
	server := natstest.Server(t)
	s, _ := openReady(t, natstest.Connect(server))
	put(t, s, "old", time.Now().Add(-time.Hour))
	server.Shutdown()
	server.WaitForShutdown()
	await(t, "the store has noticed", func() bool { return !s.conn.IsConnected() })
	if err := s.removeExpired(t.Context()); !errors.Is(err, tokenstore.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	if _, ok := s.mirror.get(access, "old"); !ok {
		t.Error("the copy has forgotten what the bucket has not")
	}
}

// Delete markers leave the bucket when they are old, and nothing else does.
func TestPurgeDeleteMarkers(t *testing.T) {
	a, _ := openReady(t, natstest.Connect(natstest.Server(t)))
	put(t, a, "kept", time.Time{})
	for _, id := range []string{"deleted", "again"} {
		rec := put(t, a, id, time.Time{})
		if err := a.Delete(t.Context(), access, id, rec.Version); err != nil {
			t.Fatal(err)
		}
	}
	put(t, a, "again", time.Time{})
	purge := func(before time.Time) {
		t.Helper()
		kv, err := a.bucket(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := a.purgeDeleteMarkers(t.Context(), kv, before); err != nil {
			t.Fatal(err)
		}
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
	a, _ := openReady(t, natstest.Connect(natstest.Server(t)))
	rec := put(t, a, "a", time.Time{})
	if err := a.Delete(t.Context(), access, "a", rec.Version); err != nil {
		t.Fatal(err)
	}
	kv, err := a.bucket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.purgeDeleteMarkers(t.Context(), recreating{kv, func() { put(t, a, "a", time.Time{}) }}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
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

// Entries of the bucket that are not ours, or cannot be read, permit nothing, and do
// not keep others from being read.
func TestStrangeEntries(t *testing.T) {
	connect := natstest.Connect(natstest.Server(t))
	a, _ := openReady(t, connect)
	put(t, a, "good", time.Time{})
	broken := put(t, a, "broken", time.Time{})
	kv, err := a.bucket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{
		"something": "else", "1.=67ood": string(encode(tokenstore.Record{Value: []byte("forged")})),
		keyOf(access, "broken"): "\x02 of a later version", keyOf(access, "short"): "",
	} {
		if _, err := kv.Put(t.Context(), key, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "the running store has seen it", func() bool {
		_, ok := a.mirror.get(access, "broken")
		return !ok
	})
	put(t, a, "last", time.Time{})
	b, logs := openReady(t, connect)
	for _, s := range []*Store{a, b} {
		if rec, err := s.Get(t.Context(), access, "good"); err != nil || string(rec.Value) != "x" {
			t.Errorf("Get = %+v, %v", rec, err)
		}
		for _, id := range []string{"broken", "short"} {
			if rec, err := s.Get(t.Context(), access, id); err == nil {
				t.Errorf("Get of what cannot be read = %+v", rec)
			}
		}
		if ids := s.mirror.ids(access, "", math.MaxInt); strings.Join(ids, " ") != "good last" {
			t.Errorf("has %v", ids)
		}
		if _, err := s.Update(t.Context(), broken); err == nil {
			t.Error("what cannot be read was replaced")
		}
	}
	for _, line := range []string{"the bucket has a key that is not ours", "a token cannot be read"} {
		if n := logs.FilterMessage(line).Len(); n != 2 {
			t.Errorf("%d log lines: %s; want 2", n, line)
		}
	}
}
