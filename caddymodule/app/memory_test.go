package app

import (
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

		arrive(many)
		m.stop()
		arrive(many)
		time.Sleep(time.Hour)
		expect(3)
	})
}
