package pubsub

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/pubsub/history"
)

// arrivals takes what arrives for so long, each with the time at which it did, in tenths of a
// second.
func (c *client) arrivals(d time.Duration) (got []string, at []int) {
	for i := range int(d / (100 * time.Millisecond)) {
		time.Sleep(100 * time.Millisecond)
		for _, each := range c.takeShort() {
			got, at = append(got, each), append(at, i+1)
		}
	}
	return got, at
}

func withMaxLag(lag time.Duration) func(*history.Definition) {
	return func(d *history.Definition) { d.MaxLag, d.Limits.Messages = lag, 1000 }
}

func notOfChat(line string) bool { return !strings.Contains(line, "chat") }

// A burst that takes the client's cap a minute, in a history whose messages are of use for 5 s:
// what is queued is removed then, and the newest message of each channel comes at once.
func TestMaxLag(t *testing.T) {
	limits := fastLimits()
	limits.DefaultEgressKB = 8
	withHistory(t, limits, func(r *rig) {
		c, p := r.pair("RSUB:t:chat.*:now", "SUB:t:other")
		for i := range 1000 {
			p.publish("t", fmt.Sprintf("chat.%d", i%3), strings.Repeat("x", 1000))
		}
		p.publish("t", "other", "1")
		got, at := c.arrivals(20 * time.Second)
		for i := slices.IndexFunc(got, notOfChat); i >= 0; i = slices.IndexFunc(got, notOfChat) {
			got, at = slices.Delete(got, i, i+1), slices.Delete(at, i, i+1)
		}
		gap := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, "GAP:") })
		if gap < 0 {
			t.Errorf("no gap is told, %d messages came", len(got))
			return
		}
		equal(t, "messages before the gap", gap > 30 && gap < 60, true)
		if late := at[gap-1]; late > 51 {
			t.Errorf("a message came %d00 ms late", late)
		}
		equal(t, "the gap", got[gap], fmt.Sprintf("GAP:t:chat.*:@%d", gap))
		var behind []string
		for _, each := range got[gap+1:] {
			if name, _, isMessage := strings.Cut(each, "="); isMessage {
				each = name + each[strings.LastIndex(each, " @"):]
			}
			behind = append(behind, each)
		}
		if want := "t/chat.1 @998|t/chat.2 @999|t/chat.0 @1000|AT:t:chat.*:@1000"; strings.Join(behind, "|") != want {
			t.Errorf("behind the gap came %q, want %s", behind, want)
		}
		if last := at[len(at)-1]; last > 60 {
			t.Errorf("the newest message came after %d00 ms", last)
		}
		equal(t, "messages that are counted as dropped", r.hub.Metrics().Dropped["max_lag"] > 300, true)
		time.Sleep(10 * time.Second)
		p.publish("t", "chat.a", "live")
		c.expect("t/chat.a=live [chat.*] @1001")
	}, withMaxLag(5*time.Second))
}

// What a client that reads nothing would get is as old, whether it waits in the queue or is to
// be read from the history.
func TestMaxLagOfBlockedClient(t *testing.T) {
	withHistory(t, with(func(l *Limits) { l.SendQueue = 64 << 10 }), func(r *rig) {
		c, p := r.pair("RSUB:t:chat.#:now")
		release := c.block()
		p.repeat(100, "t", "chat.a", strings.Repeat("x", 1000))
		time.Sleep(11 * time.Second)
		release()
		got := c.takeShort()
		n := len(got)
		if n < 3 || n > 66 || !strings.HasSuffix(got[n-2], "@100") || got[n-1] != "AT:t:chat.#:@100" || !strings.HasPrefix(got[n-3], "GAP:") {
			t.Errorf("%d messages and lines, the last are %.40q", n, got[max(0, n-3):])
		}
	}, withMaxLag(10*time.Second))
}

// Where messages wait to be handed on, as their tenant is over its share, they are late before they
// are queued. The client skips all that is stored, once, and not what is handed on meanwhile.
func TestMaxLagOfHanding(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		c, p := r.pair("RSUB:t:chat.a:now")
		hs := r.hub.currentHistories()
		q, err := r.hub.acquireSequencer(hs, hs.set.Find("chat"), "t")
		must(t, err)
		defer q.release()
		q.running = true // nothing is handed on
		p.numbers(100)
		time.Sleep(11 * time.Second)
		for q.first != nil { // one after the other
			e, rest := q.first, q.first.after
			e.after, q.last = nil, e
			q.run()
			synctest.Wait()
			q.first, q.running = rest, rest != nil
		}
		c.expect("GAP:t:chat.a:@0", "t/chat.a=99 [chat.a] @100", "AT:t:chat.a:@100")
		p.publish("t", "chat.a", "live")
		c.expect("t/chat.a=live [chat.a] @101")
	}, withMaxLag(10*time.Second))
}

