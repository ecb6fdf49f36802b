package nats

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
)

func quiet(c *Config) { c.Log = zap.NewNop() }

// BenchmarkStored stores messages of 128 bytes, as many at once as wait for the stream.
func BenchmarkStored(b *testing.B) {
	for _, nodes := range []int{1, 3} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			servers := []*server.Server{}
			if nodes == 1 {
				servers = append(servers, natstest.Server(b))
			} else {
				servers = natstest.Cluster(b, nodes)
			}
			a := open(b, natstest.Connect(servers[0]), quiet, func(c *Config) { c.Replicas = nodes })
			define(b, a, definition("h", func(d *history.Definition) { d.Limits.Messages = 1000 }))
			follow(b, a, "h")
			payload := make([]byte, 128)
			slots := make(chan struct{}, 1024)
			var stored sync.WaitGroup
			var mu sync.Mutex
			var took []time.Duration
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				slots <- struct{}{}
				stored.Add(1)
				start := time.Now()
				a.Append(&history.Message{
					History: "h", Tenant: "t", Channel: fmt.Appendf(nil, "c.%d", i%100), Payload: payload,
					Stored: func(_ *history.Message, r history.Result) {
						if r.Err != nil {
							b.Error(r.Err)
						}
						mu.Lock()
						took = append(took, time.Since(start))
						mu.Unlock()
						<-slots
						stored.Done()
					},
				})
			}
			stored.Wait()
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}

// BenchmarkResume reads 100 messages for each of 1,000 resumes, from the stream: of as many
// channels, and of one.
func BenchmarkResume(b *testing.B) {
	s := natstest.Server(b)
	fill := open(b, natstest.Connect(s), quiet)
	d := definition("h", func(d *history.Definition) { d.Limits.Messages = 1000 })
	define(b, fill, d)
	var stored sync.WaitGroup
	for i := range 100_000 {
		stored.Add(1)
		for {
			failed := make(chan bool, 1)
			fill.Append(&history.Message{
				History: "h", Tenant: "t", Channel: fmt.Appendf(nil, "c.%d", i%1000), Payload: make([]byte, 128),
				Stored: func(_ *history.Message, r history.Result) {
					select {
					case failed <- r.Err != nil:
					default:
					}
				},
			})
			if i%512 != 0 || !<-failed { // not more than the queue has room for
				break
			}
		}
		stored.Done()
	}
	for _, channels := range []int{1000, 1} {
		b.Run(fmt.Sprintf("channels=%d", channels), func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				a := open(b, natstest.Connect(s), quiet)
				define(b, a, d)
				head(b, a, "h")
				b.StartTimer()
				var reading sync.WaitGroup
				for i := range 1000 {
					reading.Go(func() {
						if page := read(b, a, query("h", "t", fmt.Sprintf("c.%d", i%channels), 0)); len(page.Messages) < 50 {
							b.Errorf("%d messages", len(page.Messages))
						}
					})
				}
				reading.Wait()
				b.StopTimer()
				_ = a.Close()
				b.StartTimer()
			}
		})
	}
}

// BenchmarkLoad is how long an edge takes to read a history of 100,000 messages.
func BenchmarkLoad(b *testing.B) {
	s := natstest.Server(b)
	fill := open(b, natstest.Connect(s), quiet)
	d := definition("h", func(d *history.Definition) { d.Limits.Messages = 100_000 })
	define(b, fill, d)
	results := make(chan history.Result, 1000)
	for i := range 100_000 {
		fill.Append(&history.Message{
			History: "h", Tenant: "t", Channel: fmt.Appendf(nil, "c.%d", i%1000), Payload: make([]byte, 128),
			Stored: func(_ *history.Message, r history.Result) { results <- r },
		})
		if i >= 1000 {
			<-results
		}
	}
	for b.Loop() {
		a := open(b, natstest.Connect(s), quiet)
		define(b, a, d)
		head(b, a, "h")
		_ = a.Close()
	}
}
