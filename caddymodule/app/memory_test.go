package app

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestTidy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done atomic.Int64
		var deliveries atomic.Uint64
		m := newMemoryTrimmer(deliveries.Load)
		m.freeMemory = func() { done.Add(1) }
		expect := func(want int64) {
			t.Helper()
			synctest.Wait()
			if got := done.Load(); got != want {
				t.Fatalf("memory was given back %d times, want %d", got, want)
			}
		}
		many := minGarbage/garbage["websocket"] + 1
		arrive := func(n int) {
			for range n {
				m.noteSession("websocket")
			}
		}
		arrive(many - 1)
		time.Sleep(time.Hour)
		expect(0)
		arrive(1)
		time.Sleep(quietTime - 1)
		expect(0)
		arrive(1) // it is not calm yet
		time.Sleep(quietTime - 1)
		expect(0)
		time.Sleep(time.Nanosecond)
		expect(1)
		time.Sleep(time.Hour)
		expect(1)
		arrive(many)
		time.Sleep(quietTime)
		expect(2)

		busy := time.NewTicker(time.Second)
		deliver := func(n int) { // each second, for a minute
			for range 60 {
				<-busy.C
				deliveries.Add(uint64(n))
			}
		}
		time.Sleep(time.Second / 2) // no timer ends in the moment of a delivery
		arrive(many)
		deliver(maxDeliveryRate + 1)
		expect(2)
		time.Sleep(time.Second / 4)
		arrive(1)
		deliver(maxDeliveryRate)
		expect(3)
		busy.Stop()

		for range 3 { // who asks whether memory is still short does not put it off
			m.noteShort()
			time.Sleep(quietTime * 2 / 5)
		}
		expect(4)
		m.noteShort()
		time.Sleep(quietTime)
		expect(5)

		arrive(many)
		m.stop()
		arrive(many)
		time.Sleep(time.Hour)
		expect(5)
	})
}

func TestMemoryIsShort(t *testing.T) {
	keep := make([]byte, 8<<20)
	runtime.GC()
	for limit, want := range map[int64]bool{math.MaxInt64: false, 1 << 40: false, int64(len(keep)): true} {
		if isMemoryShort(limit) != want {
			t.Errorf("with a limit of %d: %v", limit, !want)
		}
	}
	runtime.KeepAlive(keep)
}

// Files are divided so that something is left for everybody, and what is said to be needed is enough.
func TestFilesAreShared(t *testing.T) {
	for _, c := range []struct{ limit, connections, reserved, sessions, requests int }{
		{256, 100_000, 64, 144, 48},
		{1024, 100_000, 256, 576, 192},
		{20_000, 100_000, 1024, 14_232, 4744},
		{1 << 20, 100_000, 1024, 100_000, 947_552},
		{1 << 20, 1_000_000, 1024, 1_000_000, 47_552},
		{1 << 20, 0, 1024, 1_031_168, 16_384},
		{64, 10, 64, 10, 22},
		{0, 100_000, 0, 0, math.MaxInt32},
	} {
		want := fileShares{c.limit, c.reserved, c.sessions, c.requests}
		if got := shareFiles(c.limit, c.connections); got != want {
			t.Errorf("%d files for %d connections: %+v, want %+v", c.limit, c.connections, got, want)
		}
	}
	for _, n := range []int{1, 100, 10_000, 100_000, 1_000_000} {
		files := neededFiles(n)
		if shareFiles(files, n).sessions < n || shareFiles(files-1, 0).sessions >= n && files > 100 {
			t.Errorf("%d connections are said to need %d files", n, files)
		}
	}
}
