package conformance

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

func publishAndSubscribe(c *harness.Stage) {
	token := c.Room()
	pub, sub := c.Publisher(token), c.Hearing(c.DialBrowser(token))
	sub.Subscribe("paint.room", "#", "a.*")
	pub.Publish("paint.room", "a.b", "hello")
	pub.Publish("paint.room", "c", "")
	sub.ExpectDeliver("paint.room", "a.b", "hello", "#", "a.*")
	sub.ExpectDeliver("paint.room", "c", "", "#")
	pub.Ping()
	c.Settle(pub, sub)
	sub.Close()
	pub.Close()
}

func tenantsAreApart(c *harness.Stage) {
	// One tenant's name starts with the other's, and with a channel's.
	red, blue := c.Dial(c.Issue(harness.AllowAll("red")).Token), c.Dial(c.Issue(harness.AllowAll("red.x")).Token)
	both := c.Dial(c.Issue(harness.AllowAll("red", "red.x")).Token)
	red.Subscribe("paint.red", "#", "x.y")
	blue.Subscribe("paint.red.x", "#")
	both.Subscribe("paint.red", "y")
	both.Subscribe("paint.red.x", "y")

	red.Publish("paint.red", "y", "of red")
	red.Publish("paint.red", "x.y", "of red")
	red.ExpectDeliver("paint.red", "y", "of red", "#") // its own message, too
	red.ExpectDeliver("paint.red", "x.y", "of red", "#", "x.y")
	both.ExpectDeliver("paint.red", "y", "of red", "y")
	blue.Publish("paint.red.x", "y", "of blue")
	blue.ExpectDeliver("paint.red.x", "y", "of blue", "#")
	both.ExpectDeliver("paint.red.x", "y", "of blue", "y")
	blue.Publish("paint.red", "y", "forged")
	blue.ExpectText("ERR:permission_denied:PUB:paint.red:y")
	blue.SendLine("SUB:paint.red:y")
	blue.ExpectText("ERR:permission_denied:SUB:paint.red:y")
	c.Settle(red, blue, both)
}

func deliverModes(c *harness.Stage) {
	token := c.Room()
	for _, mode := range []struct {
		name     string
		delivery wire.Delivery
		one      bool
	}{
		{"broadcast", wire.Broadcast, false},
		{"one, lowest latency", wire.OneNearest, true},
		{"one, random", wire.OneRandom, true},
	} {
		c.Run(mode.name, func(c *harness.Stage) {
			// Channels of its own: what the mode before has left is none of its business.
			jobs := "jobs" + strconv.Itoa(int(mode.delivery))
			publisher := c.Dial(token)
			if c.Far == nil {
				// A message without a subscriber is discarded. Over edges it may wait for a moment
				// for one: it is decided by the edges that answer, and they may hear of one meanwhile.
				publisher.PublishTagged(mode.delivery, "paint.room", "early"+jobs, "nobody hears it")
				publisher.Fence()
				publisher.Subscribe("paint.room", "early"+jobs)
				publisher.Fence()
			}

			// The last one has two patterns that match, and no better chance for it.
			sockets := []*harness.Socket{publisher, c.Dial(token), c.Dial(token)}
			for _, s := range sockets {
				s.Subscribe("paint.room", jobs+".*")
			}
			sockets[2].Subscribe("paint.room", jobs+".#")
			patterns := [][]string{{jobs + ".*"}, {jobs + ".*"}, {jobs + ".#", jobs + ".*"}}
			const messages = 600
			for i := range messages {
				publisher.PublishTagged(mode.delivery, "paint.room", jobs+".1", strconv.Itoa(i))
			}
			want := len(sockets)
			if mode.one {
				want = 1
			}
			delivered, total := make([][]wire.Deliver, len(sockets)), 0
			for end := time.Now().Add(2 * harness.WaitTimeout); total < want*messages && time.Now().Before(end); {
				for i, s := range sockets { // all at once, unless the broker asks other edges first
					got := s.UntilFence()
					delivered[i] = append(delivered[i], got...)
					total += len(got)
				}
			}
			times := make([]int, messages)
			for i, got := range delivered {
				// The mean is 200, the standard deviation 12; by patterns the last would have 300.
				if mode.one && (len(got) < 125 || len(got) > 275) {
					c.T.Errorf("subscriber %d of 3 got %d of %d messages, want about a third", i+1, len(got), messages)
				}
				before := -1
				for _, d := range got {
					n, err := strconv.Atoi(string(d.Payload))
					if err != nil || n <= before {
						c.T.Fatalf("subscriber %d got %q after %d", i+1, d.Payload, before)
					}
					times[n]++
					before = n
					if slices.Sort(d.Patterns); !slices.Equal(d.Patterns, patterns[i]) {
						c.T.Fatalf("subscriber %d got the patterns %q, want %q", i+1, d.Patterns, patterns[i])
					}
				}
			}
			for i, n := range times {
				if n != want {
					c.T.Fatalf("message %d was delivered %d times, want %d", i, n, want)
				}
			}
		})
	}
}

