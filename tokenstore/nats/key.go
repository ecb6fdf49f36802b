package nats

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// keyOf returns the key of a record in the bucket: its kind, a dot, and the id, in which
// every byte that a key may not have is written as `=` and two hex digits.
func keyOf(kind tokenstore.Kind, id string) string {
	var b strings.Builder
	b.Grow(2 + len(id))
	b.WriteByte('0' + byte(kind))
	b.WriteByte('.')
	for i := range len(id) {
		c := id[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			b.WriteByte('=')
			b.WriteString(hex.EncodeToString([]byte{c}))
		}
	}
	return b.String()
}

// splitKey is the inverse of keyOf. It accepts only what keyOf returns: a record has
// one key.
func splitKey(key string) (kind tokenstore.Kind, id string, ok bool) {
	kind, id, ok = unescape(key)
	return kind, id, ok && keyOf(kind, id) == key
}

func unescape(key string) (kind tokenstore.Kind, id string, ok bool) {
	if len(key) < 3 || key[0] < '1' || key[0] > '9' || key[1] != '.' {
		return 0, "", false
	}
	kind = tokenstore.Kind(key[0] - '0')
	rest := key[2:]
	var b strings.Builder
	for {
		plain, escaped, found := strings.Cut(rest, "=")
		b.WriteString(plain)
		if !found {
			return kind, b.String(), true
		}
		if len(escaped) < 2 {
			return 0, "", false
		}
		c, err := hex.DecodeString(escaped[:2])
		if err != nil {
			return 0, "", false
		}
		b.Write(c)
		rest = escaped[2:]
	}
}

// A value of the bucket is | u8 format | u64 DeleteAfter | the record's value |.
// DeleteAfter is in seconds since 1970; 0: never.
const (
	format      = 1
	valueHeader = 1 + 8
)

var errDamaged = errors.New("a value that is too short")

func encode(rec tokenstore.Record) []byte {
	seconds := uint64(0)
	if t := rec.DeleteAfter; !t.IsZero() {
		seconds = uint64(t.Unix())
		if t.Nanosecond() > 0 {
			seconds++
		}
	}
	b := make([]byte, 0, valueHeader+len(rec.Value))
	b = append(b, format)
	b = binary.BigEndian.AppendUint64(b, seconds)
	return append(b, rec.Value...)
}

// decode reads a value of the bucket. The record shares no memory with it. It returns a
// [tokenstore.ErrFormat] for a value of a later version.
func decode(kind tokenstore.Kind, id string, value []byte, version uint64) (tokenstore.Record, error) {
	switch {
	case len(value) > 0 && value[0] != format:
		return tokenstore.Record{}, tokenstore.UnknownFormat(fmt.Sprintf("the value of %s token %s in the bucket", kind, id), int(value[0]), format)
	case len(value) < valueHeader:
		return tokenstore.Record{}, errDamaged
	}
	rec := tokenstore.Record{Kind: kind, ID: id, Version: version, Value: slices.Clone(value[valueHeader:])}
	if seconds := binary.BigEndian.Uint64(value[1:]); seconds > 0 {
		rec.DeleteAfter = time.Unix(int64(seconds), 0)
	}
	return rec, nil
}
