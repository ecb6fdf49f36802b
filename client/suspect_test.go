package client

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// silence makes a link stop answering, as on a path that swallows everything.
func (l *fakeLink) silence() {
	l.set(func(l *fakeLink) { l.mute[""] = true })
}

// flow delivers messages 100 ms apart, so that there is a rhythm, and reads them.
func flow(t *testing.T, l *fakeLink, s *Subscription) {
	t.Helper()
	for n := range 10 {
		l.bring(fmt.Sprint("before ", n))
		payloads(t, s, 1)
		time.Sleep(100 * time.Millisecond)
	}
}

// startSuspect connects to edges A and B, subscribes to x, has a flow, and lets the link to A
// fall silent.
func startSuspect(t *testing.T, w *world, change func(*Options)) (*Client, *fakeLink, *Subscription) {
	t.Helper()
	c, first := w.mustConnect([]string{edgeA, edgeB}, change)
	s := mustSubscribe(t, c, "x")
	flow(t, first, s)
	first.silence()
	return c, first, s
}

// suspect runs a subtest that begins with startSuspect.
func suspect(t *testing.T, name string, f func(t *testing.T, w *world, c *Client, first *fakeLink, s *Subscription)) {
	t.Helper()
	bubble(t, name, func(t *testing.T, w *world) {
		c, first, s := startSuspect(t, w, nil)
		f(t, w, c, first, s)
	})
}

// beside runs a subtest that begins beside a suspect connection with another one, which has yet
// to answer its SUB.
func beside(t *testing.T, name string, f func(t *testing.T, w *world, c *Client, first, second *fakeLink, s *Subscription)) {
	t.Helper()
	suspect(t, name, func(t *testing.T, w *world, c *Client, first *fakeLink, s *Subscription) {
		w.next(muteSub)
		event[Suspect](w)
		f(t, w, c, first, <-w.links, s)
	})
}

// name is that of an event's type.
func name(e Event) string { return fmt.Sprintf("%T", e)[len("client."):] }

