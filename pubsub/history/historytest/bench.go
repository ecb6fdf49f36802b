package historytest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/history"
)

// benchStored is how many messages the history has in [BenchmarkWaits].
const benchStored = 1_000_000

// BenchmarkWaits measures how long a message of a tenant waits while the store goes through a
// million messages of another tenant: a purge, lower limits, and a look at what is kept. Run it
// with -benchtime=1x; ns/op has no meaning.
func BenchmarkWaits(b *testing.B, open func(b *testing.B) history.Store) {
	limits := history.Limits{Messages: 10_000, Age: history.MaxAge, Size: history.MaxSize}
	fewer := limits
	fewer.Messages = 10
	for _, c := range []struct {
		name string
		do   func(history.Store) error
	}{
		{"nothing", func(history.Store) error { time.Sleep(time.Second); return nil }},
		{"purge", func(s history.Store) error { _, err := s.Purge("h", "big", ""); return err }},
		{"define", func(s history.Store) error { return s.Define(history.Definition{Name: "h", Limits: fewer}) }},
		{"usage", func(s history.Store) error { _, err := s.Usage(); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				s := open(b)
				if err := s.Define(history.Definition{Name: "h", Limits: limits}); err != nil {
					b.Fatal(err)
				}
				fill(b, s)
				begin := time.Now()
				done := make(chan error, 1)
				go func() { done <- c.do(s) }() // ends with the operation, which is awaited
				waits, err := appendUntil(b, s, done)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(time.Since(begin).Seconds(), "s")
				b.ReportMetric(ms(waits[len(waits)-1]), "ms-most")
				b.ReportMetric(ms(waits[len(waits)*99/100]), "ms-p99")
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// fill stores messages of the tenant big, 1,024 at a time.
func fill(b *testing.B, s history.Store) {
	b.Helper()
	window := make(chan struct{}, 1024)
	var stored sync.WaitGroup
	payload := make([]byte, 128)
	for i := range benchStored {
		window <- struct{}{}
		stored.Add(1)
		s.Append(&history.Message{
			History: "h", Tenant: "big", Channel: fmt.Appendf(nil, "c.%d", i%100), Payload: payload,
			Stored: func(_ *history.Message, r history.Result) {
				if r.Err != nil {
					b.Error(r.Err)
				}
				<-window
				stored.Done()
			},
		})
	}
	stored.Wait()
}

// appendUntil stores one message of another tenant after the other until done, and returns how
// long each waited, in ascending order.
func appendUntil(b *testing.B, s history.Store, done <-chan error) (waits []time.Duration, err error) {
	b.Helper()
	stored := make(chan error, 1)
	for {
		begin := time.Now()
		s.Append(&history.Message{
			History: "h", Tenant: "small", Channel: []byte("c"), Payload: make([]byte, 128),
			Stored: func(_ *history.Message, r history.Result) { stored <- r.Err },
		})
		if err := <-stored; err != nil {
			return nil, err
		}
		waits = append(waits, time.Since(begin))
		select {
		case err := <-done:
			slices.Sort(waits)
			return waits, err
		default:
		}
	}
}
