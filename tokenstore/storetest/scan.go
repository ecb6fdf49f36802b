package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/millrace/millrace/tokenstore"
)

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
