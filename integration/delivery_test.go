package integration

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

func tenantsAreApart(c *stage) {
	// One tenant's name starts with the other's, and with a channel's.
	red, blue := c.dial(c.issue(allowAll("red")).Token), c.dial(c.issue(allowAll("red.x")).Token)
	both := c.dial(c.issue(allowAll("red", "red.x")).Token)
	red.subscribe("paint.red", "#", "x.y")
	blue.subscribe("paint.red.x", "#")
	both.subscribe("paint.red", "y")
	both.subscribe("paint.red.x", "y")

	red.publish("paint.red", "y", "of red")
	red.publish("paint.red", "x.y", "of red")
	red.expectDeliver("paint.red", "y", "of red", "#") // its own message, too
	red.expectDeliver("paint.red", "x.y", "of red", "#", "x.y")
	both.expectDeliver("paint.red", "y", "of red", "y")
	blue.publish("paint.red.x", "y", "of blue")
	blue.expectDeliver("paint.red.x", "y", "of blue", "#")
	both.expectDeliver("paint.red.x", "y", "of blue", "y")
	blue.publish("paint.red", "y", "forged")
	blue.expectText("ERR:permission_denied:PUB:paint.red:y")
	blue.sendLine("SUB:paint.red:y")
	blue.expectText("ERR:permission_denied:SUB:paint.red:y")
	c.settle(red, blue, both)
}

// A client that names no tenant is in ~, and so are its answers.
func defaultTenant(c *stage) {
	s := c.dial(c.issueAnywhere(allowAll("~")).Token)
	s.sendLine("SUB::a.>")
	s.expectText("OK:SUB:~:a.>")
	s.publish("", "a.b", "none")
	s.publish("~", "a.b", "named")
	s.expectDeliver("~", "a.b", "none", "a.>")
	s.expectDeliver("~", "a.b", "named", "a.>")
	s.sendLine("UNSUB:~:a.>") // the same subscription
	s.expectText("OK:UNSUB:~:a.>")
	s.publish("", "a.b", "late")
	s.fence()
}

func deliverModes(c *stage) {
	token := c.room()
	for _, mode := range []struct {
		name     string
		delivery wire.Delivery
		one      bool
	}{
		{"broadcast", wire.Broadcast, false},
		{"one, lowest latency", wire.OneNearest, true},
		{"one, random", wire.OneRandom, true},
	} {
		c.run(mode.name, func(c *stage) {
			publisher := c.dial(token)
			publisher.publishTagged(mode.delivery, "paint.room", "jobs.1", "nobody hears it")
			publisher.fence()

			// The last one has two patterns that match, and no better chance for it.
			sockets := []*socket{publisher, c.dial(token), c.dial(token)}
			for _, s := range sockets {
				s.subscribe("paint.room", "jobs.*")
			}
			sockets[2].subscribe("paint.room", "#")
			patterns := [][]string{{"jobs.*"}, {"jobs.*"}, {"#", "jobs.*"}}
			const messages = 900
			for i := range messages {
				publisher.publishTagged(mode.delivery, "paint.room", "jobs.1", strconv.Itoa(i))
			}
			want := len(sockets)
			if mode.one {
				want = 1
			}
			delivered, total := make([][]wire.Deliver, len(sockets)), 0
			for end := time.Now().Add(waitTimeout); total < want*messages && time.Now().Before(end); {
				for i, s := range sockets { // all at once, unless the broker asks other edges first
					got := s.untilFence()
					if c.far != nil { // it may have waited for the answers until somebody heard it
						got = slices.DeleteFunc(got, func(d wire.Deliver) bool { return string(d.Payload) == "nobody hears it" })
					}
					delivered[i] = append(delivered[i], got...)
					total += len(got)
				}
			}
			times := make([]int, messages)
			for i, got := range delivered {
				// The mean is 300, the standard deviation 14; by patterns the last would have 450.
				if mode.one && (len(got) < 200 || len(got) > 400) {
					c.t.Errorf("subscriber %d of 3 got %d of %d messages, want about a third", i+1, len(got), messages)
				}
				before := -1
				for _, d := range got {
					n, err := strconv.Atoi(string(d.Payload))
					if err != nil || n <= before {
						c.t.Fatalf("subscriber %d got %q after %d", i+1, d.Payload, before)
					}
					times[n]++
					before = n
					if !slices.Equal(d.Patterns, patterns[i]) {
						c.t.Fatalf("subscriber %d got the patterns %q, want %q", i+1, d.Patterns, patterns[i])
					}
				}
			}
			for i, n := range times {
				if n != want {
					c.t.Fatalf("message %d was delivered %d times, want %d", i, n, want)
				}
			}
		})
	}
}

// slowCaddyfile is an edge with this policy and a short queue.
func slowCaddyfile(policy string) string {
	return "{" + globalOptions + "\tpubsub {" + pubsubStore + defaultMaster + fastBandwidth + `
		slow_consumer ` + policy + `
		limits {
			max_payload 1024
			send_queue 69632
		}
	}
}
` + sites
}

const flood = 200 // messages, more than the queue above holds

// slowEgress is the cap of a slow client, in KB/s: so low that the flood is over
// long before it has passed, on a machine that is slow itself.
const slowEgress = 16

