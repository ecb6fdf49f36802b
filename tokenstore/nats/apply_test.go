package nats

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

// Entries of the bucket that are not ours, or cannot be read, permit nothing, and do
// not keep others from being read.
func TestStrangeEntries(t *testing.T) {
	t.Parallel()
	connect := natstest.Connect(natstest.Server(t))
	a := openReady(t, connect)
	put(t, a, "good", time.Time{})
	broken := put(t, a, "broken", time.Time{})
	kv := bucketOf(t, a)
	for key, value := range map[string]string{
		"something": "else", "1.=67ood": string(encode(tokenstore.Record{Value: []byte("forged")})),
		keyOf(access, "broken"): "\x02 of a later version", keyOf(access, "short"): "",
	} {
		must(t, errorOf(kv.Put(t.Context(), key, []byte(value))))
	}
	await(t, "the running store has seen it", func() bool {
		_, ok := a.mirror.get(access, "broken")
		return !ok
	})
	put(t, a, "last", time.Time{})
	b := openReady(t, connect)
	for _, s := range []testStore{a, b} {
		if rec, err := s.Get(t.Context(), access, "good"); err != nil || string(rec.Value) != "x" {
			t.Errorf("Get = %+v, %v", rec, err)
		}
		for _, id := range []string{"broken", "short"} {
			if rec, err := s.Get(t.Context(), access, id); err == nil {
				t.Errorf("Get of what cannot be read = %+v", rec)
			}
		}
		if ids := s.mirror.ids(access, "", math.MaxInt); strings.Join(ids, " ") != "good last" {
			t.Errorf("has %v", ids)
		}
		if _, err := s.Update(t.Context(), broken); err == nil {
			t.Error("what cannot be read was replaced")
		}
	}
	for _, line := range []string{"the bucket has a key that is not ours", "a token cannot be read"} {
		if n := b.logs.FilterMessage(line).Len(); n != 2 {
			t.Errorf("%d log lines: %s; want 2", n, line)
		}
	}
}
