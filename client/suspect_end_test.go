package client

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestSuspectEnds(t *testing.T) {
	// An interest that only the next connection has confirmed is confirmed when the current one dies.
	suspect(t, "Subscribe and suspect dies", func(t *testing.T, w *world, c *Client, first *fakeLink, _ *Subscription) {
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
	// What the current one has delivered at its end is not given again as the next one brings it.
	beside(t, "Suspect dies delivering", func(t *testing.T, w *world, _ *Client, first, second *fakeLink, s *Subscription) {
		time.Sleep(suspectEvery / 2)
		first.bring("1")
		first.end(1001)
		event[Disconnected](w)
		second.bring("1")
		second.line("OK:SUB:t:x")
		event[Reconnected](w)
		time.Sleep(time.Second)
		wantWaiting(t, s, 1)
	})
	beside(t, "a last word is no sign of life: what the next one has brought is not lost", func(t *testing.T, w *world, _ *Client, first, second *fakeLink, s *Subscription) {
		second.bring("1")
		time.Sleep(suspectEvery / 2)
		first.line("ERR:internal")
		time.Sleep(2 * suspectEvery)
		first.end(1011)
		wantStrings(t, "transitions(w, 1)", transitions(w, 1), "Disconnected")
		wantPayloads(t, s, "1")
	})
	// The next connection that is refused a subscription does not take over, and ends nothing
	// that the current one has.
	beside(t, "Suspect next refused", func(t *testing.T, w *world, _ *Client, first, second *fakeLink, s *Subscription) {
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
		equal(t, "Recovered.Away", event[Recovered](w).Away, 0)
		reaches(t, first, s, "1")
	})
}