// The machine that stores a shared history may have another time: what is handed on is not late
// as it comes.
func TestMaxLagAndAnotherClock(t *testing.T) {
	withEdges(t, fastLimits(), func(a, _ *rig, views []*view) {
		c := a.connect("a")
		c.ask("RSUB:t:chat.a:now")
		at, err := views[0].Head("chat", "t")
		must(t, err)
		at.N, at.T = 1, uint64(time.Now().Add(-time.Hour).UnixMilli())
		views[0].follower.Received("chat", "t", history.Kept{Position: at, Channel: "chat.a", Payload: []byte("1")})
		c.expect("t/chat.a=1 [chat.a] @1")
	}, withMaxLag(10*time.Second))
}

// The limit holds, too, after more deliveries than their count has numbers.
func TestMaxLagAfterManyDeliveries(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		c, p := r.pair("RSUB:t:chat.a:now")
		for range 5 {
			c.Session.mu.Lock()
			c.queue.deliverySeq += 1 << 29
			c.Session.mu.Unlock()
			time.Sleep(positionEvery)
		}
		release := c.block()
		c.ask("SUB:t:plain") // its OK is being written
		p.publish("t", "chat.a", "old")
		time.Sleep(11 * time.Second)
		release()
		c.expect("OK:SUB:t:plain", "GAP:t:chat.a:@0", "t/chat.a=old [chat.a] @1", "AT:t:chat.a:@1")
	}, withMaxLag(10*time.Second))
}

// The newest messages do not become old in the queue, however small the client's cap is.
func TestMaxLagOfTheNewest(t *testing.T) {
	limits := fastLimits()
	limits.DefaultEgressKB = 1
	withHistory(t, limits, func(r *rig) {
		c, p := r.pair("RSUB:t:chat.*:now")
		for second := range 60 {
			for i := range 30 {
				p.publish("t", fmt.Sprintf("chat.%d", i), fmt.Sprintf("%d:%01000d", second, 0))
			}
			time.Sleep(time.Second)
			for _, each := range c.takeShort() {
				_, payload, isMessage := strings.Cut(each, "=")
				if !isMessage {
					continue
				}
				var sent int
				if _, err := fmt.Sscanf(payload, "%d", &sent); err != nil || second-sent > 6 {
					t.Errorf("a message came %d s late, %v", second-sent, err)
				}
			}
		}
	}, withMaxLag(5*time.Second))
}

// The queue is searched once for all subscriptions whose next message is too late, and not once for
// each: a client can have a thousand of them, and a publisher may be who searches.
func TestMaxLagRemovesInOnePass(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		c, p := r.connect("a"), r.connect("p")
		release := c.block()
		c.ask("SUB:t:plain") // its OK is being written
		for i := range 100 {
			c.send(fmt.Sprintf("RSUB:t:chat.%d:now", i))
			p.repeat(2, "t", fmt.Sprintf("chat.%d", i), "old")
		}
		synctest.Wait()
		c.Session.mu.Lock()
		c.removeLate(c.hub.now() + 11*time.Second)
		for _, it := range c.queue.mainLane.items {
			if it.frame != nil && it.kind == Binary {
				t.Errorf("%q is left", it.data)
			}
		}
		c.Session.mu.Unlock()
		release()
		c.count(1 + 100*4) // OK:RSUB, GAP, the newest, AT
	}, withMaxLag(10*time.Second))
}

// What is too late for a subscription that has ended does not come, either.
func TestMaxLagOfEndedSubscription(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		c, p := r.pair("RSUB:t:chat.a:now")
		r.connect("other").ask("RSUB:t:chat.a:now") // the pattern stays
		release := c.block()
		c.ask("SUB:t:plain") // its OK is being written
		p.repeat(3, "t", "chat.a", "old")
		synctest.Wait()
		c.send("UNSUB:t:chat.a", "RSUB:t:chat.a:now")
		time.Sleep(11 * time.Second)
		p.publish("t", "chat.a", "new")
		release()
		c.expect("OK:SUB:t:plain", "GAP:t:chat.a:@0", "OK:UNSUB:t:chat.a", "OK:RSUB:t:chat.a:@3:complete", "t/chat.a=new [chat.a] @4")
	}, withMaxLag(10*time.Second))
}

