package badger

import (
	"crypto/sha256"
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
		must(t, err)
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
		must(t, s.Close())
		equal(t, "the database has the format", contents(t, dir)[string(rune(kindFormat))], "\x01")
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
	must(t, err)
	must(t, errors.Join(db.Update(change), db.Close()))
}

// A database of a later version is refused, and nothing is changed there.
func TestLaterFormat(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(Config{Dir: dir})
	must(t, err)
	define(t, s, func(l *history.Limits) { l.Age = time.Millisecond }) // old by now
	put(t, s, history.Message{Channel: []byte("a"), Payload: []byte("a")})
	must(t, s.Close())
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

// A key that an earlier version has remembered, for all publishers, is its sender's.
func TestKeysOfEarlierVersions(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	define(t, s, nil)
	first := put(t, s, history.Message{Channel: []byte("c"), Sender: []byte("ann")}).Position
	must(t, s.Close())
	hash := sha256.Sum256([]byte("\x00\x01t\x00\x01ck"))
	edit(t, dir, func(txn *badger.Txn) error {
		return txn.Set(append([]byte("k\x01h\x01t"), hash[:16]...), appendPlace(nil, first))
	})
	s = open(t, Config{Dir: dir})
	define(t, s, nil)
	for _, c := range []struct {
		sender   string
		repeated bool
	}{{"ann", true}, {"bob", false}, {"", false}} {
		m := history.Message{Channel: []byte("c"), Key: []byte("k"), Sender: []byte(c.sender), TokenID: "1"}
		if r := put(t, s, m); r.Repeated != c.repeated || r.Repeated && r.Position != first {
			t.Errorf("%q: %+v", c.sender, r)
		}
	}
}

// A message without a sender is stored as builds before senders have stored it; what is broken
// is no message.
func TestMessageLayout(t *testing.T) {
	plain := storedMessage{t: 1, channel: []byte("ch"), payload: []byte("x")}
	if got, want := string(encodeMessage(plain)), "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x02chx"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, m := range []storedMessage{
		plain, {t: 1, channel: []byte("c")}, {t: 2, channel: []byte("c"), sender: []byte("ann")},
		{t: 3, channel: []byte(strings.Repeat("c", wire.MaxChannel)), sender: []byte(strings.Repeat("u", wire.MaxSender)), payload: []byte("x")},
		{t: 4, channel: []byte("c"), sender: []byte("ann"), payload: make([]byte, chunkBytes+1)},
	} {
		v := encodeMessage(m)
		got, err := decodeMessage(v)
		if err != nil || got.t != m.t || string(got.channel) != string(m.channel) || string(got.sender) != string(m.sender) || got.size != len(m.payload) {
			t.Errorf("%+v is read as %+v, %v", m, got, err)
		}
		head := 10 + len(m.channel)
		if len(m.sender) > 0 {
			head += 1 + len(m.sender)
		}
		for n := range head {
			if _, err := decodeMessage(v[:n:n]); err == nil {
				t.Errorf("the first %d bytes of %d are read", n, len(v))
			}
		}
	}
	for _, bad := range []string{"\x81" + strings.Repeat("u", 129), "\x01\n", "\x01\xff"} {
		v := append(encodeMessage(storedMessage{channel: []byte("c")}), bad...)
		v[8] |= hasSender >> 8
		if r, err := decodeMessage(v); err == nil {
			t.Errorf("the sender %q is read", r.sender)
		}
	}
}
