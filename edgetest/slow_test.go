package edgetest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/edgetest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/wire"
)

const crowd = 200 // messages, more than the queue of slowly holds

// slowly is an edge with short queues.
func slowly(policy pubsub.SlowPolicy) edgetest.Option {
	return edgetest.Limits(func(l *pubsub.Limits) {
		l.DefaultIngressKB, l.DefaultEgressKB, l.MaxPayload, l.SendQueue, l.Slow = 1<<20, 1<<20, 1024, 69632, policy
	})
}

// flood publishes faster than slow may receive, and not faster than quick does.
func (s *stage) flood() (p, slow, quick *session) {
	limit := 16
	slow = s.subscriber(edgetest.Right(func(r *tokenstore.Right) { r.EgressKBPerSec = &limit }))
	p, quick = s.publisher(), s.subscriber()
	slow.ask("SUB:test:#")
	quick.ask("SUB:test:#")
	filler := strings.Repeat(".", 900)
	for i := range crowd {
		p.send(publish("c", fmt.Sprint(i, " ", filler)))
		quick.expect(fmt.Sprintf("test/c=%d %s [#]", i, filler))
	}
	return p, slow, quick
}

// nextOf returns the number of the next message, or how many the client is told it has lost.
func (c *session) nextOf() (n, lost int) {
	c.t.Helper()
	for {
		got := c.next()
		if _, err := fmt.Sscanf(got, "test/c=%d ", &n); err == nil {
			return n, 0
		}
		if _, err := fmt.Sscanf(got, "ERR:slow_consumer:%d", &lost); err == nil {
			return 0, lost
		}
		if !strings.HasPrefix(got, "ERR:egress_limited:") { // its queue holds seconds' worth
			c.t.Fatalf("got %.40q", got)
		}
	}
}

// With the policy drop a slow client loses the oldest messages, is told exactly how many, and
// continues.
func TestSlowConsumerDrop(t *testing.T) {
	everywhere(t, func(s *stage) {
		p, slow, _ := s.flood()
		received, lost, last := 0, 0, -1
		for received+lost < crowd {
			n, more := slow.nextOf()
			if lost += more; more > 0 {
				continue
			}
			if received++; n <= last {
				s.Fatalf("message %d came after %d", n, last)
			}
			last = n
		}
		if received+lost != crowd || lost == 0 || received < 20 || last != crowd-1 {
			s.Errorf("received %d, the last one %d, and %d reported lost, of %d", received, last, lost, crowd)
		}
		p.send(publish("c", "after"))
		slow.expect("test/c=after [#]")
	}, slowly(pubsub.SlowDrop))
}

// With the policy disconnect it is closed, and the others go on.
func TestSlowConsumerDisconnect(t *testing.T) {
	everywhere(t, func(s *stage) {
		p, slow, quick := s.flood()
		for want := 0; ; want++ {
			n, lost := slow.nextOf()
			if lost > 0 {
				break
			}
			if n != want {
				s.Fatalf("got message %d, want %d", n, want)
			}
		}
		slow.expect("close 4429")
		p.send(publish("c", "after"))
		quick.expect("test/c=after [#]")
	}, slowly(pubsub.SlowDisconnect))
}

// The edge stops reading from a client that does not read its answers; other clients do not
// suffer. When it reads, it gets every answer.
func TestFloodWithoutReading(t *testing.T) {
	everywhere(t, func(s *stage) {
		c, bystander := s.subscriber(), s.publisher()
		bystander.ask("SUB:test:#")
		long := strings.Repeat("p", 200)
		lines := []string{"PING", "SUB:test:" + long, "UNSUB:test:" + long, "SUB:other:" + long}
		release := c.hold()
		sent := make(chan int, 1)
		const cycles = 4_000 // 2.6 MB, more than edge, network and client hold
		go func() {
			n := 0
			for ; n < cycles; n++ {
				for _, line := range lines {
					if c.link.write([]byte(line)) != nil {
						break
					}
				}
			}
			sent <- n
		}()
		synctest.Wait()
		if len(sent) > 0 {
			s.Fatal("the edge took all from a client that does not read")
		}
		before := s.near.Hub().Stats()
		for _, one := range before {
			if one.QueuedBytes > 2*pubsub.MaxControlBacklog {
				s.Errorf("%d bytes wait for a client", one.QueuedBytes)
			}
		}
		bystander.send(publish("x", "still here"))
		bystander.expect("test/x=still here [#]")
		release()
		answers := map[string]int{} // an ERR may overtake an OK
		for range cycles * len(lines) {
			answers[c.next()]++
		}
		for _, want := range []string{"PONG", "OK:SUB:test:" + long, "OK:UNSUB:test:" + long, "ERR:permission_denied:SUB:other:" + long} {
			if answers[want] != cycles {
				s.Errorf("%.20s: %d answers of %d", want, answers[want], cycles)
			}
		}
		if n := <-sent; n != cycles {
			s.Errorf("%d of %d cycles were sent", n, cycles)
		}
	}, fast)
}

// What is for one subscriber does not go to one that has gone without a word.
func TestVanishedSubscriber(t *testing.T) {
	everywhere(t, func(s *stage) {
		gone, stays, p := s.subscriber(), s.subscriber(), s.publisher()
		gone.ask("SUB:test:jobs")
		stays.ask("SUB:test:jobs")
		gone.abort()
		time.Sleep(time.Second)
		for range 20 {
			p.send(tagged(wire.OneRandom, "jobs", "x"))
			stays.expect("test/jobs=x [jobs]")
		}
	})
}

// Clients that the edge hears nothing of are forgotten: after 60 s by WebSocket's pings, after
// 30 s by QUIC.
func TestSilentClients(t *testing.T) {
	everywhere(t, func(s *stage) {
		s.subscriber().ask("SUB:test:#")
		time.Sleep(10 * time.Minute) // its answers to pings are signs of life
		if n := len(s.near.Hub().Stats()); n != 1 {
			s.Fatalf("%d clients", n)
		}
		heal := s.near.Cut()
		time.Sleep(20 * time.Second)
		if n := len(s.near.Hub().Stats()); n != 1 {
			s.Errorf("%d clients after 20 s of silence", n)
		}
		time.Sleep(45 * time.Second)
		if n := len(s.near.Hub().Stats()); n != 0 {
			s.Errorf("%d clients after 65 s of silence", n)
		}
		heal()
	})
}
