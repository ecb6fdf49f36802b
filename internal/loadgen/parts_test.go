package loadgen

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

func TestHistogram(t *testing.T) {
	var (
		h   histogram
		sum summary
	)
	for ns := int64(1000); ns <= 100_000_000; ns += 1000 {
		h.record(ns)
	}
	sum.add(&h)
	sum.add(&h)
	if sum.total != 200_000 || sum.max != 100_000_000 {
		t.Errorf("got %d times up to %d ns", sum.total, sum.max)
	}
	for q, want := range map[float64]float64{0.01: 1000, 0.5: 50_000, 0.9: 90_000, 0.99: 99_000, 0.999: 99_900} {
		if got := sum.quantile(q); got < want*0.984 || got > want*1.016 {
			t.Errorf("quantile %v is %v µs, want %v", q, got, want)
		}
	}
	if got := new(summary).quantile(0.5); got != 0 {
		t.Errorf("of nothing the median is %v", got)
	}
}

// Every time has a bucket whose middle is near it, and later times have no
// earlier ones.
func TestHistogramBuckets(t *testing.T) {
	last := 0
	for ns := int64(1); ns > 0 && ns < 1<<42; ns += ns/100 + 1 {
		i := bucketOf(ns)
		if i < last || i >= buckets {
			t.Fatalf("%d ns is put in bucket %d, after %d", ns, i, last)
		}
		last = i
		if off := bucketMiddle(i) - ns; max(off, -off) > ns/62+resolution/2 {
			t.Fatalf("%d ns is in a bucket around %d ns", ns, bucketMiddle(i))
		}
	}
	for _, ns := range []int64{-5, 0, 1<<63 - 1} {
		if i := bucketOf(ns); i < 0 || i >= buckets {
			t.Errorf("%d ns is put in bucket %d", ns, i)
		}
	}
}

func TestOrder(t *testing.T) {
	for name, tt := range map[string]struct {
		numbers                  []uint64
		late, duplicate, missing uint64
	}{
		"in order":              {[]uint64{1, 2, 3}, 0, 0, 0},
		"one lost":              {[]uint64{1, 3, 4}, 0, 0, 1},
		"the first lost":        {[]uint64{3, 4}, 0, 0, 2},
		"twice":                 {[]uint64{1, 2, 2, 3, 1}, 0, 2, 0},
		"late":                  {[]uint64{1, 3, 2, 4}, 1, 0, 0},
		"late and twice":        {[]uint64{1, 3, 2, 2, 3}, 1, 2, 0},
		"the middle of a gap":   {[]uint64{1, 5, 3}, 1, 0, 2},
		"a gap from its middle": {[]uint64{1, 5, 3, 2, 4, 3}, 3, 1, 0},
		"a gap from its ends":   {[]uint64{1, 6, 2, 5, 4, 3}, 4, 0, 0},
		"two gaps":              {[]uint64{2, 4, 3, 1, 5}, 2, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := order{next: 1}
			var late_, duplicates uint64
			for _, n := range tt.numbers {
				if n == o.next {
					o.next++
					continue
				}
				switch o.skip(n) {
				case late:
					late_++
				case duplicate:
					duplicates++
				}
			}
			missing := uint64(0)
			for _, m := range o.missing {
				missing += m.hi - m.lo
			}
			if late_ != tt.late || duplicates != tt.duplicate || missing != tt.missing {
				t.Errorf("got %d late, %d twice, %d missing; want %d, %d, %d", late_, duplicates, missing, tt.late, tt.duplicate, tt.missing)
			}
		})
	}
}

// However much is lost, the memory for it is bounded.
func TestOrderIsBounded(t *testing.T) {
	o := order{next: 1}
	for n := uint64(2); n < 10_000; n += 4 {
		o.skip(n + 2)
		o.skip(n)
	}
	if len(o.missing) > maxSpans {
		t.Errorf("%d spans, want at most %d", len(o.missing), maxSpans)
	}
}

// No subscriber is ever more than the window behind, and no wake-up is lost,
// however the subscribers move.
func TestWindow(t *testing.T) {
	for _, size := range []int{1, 2, 7, 64} {
		const subscribers, messages = 8, 20_000
		w := newWindow(subscribers, size)
		var (
			published atomic.Uint64
			positions [subscribers]atomic.Uint64
			group     sync.WaitGroup
			more      [subscribers]chan struct{}
		)
		for i := range subscribers {
			more[i] = make(chan struct{}, 1)
			group.Go(func() {
				at := uint64(0)
				for at < messages {
					<-more[i]
					for to := published.Load(); at < to; {
						next := at + 1 + rand.Uint64N(to-at)
						positions[i].Store(next)
						w.move(at, next)
						at = next
					}
				}
			})
		}
		stop := make(chan struct{})
		for n := uint64(0); n < messages; {
			free := w.await(n, stop)
			for i := range positions {
				if at := positions[i].Load(); n+free > at+uint64(size) {
					t.Fatalf("window %d: %d more after %d, and a subscriber stands at %d", size, free, n, at)
				}
			}
			n += min(free, 1+rand.Uint64N(uint64(size)), messages-n)
			published.Store(n)
			for _, c := range more {
				select {
				case c <- struct{}{}:
				default:
				}
			}
		}
		group.Wait()
		if w.low.Load() != messages {
			t.Errorf("window %d: in the end all stand at %d, and low is %d", size, messages, w.low.Load())
		}
	}
}

func TestWindowStops(t *testing.T) {
	w, stop := newWindow(1, 1), make(chan struct{})
	close(stop)
	if free := w.await(1, stop); free != 0 {
		t.Errorf("a full window gives %d", free)
	}
}
