package pubsub

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// The matched sets are right for any mix of subscriptions.
func TestFanOutAgainstDefinition(t *testing.T) {
	patterns := []string{"#", ">", "*", "a", "a*", "a.#", "a.>", "a.*", "*.b", "a.b", "b#"}
	channels := []string{"a", "b", "ab", "a.b", "b.b", "a.b.c"}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	inBubble(t, fastLimits(), func(r *rig) {
		clients := make([]*client, 20)
		subscribed := make([][]string, len(clients))
		for i := range clients {
			clients[i] = r.connect(fmt.Sprint(i))
			for _, p := range patterns {
				if random.IntN(2) == 0 {
					clients[i].send("SUB:t:" + p)
					subscribed[i] = append(subscribed[i], p)
				}
			}
			clients[i].take()
		}
		publisher := r.connect("p")
		for _, channel := range channels {
			publisher.publish("t", channel, "x")
			publisher.publish("u", channel, "of another tenant")
			for i, c := range clients {
				var matched []string
				for _, text := range subscribed[i] {
					if p, _ := pattern.Parse(text); p.Match(channel) {
						matched = append(matched, text)
					}
				}
				slices.Sort(matched)
				if len(matched) == 0 {
					c.expect()
				} else {
					c.expect(fmt.Sprintf("t/%s=x %v", channel, matched))
				}
			}
		}
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
}

func TestDeliverOne(t *testing.T) {
	for _, d := range []wire.Delivery{wire.OneNearest, wire.OneRandom} {
		inBubble(t, fastLimits(), func(r *rig) {
			clients := []*client{r.connect("a"), r.connect("b"), r.connect("c")}
			for _, c := range clients {
				c.send("SUB:t:#")
			}
			clients[0].send("SUB:t:*", "SUB:t:>", "SUB:t:x") // patterns do not count, connections do
			for _, c := range clients {
				c.take()
			}
			const n = 3000
			for range n {
				clients[0].publishAs(d, "t", "x", "1") // the sender is eligible
			}
			total := 0
			for i, c := range clients {
				got := len(c.take())
				total += got
				if got < n/3-200 || got > n/3+200 {
					t.Errorf("delivery %d: client %d got %d of %d", d, i, got, n)
				}
			}
			equal(t, "deliveries", total, n)
			clients[0].publishAs(d, "t", "nobody.there", "1")
			clients[0].publishAs(d, "u", "x", "1")
		})
	}
}

// A message of another edge that is larger than this one takes from its clients
// reaches nobody, and is counted.
func TestReceiveTooLarge(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.MaxPayload = 10 }), func(r *rig) {
		c := r.connect("a")
		c.ask("SUB:t:#")
		for n, want := range map[int]int{10: 1, 11: 0} {
			for _, d := range []wire.Delivery{wire.Broadcast, wire.OneNearest, wire.OneRandom} {
				m := Message{Tenant: []byte("t"), Channel: []byte("x"), Payload: make([]byte, n), Delivery: d}
				if got := r.hub.Receive(m); got != want {
					t.Errorf("%d bytes, %v: %d connections", n, d, got)
				}
				c.count(want)
			}
		}
		equal(t, "messages counted as refused", r.hub.Metrics().Rejected, 3)
	})
}

func TestDeliverOneSkipsFullAndDraining(t *testing.T) {
	limits := fastLimits()
	limits.SendQueue = smallQueue
	inBubble(t, limits, func(r *rig) {
		full, told, free := r.connect("a"), r.connect("b"), r.connect("c")
		for _, c := range []*client{full, told, free} {
			c.ask("SUB:t:#")
		}
		release := full.block()
		big := make([]byte, limits.SendQueue/2)
		for range 2 { // one is being written, and the queue has room for no more than one
			r.hub.Receive(Message{Tenant: []byte("t"), Channel: []byte("x"), Payload: big})
			synctest.Wait()
		}
		told.sendReconnect()
		told.take()
		free.take()
		for range 20 {
			free.publishAs(wire.OneNearest, "t", "x", string(big))
			free.count(1)
		}
		release()
	})
}

const smallQueue = 4096

