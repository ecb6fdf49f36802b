package pubsub

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/wire"
)

// fateBroker is a localBroker that says what became of messages when it is told.
type fateBroker struct {
	localBroker
	told []func(Fate)
}

func (b *fateBroker) PublishConfirmed(m Message, told func(Fate)) error {
	b.told = append(b.told, told)
	return b.Publish(m)
}

// worker connects a client with work queues.
func (r *rig) worker(token string, lines ...string) *client {
	c := r.connect(token)
	c.answer("FEATURES:work_queue", "FEATURES:link,sender,work_queue")
	c.ask(lines...)
	return c
}

// job publishes to one connection, and asks for an answer.
func (c *client) job(d wire.Delivery, id uint32, channel string) {
	c.Ready(time.Hour)
	c.HandleFrame(wire.AppendPublish(nil, wire.Publish{Confirm: true, ID: id, Delivery: d, Tenant: []byte("t"), Channel: []byte(channel), Payload: []byte("x")}))
}

func TestCredit(t *testing.T) {
	for _, d := range []wire.Delivery{wire.OneNearest, wire.OneRandom} {
		inBubble(t, fastLimits(), func(r *rig) {
			p, c := r.connect("p"), r.worker("w", "SUB:t:jobs.*", "SUB:t:jobs.#")
			publish := func(n int) {
				for range n {
					p.publishAs(d, "t", "jobs.a", "x")
				}
			}
			publish(1)
			c.answer("CREDIT:t:jobs.*:5")
			publish(1)
			c.expect() // every subscription needs some
			c.answer("CREDIT:t:jobs.#:2")
			publish(3)
			c.expect("t/jobs.a=x [jobs.# jobs.*] to one", "t/jobs.a=x [jobs.# jobs.*] to one")
			p.publish("t", "jobs.a", "broadcast")
			c.expect("t/jobs.a=broadcast [jobs.# jobs.*]") // which needs none, and takes none
			c.answer("UNSUB:t:jobs.#", "OK:UNSUB:t:jobs.#")
			publish(4)
			c.count(3) // of 5
			c.answer("CREDIT:t:jobs.*:1")
			c.ask("UNSUB:t:jobs.*", "SUB:t:jobs.*")
			publish(1)
			c.expect() // what begins again has none
			c.answer("SUB:t:jobs.*", "OK:SUB:t:jobs.*")
			for range 3 {
				c.answer("CREDIT:t:jobs.*:2147483647")
			}
			publish(1)
			c.count(1)
			equal(t, "credit", c.subscriptions[subscriptionKey{tenant: "t", pattern: "jobs.*"}].credit, wire.MaxCredit-1)
		})
	}
}

func TestCreditRefused(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		c := r.connect("a")
		c.ask("SUB:t:old", "SUB:t:no")
		c.answer("CREDIT:t:old:1", "ERR:bad_request")
		equal(t, "broken messages", c.broken, 1)
		c.answer("FEATURES:work_queue", "FEATURES:link,sender,work_queue")
		for line, want := range map[string]string{
			"CREDIT:t:none:1":         "ERR:bad_request:CREDIT:t:none",
			"CREDIT:t:old:0":          "ERR:bad_request:CREDIT:t:old",
			"CREDIT:t:old:2147483648": "ERR:bad_request:CREDIT:t:old",
			"CREDIT:t:a..b:1":         "ERR:bad_pattern",
			"CREDIT:t/u:a:1":          "ERR:bad_tenant",
		} {
			c.answer(line, want)
			equal(t, "broken messages after "+line, c.broken, 0)
		}
		// One that began before goes on without credit.
		r.connect("p").publishAs(wire.OneNearest, "t", "old", "x")
		c.expect("t/old=x [old] to one")
	})
}

// CREDIT counts for the SUB before it, which may still wait for hooks.
func TestCreditWaitsForHooks(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		r.withHooks(&recordingHook{subscribe: func(ctx context.Context, _ hook.Subscription) error {
			sleep(time.Second, ctx.Done())
			return nil
		}})
		p, c := r.connect("p"), r.worker("w", "SUB:t:jobs", "CREDIT:t:jobs:1")
		c.after(time.Second, "OK:SUB:t:jobs")
		p.publishAs(wire.OneNearest, "t", "jobs", "x")
		c.expect("t/jobs=x [jobs] to one")
	})
}

