package badger

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/millrace/millrace/internal/unpack"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

// What a build of before 0.1.0 has stored, which names no format, is read and goes on.
func TestFormat1(t *testing.T) {
	dir := unpack.TarGz(t, "testdata/format1.tar.gz")
	for _, next := range []uint64{7, 8} {
		s, err := Open(Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if got := payloads(page(t, s, "a", 0)); !strings.HasPrefix(got, "a2 a3 a4") {
			t.Errorf("got %s", got)
		}
		large := page(t, s, "b", 0)
		if want := (wire.Position{Epoch: 0x19c9e4f3c8331d51, N: 6, T: 1795636270077}); len(large.Messages) != 1 || large.Messages[0].Position != want || len(large.Messages[0].Payload) != 300_000 {
			t.Errorf("got %d messages, want one of 300,000 bytes at %v", len(large.Messages), want)
		}
		scopes, err := s.Scopes()
		if want := map[string]history.Scope{"h": {Since: 5, Print: "print"}}; err != nil || !maps.Equal(scopes, want) {
			t.Errorf("got %v, %v", scopes, err)
		}
		if got := put(t, s, history.Message{Channel: []byte("c"), Payload: []byte("c")}).Position; got.N != next {
			t.Errorf("the next message is at %v, want %d", got, next)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, dir)[string(rune(kindFormat))]; got != "\x01" {
			t.Errorf("the database has the format %q", got)
		}
	}
}

// contents is all that a database has.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	edit(t, dir, func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			value, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			all[string(it.Item().Key())] = string(value)
		}
		return nil
	})
	return all
}

func edit(t *testing.T, dir string, change func(*badger.Txn) error) {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithMemTableSize(memTableSize).WithValueLogFileSize(1 << 20))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(change), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// A database of a later version is refused, and nothing is changed there.
func TestLaterFormat(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	define(t, s, func(l *history.Limits) { l.Age = time.Millisecond }) // old by now
	put(t, s, history.Message{Channel: []byte("a"), Payload: []byte("a")})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	edit(t, dir, func(txn *badger.Txn) error { return txn.Set([]byte{kindFormat}, []byte{2}) })
	before := contents(t, dir)
	s, err = Open(Config{Dir: dir})
	if err == nil {
		_ = s.Close()
	}
	if !errors.Is(err, history.ErrFormat) || !strings.Contains(err.Error(), dir+": it has format 2") || !strings.Contains(err.Error(), "reads format 1") {
		t.Errorf("error %v", err)
	}
	if after := contents(t, dir); !maps.Equal(before, after) {
		t.Errorf("the database had %q, and has %q", before, after)
	}
}
