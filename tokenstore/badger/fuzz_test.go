package badger

import (
	"bytes"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// A stored value is refused, or is what its record is written as.
func FuzzValue(f *testing.F) {
	f.Add([]byte(nil), int64(0))
	f.Add([]byte("1234567"), int64(1))
	f.Add([]byte("12345678"), int64(1<<40))
	f.Add([]byte("123456789"), int64(-1))
	f.Fuzz(func(t *testing.T, stored []byte, expires int64) {
		rec, err := decode(append([]byte{byte(tokenstore.KindAccess)}, "id"...), stored, uint64(max(expires, 0)))
		if err != nil {
			if len(stored) >= versionLen {
				t.Fatalf("%q: %v", stored, err)
			}
			return
		}
		e := entryOf(rec)
		if !bytes.Equal(e.Value, stored) || string(e.Key) != "\x01id" {
			t.Fatalf("%q is written as %q under %q", stored, e.Value, e.Key)
		}
		if expires > 0 && expires < time.Now().AddDate(1000, 0, 0).Unix() && e.ExpiresAt != uint64(expires) {
			t.Fatalf("expiry %d is written as %d", expires, e.ExpiresAt)
		}
	})
}
