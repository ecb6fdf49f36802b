package integration

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

// untilFence returns what is on its way to this socket, in order.
func (s *socket) untilFence() (delivered []wire.Deliver) {
	s.t.Helper()
	s.fences++
	pair := fmt.Sprintf("fence:n%d", s.fences)
	s.sendLine("UNSUB:" + pair)
	for {
		kind, message, err := s.read()
		s.must(err)
		if kind == websocket.TextMessage {
			if string(message) != "OK:UNSUB:"+pair {
				s.t.Fatalf("got the line %q between deliveries", message)
			}
			return delivered
		}
		d, err := wire.DecodeDeliver(message)
		s.must(err)
		delivered = append(delivered, d)
	}
}

func (s *socket) publishTagged(delivery wire.Delivery, tenant, channel, payload string) {
	s.t.Helper()
	s.sendFrame(wire.AppendPublish(nil, wire.Publish{
		Tagged: true, Delivery: delivery,
		Tenant: []byte(tenant), Channel: []byte(channel), Payload: []byte(payload),
	}))
}

func TestTenantsAreApart(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	// One tenant's name starts with the other's, and with a channel's.
	red, blue := e.dial(e.issue(allowAll("red")).Token), e.dial(e.issue(allowAll("red.x")).Token)
	both := e.dial(e.issue(allowAll("red", "red.x")).Token)
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
	for _, s := range []*socket{red, blue, both} {
		s.fence()
	}
}

// A client that names no tenant is in ~, and so are its answers.
func TestDefaultTenant(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	s := e.dial(e.issueAnywhere(allowAll("~")).Token)
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

func TestDeliverModes(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	for _, mode := range []struct {
		name     string
		delivery wire.Delivery
		one      bool
	}{
		{"broadcast", wire.Broadcast, false},
		{"one, lowest latency", wire.OneNearest, true},
		{"one, random", wire.OneRandom, true},
	} {
		t.Run(mode.name, func(t *testing.T) {
			e := e.with(t)
			publisher := e.dial(token)
			publisher.publishTagged(mode.delivery, "paint.room", "jobs.1", "nobody hears it")
			publisher.fence()

			// The last one has two patterns that match, and no better chance for it.
			sockets := []*socket{publisher, e.dial(token), e.dial(token)}
			for _, s := range sockets {
				s.subscribe("paint.room", "jobs.*")
			}
			sockets[2].subscribe("paint.room", "#")
			patterns := [][]string{{"jobs.*"}, {"jobs.*"}, {"#", "jobs.*"}}
			const messages = 900
			for i := range messages {
				publisher.publishTagged(mode.delivery, "paint.room", "jobs.1", strconv.Itoa(i))
			}
			times := make([]int, messages)
			for i, s := range sockets {
				got := s.untilFence()
				// The mean is 300, the standard deviation 14; by patterns the last would have 450.
				if mode.one && (len(got) < 200 || len(got) > 400) {
					t.Errorf("subscriber %d of 3 got %d of %d messages, want about a third", i+1, len(got), messages)
				}
				before := -1
				for _, d := range got {
					n, err := strconv.Atoi(string(d.Payload))
					if err != nil || n <= before {
						t.Fatalf("subscriber %d got %q after %d", i+1, d.Payload, before)
					}
					times[n]++
					before = n
					if !slices.Equal(d.Patterns, patterns[i]) {
						t.Fatalf("subscriber %d got the patterns %q, want %q", i+1, d.Patterns, patterns[i])
					}
				}
			}
			want := len(sockets)
			if mode.one {
				want = 1
			}
			for i, n := range times {
				if n != want {
					t.Fatalf("message %d was delivered %d times, want %d", i, n, want)
				}
			}
		})
	}
}

const slowCaddyfile = "{" + globalOptions + "\tpubsub {" + pubsubStore + defaultMaster + fastBandwidth + `
		slow_consumer POLICY
		limits {
			max_payload 1024
			send_queue 69632
		}
	}
}
` + sites

const flood = 200 // messages, more than the queue above holds

// startFlood sends numbered messages faster than slow may receive them: what
// its egress cap holds back waits in its queue.
func startFlood(e *edge) (publisher, slow, fast *socket) {
	slow = e.dial(e.limited(object{"egress_kb_per_sec": 32}))
	fast = e.dial(e.issue(allowAll("room")).Token)
	publisher = e.dial(e.issue(allowAll("room")).Token)
	for _, s := range []*socket{slow, fast} {
		s.subscribe("paint.room", "#")
	}
	filler := strings.Repeat(".", 900)
	for i := range flood {
		publisher.publish("paint.room", "c", strconv.Itoa(i)+filler)
		if i%20 == 19 { // or the fast one might be too slow for so small a queue
			for range 20 {
				kind, message, err := fast.read()
				if err != nil || kind != websocket.BinaryMessage {
					e.t.Fatalf("the fast subscriber got %q, %v", message, err)
				}
			}
		}
	}
	publisher.fence()
	fast.fence() // it has lost nothing
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

// With the policy drop a slow client loses the oldest messages, is told exactly
// how many, and goes on.
func TestSlowConsumerDrop(t *testing.T) {
	t.Parallel()
	e := startEdge(t, strings.Replace(slowCaddyfile, "POLICY", "drop", 1))
	publisher, slow, _ := startFlood(e)
	received, lost, last := 0, 0, -1
	for received+lost < flood {
		kind, message, err := slow.read()
		slow.must(err)
		if kind == websocket.TextMessage {
			lost += slowCount(t, message)
			continue
		}
		received++
		if n := number(t, message); n <= last {
			t.Fatalf("message %d came after %d", n, last)
		} else {
			last = n
		}
	}
	if received+lost != flood || lost == 0 || received < 20 {
		t.Errorf("received %d and told of %d lost, want %d in all and some of both", received, lost, flood)
	}
	if last != flood-1 {
		t.Errorf("the last message received is %d, want %d: the oldest are dropped", last, flood-1)
	}
	slow.fence()
	publisher.publish("paint.room", "c", "after")
	slow.expectDeliver("paint.room", "c", "after", "#")
}

func TestSlowConsumerDisconnect(t *testing.T) {
	t.Parallel()
	e := startEdge(t, strings.Replace(slowCaddyfile, "POLICY", "disconnect", 1))
	publisher, slow, fast := startFlood(e)
	received := 0
	for {
		kind, message, err := slow.read()
		slow.must(err)
		if kind == websocket.TextMessage {
			if lost := slowCount(t, message); received+lost > flood {
				t.Errorf("received %d and told of %d lost, of %d", received, lost, flood)
			}
			break
		}
		if n := number(t, message); n != received {
			t.Fatalf("got message %d, want %d", n, received)
		}
		received++
	}
	slow.expectClose(wire.CloseSlowConsumer)
	publisher.publish("paint.room", "c", "after")
	fast.expectDeliver("paint.room", "c", "after", "#")
}

// A client that subscribes and leaves without a word is forgotten.
func TestVanishedSubscriber(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	gone, stays := e.dial(token), e.dial(token)
	gone.subscribe("paint.room", "jobs")
	stays.subscribe("paint.room", "jobs")
	gone.must(gone.conn.NetConn().Close())
	awaitConnections(e, 1)
	for range 20 {
		stays.publishTagged(wire.OneRandom, "paint.room", "jobs", "x")
		stays.expectDeliver("paint.room", "jobs", "x", "jobs")
	}
}