// startFlood sends numbered messages faster than slow may receive them: what
// its egress cap holds back waits in its queue.
func startFlood(c *stage) (publisher, slow, fast *socket) {
	slow = c.subscriber(c.limited(object{"egress_kb_per_sec": slowEgress}))
	fast = c.subscriber(c.room())
	publisher = c.publisher(c.room())
	for _, s := range []*socket{slow, fast} {
		s.subscribe("paint.room", "#")
	}
	filler := strings.Repeat(".", 900)
	for i := range flood {
		publisher.publish("paint.room", "c", strconv.Itoa(i)+filler)
		if i%20 == 19 { // or the fast one might be too slow for so small a queue
			for range 20 {
				kind, message, err := fast.read()
				if err != nil || kind != asFrame {
					c.t.Fatalf("the fast subscriber got %q, %v", message, err)
				}
			}
		}
	}
	c.settle(publisher, fast) // which has lost nothing
	return publisher, slow, fast
}

// number is which message of a flood this is.
func number(t *testing.T, frame []byte) int {
	t.Helper()
	d, err := wire.DecodeDeliver(frame)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimRight(string(d.Payload), "."))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// slowCount is n of the line ERR:slow_consumer:n.
func slowCount(t *testing.T, line []byte) int {
	t.Helper()
	text, ok := strings.CutPrefix(string(line), "ERR:slow_consumer:")
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n < 1 {
		t.Fatalf("got the line %q, want ERR:slow_consumer:<n>", line)
	}
	return n
}

// limitedSeconds is n of the line ERR:egress_limited:n.
func limitedSeconds(line []byte) (n int, ok bool) {
	text, ok := strings.CutPrefix(string(line), "ERR:egress_limited:")
	n, err := strconv.Atoi(text)
	return n, ok && err == nil
}

// A client whose messages wait for its cap is told so before they arrive, and loses none.
func egressLimited(c *stage) {
	slow := c.subscriber(c.limited(object{"egress_kb_per_sec": 1}))
	publisher := c.publisher(c.room())
	slow.subscribe("paint.room", "#")
	const messages = 5 // each of a second
	for i := range messages {
		publisher.publish("paint.room", "c", strconv.Itoa(i)+strings.Repeat(".", 900))
	}
	told := -1
	for received := 0; received < messages; {
		kind, message, err := slow.read()
		slow.must(err)
		if kind != asText {
			if n := number(c.t, message); n != received {
				c.t.Fatalf("got message %d, want %d", n, received)
			}
			received++
			continue
		}
		if n, ok := limitedSeconds(message); !ok || n < 2 || told >= 0 {
			c.t.Fatalf("got the line %q, want ERR:egress_limited:<seconds> once", message)
		}
		told = received
	}
	if told < 0 || told == messages {
		c.t.Errorf("told after %d of %d messages (-1: never)", told, messages)
	}
}

// With the policy drop a slow client loses the oldest messages, is told exactly
// how many, and continues.
func slowConsumerDrop(c *stage) {
	publisher, slow, _ := startFlood(c)
	received, lost, last := 0, 0, -1
	for received+lost < flood {
		kind, message, err := slow.read()
		slow.must(err)
		if kind == asText {
			if _, limited := limitedSeconds(message); !limited { // its queue holds two seconds' worth
				lost += slowCount(c.t, message)
			}
			continue
		}
		received++
		if n := number(c.t, message); n <= last {
			c.t.Fatalf("message %d came after %d", n, last)
		} else {
			last = n
		}
	}
	if received+lost != flood || lost == 0 || received < 20 {
		c.t.Errorf("received %d and told of %d lost, want %d in all and some of both", received, lost, flood)
	}
	if last != flood-1 {
		c.t.Errorf("the last message received is %d, want %d: the oldest are dropped", last, flood-1)
	}
	slow.fence()
	publisher.publish("paint.room", "c", "after")
	slow.expectDeliver("paint.room", "c", "after", "#")
}

func slowConsumerDisconnect(c *stage) {
	publisher, slow, fast := startFlood(c)
	received := 0
	for {
		kind, message, err := slow.read()
		slow.must(err)
		if _, limited := limitedSeconds(message); kind == asText && limited {
			continue
		}
		if kind == asText {
			if lost := slowCount(c.t, message); received+lost > flood {
				c.t.Errorf("received %d and told of %d lost, of %d", received, lost, flood)
			}
			break
		}
		if n := number(c.t, message); n != received {
			c.t.Fatalf("got message %d, want %d", n, received)
		}
		received++
	}
	slow.expectClose(wire.CloseSlowConsumer)
	publisher.publish("paint.room", "c", "after")
	fast.expectDeliver("paint.room", "c", "after", "#")
}

// The edge forgets a client that subscribes and vanishes.
func vanishedSubscriber(c *stage) {
	token := c.room()
	gone, stays := c.dial(token), c.dial(token)
	gone.subscribe("paint.room", "jobs")
	stays.subscribe("paint.room", "jobs")
	gone.must(gone.cut())
	awaitConnections(c.edge, 1)
	for range 20 {
		stays.publishTagged(wire.OneRandom, "paint.room", "jobs", "x")
		stays.expectDeliver("paint.room", "jobs", "x", "jobs")
	}
}
