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

// A client that names no tenant is in ~, and so are its answers.
func defaultTenant(c *harness.Stage) {
	s := c.Dial(c.IssueAnywhere(harness.AllowAll("~")).Token)
	s.SendLine("SUB::a.>")
	s.ExpectText("OK:SUB:~:a.>")
	s.Publish("", "a.b", "none")
	s.Publish("~", "a.b", "named")
	s.ExpectDeliver("~", "a.b", "none", "a.>")
	s.ExpectDeliver("~", "a.b", "named", "a.>")
	s.SendLine("UNSUB:~:a.>") // the same subscription
	s.ExpectText("OK:UNSUB:~:a.>")
	s.Publish("", "a.b", "late")
	s.Fence()
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
			publisher := c.Dial(token)
			publisher.PublishTagged(mode.delivery, "paint.room", "jobs.1", "nobody hears it")
			publisher.Fence()

			// The last one has two patterns that match, and no better chance for it.
			sockets := []*harness.Socket{publisher, c.Dial(token), c.Dial(token)}
			for _, s := range sockets {
				s.Subscribe("paint.room", "jobs.*")
			}
			sockets[2].Subscribe("paint.room", "#")
			patterns := [][]string{{"jobs.*"}, {"jobs.*"}, {"#", "jobs.*"}}
			const messages = 900
			for i := range messages {
				publisher.PublishTagged(mode.delivery, "paint.room", "jobs.1", strconv.Itoa(i))
			}
			want := len(sockets)
			if mode.one {
				want = 1
			}
			delivered, total := make([][]wire.Deliver, len(sockets)), 0
			for end := time.Now().Add(harness.WaitTimeout); total < want*messages && time.Now().Before(end); {
				for i, s := range sockets { // all at once, unless the broker asks other edges first
					got := s.UntilFence()
					if c.Far != nil { // it may have waited for the answers until somebody heard it
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
					if !slices.Equal(d.Patterns, patterns[i]) {
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

// StartFlood sends numbered messages faster than slow may receive them: what
// its egress cap holds back waits in its queue.
func StartFlood(c *harness.Stage) (publisher, slow, fast *harness.Socket) {
	slow = c.Subscriber(c.Limited(harness.Object{"egress_kb_per_sec": SlowEgress}))
	fast = c.Subscriber(c.Room())
	publisher = c.Publisher(c.Room())
	for _, s := range []*harness.Socket{slow, fast} {
		s.Subscribe("paint.room", "#")
	}
	filler := strings.Repeat(".", 900)
	for i := range Flood {
		publisher.Publish("paint.room", "c", strconv.Itoa(i)+filler)
		if i%20 == 19 { // or the fast one might be too slow for so small a queue
			for range 20 {
				kind, message, err := fast.Read()
				if err != nil || kind != harness.AsFrame {
					c.T.Fatalf("the fast subscriber got %q, %v", message, err)
				}
			}
		}
	}
	c.Settle(publisher, fast) // which has lost nothing
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

// SlowCount is n of the line ERR:slow_consumer:n.
func SlowCount(t *testing.T, line []byte) int {
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
func egressLimited(c *harness.Stage) {
	slow := c.Subscriber(c.Limited(harness.Object{"egress_kb_per_sec": 1}))
	publisher := c.Publisher(c.Room())
	slow.Subscribe("paint.room", "#")
	const messages = 5 // each of a second
	for i := range messages {
		publisher.Publish("paint.room", "c", strconv.Itoa(i)+strings.Repeat(".", 900))
	}
	told := -1
	for received := 0; received < messages; {
		kind, message, err := slow.Read()
		slow.Must(err)
		if kind != harness.AsText {
			if n := number(c.T, message); n != received {
				c.T.Fatalf("got message %d, want %d", n, received)
			}
			received++
			continue
		}
		if n, ok := limitedSeconds(message); !ok || n < 2 || told >= 0 {
			c.T.Fatalf("got the line %q, want ERR:egress_limited:<seconds> once", message)
		}
		told = received
	}
	if told < 0 || told == messages {
		c.T.Errorf("told after %d of %d messages (-1: never)", told, messages)
	}
}

// With the policy drop a slow client loses the oldest messages, is told exactly
// how many, and continues.
func slowConsumerDrop(c *harness.Stage) {
	publisher, slow, _ := StartFlood(c)
	received, lost, last := 0, 0, -1
	for received+lost < Flood {
		kind, message, err := slow.Read()
		slow.Must(err)
		if kind == harness.AsText {
			if _, limited := limitedSeconds(message); !limited { // its queue holds two seconds' worth
				lost += SlowCount(c.T, message)
			}
			continue
		}
		received++
		if n := number(c.T, message); n <= last {
			c.T.Fatalf("message %d came after %d", n, last)
		} else {
			last = n
		}
	}
	if received+lost != Flood || lost == 0 || received < 20 {
		c.T.Errorf("received %d and told of %d lost, want %d in all and some of both", received, lost, Flood)
	}
	if last != Flood-1 {
		c.T.Errorf("the last message received is %d, want %d: the oldest are dropped", last, Flood-1)
	}
	slow.Fence()
	publisher.Publish("paint.room", "c", "after")
	slow.ExpectDeliver("paint.room", "c", "after", "#")
}

func slowConsumerDisconnect(c *harness.Stage) {
	publisher, slow, fast := StartFlood(c)
	received := 0
	for {
		kind, message, err := slow.Read()
		slow.Must(err)
		if _, limited := limitedSeconds(message); kind == harness.AsText && limited {
			continue
		}
		if kind == harness.AsText {
			if lost := SlowCount(c.T, message); received+lost > Flood {
				c.T.Errorf("received %d and told of %d lost, of %d", received, lost, Flood)
			}
			break
		}
		if n := number(c.T, message); n != received {
			c.T.Fatalf("got message %d, want %d", n, received)
		}
		received++
	}
	slow.ExpectClose(wire.CloseSlowConsumer)
	publisher.Publish("paint.room", "c", "after")
	fast.ExpectDeliver("paint.room", "c", "after", "#")
}

// The edge forgets a client that subscribes and vanishes.
func vanishedSubscriber(c *harness.Stage) {
	token := c.Room()
	gone, stays := c.Dial(token), c.Dial(token)
	gone.Subscribe("paint.room", "jobs")
	stays.Subscribe("paint.room", "jobs")
	gone.Must(gone.Cut())
	harness.AwaitConnections(c.Edge, 1)
	for range 20 {
		stays.PublishTagged(wire.OneRandom, "paint.room", "jobs", "x")
		stays.ExpectDeliver("paint.room", "jobs", "x", "jobs")
	}
}
