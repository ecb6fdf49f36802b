// Package storetest is the conformance suite of [tokenstore.Store]: every
// backend runs it, and it tests every line of the contract that can be tested
// on one open store. It also has a Store in memory for tests of others.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

const (
	access = tokenstore.KindAccess
	master = tokenstore.KindMaster
)

// Run runs the suite. open returns an empty store and arranges for its end
// with t.Cleanup; a second Close must do no harm.
func Run(t *testing.T, open func(t *testing.T) tokenstore.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, tokenstore.Store)
	}{
		{"create and get", testCreate},
		{"update", testUpdate},
		{"delete", testDelete},
		{"versions are never used twice", testVersions},
		{"kinds are apart", testKinds},
		{"the store copies values", testCopies},
		{"delete after", testDeleteAfter},
		{"scan", testScan},
		{"scan stops", testScanStops},
		{"cancelled context", testCancelled},
		{"close", testClose},
		{"close waits", testCloseWaits},
		{"watch", testWatch},
		{"watch stop", testWatchStop},
		{"a write has been watched when it returns", testWatchFirst},
		{"one creator wins", testCreateRace},
		{"compare and swap loses no update", testUpdateRace},
		{"delete races update", testDeleteRace},
		{"watch order", testWatchOrder},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

func record(kind tokenstore.Kind, id, value string) tokenstore.Record {
	return tokenstore.Record{Kind: kind, ID: id, Value: []byte(value)}
}

func create(t *testing.T, s tokenstore.Store, rec tokenstore.Record) tokenstore.Record {
	t.Helper()
	version, err := s.Create(t.Context(), rec)
	if err != nil {
		t.Fatalf("Create(%s %s): %v", rec.Kind, rec.ID, err)
	}
	rec.Version = version
	return rec
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: error %v, want %v", what, got, want)
	}
}

func wantRecord(t *testing.T, s tokenstore.Store, want tokenstore.Record) {
	t.Helper()
	got, err := s.Get(t.Context(), want.Kind, want.ID)
	if err != nil {
		t.Fatalf("Get(%s %s): %v", want.Kind, want.ID, err)
	}
	if !equal(got, want) {
		t.Errorf("Get = %+v, want %+v", got, want)
	}
}

func equal(a, b tokenstore.Record) bool {
	return a.Kind == b.Kind && a.ID == b.ID && bytes.Equal(a.Value, b.Value) &&
		a.Version == b.Version && a.DeleteAfter.Equal(b.DeleteAfter)
}

func testCreate(t *testing.T, s tokenstore.Store) {
	_, err := s.Get(t.Context(), access, "a")
	wantErr(t, "Get before Create", err, tokenstore.ErrNotFound)

	rec := record(access, "a", "one")
	rec.Version = 77 // ignored
	rec = create(t, s, rec)
	if rec.Version == 0 {
		t.Error("Create returned version 0")
	}
	wantRecord(t, s, rec)

	_, err = s.Create(t.Context(), record(access, "a", "two"))
	wantErr(t, "second Create", err, tokenstore.ErrExists)
	wantRecord(t, s, rec)

	wantRecord(t, s, create(t, s, record(access, "empty", "")))
	wantRecord(t, s, create(t, s, record(access, "large", string(bytes.Repeat([]byte("x"), tokenstore.MaxRecord)))))
}

