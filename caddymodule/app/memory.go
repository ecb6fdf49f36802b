package app

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/millrace/millrace/caddymodule/takeover"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore"
)

// ConnectionCost is what an idle connection takes of the process (docs/decisions/0043-what-was-measured.md).
func ConnectionCost(transport string, overTLS bool) pubsub.Cost {
	switch {
	case transport == tokenstore.ProtocolWebTransport:
		return pubsub.Cost{Memory: 120 << 10} // all share one file
	case overTLS:
		return pubsub.Cost{Files: 1, Memory: 20 << 10}
	}
	return pubsub.Cost{Files: 1, Memory: 8 << 10}
}

// edgeMemory is what an edge takes without any connection, in bytes.
const edgeMemory = 64 << 20

// defaultConnectionMemory is what connections may take where the Go runtime has a limit of its memory: the rest
// is for queues, rights, patterns and histories, and for garbage, or collecting it would take all
// the time. math.MaxInt64: it has none.
func defaultConnectionMemory(limit int64) int {
	if limit == math.MaxInt64 {
		return 0
	}
	return int(max(limit-edgeMemory, limit/4) / 2)
}

// isMemoryShort reports whether what was in use after the last collection of garbage is so much of the
// limit that collections would soon take most of the time, whatever uses it: queues, histories,
// patterns. It takes some microseconds.
func isMemoryShort(limit int64) bool {
	used := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(used)
	return limit < math.MaxInt64 && used[0].Value.Uint64()+used[1].Value.Uint64() > uint64(limit/10*7)
}

// idleQUIC is how many QUIC connections without a session there may be.
func idleQUIC(limit int64) int {
	return int(min(max(limit/16/takeover.IdleQUICMemory, 64), takeover.MaxIdleQUIC))
}

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

// noteShort says that memory is short: without collections, it would not show when it no longer is.
func (t *memoryTrimmer) noteShort() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.garbage < minGarbage && !t.stopped { // else the timer is set
		t.garbage = minGarbage
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
