package client

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fakeMachine is what a watcher looks at.
type fakeMachine struct {
	mu        sync.Mutex
	slept     time.Duration // by the clock of the day alone, since the last look
	addresses []string
}

func (m *fakeMachine) set(f func(m *fakeMachine)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m)
}

// watched gives a world a watcher of its own.
func watched(w *world) *fakeMachine {
	m := &fakeMachine{addresses: []string{"eth0 10.0.0.1"}}
	w.watch = newWatcher()
	w.watch.ahead = func(time.Time, time.Time) time.Duration {
		m.mu.Lock()
		defer m.mu.Unlock()
		slept := m.slept
		m.slept = 0
		return slept
	}
	w.watch.addresses = func() []string {
		m.mu.Lock()
		defer m.mu.Unlock()
		return slices.Clone(m.addresses)
	}
	return m
}

func TestWaking(t *testing.T) {
	bubble(t, "Watcher", func(t *testing.T, w *world) {
		m := watched(w)
		a, b := newSignals(), newSignals()
		has := func(c <-chan struct{}) bool {
			synctest.Wait()
			select {
			case <-c:
				return true
			default:
				return false
			}
		}
		for range 2 { // it starts over after the last one has left
			w.watch.join(&a)
			w.watch.join(&b)
			time.Sleep(time.Minute)
			if has(a.woke) || has(b.network) {
				t.Error("no event")
			}
			m.set(func(m *fakeMachine) { m.slept = wokeLate - 1 })
			time.Sleep(watchEvery)
			if has(a.woke) {
				t.Error("too few events")
			}
			m.set(func(m *fakeMachine) { m.slept = wokeLate })
			time.Sleep(watchEvery)
			if !has(a.woke) || !has(b.woke) || has(a.network) {
				t.Error("not told that the machine slept")
			}
			m.set(func(m *fakeMachine) { m.addresses = append(m.addresses, "wlan0 10.0.0.2") })
			time.Sleep(addressEvery * watchEvery)
			if !has(a.network) || has(a.woke) {
				t.Error("no event for the network")
			}
			w.watch.leave(&a)
			has(b.network)
			m.set(func(m *fakeMachine) { m.addresses = m.addresses[:1]; m.slept = time.Hour })
			time.Sleep(watchEvery)
			if has(a.woke) || !has(b.woke) || !has(b.network) {
				t.Error("told who has left, or did not look at the addresses after waking")
			}
			w.watch.leave(&b)
		}
	})
	bubble(t, "a loop that comes late has slept, and does not count that against the edge",
		func(t *testing.T, w *world) {
			c, l := w.connected(edgeA)
			l.silence()
			go c.Flush(t.Context()) // its PING is what counts
			synctest.Wait()
			w.set(edgeA, errUnreachable)
			c.post(func() { time.Sleep(time.Hour) })
			start := time.Now()
			event[Disconnected](w)
			if since := time.Since(start); since < time.Hour+35*time.Second {
				t.Errorf("lost after %v", since)
			}
		})
	bubble(t, "when the machine has other addresses the client asks, and tries WebTransport again",
		func(t *testing.T, w *world) {
			m := watched(w)
			c, _ := onWebSocket(w)
			mustSubscribe(t, c, "x")
			w.set(edgeA+" webtransport", nil)
			synctest.Wait() // the watcher has looked once
			m.set(func(m *fakeMachine) { m.addresses = nil })
			start := time.Now()
			event[RoundTrip](w)
			if e := event[Moved](w); e.Transport != WebTransport || time.Since(start) > 14*time.Second {
				t.Errorf("%+v after %v", e, time.Since(start))
			}
		})
	bubble(t, "a client that is to ask never does not ask after waking", func(t *testing.T, w *world) {
		c, l := w.mustConnect([]string{edgeA}, func(o *Options) { o.KeepAlive = -1 })
		offer(c.signals.woke)
		offer(c.signals.network)
		synctest.Wait()
		wantLines(t, l)
	})
}

// It is not forgotten while there is no connection, or WebTransport is tried.
func TestNetworkChange(t *testing.T) {
	scenes{
		"away": `
			A gone; B gone; 1 ends 1001; told Disconnected; roams; A back; B back; told Reconnected
			A/wt back; B/wt back; told Moved in=0s-fallback+1s`,
		"trying": "A/wt slow 5s; tried in 4m-361s; roams; tried in 0s-5s+fallback+1s",
	}.run(t, overWebSocket)
}

// The clock of the day and the one that times are measured with go together on a machine
// that is awake.
func TestWallAhead(t *testing.T) {
	from := time.Now()
	to := from.Add(time.Hour)
	equal(t, "wallAhead(from, to)", wallAhead(from, to), 0)
	if got := wallAhead(from, to.Round(0)); got != 0 {
		t.Errorf("got %v", got) // one has no other clock
	}
	networkAddresses() // does what it does on this machine
}

// After waking the client asks at once, and limits start over.
func TestWake(t *testing.T) {
	scenes{
		"it answers":        "after 10s; wakes; told RoundTrip in=0s-2s; quiet",
		"it does not":       "after 10s; 1 mute; wakes; told Recovered B in=0s-3s",
		"limits start over": "A gone; B gone; 1 mute; told Suspect; after 5s; wakes; told Disconnected in=35s-40s",
	}.run(t, awake)
	bubble(t, "a pause between attempts ends", func(t *testing.T, w *world) {
		m := watched(w)
		_, l := w.mustConnect([]string{edgeA}, func(o *Options) { o.MinBackOff, o.MaxBackOff = time.Hour, time.Hour })
		w.set(edgeA, &Error{Code: "draining", Status: 503, RetryAfter: time.Hour})
		l.end(1001)
		event[Reconnecting](w)
		event[Reconnecting](w)
		w.set(edgeA, nil)
		m.set(func(m *fakeMachine) { m.slept = time.Hour })
		start := time.Now()
		event[Reconnected](w)
		atMost(t, "back after", time.Since(start), 2*time.Second)
	})
}
