package pubsub

import (
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/memory"
	"github.com/millrace/millrace/wire"
)

// BenchmarkPublishHistories is one publish of 128 bytes to the writes of all subscribers:
// without histories, with histories that do not keep the channel, and on a channel that is
// kept in memory, to plain subscriptions and to those with positions. Compare within one
// run.
func BenchmarkPublishHistories(b *testing.B) {
	for _, subscribers := range []int{1, 1000} {
		for _, c := range []struct{ name, channels, verb string }{
			{"none", "", "SUB:t:a.b"}, {"other", "chat.#", "SUB:t:a.b"}, {"kept", "a.#", "SUB:t:a.b"}, {"positions", "a.#", "RSUB:t:a.b:now"},
		} {
			b.Run(fmt.Sprintf("subscribers=%d/histories=%s", subscribers, c.name), func(b *testing.B) {
				hub := NewHub(new(localBroker), fastLimits(), zap.NewNop())
				if c.channels != "" {
					set, err := history.NewSet([]history.Definition{{Name: "a", Channels: []string{c.channels}, Limits: history.DefaultLimits()}})
					if err != nil {
						b.Fatal(err)
					}
					if err := hub.SetHistories(set, memory.New()); err != nil {
						b.Fatal(err)
					}
				}
				sessions := make([]*Session, subscribers+1)
				for i := range sessions {
					s, err := hub.Admit(Identity{TokenID: "a", ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{}}, Client{})
					if err != nil {
						b.Fatal(err)
					}
					s.Attach(discardNow{})
					sessions[i] = s
					if i > 0 {
						s.HandleLine([]byte(c.verb))
					}
				}
				frame := wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t"), Channel: []byte("a.b"), Payload: make([]byte, 128)})
				b.ReportAllocs()
				for b.Loop() {
					sessions[0].HandleFrame(frame)
				}
				for hub.histories.Load() != nil && len(hub.sequencers.list()) > 0 && c.verb == "SUB:t:a.b" {
					time.Sleep(time.Microsecond) // what was stored is handed on, too
				}
				for _, s := range sessions {
					s.Detach()
				}
				if err := hub.Close(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
