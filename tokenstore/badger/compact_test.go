package badger

import (
	"crypto/rand"
	"testing"

	"github.com/millrace/millrace/tokenstore"
)

// A store that compacts itself has all it had, less what was deleted or has
// expired, in fewer tables.
func TestCompact(t *testing.T) {
	s := open(t, t.TempDir())
	s.stop() // or maintain would do it
	<-s.done
	want := map[string]uint64{}
	rec := tokenstore.Record{Kind: tokenstore.KindAccess, Value: make([]byte, 256<<10)}
	level0 := func() (tables int) {
		for _, table := range s.db.Tables() {
			if table.Level == 0 {
				tables++
			}
		}
		return tables
	}
	for n := 0; level0() < minTables; n++ {
		rec.ID = rand.Text()
		version, err := s.Create(t.Context(), rec)
		must(t, err)
		if n%2 == 0 {
			want[rec.ID] = version
		} else if err := s.Delete(t.Context(), rec.Kind, rec.ID, version); err != nil {
			t.Fatal(err)
		}
	}
	must(t, s.compact())
	if n := level0(); n > 0 {
		t.Errorf("%d tables at level 0", n)
	}
	err := s.Scan(t.Context(), tokenstore.KindAccess, "", func(rec tokenstore.Record) bool {
		if want[rec.ID] != rec.Version {
			t.Errorf("%s has version %d, want %d", rec.ID, rec.Version, want[rec.ID])
		}
		delete(want, rec.ID)
		return true
	})
	if err != nil || len(want) > 0 {
		t.Errorf("%d records are lost, %v", len(want), err)
	}
}