func TestSuspicion(t *testing.T) {
	scenes{
		"the next connection takes over 2 s after the last message, with what it has brought": `
			flow; 1 mute; next mute SUB; after unusualLeast; flushing
			told Suspect A in=900ms-950ms # what was sent before PING gives it some milliseconds
			publishing p; link; 2: 1; got nothing; after 100ms; 2 says OK:SUB:t:x; told Recovered B Away:2.1 in=0s
			flushed; 2: 2; got 1 2; 1 has; 2 has x=p; at B`,
		// What made a connection suspect is no usual pause: a second hole is noticed as soon as the
		// first. Nor does the time of a PING that waited for the end of a hole count.
		"holes": `
			A drains; B drains
			flow; 1 mute; told Suspect in=1900ms-2s; after 8s; 1 answers; 1 says PONG; told Recovered
			flow; 1 mute; told Suspect in=1900ms-2s; after 8s; 1 answers; 1 says PONG; told Recovered
			flow; 1 mute; told Suspect in=1900ms-2s`,
		"the current connection that wakes stays, and delivers what the next one has brought": `
			beside; 2: 1; flushing; after 2s; 1 heard SUB:t:x PING # one question in a silence
			1 answers; 1: 1 2; told Recovered A Away:0s in=0s-suspectEvery; 1 says PONG; flushed
			2 gets closed; got 1 2; got nothing`,
		"it stays, although the next one is ready before the client has looked": `
			beside; settle; 1: 1; settle; 2 says OK:SUB:t:x; told Recovered A Away:0s`,
		// Such as the token's end would end the client otherwise: the current one may wake.
		"what ends the next connection ends nothing else": `
			beside; 2 is revoked; settle; 1: 1; told Recovered; got 1`,
		"the next connection dies, and a third takes over": `
			beside; 2: 1 2; settle; 2 ends 1006; link; 3: 2 3; settle; 3 says OK:SUB:t:x; got 1 2 3; after 3s; got nothing`,
		"the next connection dies, and the first wakes": `
			beside; 2: 1 2; settle; 2 ends 1006; settle; 1: 1 2 3; got 1 2 3; after 3s; got nothing`,
		"both die": `
			beside; 2: 1 2; settle; 2 ends 1006; settle; A gone; B gone; 1 ends 1006; got 1 2; after 3s; got nothing`,
		"the current one dies before there is another": `
			B slow 2s; flow; 1 mute; told Suspect; flushing; 1 ends 1006
			told Disconnected A; flushed fails; silent on Reconnected; told Reconnected`,
		"it dies before the other is ready": `
			beside; 2: 1; settle; 1 ends 1006; told Disconnected; got 1; publish p; 2 says OK:SUB:t:x; told Reconnected B`,
		"it dies before the other is ready, which drains": `
			beside; 2 says RECONNECT; settle; next answers; 1 ends 1006; told Disconnected; told Moving B; told Moved`,
		// A refusal ends the client only when the current one is lost.
		"nobody is there": "A refuses; B refuses; flow; 1 mute; told Disconnected in=34900ms-35900ms; told Closed unauthorized",
		// Behind RECONNECT a PONG may be held up, and a connection that has yet to subscribe may be slow.
		"a connection that drains is not suspect": `
			flow; A drains; B drains; 1 says RECONNECT; flushing; 1 mute; after 20s; silent on Suspect`,
		"nor is one that restores": `
			next mute SUB; 1 ends 1001; link; 2: a; after 100ms; 2: b; after 100ms; 2: c; after 100ms; 2: d; after 100ms; 2: e
			flushing; 2 mute; after 20s; silent on Suspect`,
		"what the current one delivers at its end is not given again": `
			beside; after suspectEvery/2; 1: 1; 1 ends 1001; told Disconnected; 2: 1; 2 says OK:SUB:t:x; told Reconnected
			got 1; after 1s; got nothing`,
		"a last word is no sign of life: what the next one has brought is not lost": `
			beside; 2: 1; after suspectEvery/2; 1 says ERR:internal; after suspectEvery+suspectEvery; 1 ends 1011
			told Disconnected; got 1`,
		"an error after which it goes on is a sign of life": "beside; after suspectEvery/2; 1 says ERR:slow_consumer:1; told Recovered A in=0s-1ms",
		"a next connection that is refused a subscription does not take over": `
			beside; A drains; B drains; 2 says ERR:too_many_subscriptions:SUB:t:x; 2 is closed
			1 says PONG; told Recovered Away:0s; 1: 1; got 1`,
	}.run(t, twoEdges)
}

// What a trailing connection brings is given once: as late if the current one does not bring it.
// The application hears nothing about it.
func TestTrail(t *testing.T) {
	scenes{
		"late messages": `
			beside; 2: both; settle; 2 says OK:SUB:t:x; told Recovered; 2: after; after 8s; 1: missed both after soon
			got both after; after shelfTime/2; 2: soon; got soon missed~late; 2: missed end; got end # missed is very late
			# It is asked to leave, and closed when it has answered what it was asked before, too.
			1 says PONG; 1 is open; 1 says PONG; 1 gets closed; 1 heard SUB:t:x PING UNSUB:t:x PING`,
		"it ends after its time":  "flow; 1 mute; told Recovered; after trailTime+trailEvery; 1 is closed; quiet",
		"it ends by its own end":  "flow; 1 mute; told Recovered; 1 is revoked; after 1s; 1 is closed; silent on EdgeError; quiet",
		"it ends with the client": "flow; 1 mute; told Recovered; close; 1 is closed; silent on Disconnected EdgeError",
		"it ends with another one": `
			flow; 1 mute; told Recovered; link; 2: a; after 100ms; 2: b; after 100ms; 2: c; after 100ms; 2: d; after 100ms; 2: e
			after 100ms; 2 mute; told Recovered; after 1ms; 1 is closed; silent on Disconnected EdgeError`,
	}.run(t, twoEdges)
}

