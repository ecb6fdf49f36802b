package nats

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/tokenstore"
)

// validKey is what JetStream takes as a key of a bucket, without wildcards.
var validKey = regexp.MustCompile(`^[-/_=a-zA-Z0-9]+(\.[-/_=a-zA-Z0-9]+)*$`)

// printable is every byte that an id may have.
func printable() string {
	var b strings.Builder
	for c := byte(' '); c <= '~'; c++ {
		b.WriteByte(c)
	}
	return b.String()
}

func TestKey(t *testing.T) {
	for _, c := range []struct {
		kind    tokenstore.Kind
		id, key string
	}{
		{tokenstore.KindAccess, "0123456789abcdef", "1.0123456789abcdef"},
		{tokenstore.KindMaster, "0123456789abcdef", "2.0123456789abcdef"},
		{tokenstore.KindAccess, "-_aZ", "1.-_aZ"},
		{tokenstore.KindAccess, "a.b", "1.a=2eb"},
		{tokenstore.KindAccess, ".", "1.=2e"},
		{tokenstore.KindAccess, "=", "1.=3d"},
		{tokenstore.KindAccess, "=2e", "1.=3d2e"},
		{tokenstore.KindAccess, " ", "1.=20"},
		{tokenstore.KindAccess, "*>", "1.=2a=3e"},
		{tokenstore.KindAccess, "tenant/ü", "1.tenant=2f=c3=bc"},
		{tokenstore.KindAccess, "\x00\xff", "1.=00=ff"},
	} {
		if key := keyOf(c.kind, c.id); key != c.key {
			t.Errorf("keyOf(%q) = %q, want %q", c.id, key, c.key)
		}
		if kind, id, ok := splitKey(c.key); kind != c.kind || id != c.id || !ok {
			t.Errorf("splitKey(%q) = %v, %q, %v", c.key, kind, id, ok)
		}
	}
}

// Keys of others do not stand for records, not for those of ours either.
func TestForeignKeys(t *testing.T) {
	for _, key := range []string{
		"", "1", "1.", ".a", "a", "1a", "11.a", "0.a", "x.a", ":.a",
		"1.=", "1.=2", "1.a=", "1.=zz", "1.=2 e",
		"1.a.b",   // is 1.a=2eb
		"1.=61",   // is 1.a
		"1.=2E",   // is 1.=2e
		"1.a/b",   // is 1.a=2fb
		"1.a=2e=", // ends too early
	} {
		if kind, id, ok := splitKey(key); ok {
			t.Errorf("splitKey(%q) = %v, %q", key, kind, id)
		}
	}
}

// FuzzKey has every byte of an id, alone and together, give a key that JetStream takes, and one
// of its own.
func FuzzKey(f *testing.F) {
	for c := range 256 {
		f.Add(string([]byte{byte(c)}))
	}
	for _, s := range []string{"", "a", "1.a", "1.=2e", "2.a=3db", "1.a.b", "1.=61", printable(), strings.Repeat("~", 128)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s != "" {
			for _, kind := range []tokenstore.Kind{tokenstore.KindAccess, tokenstore.KindMaster} {
				key := keyOf(kind, s)
				if k, id, ok := splitKey(key); k != kind || id != s || !ok || !validKey.MatchString(key) {
					t.Errorf("the id %q has the key %q, which is %v, %q, %v", s, key, k, id, ok)
				}
			}
		}
		if kind, id, ok := splitKey(s); ok && keyOf(kind, id) != s {
			t.Errorf("the key %q is the id %q, whose key is %q", s, id, keyOf(kind, id))
		}
	})
}

