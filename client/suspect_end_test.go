package client

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// An interest that only the next connection has confirmed is confirmed when the current one dies.
func TestSubscribeAndSuspectDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c, first, _ := startSuspect(t, nil)
		w.next(func(l *fakeLink) { l.mute["SUB:t:x"] = true })
		event[Suspect](w)
		second := <-w.links
		synctest.Wait()
		y := mustSubscribeLater(t, c, "y")
		first.end(1001)
		event[Disconnected](w)
		<-y
		second.line("OK:SUB:t:x")
		event[Reconnected](w)
	})
}

// What the current one has delivered at its end is not given again as the next one brings it.
func TestSuspectDiesDelivering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, first, s := startSuspect(t, nil)
		w.next(muteSub)
		event[Suspect](w)
		second := <-w.links
		time.Sleep(suspectEvery / 2)
		first.deliver("x", "1", "x")
		first.end(1001)
		event[Disconnected](w)
		second.deliver("x", "1", "x")
		second.line("OK:SUB:t:x")
		event[Reconnected](w)
		time.Sleep(time.Second)
		if got := waiting(s); len(got) != 1 {
			t.Errorf("got %q", got)
		}
	})
}

// A last word is no sign of life: what the next one has brought is not lost.
func TestSuspectLastWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, first, s := startSuspect(t, nil)
		w.next(muteSub)
		event[Suspect](w)
		second := <-w.links
		second.deliver("x", "1", "x")
		time.Sleep(suspectEvery / 2)
		first.line("ERR:internal")
		time.Sleep(2 * suspectEvery)
		first.end(1011)
		if got := transitions(w, 1); !slices.Equal(got, []string{"Disconnected"}) {
			t.Errorf("got %q", got)
		}
		if got := payloads(t, s, 1); got[0] != "1" {
			t.Errorf("got %q", got)
		}
	})
}

// The next connection that is refused a subscription does not take over, and ends nothing
// that the current one has.
func TestSuspectNextRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, first, s := startSuspect(t, nil)
		w.next(muteSub)
		event[Suspect](w)
		second := <-w.links
		w.set(edgeA, errDraining) // there is no third
		w.set(edgeB, errDraining)
		second.line("ERR:too_many_subscriptions:SUB:t:x")
		synctest.Wait()
		select {
		case <-second.aborted:
		default:
			t.Error("it was not given up")
		}
		first.line("PONG")
		if e := event[Recovered](w); e.Away != 0 {
			t.Errorf("got %+v", e)
		}
		first.deliver("x", "1", "x")
		if got := payloads(t, s, 1); !slices.Equal(got, []string{"1"}) {
			t.Errorf("got %q", got)
		}
	})
}