func TestSuspect(t *testing.T) {
	// Publishers that wait for room on the old connection go on at the new one, and a Flush
	// fails if what was sent before it may be lost.
	suspect(t, "Suspect publishes", func(t *testing.T, w *world, c *Client, first *fakeLink, _ *Subscription) {
		w.slow(edgeB+" websocket", 100*time.Millisecond)
		first.set(func(l *fakeLink) { l.stuck = make(chan struct{}) })
		for range 3 { // one is being sent, one waits
			go c.Publish(t.Context(), "t", "x", make([]byte, sendBufferLimit-20)) //nolint:errcheck // the frames that come say it
			synctest.Wait()
		}
		published := async(func() error { return c.Publish(t.Context(), "t", "x", []byte("last")) })
		event[Suspect](w)
		flushed := async(func() error { return c.Flush(t.Context()) })
		event[Recovered](w)
		noError(t, <-published)
		wantError(t, <-flushed, ErrDisconnected)
		noError(t, c.Flush(t.Context()))
		second := <-w.links
		synctest.Wait()
		if _, frames := second.sent(); len(frames) != 2 || !slices.Contains(frames, "x=last") {
			t.Errorf("%d frames on the second", len(frames))
		}
		close(first.stuck)
		synctest.Wait()
		if _, frames := first.sent(); len(frames) != 1 {
			t.Errorf("%d frames on the first", len(frames))
		}
	})
	suspect(t, "subscribe and Unsubscribe come to their end during a suspicion",
		func(t *testing.T, w *world, c *Client, _ *fakeLink, s *Subscription) {
			w.slow(edgeB+" websocket", 2*time.Second)
			old := mustSubscribeLater(t, c, "y")
			event[Suspect](w)
			y := mustSubscribeLater(t, c, "z")
			unsubscribed := async(func() error { return s.Unsubscribe(t.Context()) })
			event[Recovered](w)
			second := <-w.links
			noError(t, <-unsubscribed)
			for sub, channel := range map[*Subscription]string{<-old: "y", <-y: "z"} {
				second.deliver(channel, "1", channel)
				payloads(t, sub, 1)
			}
		})
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
}

func mustSubscribeLater(t *testing.T, c *Client, pattern string) <-chan *Subscription {
	done := make(chan *Subscription, 1)
	go func() { done <- mustSubscribe(t, c, pattern) }()
	synctest.Wait()
	return done
}

// The current one wakes, and is to be left at once, in the moment in which the next one is ready:
// whichever leads, nothing is lost, and the client goes on.
func TestSuspectAtOnce(t *testing.T) {
	for n := range 50 {
		beside(t, fmt.Sprint(n), func(t *testing.T, w *world, c *Client, first, second *fakeLink, s *Subscription) {
			w.next(nil)
			time.Sleep(suspectEvery - time.Nanosecond)
			first.set(func(l *fakeLink) { clear(l.mute) })
			go second.line("OK:SUB:t:x")
			go func() {
				first.bring("1")
				first.line("RECONNECT")
			}()
			go second.bring("1")
			go c.Flush(t.Context()) // it may fail here
			event[Recovered](w)
			time.Sleep(5 * time.Second)
			wantWaiting(t, s, 1)
			if got := transitionsNow(w); len(got)%2 != 0 || slices.Contains(got, "Disconnected") {
				t.Errorf("got %q", got)
			}
			noError(t, c.Flush(t.Context()))
		})
	}
}

// What falls due while the client is suspect is done afterwards: the next token is there.
func TestMovesWaitForSuspicion(t *testing.T) {
	const begin, moves = "beside; after 2200ms; next answers; ", "1 says PONG; told Recovered in=0s-suspectEvery; told Moving; told Moved"
	scenes{
		"the first wakes":              begin + "1 answers; " + moves,
		"the first drains":             begin + "1 answers; 1 says RECONNECT; " + moves,
		"the second leads, and drains": begin + "2 says RECONNECT; 2 says OK:SUB:t:x; " + moves,
	}.run(t, withRenewals)
}
