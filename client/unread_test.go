package client

import (
	"fmt"
	"testing"
	"time"
)

// noticed is the promise of docs/reference/go.md: how long after a path died it is suspect, where
// something was sent or expected.
const noticed = 5 * time.Second

// publishes publishes every pause, n times, and awaits the last pause.
func publishes(t *testing.T, c *Client, n, size int, pause time.Duration) {
	t.Helper()
	for range n {
		must(t, c.Publish(t.Context(), "t", "x", make([]byte, size)))
		time.Sleep(pause)
	}
}

// A client that only publishes notices that nobody reads, and says how many publishes it concerns:
// those since the last answer. Nothing that was read is among them.
func TestPublishUnknown(t *testing.T) {
	for _, test := range []struct {
		name         string
		before, lost int
		size         int
		pause        time.Duration
		pings        int // before it dies
	}{
		{"50 a second", 500, 500, 100, 20 * time.Millisecond, 10},
		{"the first", 0, 200, 60, 50 * time.Millisecond, 0},
		{"one every 5 s", 12, 1, 100, 5 * time.Second, 12},
		{"large", 100, 60, 20_000, 100 * time.Millisecond, 10},
	} {
		bubble(t, test.name, func(t *testing.T, w *world) {
			c, l := w.connected(edgeA, edgeB)
			publishes(t, c, test.before, test.size, test.pause)
			if n := l.pings(); n < test.pings-1 || n > test.pings+1 && test.size < markEvery/10 {
				t.Errorf("asked %d times", n)
			}
			_, proved := l.sent()
			l.silence()
			died := time.Now()
			go publishes(t, c, test.lost, test.size, test.pause)
			event[Suspect](w)
			atMost(t, "suspect after", time.Since(died), noticed)
			got := event[PublishUnknown](w)
			_, sent := l.sent()
			unproved := len(sent) - len(proved)
			perSecond := int(time.Second / test.pause)
			if got.Edge != edgeA || got.Count < unproved || got.Count > unproved+perSecond+1 {
				t.Errorf("got %+v, and %d are lost", got, unproved)
			}
			event[Recovered](w)
			time.Sleep(time.Minute)
			wantNone(t, "told again", count[PublishUnknown](w))
		})
	}
}

// count returns the events of a type that have come.
func count[E Event](w *world) chan Event {
	all := make(chan Event, 1000)
	for len(w.events) > 0 {
		if e, ok := (<-w.events).(E); ok {
			all <- e
		}
	}
	return all
}

func TestPublishUnknownAtTheEnd(t *testing.T) {
	scenes{
		"lost":                    "1 mute PING; publish p; publish q; A gone; B gone; 1 ends 1006; told PublishUnknown Count:2; told Disconnected",
		"what was read":           "publish p; flush; 1 ends 1006; told Disconnected; silent on PublishUnknown",
		"revoked":                 "1 mute PING; publish p; 1 is revoked; told PublishUnknown Count:1; told Closed token_revoked",
		"closed by the client":    "1 mute PING; publish p; close; silent on PublishUnknown",
		"closed while suspect":    "A drains; B drains; 1 mute; publish p; told Suspect; close; told PublishUnknown Count:1",
		"it wakes":                "A drains; B drains; 1 mute; publish p; told Suspect; 1 answers; 1 says PONG; told Recovered; after 1m; 1 ends 1006; told Disconnected; silent on PublishUnknown",
		"the next one, in a move": "1 says RECONNECT; told Moved; link; 2 mute; publish p; told PublishUnknown B Count:1",
	}.run(t, twoEdges)
}

// Where messages are sparse, and where an answer is owed, a dead path is noticed in the same time.
func TestNoticed(t *testing.T) {
	for _, pause := range []time.Duration{500 * time.Millisecond, 2 * time.Second, 5 * time.Second, 9 * time.Second} {
		for part := range 4 {
			bubble(t, fmt.Sprint(pause, " and ", part, "/4"), func(t *testing.T, w *world) {
				_, l, s := w.subscribed(edgeA, edgeB)
				for range 10 {
					l.bring("x")
					payloads(t, s, 1)
					time.Sleep(pause)
				}
				if n, most := l.pings(), 10*int(pause/unusualMost); n > most {
					t.Errorf("asked %d times, want at most %d", n, most)
				}
				l.bring("x")
				payloads(t, s, 1)
				time.Sleep(time.Duration(part) * pause / 4)
				l.silence()
				died := time.Now()
				event[Suspect](w)
				atMost(t, "suspect after", time.Since(died), noticed)
			})
		}
	}
	for name, ask := range map[string]func(t *testing.T, c *Client){
		"SUB":               func(t *testing.T, c *Client) { go c.Subscribe(t.Context(), "t", "y") },                           //nolint:errcheck // it is not answered
		"confirmed publish": func(t *testing.T, c *Client) { go c.PublishConfirmed(t.Context(), "t", "y", nil, WithKey("k")) }, //nolint:errcheck // likewise
	} {
		for _, answered := range []bool{false, true} { // the PING, before the path dies
			bubble(t, fmt.Sprint(name, answered), func(t *testing.T, w *world) {
				w.next(withHistories)
				c, l := w.connected(edgeA, edgeB)
				time.Sleep(time.Minute)
				l.set(func(l *fakeLink) { l.mute["SUB"] = true; silent(l) })
				ask(t, c)
				if answered {
					time.Sleep(unreadTime + time.Millisecond)
				}
				l.silence()
				died := time.Now()
				event[Suspect](w)
				atMost(t, "suspect after", time.Since(died), noticed)
			})
		}
	}
}