func TestSlowConsumerDrop(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.SendQueue = smallQueue }), func(r *rig) {
		slow, fast, p := r.connect("a"), r.connect("b"), r.connect("p")
		for _, c := range []*client{slow, fast} {
			c.ask("SUB:t:#")
		}
		release := slow.block()
		payload := string(make([]byte, 900))
		for i := range 100 {
			p.publish("t", fmt.Sprintf("c%d", i), payload)
			if got := len(fast.take()); got != 1 {
				t.Fatalf("a slow client delays another: message %d: %d", i, got)
			}
		}
		slow.send("PING", "SUB:t:late")
		release()
		got := slow.take()
		// The first was being written; then control lines, the newest that fit,
		// and the OK at its place behind them.
		want := []string{"PONG", "ERR:slow_consumer:95"}
		if len(got) != 1+2+4+1 || !slices.Equal(got[1:3], want) || got[7] != "OK:SUB:t:late" {
			t.Fatalf("got %d: %.300q", len(got), got)
		}
		for i, line := range got[3:7] {
			if want := fmt.Sprintf("t/c%d=", 96+i); line[:len(want)] != want {
				t.Errorf("delivery %d is %.10q, want %s: the oldest go first", i, line, want)
			}
		}
		equal(t, "dropped", r.hub.Stats()[0].Dropped, 95)
		p.publish("t", "c", "x")
		slow.expect("t/c=x [#]") // and it is told once
	})
}

func TestSlowConsumerDisconnect(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.SendQueue, l.Slow = smallQueue, SlowDisconnect }), func(r *rig) {
		slow, p := r.connect("a"), r.connect("p")
		slow.ask("SUB:t:#")
		release := slow.block()
		for range 6 {
			p.publish("t", "c", string(make([]byte, 900)))
			synctest.Wait() // the first is being written
		}
		release()
		got := slow.take()
		if len(got) != 2 || got[1] != "ERR:slow_consumer:5" {
			t.Errorf("got %.200q", got)
		}
		slow.expectClose(wire.CloseSlowConsumer)
	})
}

func TestOrderPerPublisher(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c := r.connect("s")
		c.ask("SUB:t:#")
		var wg sync.WaitGroup
		for i := range 4 {
			p := r.connect(fmt.Sprint(i))
			wg.Go(func() {
				for n := range 500 {
					p.publish("t", fmt.Sprintf("p%d", i), fmt.Sprint(n))
				}
			})
		}
		wg.Wait()
		next := map[string]int{}
		for _, line := range c.take() {
			var channel string
			var n int
			if _, err := fmt.Sscanf(line, "t/%2s=%d [#]", &channel, &n); err != nil || n != next[channel] {
				t.Fatalf("%q, want number %d: %v", line, next[channel], err)
			}
			next[channel]++
		}
		for i := range 4 {
			if n := next[fmt.Sprintf("p%d", i)]; n != 500 {
				t.Errorf("publisher %d: %d of 500 arrived", i, n)
			}
		}
	})
}

// From an OK line on, each delivery lists what the client is subscribed to at that place in
// its queue, although its publisher looked for subscribers before.
func TestPatternsFollowTheOKLines(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want string }{
		"nothing changes":      {"SUB:t:# SUB:t:a", "", "[# a]"},
		"of others":            {"SUB:t:# SUB:t:a", "SUB:t:b", "[# a]"},
		"more":                 {"SUB:t:#", "SUB:t:a", "[# a]"},
		"fewer":                {"SUB:t:# SUB:t:a", "UNSUB:t:a", "[#]"},
		"others":               {"SUB:t:# SUB:t:a", "SUB:t:* UNSUB:t:#", "[* a]"},
		"none":                 {"SUB:t:#", "UNSUB:t:#", ""},
		"none, of two":         {"SUB:t:# SUB:t:a", "UNSUB:t:# UNSUB:t:a", ""},
		"there and away again": {"SUB:t:#", "SUB:t:a UNSUB:t:a", "[#]"},
		"away and there again": {"SUB:t:# SUB:t:a", "UNSUB:t:# SUB:t:#", "[# a]"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, fastLimits(), func(r *rig) {
				s := r.connect("s")
				s.ask(strings.Fields(c.before)...)
				h, m := r.hub, matchers.Get().(*matcher)
				p := h.publication([]byte("t"), []byte("a"), []byte("x"), nil, h.beginPacedAccepted(h.tenantPayers(h.tenant([]byte("t")), []byte("t")), false, false))
				p.matcher = m
				m.match(h.tenant([]byte("t")), p.channel)
				m.group(&p.pace)
				s.ask(strings.Fields(c.after)...)
				if len(m.interests) == 1 { // as in fanOut
					p.deliverToAll(m.interests[0], &m.single)
				} else {
					set := &m.sets[m.sessions[0].set]
					m.sessions[0].session.deliver(&p, set.frames[plain], set, nil)
				}
				p.flush()
				p.pace.end()
				if c.want == "" {
					s.expect()
				} else {
					s.expect("t/a=x " + c.want)
				}
				m.release()
			})
		})
	}
}
