package loadgen

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

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
