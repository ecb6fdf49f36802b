package tokenstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// noStore is an empty store that never changes.
type noStore struct{ Store }

func (noStore) Scan(context.Context, Kind, string, func(Record) bool) error { return nil }
func (noStore) Watch(func(Change)) (stop func())                            { return func() {} }

// Master tokens whose tokens are all gone take no room in the index.
func TestIssuersOfNothing(t *testing.T) {
	now := time.Unix(1_900_000_000, 0)
	x := newIndex(noStore{}, func() time.Time { return now })
	defer x.Close()
	if err := x.await(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect := func(when string, want int) {
		t.Helper()
		x.mu.Lock()
		defer x.mu.Unlock()
		if len(x.issuers) != want {
			t.Errorf("%s: %d issuers, want %d", when, len(x.issuers), want)
		}
	}
	record := func(master string, version uint64) Record {
		r := accessRecord{MasterID: master, ExpiresAt: now.Add(time.Hour)}
		rec, err := r.encode("token of "+master, version)
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	for i := range 10 {
		master := fmt.Sprint("deleted ", i)
		x.apply(Change{Record: record(master, 1)})
		x.apply(Change{Record: record(master, 2)}) // refreshed
		x.apply(Change{Record: record(fmt.Sprint("expired ", i), 1)})
	}
	expect("issued", 20)
	for i := range 10 {
		x.apply(Change{Record: record(fmt.Sprint("deleted ", i), 3), Deleted: true})
	}
	expect("deleted", 10)
	now = now.Add(time.Hour + KeepExpired + 2*time.Second)
	release, err := x.reserve(t.Context(), "master", Quota{MaxTokens: 1}, "id", 100)
	if err != nil {
		t.Fatal(err)
	}
	expect("being written", 1) // and those that expired are forgotten
	x.apply(Change{Record: record("master", 4)})
	release()
	expect("written", 1)
	for _, q := range []Quota{{MaxTokens: 1}, {MaxBytes: 1}} {
		if _, err := x.reserve(t.Context(), "master", q, "id", 1); !errors.Is(err, ErrQuotaExceeded) {
			t.Errorf("beyond the quota: %v", err)
		}
		if _, err := x.reserve(t.Context(), "other", Quota{MaxBytes: 1}, "id", 2); !errors.Is(err, ErrQuotaExceeded) {
			t.Errorf("beyond the quota of who has nothing: %v", err)
		}
	}
	expect("refused", 1)
}

// A token that is written counts once, also before its reservation is released: nobody is
// refused below the quota.
func TestReservationCountsOnce(t *testing.T) {
	x := newIndex(noStore{}, time.Now)
	t.Cleanup(x.Close)
	rec := Record{Kind: KindAccess, ID: "id", Version: 1, Value: []byte(`{"master_id":"master"}`)}
	release, err := x.reserve(t.Context(), "master", Quota{MaxTokens: 2}, rec.ID, int64(len(rec.Value)))
	if err != nil {
		t.Fatal(err)
	}
	x.apply(Change{Record: rec})
	another, err := x.reserve(t.Context(), "master", Quota{MaxTokens: 2}, "other", 1)
	if err != nil {
		t.Errorf("the second of two: %v", err)
	} else {
		another()
	}
	release()
	if _, err := x.reserve(t.Context(), "master", Quota{MaxTokens: 1}, "other", 1); !errors.Is(err, ErrQuotaExceeded) {
		t.Errorf("beyond the quota: %v", err)
	}
}

// unreadableStore is a Store that cannot be read until it is repaired.
type unreadableStore struct {
	Store
	repaired atomic.Bool
}

func (s *unreadableStore) Watch(func(Change)) func() { return func() {} }

func (s *unreadableStore) Scan(context.Context, Kind, string, func(Record) bool) error {
	if s.repaired.Load() {
		return nil
	}
	return ErrUnavailable
}

// A call that needs the index does not wait for a store that cannot be read, and the
// index works when the store does.
func TestIndexUnreadable(t *testing.T) {
	s := new(unreadableStore)
	x := NewIndex(s)
	defer x.Close()
	if _, err := x.reserve(t.Context(), "m", Quota{MaxTokens: 1}, "id", 1); !errors.Is(err, ErrUnavailable) {
		t.Fatalf("error %v", err)
	}
	s.repaired.Store(true)
	release, err := x.reserve(t.Context(), "m", Quota{MaxTokens: 1}, "id", 1)
	if err != nil { // the attempt that failed just now has ended before the call
		t.Fatal(err)
	}
	release()
}
