//go:build unix

package pubsub

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
)

// onOneProcessor runs f while there is one, for tests of who gets it.
func onOneProcessor(t *testing.T) {
	processors() // which others of the package know
	old := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(old) })
}

// What has become ready in the network runs soon, also while goroutines never leave the processor idle.
func TestLookAtNetwork(t *testing.T) {
	onOneProcessor(t)
	r, w, err := os.Pipe()
	must(t, err)
	defer w.Close()
	defer r.Close()
	var read atomic.Int32
	var reader sync.WaitGroup
	reader.Go(func() {
		var b [1]byte
		for n, err := r.Read(b[:]); n == 1 && err == nil; n, err = r.Read(b[:]) {
			read.Add(1)
		}
	})
	soon := 0
	for range 100 {
		runtime.Gosched() // it waits for the network
		before := read.Load()
		_, err := w.Write([]byte{1})
		must(t, err)
		lookAtNetwork()
		runtime.Gosched()
		if read.Load() > before {
			soon++
		}
	}
	if soon < 50 { // not 100: the system may keep the reader from it
		t.Errorf("%d of 100 bytes were read soon", soon)
	}
	must(t, w.Close())
	reader.Wait()
}

// Those who hand turns to each other do not keep a goroutine that is ready from the processor.
func TestTurnsLetOthersRun(t *testing.T) {
	onOneProcessor(t)
	h := NewHub(new(localBroker), fastLimits(), zap.NewNop())
	defer h.Close()
	l := h.cpuAccountOf([]byte("loud"))
	var took atomic.Int64
	var ended atomic.Bool
	var loud sync.WaitGroup
	for range 8 {
		loud.Go(func() {
			for !ended.Load() {
				p := pace{hub: h, takesTurns: true}
				p.takeTurn(l, &p.tenantTurn)
				took.Add(1)
				p.giveBack(l, &p.tenantTurn)
			}
		})
	}
	most := int64(0)
	for range 20 {
		before := took.Load()
		ran := make(chan int64)
		go func() { ran <- took.Load() }()
		go func() {}() // the newest goes ahead of all that are ready
		most = max(most, <-ran-before)
	}
	ended.Store(true)
	loud.Wait()
	if most > 100 {
		t.Errorf("%d turns were taken before it", most)
	}
}

// Who owed something when its message came yields, and with others there who has woken sessions' writers, nobody else.
func TestWhoYields(t *testing.T) {
	for name, c := range map[string]struct {
		company, owes, woken, want bool
	}{
		"alone": {false, true, true, false}, "owes nothing": {true, false, false, false},
		"owes": {true, true, false, true}, "has woken writers": {true, false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, fastLimits(), func(r *rig) {
				a := r.hub.cpuAccountOf([]byte("other"))
				if c.company {
					r.company()
				}
				if c.owes {
					r.debtor("other", minDebt-1)
				}
				p, _ := r.begin(payers{tenant: a}, nil)
				defer p.end()
				time.Sleep(yieldEvery)
				p.look()
				equal(t, "it yields", p.yield(c.woken), c.want)
			})
		})
	}
}
