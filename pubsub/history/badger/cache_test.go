package badger

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/history"
)

// Messages that were removed take no place among the cached ones, whether they are in front
// or behind one that stays.
func TestCacheForgetsRemoved(t *testing.T) {
	l := history.DefaultLimits()
	l.Messages = 1
	for _, stays := range []bool{false, true} {
		t.Run(fmt.Sprintf("stays=%v", stays), func(t *testing.T) {
			k := newKept("h", 7, l)
			now := time.Now()
			add := func(channel string) {
				m := &history.Message{History: "h", Tenant: "t", Channel: []byte(channel), Payload: []byte("12345")}
				k.add(&pending{message: m, of: k, at: k.Index.Next("t", now)}, DefaultCache, now)
			}
			want := 1
			if stays {
				add("stays")
				want++
			}
			for range 10_000 {
				add("c")
			}
			if len(k.cached) > 2*want+64 || k.alive != want || k.bytes != 5*want {
				t.Errorf("%d entries are cached, counted %d with %d bytes; %d messages are kept", len(k.cached), k.alive, k.bytes, want)
			}
		})
	}
}
