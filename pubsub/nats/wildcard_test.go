package nats

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// overlapping returns the i-th of 2^n patterns of n tokens that all match a channel.
func overlapping(n, i int) (pattern, channel string) {
	tokens := make([]string, n)
	for at := range tokens {
		tokens[at] = "a"
		if i>>at&1 == 1 {
			tokens[at] = "*"
		}
	}
	return strings.Join(tokens, "."), strings.Repeat("a.", n-1) + "a"
}

// However many patterns of an edge match a message, few copies of it cross.
func TestCopiesAreBounded(t *testing.T) {
	t.Parallel()
	connect := serve(t)
	from, _ := startBroker(t, connect)
	to, q := startBroker(t, connect)
	own := to.conn.NumSubscriptions()
	_, channel := overlapping(10, 0)
	publish := func(payload string) (copies uint64) {
		before := to.conn.Stats().InMsgs
		must(t, from.Publish(pubsub.Message{Tenant: []byte("t"), Channel: []byte(channel), Payload: []byte(payload)}))
		q.await(t, payload)
		// Announcements are among them: each edge's comes every other second.
		return to.conn.Stats().InMsgs - before
	}
	for i := range 1 << 10 {
		pattern, _ := overlapping(10, i)
		to.subscribe(t, "t", pattern)
		if i == maxShapes-1 || i == maxShapes+1 {
			publish(fmt.Sprint(i))
		}
	}
	await(t, "one subscription of all broadcasts", func() bool { // and of each interest one for one connection
		return to.conn.NumSubscriptions() == 1<<10+1+own
	})
	if n := publish("last"); n > maxShapes+2 {
		t.Errorf("%d messages came for one", n)
	}
}

// A message of one tenant that many patterns match is not lost, doubled or
// overtaken while its interests become one subscription, and many again.
func TestOverlapComesAndGoes(t *testing.T) {
	t.Parallel()
	connect := serve(t)
	from, _ := startBroker(t, connect)
	to, q := startBroker(t, connect)
	pattern, channel := overlapping(5, 1)
	to.subscribe(t, "t.x", pattern)
	stop, done := make(chan struct{}), make(chan int)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				done <- n
				return
			default:
			}
			m := pubsub.Message{Tenant: []byte("t.x"), Channel: []byte(channel), Payload: fmt.Append(nil, n)}
			noError(t, from.Publish(m))
			time.Sleep(20 * time.Microsecond)
		}
	}()
	isWide := func(wide bool) func() bool {
		return func() bool {
			to.mu.Lock()
			defer to.mu.Unlock()
			t := to.interests["t.x"]
			return t.wildcard.wantBroadcast == wide && !t.switching
		}
	}
	for i := 2; i < 32; i++ {
		text, _ := overlapping(5, i)
		to.subscribe(t, "t.x", text)
	}
	await(t, "one subscription for all", isWide(true))
	to.mu.Lock()
	to.interests["t.x"].switchedAt = time.Now().Add(-minWildcardTime)
	to.mu.Unlock()
	for i := 2; i < 32; i++ {
		text, _ := overlapping(5, i)
		to.Unsubscribe("t.x", text)
	}
	await(t, "one for each", isWide(false))
	to.subscribe(t, "t.x", "other") // the writer has been there
	to.Unsubscribe("t.x", "other")
	close(stop)
	n := <-done
	q.await(t, fmt.Sprint(n-1))
	q.mu.Lock()
	defer q.mu.Unlock()
	first, err := strconv.Atoi(q.received[0])
	must(t, err)
	for i, payload := range q.received {
		if payload != fmt.Sprint(first+i) {
			t.Fatalf("message %s is at the place of %d", payload, first+i)
		}
	}
	if first > 100 {
		t.Errorf("the first message is %d", first)
	}
}

// Tenants share the interests of an edge. A tenant that would have more than its
// share has one for all messages.
func TestInterestsAreBounded(t *testing.T) {
	t.Parallel()
	connect := serve(t)
	to, q := startBroker(t, connect, func(c *Config) { c.MaxInterests = 100 })
	from, _ := startBroker(t, connect)
	before := to.conn.NumSubscriptions()
	for i := range 1000 {
		for _, tenant := range []string{"t", "u", "v"} {
			if tenant == "t" || i < 10 {
				to.subscribe(t, tenant, fmt.Sprint("c", i))
			}
		}
	}
	await(t, "few subscriptions", func() bool { return to.conn.NumSubscriptions()-before <= 2*100+2 })
	for i, m := range []pubsub.Message{
		{Tenant: []byte("t"), Channel: []byte("c7")}, {Tenant: []byte("t"), Channel: []byte("c999")},
		{Tenant: []byte("u"), Channel: []byte("c9")}, {Tenant: []byte("t"), Channel: []byte("c999"), Delivery: wire.OneNearest},
		{Tenant: []byte("v"), Channel: []byte("c9"), Delivery: wire.OneNearest},
	} {
		m.Payload = fmt.Append(nil, i)
		must(t, from.Publish(m))
		q.await(t, string(m.Payload))
	}
	for i := range 1000 {
		to.Unsubscribe("t", fmt.Sprint("c", i))
	}
	to.subscribe(t, "u", "more")
	await(t, "no subscription but those of 21 interests", func() bool {
		return to.conn.NumSubscriptions()-before == 2*(10+10+1)
	})
	await(t, "the end of what nobody has", func() bool {
		to.mu.Lock()
		defer to.mu.Unlock()
		return to.interests["t"] == nil && to.interestCount == 21
	})
}

// Patterns that NATS cannot tell apart have one subscription, and each its
// confirmation.
func TestInterestIsShared(t *testing.T) {
	t.Parallel()
	to, _ := startBroker(t, serve(t))
	before := to.conn.NumSubscriptions()
	to.subscribe(t, "t", "a*", "ab*", "abc*", "*")
	equal(t, "subscriptions", to.conn.NumSubscriptions()-before, 2)
	to.Unsubscribe("t", "*")
	to.Unsubscribe("t", "a*")
	to.Unsubscribe("t", "ab*")
	to.subscribe(t, "t", "b")
	equal(t, "subscriptions", to.conn.NumSubscriptions()-before, 4)
}

// Subscriptions that end wait for what is on its way by them, at most
// maxDrainingSubs at a time, so that a crowd that leaves does not start as many goroutines.
func TestDrainingSubsAreBounded(t *testing.T) {
	t.Parallel()
	conn, err := natstest.Connect(natstest.Server(t, natstest.Core))()
	must(t, err)
	t.Cleanup(conn.Close)
	subs := make([]*client.Subscription, maxDrainingSubs+2)
	for i := range subs {
		subs[i], err = conn.SubscribeSync("x")
		must(t, err)
	}
	must(t, errors.Join(conn.Publish("x", nil), conn.Flush()))
	b := &Broker{conn: conn}
	for _, sub := range subs[:maxDrainingSubs+1] { // each with a message that nobody takes
		b.endSubscription(sub)
	}
	first, last := subs[0], subs[maxDrainingSubs+1]
	if !first.IsDraining() || subs[maxDrainingSubs].IsValid() || len(b.drainingSubs) != maxDrainingSubs {
		t.Errorf("%d subscriptions wait for what is on its way", len(b.drainingSubs))
	}
	noError(t, errorOf(first.NextMsg(time.Second)))
	for first.IsDraining() {
		time.Sleep(time.Millisecond)
	}
	b.endSubscription(last)
	if !last.IsDraining() || len(b.drainingSubs) != maxDrainingSubs {
		t.Errorf("one of %d does not take the place of one that has ended", len(b.drainingSubs))
	}
}
