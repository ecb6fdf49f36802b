package pubsub

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/memory"
	"github.com/millrace/millrace/wire"
)

// BenchmarkPublishHistories is one publish of 128 bytes to the writes of all subscribers:
// without histories, with histories that do not keep the channel, and on a channel that is
// kept in memory, to plain subscriptions and to those with positions, of which those that are
// behind are not waited for. There is one publisher,
// or 16 at the same time, who share the tenant. Compare within one run.
func BenchmarkPublishHistories(b *testing.B) {
	for _, c := range []struct{ subscribers, publishers int }{{1, 1}, {1000, 1}, {1000, 16}} {
		for _, h := range []struct{ name, channels, verb string }{
			{"none", "", "SUB:t:a.b"}, {"other", "chat.#", "SUB:t:a.b"}, {"kept", "a.#", "SUB:t:a.b"}, {"positions", "a.#", "RSUB:t:a.b:now"},
		} {
			b.Run(fmt.Sprintf("subscribers=%d/publishers=%d/histories=%s", c.subscribers, c.publishers, h.name), func(b *testing.B) {
				benchmarkPublish(b, c.subscribers, c.publishers, h.channels, h.verb)
			})
		}
	}
}

// benchmarkPublish has publishers share b.N publishes.
func benchmarkPublish(b *testing.B, subscribers, publishers int, channels, verb string) {
	hub := NewHub(new(localBroker), fastLimits(), zap.NewNop())
	if channels != "" {
		set, err := history.NewSet([]history.Definition{{Name: "a", Channels: []string{channels}, Limits: history.DefaultLimits()}})
		must(b, err)
		must(b, hub.SetHistories(set, memory.New()))
	}
	sessions := make([]*Session, subscribers+publishers)
	for i := range sessions {
		s, err := hub.Admit(Identity{TokenID: "a", ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{}}, Client{})
		must(b, err)
		s.Attach(discardNow{})
		sessions[i] = s
		if i >= publishers {
			s.HandleLine([]byte(verb))
		}
	}
	frame := wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t"), Channel: []byte("a.b"), Payload: make([]byte, 128)})
	b.ReportAllocs()
	b.ResetTimer()
	used := processorTime()
	var all sync.WaitGroup
	for i := range publishers {
		all.Go(func() {
			for n := i; n < b.N; n += publishers {
				sessions[i].HandleFrame(frame)
			}
		})
	}
	all.Wait()
	for hub.histories.Load() != nil && len(hub.sequencers.list()) > 0 && verb == "SUB:t:a.b" {
		time.Sleep(time.Microsecond) // what was stored is handed on, too
	}
	b.ReportMetric(float64((processorTime()-used).Nanoseconds())/float64(b.N), "cpu-ns/op") // on a busy machine it says more
	for _, s := range sessions {
		s.Detach()
	}
	must(b, hub.Close())
}
