package loadgen

import "sync/atomic"

// A window lets a publisher be at most size messages ahead of the slowest
// subscriber. It counts how many subscribers stand at each number, so that a
// read, however many messages it brings, costs two atomic additions, and only
// the last subscriber to leave the lowest number does more.
type window struct {
	size uint64
	at   []atomic.Int64 // subscribers at each number, modulo the length
	mask uint64

	_   [64]byte // the rest is read by all, and written by few
	low atomic.Uint64
	_   [64]byte

	waiting atomic.Bool
	wake    chan struct{}
}

func newWindow(subscribers, size int) *window {
	slots := uint64(1)
	for slots < uint64(size)+2 {
		slots *= 2
	}
	w := &window{size: uint64(size), at: make([]atomic.Int64, slots), mask: slots - 1, wake: make(chan struct{}, 1)}
	w.at[0].Store(int64(subscribers))
	return w
}

// move notes that a subscriber went from one number to a higher one. Safe for
// concurrent use.
func (w *window) move(from, to uint64) {
	w.at[to&w.mask].Add(1)
	if w.at[from&w.mask].Add(-1) == 0 && w.low.Load() == from {
		w.advance()
	}
}

// advance moves low to the lowest number where a subscriber stands. None is
// below low, so an empty slot at low stays empty; and a subscriber that empties the next
// one meanwhile either sees the new low, or is seen by this loop.
func (w *window) advance() {
	for {
		low := w.low.Load()
		if w.at[low&w.mask].Load() != 0 {
			break
		}
		w.low.CompareAndSwap(low, low+1)
	}
	if w.waiting.Load() && w.waiting.CompareAndSwap(true, false) {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// await returns how many messages may follow those published, at least one; 0
// once stop is closed. One goroutine may call it.
func (w *window) await(published uint64, stop <-chan struct{}) uint64 {
	for {
		low := w.low.Load()
		if free := low + w.size - published; free > 0 {
			return free
		}
		w.waiting.Store(true)
		if w.low.Load() != low {
			continue
		}
		select {
		case <-w.wake:
		case <-stop:
			return 0
		}
	}
}
