package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

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
	c := create(t, s, record(tokenstore.KindClosing, "a", "closing"))
	wantRecord(t, s, a)
	wantRecord(t, s, m)
	wantRecord(t, s, c)
	wantErr(t, "Delete", s.Delete(t.Context(), access, "a", a.Version), nil)
	wantRecord(t, s, m)
	if got := scan(t, s, master, ""); !slices.Equal(got, []string{"a"}) {
		t.Errorf("Scan of masters = %v", got)
	}
	if got := scan(t, s, access, ""); len(got) != 0 {
		t.Errorf("Scan of access tokens = %v", got)
	}
	wantRecord(t, s, c)
	wantErr(t, "Delete of the third kind", s.Delete(t.Context(), c.Kind, "a", c.Version), nil)
	if got := scan(t, s, c.Kind, ""); len(got) != 0 {
		t.Errorf("Scan of the third kind = %v", got)
	}
	wantRecord(t, s, m)
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
