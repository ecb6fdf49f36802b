package app

import (
	"runtime/debug"
	"sync"
	"time"
)

const (
	minGarbage      = 24 << 20        // bytes that are worth the work
	quietTime       = 3 * time.Second // without arrivals, and with few deliveries
	maxDeliveryRate = 100             // deliveries/s that may wait for it
)

// garbage is what a handshake leaves, in bytes.
var garbage = map[string]int{"websocket": 30 << 10, "webtransport": 180 << 10}

// memoryTrimmer gives memory back to the system after many arrivals: what their handshakes
// leave would else count as the memory of idle connections for minutes. It takes
// some 10 ms for each 1,000 connections that are open, in which deliveries may
// have to wait. An edge that has many is left alone: it collects its garbage as
// it works.
type memoryTrimmer struct {
	freeMemory func()        // debug.FreeOSMemory
	deliveries func() uint64 // until now

	mu      sync.Mutex
	garbage int    // bytes, since memory was given back
	since   uint64 // deliveries, when the timer was set
	timer   *time.Timer
	stopped bool
	running sync.WaitGroup
}

func newMemoryTrimmer(deliveries func() uint64) *memoryTrimmer {
	return &memoryTrimmer{freeMemory: debug.FreeOSMemory, deliveries: deliveries}
}

// noteSession counts a session that began.
func (t *memoryTrimmer) noteSession(transport string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.garbage += garbage[transport]
	if t.garbage >= minGarbage && !t.stopped {
		t.schedule()
	}
}

// schedule sets the timer. The caller holds t.mu.
func (t *memoryTrimmer) schedule() {
	t.since = t.deliveries()
	if t.timer == nil {
		t.timer = time.AfterFunc(quietTime, t.trim)
	} else {
		t.timer.Reset(quietTime)
	}
}

func (t *memoryTrimmer) trim() {
	t.mu.Lock()
	if t.stopped || t.garbage < minGarbage { // an arrival set the timer again as it fired
		t.mu.Unlock()
		return
	}
	if t.deliveries()-t.since > uint64(maxDeliveryRate*quietTime/time.Second) {
		t.schedule()
		t.mu.Unlock()
		return
	}
	t.garbage = 0
	t.running.Add(1)
	t.mu.Unlock()
	defer t.running.Done()
	t.freeMemory()
}

// stop returns when nothing runs any more.
func (t *memoryTrimmer) stop() {
	t.mu.Lock()
	t.stopped = true
	if t.timer != nil {
		t.timer.Stop()
	}
	t.mu.Unlock()
	t.running.Wait()
}
