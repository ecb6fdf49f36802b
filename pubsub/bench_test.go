//go:build unix

package pubsub

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/memory"
)

// BenchmarkPublish is one publish of 128 bytes from its frame to the writes of
// all subscribers: by a goroutine of each (TLS, WebTransport), or by a few for all.
func BenchmarkPublish(b *testing.B) {
	for _, transport := range []Transport{discard{}, discardNow{}} {
		for _, size := range [][2]int{{1, 1}, {10, 1}, {1000, 1}, {1000, 3}} {
			subscribers, patterns := size[0], size[1]
			_, try := transport.(TryWriter)
			b.Run(fmt.Sprintf("try=%v/subscribers=%d/patterns=%d", try, subscribers, patterns), func(b *testing.B) {
				c := newCrowd(subscribers+1, transport, nil)
				for _, s := range c.sessions[1:] {
					for _, p := range []string{"a.b", "a.*", "#"}[:patterns] {
						s.HandleLine([]byte("SUB:t:" + p))
					}
				}
				c.publishes(b, 1, "a.b")
			})
		}
	}
}

// publishes has the first sessions share b.N publishes to a channel.
func (c *crowd) publishes(b *testing.B, publishers int, channel string) {
	frame := message(channel)
	b.ReportAllocs()
	b.ResetTimer()
	used := processorTime()
	var all sync.WaitGroup
	for i := range publishers {
		all.Go(func() {
			for n := i; n < b.N; n += publishers {
				c.sessions[i].HandleFrame(frame)
			}
		})
	}
	all.Wait()
	running := func(q *sequencer) bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.running
	}
	for slices.ContainsFunc(c.hub.sequencers.list(), running) {
		time.Sleep(time.Microsecond) // what was stored is handed on, too
	}
	// On a busy machine this says more.
	b.ReportMetric(float64((processorTime()-used).Nanoseconds())/float64(b.N), "cpu-ns/op")
	emptied(b, c.hub, c.sessions)
}

// BenchmarkPublishToHostile is a publish to a channel that as many patterns match
// as 100 connections of a tenant get.
func BenchmarkPublishToHostile(b *testing.B) {
	c := newCrowd(100, discardNow{}, nil)
	for i, s := range c.sessions {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		for range 1024 {
			s.HandleLine([]byte("SUB:t:" + hostile(hostileChannel, random.IntN(1<<12))))
		}
	}
	c.publishes(b, 1, hostileChannel)
}

// BenchmarkPublishHistories is one publish of 128 bytes to the writes of all subscribers:
// without histories, with histories that do not keep the channel, and on a channel that is
// kept in memory, to plain subscriptions and to those with positions, where those that are
// behind are not waited for. There is one publisher,
// or 16 at the same time, who share the tenant. Compare within one run.
func BenchmarkPublishHistories(b *testing.B) {
	for _, n := range []struct{ subscribers, publishers int }{{1, 1}, {1000, 1}, {1000, 16}} {
		for _, h := range []struct{ name, channels, verb string }{
			{"none", "", "SUB:t:a.b"},
			{"other", "chat.#", "SUB:t:a.b"},
			{"kept", "a.#", "SUB:t:a.b"},
			{"positions", "a.#", "RSUB:t:a.b:now"},
		} {
			name := fmt.Sprintf("subscribers=%d/publishers=%d/histories=%s", n.subscribers, n.publishers, h.name)
			b.Run(name, func(b *testing.B) {
				c := newCrowd(n.subscribers+n.publishers, discardNow{}, nil)
				if h.channels != "" {
					set, err := history.NewSet([]history.Definition{
						{Name: "a", Channels: []string{h.channels}, Limits: history.DefaultLimits()},
					})
					must(b, err)
					must(b, c.hub.SetHistories(set, memory.New()))
				}
				for _, s := range c.sessions[n.publishers:] {
					s.HandleLine([]byte(h.verb))
				}
				c.publishes(b, n.publishers, "a.b")
			})
		}
	}
}
