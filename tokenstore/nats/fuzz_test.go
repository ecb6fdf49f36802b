package nats

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/tokenstore"
)

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
