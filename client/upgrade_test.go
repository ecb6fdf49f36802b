package client

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
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

// A client on WebSocket tries WebTransport, more and more seldom, tells nobody of a failure, and
// moves when it works.
func TestWayBack(t *testing.T) {
	scenes{
		"the whole of it": `
			tried in 4m-361s; tried in 8m-721s; tried in 16m-1441s; quiet
			A/wt back; told Moving A Transport:websocket Reason:transport; link; 1: 1; 2: 1 2
			told Moved A Transport:webtransport Reason:transport; over webtransport; got 1 2; not tried in 3h`,
		"it starts over when WebTransport has lived for two minutes": `
			B gone; tried in 4m-1h; tried in 4m-1h; tried in 4m-1h; A/wt back; told Moved; link; after holeTime
			A/wt gone; 2 ends 1001; told Reconnected A; not tried in 0s; tried in 4m-361s`,
		"a drain while it is tried is not forgotten": `
			A/wt back; A/wt slow 5s; tried in 4m-361s; 1 says RECONNECT; A drains; told Moved B Reason:drain; after 10s; at B`,
		"nor while it moves": `
			A/wt back; next mute SUB; tried in 4m-361s; link; 1 says RECONNECT; 2 says RECONNECT; A drains; next answers; settle
			2 says OK:SUB:t:x; told Moved; told Moved B Reason:drain`,
		"a next connection that ends is given up": `
			A/wt back; next mute; tried in 4m-361s; link; 2: 1; settle; 2 ends 1006; after nextTimeout+nextTimeout
			quiet; over websocket; 1: 1; got 1; got nothing; tried in 7m-721s`,
		"so is one that is refused": `
			A/wt back; next mute; tried in 4m-361s; link; 2: 1; settle; 2 is revoked; after nextTimeout+nextTimeout
			quiet; over websocket; 1: 1; got 1; got nothing; tried in 7m-721s`,
		"the first dies meanwhile": `
			A/wt back; next mute; tried in 4m-361s; link; 2: 1; settle; 1 ends 1006; told Disconnected
			2 says features; 2 says OK:SUB:t:x; told Reconnected Transport:webtransport; over webtransport; got 1`,
	}.run(t, overWebSocket)
	bubble(t, "a next connection that says nothing is given up, also without subscriptions",
		func(t *testing.T, w *world) {
			c, _ := onWebSocket(w)
			w.tries()
			w.set(edgeA+" webtransport", nil)
			w.next(func(l *fakeLink) { l.mute[""] = true })
			w.nextTry()
			time.Sleep(2 * nextTimeout)
			wantStrings(t, "notified of", transitionsNow(w))
			equal(t, "transport", c.Transport(), WebSocket)
			within(t, "tried", w.nextTry(), "7m-721s")
		})
}

// A path that lets the handshakes of WebTransport pass, and swallows what is longer, is not
// tried for ever.
func TestSwallowed(t *testing.T) {
	scenes{
		// The next try is the way back: nobody is notified of it, and then they are rarer.
		"from some moment on": `
			flow; next swallow; 1 mute; told Suspect; told Recovered Transport:websocket in=0s-3s; not tried in 0s
			tried in 8m-1h; after nextTimeout+nextTimeout; quiet; over websocket
			tried in 15m30s-1h; after nextTimeout+nextTimeout; quiet; over websocket`,
		"after a loss": "next swallow; 1 ends 1006; told Disconnected; told Disconnected; told Reconnected Transport:websocket",
		"and it wakes": `
			flow; 1 mute; A gone; told Suspect; 1 says PONG; told Recovered; A back
			1 ends 1001; told Reconnected Transport:webtransport`,
		"after a long life": strings.Repeat("flow;", 130) + `
			next swallow; 1 mute; told Suspect; told Recovered Transport:websocket in=0s-10s`,
	}.run(t, bothTransports)
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