// What was taken is never dropped, and the queue stays within its bound.
func TestQueueKeepsWhatWasTaken(t *testing.T) {
	for _, slow := range []SlowPolicy{SlowDrop, SlowDisconnect} {
		inBubble(t, with(func(l *Limits) { l.SendQueue, l.Slow = smallQueue, slow }), func(r *rig) {
			p, c := r.connect("p"), r.worker("w", "SUB:t:#", "CREDIT:t:#:1000")
			release := c.block()
			p.publish("t", "a", "is being written")
			synctest.Wait()
			for i := range 100 {
				p.publishAs(wire.OneNearest, "t", "jobs", fmt.Sprint(i))
			}
			taken := 1000 - int(c.subscriptions[subscriptionKey{tenant: "t", pattern: "#"}].credit)
			if taken == 0 || c.queue.kept > smallQueue/2 {
				t.Errorf("%d were taken, and take %d bytes", taken, c.queue.kept)
			}
			if slow == SlowDrop {
				p.repeat(100, "t", "b", "x")
			}
			if c.queue.deliveries > smallQueue {
				t.Errorf("the queue has %d bytes", c.queue.deliveries)
			}
			release()
			got := strings.Join(c.take(), "\n")
			equal(t, "jobs that came", strings.Count(got, "to one"), taken)
		})
	}
}

func TestFates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker := new(fateBroker)
		r := &rig{T: t, broker: &broker.localBroker, hub: NewHub(broker, fastLimits(), zap.NewNop())}
		defer r.close()
		p := r.worker("p")
		p.job(wire.OneNearest, 1, "a")
		p.job(wire.OneNearest, 2, "a")
		p.job(wire.OneRandom, 3, "a")
		p.job(wire.OneRandom, 4, "b")
		p.expect()
		broker.told[3](FateBusy)
		broker.told[1](FateTaken) // waits for the first one to its channel
		p.expect("ERR:subscribers_busy:PUB:4")
		broker.told[0](FateNoSubscriber)
		broker.told[2](FateUnknown)
		p.expect("ERR:no_subscriber:PUB:1", "OK:PUB:2", "ERR:unconfirmed:PUB:3")
		equal(t, "publishes in the window", p.window.n, 0)

		c := r.worker("w", "SUB:t:a")
		p.job(wire.OneNearest, 5, "a")
		p.expect() // the others are asked
		c.ask("CREDIT:t:a:1")
		p.job(wire.OneNearest, 6, "a")
		c.expect("t/a=x [a] to one")
		broker.told[4](FateBusy)
		p.expect("ERR:subscribers_busy:PUB:5", "OK:PUB:6")

		// Without a history, version 3 is for those with work queues.
		p.HandleFrame(wire.AppendPublish(nil, wire.Publish{Confirm: true, ID: 7, Tenant: []byte("t"), Channel: []byte("a")}))
		p.HandleFrame(wire.AppendPublish(nil, wire.Publish{Confirm: true, ID: 8, Key: []byte("k"), Tenant: []byte("t"), Channel: []byte("a")}))
		p.expect("OK:PUB:7", "ERR:no_history:PUB:8")
		r.connect("old").job(wire.OneNearest, 9, "a")
		equal(t, "publishes that reached the broker", len(broker.told), 5)
	})
}

// A broker that does not say what became of a message says so; who does not ask is answered as ever.
func TestFatesWithoutConfirmer(t *testing.T) {
	withHistory(t, fastLimits(), func(r *rig) {
		p, old := r.connect("p"), r.connect("old")
		p.ask("FEATURES:work_queue")
		p.job(wire.OneNearest, 1, "a")
		p.expect("ERR:unconfirmed:PUB:1")
		old.job(wire.OneNearest, 1, "a")
		old.expect("OK:PUB:1")
		old.ask("SUB:t:a")
		p.job(wire.OneNearest, 2, "a")
		p.expect("OK:PUB:2")
		old.expect("t/a=x [a]")
	})
}

// A connection has so many publishes under way whose fate is not known, and then waits.
func TestFatesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker := new(fateBroker)
		r := &rig{T: t, broker: &broker.localBroker, hub: NewHub(broker, fastLimits(), zap.NewNop())}
		defer r.close()
		p := r.worker("p")
		begun := time.Now()
		for id := range uint32(maxWindow + 1) {
			p.job(wire.OneNearest, id, "a")
		}
		equal(t, "wait for room", time.Since(begun), windowTimeout)
		equal(t, "publishes in the window", p.window.n, 1)
		for i, line := range p.take() {
			equal(t, "answer", line, fmt.Sprintf("ERR:unconfirmed:PUB:%d", i))
		}
		broker.told[0](FateTaken) // too late
		broker.told[maxWindow](FateTaken)
		p.expect(fmt.Sprintf("OK:PUB:%d", maxWindow))
	})
}
