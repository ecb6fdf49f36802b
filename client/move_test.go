package client

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestMove(t *testing.T) {
	scenes{
		"the whole of it: who leads when, and what goes where": `
			publish 1; next mute SUB; 1 says RECONNECT; told Moving A Reason:drain; link
			publish 2 # the next one has no subscriptions yet
			1: a; 2: a b; got a; settle; got nothing # the second does not lead
			1: b; got b; 1 mute PING; 2 says OK:SUB:t:x; settle
			publishing 3; after 100ms; 2 has # it waits until the first edge has handled 2
			1 answers; 1 says PONG; flushed; 1 has x=1 x=2; 2 has x=3
			2: c d; 1: d e; told Moved B Reason:drain; 2: e f
			got d e c f # c was for one of several subscribers
			1 gets closed; 1 heard SUB:t:x PING UNSUB:t:x PING; at B`,
		// Notes live longer then.
		"where an edge or the client gets no time, copies come late, and it takes long": `
			next mute SUB; drains; 1: a; after noteLife+noteLife; 2: a; 2 says OK:SUB:t:x; 1: b; told Moved
			after noteLife+noteLife; 2: b; after noteLife+noteLife
			2: b c; got a b b c # nothing is known any more`,
		"a message that comes on three connections within a second comes once": `
			drains; 1: 1; told Moved; 2 says RECONNECT; link; settle; 2: 1; settle; 3: 1; told Moved; 3: 2; got 1 2`,
		// It may have to deliver what the next one was subscribed too late for.
		"a current connection that is behind is not left": "drains; 2: 2; after settleTime+behindTime/2; 1: 1 2; told Moved; got 1 2",
		"for ever it does not wait":                       "drains; 2: 2; after settleTime+behindTime+behindTime; 1: 1 2; told Moved; got 2",
		"the second dies, three times": `
			drains; 2: 1; settle; 2 ends 1011; link; 3: 1; settle; 3 ends 1011; link; 4: 1; settle; 4 ends 1011
			1: 1; got 1; settle; flush; told Moved B; link; 5: 2; got 2`,
		"the second dies when it was to lead": `
			1 mute UNSUB; drains; after settleTime+1ms; B gone; A drains; 1 mute SUB; 2: 0; settle; after 1s; 2 ends 1011
			told Disconnected B; got 0; after 1s; silent on Reconnected
			1 says OK:SUB:t:x; told Reconnected A away=2s Complete:false; publish 1; 1: 1; got 1
			1 heard SUB:t:x PING UNSUB:t:x PING SUB:t:x; 1 has x=1; B back; told Moved`,
		"the first dies when the second is ready": "drains; 2: 1; settle; 1 ends 1001; told Moved; got 1",
		"the first dies before the second is ready": `
			next mute SUB; drains; 2: 1; settle; 1 ends 1001; settle; publish 2; got nothing
			2 says OK:SUB:t:x; told Disconnected; told Reconnected; told Moved; got 1`,
		"the first drains before it has all subscriptions": `
			next mute SUB; 1 ends 1001; link; next answers; 2 says RECONNECT; told Reconnected A; told Moved A`,
		"both die": `
			next mute SUB; drains; settle; 1 ends 1001; settle; next answers; 2 ends 1011; told Disconnected; told Reconnected`,
		"the second drains, too": `
			drains; 2 says RECONNECT; told Moved B; told Moving B; link; told Moved A; 3: 1; got 1; at A`,
		"closed meanwhile":               "drains; settle; close; 1 gets closed; 2 gets closed; silent on Moved",
		"closed while publishes wait":    "1 mute PING; drains; after 100ms; close; silent on Moved",
		"closed while the first is left": "1 mute UNSUB; drains; after settleTime+100ms; close; silent on Moved",
		"the next one dies while it is left": `
			1 mute UNSUB; drains; after settleTime+1ms; 2: 1 2; settle; 2 ends 1011; settle
			1: 1 3; got 1 2 3 # the current one had ended the subscription`,
		"a subscription that is confirmed meanwhile is not lost with the current connection": `
			drains; settle; 2 mute SUB:t:y; subscribe y; after 10s; 1 counts UNSUB:t:y 0; 1: 1; got 1
			2 says OK:SUB:t:y; told Moved`,
		// The answers to what it was asked the first time do not count the second time.
		"a connection that is left twice": `
			1 mute UNSUB; drains; after settleTime+1ms; 2 ends 1011; link; after settleTime+1ms
			1 says OK:UNSUB:t:x; silent on Moved; 1 says OK:UNSUB:t:x; told Moved`,
	}.run(t, twoEdges)
	scenes{
		"there is no other edge": `
			A drains; 1 says RECONNECT; after 6s; 1: 1; got 1
			1 ends 1001; told Disconnected; flush fails; A back; told Reconnected`,
	}.run(t, oneEdge)
	scenes{
		"the second dies when it was to lead, and all have a history: nothing is lost": `
			1 mute PING # so that it is not left at once
			1 says RECONNECT; told Moving; link; after settleTime+leaveTime/2; B gone; A drains; 2 ends 1011
			1 stores 1; got 1; after 10s; silent on Disconnected; 1 asked RSUB:t:x:now; B back; told Moved`,
	}.run(t, withHistory)
	bubble(t, "a message of a subscription that the current connection does not have is given at once",
		func(t *testing.T, w *world) {
			c, first := w.connected(edgeA)
			mustSubscribe(t, c, "x")
			first.set(func(l *fakeLink) { l.mute["UNSUB"] = true })
			first.line("RECONNECT")
			second := <-w.links
			early := mustSubscribe(t, c, "early") // on both
			time.Sleep(settleTime + time.Millisecond)
			late := mustSubscribe(t, c, "late") // on the next one alone
			second.deliver("late", "1", "late")
			payloads(t, late, 1)
			second.deliver("early", "2", "early")
			synctest.Wait()
			equal(t, "given before the first is left", len(early.Messages()), 0)
			before := time.Now()
			event[Moved](w)
			atMost(t, "left after", time.Since(before), leaveTime)
			payloads(t, early, 1)
			a, _ := first.sent()
			b, _ := second.sent()
			if slices.Contains(a, "SUB:t:late") || !slices.Contains(a, "SUB:t:early") || !slices.Contains(b, "SUB:t:late") || !slices.Contains(b, "SUB:t:early") {
				t.Errorf("sent %q and %q", a, b)
			}
		})
	bubble(t, "a stream of messages on two edges of different speeds loses nothing in a move",
		func(t *testing.T, w *world) {
			_, l, s := w.subscribed(edgeA, edgeB)
			next := 0
			const each = 500
			for range 5 {
				l.line("RECONNECT")
				second := <-w.links
				synctest.Wait()
				for i := range each { // both have it, the next one in part earlier, in part later
					payload := fmt.Sprint(next + i)
					if i%100 < 50 {
						second.bring(payload)
						l.bring(payload)
					} else {
						l.bring(payload)
						second.bring(payload)
					}
					if i%10 == 0 {
						time.Sleep(2 * time.Millisecond)
					}
				}
				event[Moved](w)
				for i, got := range payloads(t, s, each) {
					if got != fmt.Sprint(next+i) {
						t.Fatalf("got %s, want %d", got, next+i)
					}
				}
				next += each
				l = second
			}
			equal(t, "a copy", len(s.Messages()), 0)
		})
}
