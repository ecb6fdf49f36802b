package client

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

// onWebSocket connects over WebSocket to edges where WebTransport does not come up, though it
// is preferred.
func onWebSocket(w *world) (*Client, *fakeLink) {
	for _, edge := range []string{edgeA, edgeB} {
		w.set(edge+" webtransport", errUnreachable)
	}
	return w.mustConnect([]string{edgeA, edgeB}, func(o *Options) { o.Transports = nil })
}

// tries returns how often WebTransport was tried at edge A since the last call.
func (w *world) tries() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range w.dialed {
		if name == edgeA+" webtransport" {
			n++
		}
	}
	w.dialed = nil
	return n
}

// nextTry returns how long it takes until WebTransport is tried.
func (w *world) nextTry() time.Duration {
	start := time.Now()
	for w.tries() == 0 {
		time.Sleep(time.Second)
		if time.Since(start) > 3*time.Hour {
			w.t.Fatal("not tried")
		}
	}
	return time.Since(start)
}

func TestBackIn(t *testing.T) {
	for _, test := range []struct {
		failures int
		at       float64
		want     time.Duration
	}{
		{0, 0, 4 * time.Minute},
		{0, 1, 6 * time.Minute},
		{1, 0, 8 * time.Minute},
		{3, 0.5, 40 * time.Minute},
		{4, 0, time.Hour},
		{1000, 1, time.Hour},
	} {
		if got := upgradeIn(test.failures, test.at); got != test.want {
			t.Errorf("%d failures: %v, want %v", test.failures, got, test.want)
		}
	}
}

func TestUpgrade(t *testing.T) {
	// A client on WebSocket tries WebTransport, more and more seldom, tells nobody of a
	// failure, and moves when it works.
	bubble(t, "Way back", func(t *testing.T, w *world) {
		c, first := onWebSocket(w)
		s := mustSubscribe(t, c, "x")
		w.tries()
		for failures := range 3 {
			least, most := 4*time.Minute<<failures, 6*time.Minute<<failures
			if d := w.nextTry(); d < least || d > most+time.Second {
				t.Errorf("after %d failures: %v", failures, d)
			}
		}
		if got := transitionsNow(w); len(got) > 0 {
			t.Errorf("told of %q", got)
		}
		w.set(edgeA+" webtransport", nil)
		wantEvent(w, Moving{edgeA, WebSocket, ReasonTransport})
		second := <-w.links
		first.bring("1")
		second.bring("1", "2")
		if e := event[Moved](w); e != (Moved{edgeA, WebTransport, ReasonTransport}) || c.Transport() != WebTransport {
			t.Errorf("got %+v", e)
		}
		wantPayloads(t, s, "1", "2")
		w.tries()
		time.Sleep(3 * time.Hour)
		if n := w.tries(); n > 0 {
			t.Errorf("tried %d times although it is there", n)
		}
	})
	// A WebTransport connection that has lived for two minutes makes the next way back as short
	// as the current one.
	bubble(t, "Way back after life", func(t *testing.T, w *world) {
		c, _ := onWebSocket(w)
		mustSubscribe(t, c, "x")
		w.tries()
		for range 3 {
			w.nextTry()
		}
		w.set(edgeA+" webtransport", nil)
		event[Moved](w)
		l := <-w.links
		time.Sleep(holeTime)
		w.set(edgeA+" webtransport", errUnreachable)
		l.end(1001)
		event[Reconnected](w)
		w.tries()
		if c.Edge() != edgeA {
			w.set(edgeB, errUnreachable)
			w.endAll()
			event[Reconnected](w)
			w.tries()
		}
		if d := w.nextTry(); d > 6*time.Minute+time.Second {
			t.Errorf("tried after %v", d)
		}
	})
}

func transitionsNow(w *world) (got []string) {
	synctest.Wait()
	for len(w.events) > 0 {
		switch e := (<-w.events).(type) {
		case Suspect, Recovered, Disconnected, Moving, Moved:
			got = append(got, name(e))
		}
	}
	return got
}

// Who prefers WebSocket, or has no HTTPS, never tries.
func TestNoWayBack(t *testing.T) {
	for name, test := range map[string]struct {
		address    string
		transports []Transport
	}{
		"WebSocket is preferred": {edgeA, []Transport{WebSocket, WebTransport}},
		"WebSocket alone":        {edgeA, []Transport{WebSocket}},
		"no HTTPS":               {"http://localhost", nil},
	} {
		bubble(t, name, func(t *testing.T, w *world) {
			c, _ := w.mustConnect([]string{test.address}, func(o *Options) { o.Transports = test.transports })
			time.Sleep(3 * time.Hour)
			w.mu.Lock()
			defer w.mu.Unlock()
			if len(w.dialed) != 1 || c.Transport() != WebSocket {
				t.Errorf("dialed %q", w.dialed)
			}
		})
	}
}

