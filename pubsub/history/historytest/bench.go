package historytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
)

// benchStored is how many messages the history has in [BenchmarkWaits].
const benchStored = 1_000_000

// BenchmarkWaits measures how long a message of a tenant waits while the store goes through a
// million messages of another tenant: a purge, lower limits, a look at what is kept, and replays that
// find nothing. Run it with -benchtime=1x; ns/op has no meaning.
func BenchmarkWaits(b *testing.B, open func(b *testing.B) history.Store) {
	limits := history.Limits{Messages: 10_000, Age: history.MaxAge, Size: history.MaxSize}
	fewer := limits
	fewer.Messages = 10
	one := limits
	one.Messages = 1
	inHundred := func(i int) string { return fmt.Sprint("c.", i%100) }
	for _, c := range []struct {
		name    string
		limits  history.Limits
		channel func(i int) string
		every   time.Duration // between the messages of the other tenant
		do      func(history.Store) error
	}{
		{"nothing", limits, inHundred, 0, func(history.Store) error { time.Sleep(time.Second); return nil }},
		{"purge", limits, inHundred, 0, func(s history.Store) error { _, err := s.Purge("h", "big", ""); return err }},
		{"define", limits, inHundred, 0, func(s history.Store) error { return s.Define(history.Definition{Name: "h", Limits: fewer}) }},
		{"usage", limits, inHundred, 0, func(s history.Store) error { _, err := s.Usage(); return err }},
		{"replays", one, func(i int) string {
			if i >= benchStored-2*rolledOver {
				return fmt.Sprint("rolled.", i%rolledOver)
			}
			return fmt.Sprint("c.", i)
		}, time.Millisecond, replay},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				s := open(b)
				if err := s.Define(history.Definition{Name: "h", Limits: c.limits}); err != nil {
					b.Fatal(err)
				}
				fill(b, s, c.channel)
				begin := time.Now()
				done := make(chan error, 1)
				go func() { done <- c.do(s) }() // ends with the operation, which is awaited
				waits, err := appendUntil(b, s, c.every, done)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(time.Since(begin).Seconds(), "s")
				b.ReportMetric(ms(waits[len(waits)-1]), "ms-most")
				b.ReportMetric(ms(waits[len(waits)*99/100]), "ms-p99")
				b.ReportMetric(ms(waits[len(waits)/2]), "ms-p50")
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// rolledOver is how many channels have removed a message in the case of replays, the newest of all.
const rolledOver = 15_000

// replay reads pages that have nothing from the first message on, as many at a time as an edge does for
// one tenant, for three seconds. Half of them ask for the newest message of each channel.
func replay(s history.Store) error {
	p, err := pattern.Parse("none.*")
	if err != nil {
		return err
	}
	head, err := s.Head("h", "big")
	if err != nil {
		return err
	}
	end := time.Now().Add(3 * time.Second)
	errs := make(chan error)
	const readers = 16
	for i := range readers {
		q := history.Query{History: "h", Tenant: "big", Pattern: p, MaxMessages: 512, MaxBytes: 128 << 10, Newest: i%2 == 0}
		go func() {
			for time.Now().Before(end) {
				if q.After >= head.N {
					q.After = 0
				}
				if q.MaxChannels = 0; q.After == 0 {
					q.MaxChannels = 1024
				}
				page, err := s.Read(context.Background(), q)
				if err != nil {
					errs <- err
					return
				}
				q.After = page.Through.N
			}
			errs <- nil
		}()
	}
	for range readers {
		err = errors.Join(err, <-errs)
	}
	return err
}

// fill stores messages of the tenant big, 1,024 at a time.
func fill(b *testing.B, s history.Store, channel func(i int) string) {
	b.Helper()
	window := make(chan struct{}, 1024)
	var stored sync.WaitGroup
	payload := make([]byte, 128)
	for i := range benchStored {
		window <- struct{}{}
		stored.Add(1)
		s.Append(&history.Message{
			History: "h", Tenant: "big", Channel: []byte(channel(i)), Payload: payload,
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

// appendUntil stores one message of another tenant after the other, at intervals, until done, and returns how
// long each waited, in ascending order.
func appendUntil(b *testing.B, s history.Store, every time.Duration, done <-chan error) (waits []time.Duration, err error) {
	b.Helper()
	stored := make(chan error, 1)
	for {
		time.Sleep(every)
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