// SlowCaddyfile is an edge with this policy and a short queue.
func SlowCaddyfile(policy string) string {
	return "{" + harness.GlobalOptions + "\tpubsub {" + harness.PubsubStore + harness.DefaultMaster + harness.FastBandwidth + `
		slow_consumer ` + policy + `
		limits {
			max_payload 1024
			send_queue 69632
		}
	}
}
` + harness.Sites
}

const Flood = 200 // messages, more than the queue above holds

// SlowEgress is the cap of a slow client, in KB/s: so low that the flood is over
// long before it has passed, on a machine that is slow itself.
const SlowEgress = 16

// startFlood sends numbered messages faster than slow may receive them, until the edge has
// dropped some for the reason: what its egress cap holds back waits in its queue.
func startFlood(c *harness.Stage, reason string) (publisher, slow, fast *harness.Socket, sent int) {
	slow = c.Subscriber(c.Limited(harness.Object{"egress_kb_per_sec": SlowEgress}))
	fast = c.Subscriber(c.Room())
	publisher = c.Publisher(c.Room())
	for _, s := range []*harness.Socket{slow, fast} {
		s.Subscribe("paint.room", "#")
	}
	filler := strings.Repeat(".", 900)
	for c.Metrics()["millrace_deliveries_dropped_total{reason="+reason+"}"] == 0 {
		for range 20 { // more at once, and the fast one might be too slow for so small a queue
			publisher.Publish("paint.room", "c", strconv.Itoa(sent)+filler)
			sent++
		}
		for range 20 {
			kind, message, err := fast.Read()
			if err != nil || kind != harness.AsFrame {
				c.T.Fatalf("the fast subscriber got %q, %v", message, err)
			}
		}
	}
	c.Settle(publisher, fast) // which has lost nothing
	return publisher, slow, fast, sent
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

// count is n of the line ERR:<code>:<n>.
func count(line []byte, code wire.Code) (n int, ok bool) {
	text, ok := strings.CutPrefix(string(line), "ERR:"+string(code)+":")
	n, err := strconv.Atoi(text)
	return n, ok && err == nil && n > 0
}

// With the policy drop a slow client loses the oldest messages, is told exactly how many, and
// continues.
func slowConsumerDrop(c *harness.Stage) {
	publisher, slow, _, sent := startFlood(c, "queue_full")
	received, lost, last := 0, 0, -1
	for received+lost < sent {
		kind, message, err := slow.Read()
		slow.Must(err)
		if kind == harness.AsText {
			if _, limited := count(message, "egress_limited"); limited { // its queue holds some seconds' worth
				continue
			}
			n, ok := count(message, "slow_consumer")
			if lost += n; !ok {
				c.T.Fatalf("got the line %q, want ERR:slow_consumer:<n>", message)
			}
			continue
		}
		received++
		n := number(c.T, message)
		if n <= last {
			c.T.Fatalf("message %d came after %d", n, last)
		}
		last = n
	}
	if received+lost != sent || lost == 0 || last != sent-1 {
		c.T.Errorf("received %d, the last is %d, and told of %d lost, want %d in all, and the oldest lost", received, last, lost, sent)
	}
	slow.Fence()
	publisher.Publish("paint.room", "c", "after")
	slow.ExpectDeliver("paint.room", "c", "after", "#")
}