// A drain that comes while the way back is tried is not forgotten, nor is the attempt
// that comes up meanwhile kept.
func TestDrainOnTheWayBack(t *testing.T) {
	for _, when := range []string{"while it is tried", "while it moves"} {
		bubble(t, when, func(t *testing.T, w *world) {
			c, first := onWebSocket(w)
			mustSubscribe(t, c, "x")
			w.tries()
			w.set(edgeA+" webtransport", nil)
			if when == "while it is tried" {
				w.slow(edgeA+" webtransport", 5*time.Second)
				w.nextTry()
				first.line("RECONNECT")
				w.set(edgeA, errDraining)
				if e := event[Moved](w); e.Edge != edgeB || e.Reason != ReasonDrain {
					t.Errorf("got %+v", e)
				}
				time.Sleep(10 * time.Second)
				for len(w.links) > 0 {
					if l := <-w.links; l.edge == edgeA {
						<-l.aborted
					}
				}
				return
			}
			w.next(muteSub)
			w.nextTry()
			second := <-w.links
			first.line("RECONNECT")
			second.line("RECONNECT")
			w.set(edgeA, errDraining)
			w.next(nil)
			synctest.Wait()
			second.line("OK:SUB:t:x")
			event[Moved](w)
			if e := event[Moved](w); e.Edge != edgeB || e.Reason != ReasonDrain {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// A path that lets the handshakes of WebTransport pass, and swallows what is longer, is not
// tried for ever.
func TestSwallowed(t *testing.T) {
	swallow := func(l *fakeLink) {
		if l.transport == WebTransport {
			l.mute[""] = true
		}
	}
	both := func(o *Options) { o.Transports = nil }
	bubble(t, "from some moment on", func(t *testing.T, w *world) {
		c, l := w.mustConnect([]string{edgeA}, both)
		s := mustSubscribe(t, c, "x")
		flow(t, l, s)
		w.next(swallow)
		l.silence()
		event[Suspect](w)
		if e := event[Recovered](w); e.Transport != WebSocket || e.Away > 3*time.Second {
			t.Errorf("got %+v", e)
		}
		// The next try is the way back: nobody is told of it, and then they are rarer.
		w.tries()
		for n := range 2 {
			if d := w.nextTry(); d < 8*time.Minute<<n {
				t.Errorf("tried after %v", d)
			}
			time.Sleep(2 * nextTimeout)
			if got := transitionsNow(w); len(got) > 0 || c.Transport() != WebSocket {
				t.Errorf("got %q, on %s", got, c.Transport())
			}
		}
	})
	bubble(t, "the second connection", func(t *testing.T, w *world) {
		c, l := w.mustConnect([]string{edgeA, edgeB}, both)
		s := mustSubscribe(t, c, "x")
		for range 130 {
			flow(t, l, s)
		}
		w.next(swallow)
		l.silence()
		event[Suspect](w)
		if e := event[Recovered](w); e.Transport != WebSocket || e.Away > 10*time.Second {
			t.Errorf("got %+v", e)
		}
	})
	bubble(t, "after a loss", func(t *testing.T, w *world) {
		c, l := w.mustConnect([]string{edgeA}, both)
		mustSubscribe(t, c, "x")
		w.next(swallow)
		l.end(1006)
		event[Disconnected](w)
		event[Disconnected](w)
		equal(t, "Reconnected.Transport", event[Reconnected](w).Transport, WebSocket)
	})
	bubble(t, "and it wakes", func(t *testing.T, w *world) {
		c, l := w.mustConnect([]string{edgeA}, both)
		s := mustSubscribe(t, c, "x")
		flow(t, l, s)
		l.silence()
		w.set(edgeA, errUnreachable)
		event[Suspect](w)
		l.line("PONG")
		event[Recovered](w)
		w.set(edgeA, nil)
		l.end(1001)
		equal(t, "Reconnected.Transport", event[Reconnected](w).Transport, WebTransport)
	})
}

// The next connection of the way back that dies, or swallows, before it has all
// subscriptions is given up, and nobody is told; the current one may die meanwhile.
func TestWayBackGivenUp(t *testing.T) {
	for _, what := range []string{"it ends", "it is refused", "it says nothing", "the first dies"} {
		bubble(t, what, func(t *testing.T, w *world) {
			c, first := onWebSocket(w)
			var s *Subscription
			if what != "it says nothing" {
				s = mustSubscribe(t, c, "x")
			}
			w.tries()
			w.set(edgeA+" webtransport", nil)
			w.next(func(l *fakeLink) { l.mute[""] = true })
			w.nextTry()
			second := <-w.links
			if s != nil {
				second.bring("1")
			}
			synctest.Wait()
			switch what {
			case "it ends":
				second.end(1006)
			case "it is refused":
				second.revoke()
			case "the first dies":
				first.end(1006)
				event[Disconnected](w)
				second.line(wire.LineFeatures)
				second.line("OK:SUB:t:x")
				if got := transitions(w, 1); !slices.Equal(got, []string{"Reconnected"}) || c.Transport() != WebTransport {
					t.Errorf("got %q, on %s", got, c.Transport())
				}
				wantPayloads(t, s, "1")
				return
			}
			time.Sleep(2 * nextTimeout)
			if got := transitionsNow(w); len(got) > 0 || c.Err() != nil || c.Transport() != WebSocket {
				t.Errorf("got %q, %v, on %s", got, c.Err(), c.Transport())
			}
			if s != nil {
				first.bring("1")
				if got := payloads(t, s, 1); got[0] != "1" || len(waiting(s)) > 0 {
					t.Errorf("got %q", got)
				}
			}
			if d := w.nextTry(); d < 8*time.Minute-2*nextTimeout {
				t.Errorf("tried again after %v", d)
			}
		})
	}
}