func testUpdate(t *testing.T, s tokenstore.Store) {
	_, err := s.Update(t.Context(), record(access, "a", "x"))
	wantErr(t, "Update without record", err, tokenstore.ErrNotFound)

	rec := create(t, s, record(access, "a", "one"))
	next := rec
	next.Value = []byte("two")
	if next.Version, err = s.Update(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if next.Version <= rec.Version {
		t.Errorf("version %d after %d", next.Version, rec.Version)
	}
	wantRecord(t, s, next)

	for _, version := range []uint64{0, rec.Version, next.Version + 1} {
		stale := rec
		stale.Version = version
		_, err = s.Update(t.Context(), stale)
		wantErr(t, fmt.Sprintf("Update of version %d", version), err, tokenstore.ErrConflict)
	}
	wantRecord(t, s, next)
}

func testDelete(t *testing.T, s tokenstore.Store) {
	wantErr(t, "Delete without record", s.Delete(t.Context(), access, "a", 1), tokenstore.ErrNotFound)
	rec := create(t, s, record(access, "a", "one"))
	wantErr(t, "Delete of another version", s.Delete(t.Context(), access, "a", rec.Version+1), tokenstore.ErrConflict)
	wantRecord(t, s, rec)
	wantErr(t, "Delete", s.Delete(t.Context(), access, "a", rec.Version), nil)
	_, err := s.Get(t.Context(), access, "a")
	wantErr(t, "Get after Delete", err, tokenstore.ErrNotFound)
	_, err = s.Update(t.Context(), rec)
	wantErr(t, "Update after Delete", err, tokenstore.ErrNotFound)
	wantErr(t, "second Delete", s.Delete(t.Context(), access, "a", rec.Version), tokenstore.ErrNotFound)
}

func testVersions(t *testing.T, s tokenstore.Store) {
	last := uint64(0)
	for i := range 20 {
		rec := create(t, s, record(access, "a", "x"))
		if rec.Version <= last {
			t.Fatalf("round %d: version %d after %d", i, rec.Version, last)
		}
		stale := rec
		stale.Version = last
		_, err := s.Update(t.Context(), stale)
		wantErr(t, "Update with a version from before the deletion", err, tokenstore.ErrConflict)
		last = rec.Version
		if err := s.Delete(t.Context(), access, "a", last); err != nil {
			t.Fatal(err)
		}
	}
}

func testKinds(t *testing.T, s tokenstore.Store) {
	a := create(t, s, record(access, "a", "access"))
	m := create(t, s, record(master, "a", "master"))
	wantRecord(t, s, a)
	wantRecord(t, s, m)
	wantErr(t, "Delete", s.Delete(t.Context(), access, "a", a.Version), nil)
	wantRecord(t, s, m)
	if got := scan(t, s, master, ""); !slices.Equal(got, []string{"a"}) {
		t.Errorf("Scan of masters = %v", got)
	}
	if got := scan(t, s, access, ""); len(got) != 0 {
		t.Errorf("Scan of access tokens = %v", got)
	}
}

func testCopies(t *testing.T, s tokenstore.Store) {
	value := []byte("one")
	rec := create(t, s, tokenstore.Record{Kind: access, ID: "a", Value: value})
	rec.Value = []byte("one")
	value[0] = 'X'
	wantRecord(t, s, rec)

	got, err := s.Get(t.Context(), access, "a")
	if err != nil {
		t.Fatal(err)
	}
	got.Value[0] = 'Y'
	wantRecord(t, s, rec)
}

func testDeleteAfter(t *testing.T, s tokenstore.Store) {
	end := time.Now().Add(time.Hour).Truncate(time.Second)
	rec := record(access, "a", "x")
	rec.DeleteAfter = end
	rec = create(t, s, rec)
	wantRecord(t, s, rec)

	rec.DeleteAfter = end.Add(time.Hour)
	version, err := s.Update(t.Context(), rec)
	if err != nil {
		t.Fatal(err)
	}
	rec.Version = version
	wantRecord(t, s, rec)

	rec.DeleteAfter = time.Time{}
	if rec.Version, err = s.Update(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	wantRecord(t, s, rec)
}

func scan(t *testing.T, s tokenstore.Store, kind tokenstore.Kind, after string) (ids []string) {
	t.Helper()
	err := s.Scan(t.Context(), kind, after, func(rec tokenstore.Record) bool {
		if rec.Kind != kind {
			t.Errorf("Scan gave a record of kind %s", rec.Kind)
		}
		ids = append(ids, rec.ID)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func testScan(t *testing.T, s tokenstore.Store) {
	if got := scan(t, s, access, ""); len(got) != 0 {
		t.Errorf("Scan of nothing = %v", got)
	}
	want := map[string]tokenstore.Record{}
	for _, id := range []string{"b", "a", "ab", "c", "B", "~", "b0"} {
		want[id] = create(t, s, record(access, id, "value of "+id))
	}
	for after, ids := range map[string][]string{
		"":   {"B", "a", "ab", "b", "b0", "c", "~"},
		"a":  {"ab", "b", "b0", "c", "~"},
		"aa": {"ab", "b", "b0", "c", "~"},
		"b":  {"b0", "c", "~"},
		"~":  nil,
	} {
		if got := scan(t, s, access, after); !slices.Equal(got, ids) {
			t.Errorf("Scan after %q = %v, want %v", after, got, ids)
		}
	}
	err := s.Scan(t.Context(), access, "", func(rec tokenstore.Record) bool {
		if !equal(rec, want[rec.ID]) {
			t.Errorf("Scan gave %+v, want %+v", rec, want[rec.ID])
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}

func testScanStops(t *testing.T, s tokenstore.Store) {
	for i := range 10 {
		create(t, s, record(access, fmt.Sprint(i), "x"))
	}
	calls := 0
	err := s.Scan(t.Context(), access, "", func(tokenstore.Record) bool {
		calls++
		return calls < 3
	})
	if err != nil || calls != 3 {
		t.Errorf("%d calls, error %v; want 3 calls", calls, err)
	}
}

func testCancelled(t *testing.T, s tokenstore.Store) {
	rec := create(t, s, record(access, "a", "x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for what, err := range callAll(ctx, s, rec) {
		wantErr(t, what, err, context.Canceled)
	}
	wantRecord(t, s, rec)
}

func testClose(t *testing.T, s tokenstore.Store) {
	rec := create(t, s, record(access, "a", "x"))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for what, err := range callAll(t.Context(), s, rec) {
		wantErr(t, what+" after Close", err, tokenstore.ErrClosed)
	}
}

// callAll makes each call that can fail.
func callAll(ctx context.Context, s tokenstore.Store, rec tokenstore.Record) map[string]error {
	_, get := s.Get(ctx, rec.Kind, rec.ID)
	_, create := s.Create(ctx, record(rec.Kind, "other", "x"))
	_, update := s.Update(ctx, rec)
	return map[string]error{
		"Get": get, "Create": create, "Update": update,
		"Delete": s.Delete(ctx, rec.Kind, rec.ID, rec.Version),
		"Scan":   s.Scan(ctx, rec.Kind, "", func(tokenstore.Record) bool { return true }),
	}
}