// While others of the client's subscriptions take its cap, one that skips waits, and no other one
// waits for it.
func TestMaxLagHoldsUpNoOther(t *testing.T) {
	limits := fastLimits()
	limits.DefaultEgressKB = 8
	withHistory(t, limits, func(r *rig) {
		c, p := r.pair("RSUB:t:chat.a:now", "RSUB:t:chat.b:now")
		p.repeat(60, "t", "chat.b", strings.Repeat("x", 1000))
		time.Sleep(4500 * time.Millisecond)
		p.repeat(20, "t", "chat.a", strings.Repeat("x", 1000))
		time.Sleep(time.Second)
		c.send("RSUB:t:chat.c:last")
		for range 10 {
			p.repeat(7, "t", "chat.a", strings.Repeat("x", 1000))
			time.Sleep(time.Second)
		}
		got := c.takeShort()
		isTold := func(line string) bool {
			return slices.ContainsFunc(got, func(each string) bool { return strings.HasPrefix(each, line) })
		}
		equal(t, "one skips", isTold("GAP:t:chat.b:"), true)
		equal(t, "and still waits", isTold("AT:t:chat.b:"), false)
		equal(t, "another one begins", isTold("OK:RSUB:t:chat.c:"), true)
	}, withMaxLag(5*time.Second))
}

// The channel for which the queue had no room is the next one.
func TestMaxLagKeepsTheTurn(t *testing.T) {
	limits := with(func(l *Limits) { l.SendQueue, l.DefaultEgressKB = 8<<10, 1 })
	withHistory(t, limits, func(r *rig) {
		c, p := r.pair("RSUB:t:chat.*:now")
		release := c.block()
		c.ask("SUB:t:plain") // its OK is being written
		p.publish("t", "chat.0", "old")
		time.Sleep(11 * time.Second)
		for i := range 100 {
			p.publish("t", fmt.Sprintf("chat.%d", 2+i), "new") // its position
		}
		release()
		synctest.Wait()
		s := c.subscriptions[subscriptionKey{tenant: "t", pattern: "chat.*"}].resumable
		equal(t, "the last channel", s.skip.channel, fmt.Sprintf("chat.%d", s.cursor.N))
		equal(t, "it is skipping", s.skipping, true)
	}, withMaxLag(10*time.Second))
}

// Lines that wait behind what is removed say nothing any more of positions: the client would
// take what comes behind the gap for what it has.
func TestMaxLagRemovesLines(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		c, p := r.connect("a"), r.connect("p")
		p.repeat(3, "t", "chat.a", "old")
		release := c.block()
		c.send("SUB:t:plain")
		synctest.Wait() // its OK is being written
		c.send("RSUB:t:chat.a:last.2")
		synctest.Wait() // its page is queued
		c.send("RSUB:t:chat.a:now", "SUB:t:more")
		p.publish("t", "chat.b", "1")
		time.Sleep(3 * time.Minute) // AT is queued, too
		release()
		c.expect("OK:SUB:t:plain", "ERR:bad_request:RSUB:t:chat.a", "GAP:t:chat.a:@1", "OK:SUB:t:more",
			"t/chat.a=old [chat.a] @3", "OK:RSUB:t:chat.a:@4:gap")
	}, withMaxLag(10*time.Second))
}

// Whatever is published, a client that is too slow for it goes on from gap to gap, and each
// message that it gets is newer than the one before it. Each channel gets its turn.
func TestMaxLagGoesOn(t *testing.T) {
	limits := fastLimits()
	limits.DefaultEgressKB = 8
	withHistory(t, limits, func(r *rig) {
		c, p := r.pair("RSUB:t:chat.*:now")
		for range 60 {
			for i := range 100 {
				p.publish("t", fmt.Sprintf("chat.%d", i), strings.Repeat("x", 1000))
			}
			time.Sleep(time.Second)
		}
		channels, last := map[string]bool{}, 0
		for _, each := range c.takeShort() {
			name, _, isMessage := strings.Cut(each, "=")
			n := 0
			if i := strings.LastIndex(each, "@"); i >= 0 {
				_, _ = fmt.Sscan(each[i+1:], &n) // what has no number has none
			}
			if isMessage {
				channels[name] = true
			}
			if n <= last && isMessage {
				t.Errorf("%d comes after %d", n, last)
			}
			last = n
		}
		if len(channels) < 100 || last < 5000 {
			t.Errorf("%d channels, the last message is %d", len(channels), last)
		}
		time.Sleep(time.Minute) // nothing is published any more: all that is the newest comes
		channels = map[string]bool{}
		for _, each := range c.take() {
			if _, at, _ := strings.Cut(each, " @59"); len(at) == 2 {
				channels[each[:strings.Index(each, "=")]] = true
			}
		}
		if len(channels) < 84 {
			t.Errorf("of the newest messages of 100 channels, %d come at the end", len(channels))
		}
		if q := c.queue.deliveries; q > limits.SendQueue {
			t.Errorf("%d bytes wait", q)
		}
	}, withMaxLag(2*time.Second))
}