func TestValue(t *testing.T) {
	second := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		value       string
		after, want time.Time
	}{
		{"", time.Time{}, time.Time{}},
		{"x", second, second},
		{"x", second.Add(1), second.Add(time.Second)}, // never too early
		{strings.Repeat("x", tokenstore.MaxRecord), second.Add(time.Second - 1), second.Add(time.Second)},
	} {
		stored := encode(tokenstore.Record{Value: []byte(c.value), DeleteAfter: c.after})
		rec, err := decode(tokenstore.KindMaster, "a", stored, 7)
		must(t, err)
		if rec.Kind != tokenstore.KindMaster || rec.ID != "a" || rec.Version != 7 || string(rec.Value) != c.value ||
			!rec.DeleteAfter.Equal(c.want) || rec.DeleteAfter.IsZero() != c.want.IsZero() {
			t.Errorf("%v came back as %+v", c.after, rec)
		}
		stored[len(stored)-1] ^= 1
		if c.value != "" && string(rec.Value) != c.value {
			t.Error("the record keeps what it was read from")
		}
		for n := range valueHeader {
			if rec, err := decode(1, "a", stored[:n], 7); err == nil {
				t.Errorf("%d bytes were read as %+v", n, rec)
			}
		}
		stored[0]++
		if rec, err := decode(1, "a", stored, 7); err == nil {
			t.Errorf("another format was read as %+v", rec)
		}
	}
}

// Whatever the bucket has, the copy gets a record only from a valid key and value, and
// an entry that cannot be read never appears as a record.
func FuzzEntry(f *testing.F) {
	value := encode(tokenstore.Record{Value: []byte("x"), DeleteAfter: time.Unix(1<<33, 0)})
	f.Add("1.a", value, false, uint64(1))
	f.Add("2.=2e", value, true, uint64(2))
	f.Add("9.a", []byte(`{"stream":"KV_tokens","seq":2}`), true, uint64(0))
	f.Add("", []byte(nil), false, uint64(1)<<63)
	f.Fuzz(func(t *testing.T, key string, value []byte, deleted bool, revision uint64) {
		s := &Store{log: zap.NewNop(), mirror: newMirror()}
		changes := 0
		defer s.mirror.watchers.Add(func(tokenstore.Change) { changes++ })()
		s.apply(key, &message{value: value, deleted: deleted, revision: revision}, 1)
		n := 0
		for at, e := range s.mirror.entries {
			n++
			if keyOf(at.kind, at.id) != key || e.record.Version != revision {
				t.Errorf("%q at %d became %v at %d", key, revision, at, e.record.Version)
			}
			if rec, ok := s.mirror.get(at.kind, at.id); ok && !bytes.Equal(encode(rec), value) {
				t.Errorf("%x became %x", value, encode(rec))
			} else if !ok && changes > 0 {
				t.Errorf("watchers heard of %q", key)
			}
		}
		if n > 1 || changes > n {
			t.Errorf("%d records, %d changes", n, changes)
		}
	})
}

// What JetStream answers is a message, none, or an error, and a message with an
// operation is no value.
func FuzzMessage(f *testing.F) {
	answer := func(header client.Header, data []byte) []byte {
		var head []byte
		if header != nil {
			head = []byte("NATS/1.0\r\n")
			for name, list := range header {
				for _, value := range list {
					head = append(head, name+": "+value+"\r\n"...)
				}
			}
			head = append(head, "\r\n"...)
		}
		text, err := json.Marshal(map[string]any{"message": map[string]any{"seq": 7, "hdrs": head, "data": data}})
		if err != nil {
			f.Fatal(err)
		}
		return text
	}
	f.Add(answer(nil, []byte("x")))
	f.Add(answer(client.Header{operationHeader: {"DEL"}}, nil))
	f.Add(answer(client.Header{"Nats-Rollup": {"sub"}, operationHeader: {"PURGE"}}, []byte("x")))
	f.Add([]byte(`{"error":{"code":404,"err_code":10037,"description":"no message found"}}`))
	f.Add([]byte(`{"error":{"code":503,"err_code":10008}}`))
	f.Add([]byte(`{"message":{"seq":1,"hdrs":"!"}}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		m, err := parseMessage(answer)
		if err != nil && m != nil {
			t.Errorf("a message and an error: %+v, %v", m, err)
		}
		if m == nil || m.deleted {
			return
		}
		if rec, err := decode(tokenstore.KindAccess, "a", m.value, m.revision); err == nil && !bytes.Equal(encode(rec), m.value) {
			t.Errorf("%x became %x", m.value, encode(rec))
		}
	})
}
