package brokertest

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// eventTimeout bounds every wait for an event.
const eventTimeout = 3 * time.Minute

// overlay is a set of edges that consist of nothing but a broker.
type overlay struct {
	*testing.T
	brokers []pubsub.Broker
	edges   []*edge
	arrived chan struct{} // says that an edge has received something
	probes  int
}

// edge stands in for a hub: it notes what it receives and has an interest in.
type edge struct {
	arrived chan<- struct{}

	mu       sync.Mutex
	refuses  bool // as if all its subscribers had full queues
	leaving  bool // as if all its subscribers had been told to reconnect
	patterns map[interest]pattern.Pattern
	got      []message
	probes   map[string]bool
	unlinked bool
	unsent   int
}

type interest struct{ tenant, pattern string }

type message struct{ tenant, channel, payload, sender string }

func newOverlay(t *testing.T, brokers []pubsub.Broker) *overlay {
	o := &overlay{T: t, brokers: brokers, arrived: make(chan struct{}, 1)}
	for _, b := range brokers {
		e := &edge{arrived: o.arrived, patterns: map[interest]pattern.Pattern{}, probes: map[string]bool{}}
		o.edges = append(o.edges, e)
		b.Join(e)
	}
	return o
}

func (o *overlay) close() {
	for i, b := range o.brokers {
		if err := b.Close(); err != nil {
			o.Errorf("edge %d: Close: %v", i, err)
		}
		if e := o.edges[i]; e.unlinked || e.unsent > 0 {
			o.Errorf("edge %d: the link is down: %v; %d messages were not sent, or missed", i, e.unlinked, e.unsent)
		}
	}
}

// Receive implements [pubsub.Receiver].
func (e *edge) Receive(m pubsub.Message) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case !e.matches(m.Tenant, m.Channel):
		return 0
	case bytes.HasPrefix(m.Payload, []byte(probe)):
		e.probes[string(m.Payload)] = true
	case m.Delivery != wire.Broadcast && e.leaving && !m.LastResort:
		return pubsub.SomeLeaving
	case m.Delivery != wire.Broadcast && (e.refuses || e.leaving != m.LastResort):
		return pubsub.NoRoom
	default: // the bytes are the broker's again after this call
		e.got = append(e.got, message{string(m.Tenant), string(m.Channel), string(m.Payload), string(m.Sender)})
	}
	select {
	case e.arrived <- struct{}{}:
	default: // a signal waits already
	}
	return 1
}

// Interested implements [pubsub.Receiver].
func (e *edge) Interested(tenant, channel []byte) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.matches(tenant, channel)
}

func (e *edge) matches(tenant, channel []byte) bool {
	for in, p := range e.patterns {
		if in.tenant == string(tenant) && p.Match(string(channel)) {
			return true
		}
	}
	return false
}

// Linked implements [pubsub.Receiver].
func (e *edge) Linked(up bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unlinked = !up
	select {
	case e.arrived <- struct{}{}:
	default:
	}
}

// Unsent implements [pubsub.Receiver].
func (e *edge) Unsent(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unsent += n
}

// Missed implements [pubsub.Receiver].
func (e *edge) Missed(n int) { e.Unsent(n) }

func (e *edge) linked() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.unlinked
}

func (e *edge) refuse(yes bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refuses = yes
}

// leave makes the edge answer as if all its subscribers had been told to reconnect.
func (e *edge) leave(yes bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leaving = yes
}

// received returns what has come, and forgets it.
func (e *edge) received() []message {
	e.mu.Lock()
	defer e.mu.Unlock()
	got := e.got
	e.got = nil
	return got
}

func (e *edge) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.got)
}

// subscribe announces an interest of an edge, and returns when it is confirmed
// and messages of all other edges to a channel arrive. A broker confirms less: the
// server of another edge may hear of the interest a moment later.
func (o *overlay) subscribe(at int, tenant, text, channel string) {
	o.Helper()
	o.announce(at, tenant, text)
	for from := range o.brokers {
		if from != at {
			o.await(fmt.Sprintf("messages from edge %d to %d", from, at), func() bool {
				o.probes++
				payload := fmt.Sprintf("%s%d", probe, o.probes)
				o.publish(from, wire.Broadcast, tenant, channel, payload)
				timer := time.NewTimer(50 * time.Millisecond)
				defer timer.Stop()
				for {
					if o.edges[at].saw(payload) {
						return true
					}
					select {
					case <-o.arrived:
					case <-timer.C:
						return false
					}
				}
			})
		}
	}
}

const probe = "probe "

func (e *edge) saw(payload string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.probes[payload]
}

// everybody subscribes all edges to all channels of the tenant t.
func (o *overlay) everybody() {
	o.Helper()
	for i := range o.edges {
		o.subscribe(i, "t", "#", "a.b")
	}
}

// announce announces an interest of an edge, and returns when it is confirmed.
func (o *overlay) announce(at int, tenant, text string) {
	o.Helper()
	p, err := pattern.Parse(text)
	if err != nil {
		o.Fatal(err)
	}
	e := o.edges[at]
	e.mu.Lock()
	e.patterns[interest{tenant, text}] = p
	e.mu.Unlock()
	confirmed := make(chan struct{})
	o.brokers[at].Subscribe(tenant, text, func() { close(confirmed) }) // panics if it comes twice
	select {
	case <-confirmed:
	case <-time.After(eventTimeout):
		o.Fatalf("edge %d: %s:%s was not confirmed", at, tenant, text)
	}
}

func (o *overlay) unsubscribe(at int, tenant, text string) {
	e := o.edges[at]
	e.mu.Lock()
	delete(e.patterns, interest{tenant, text})
	e.mu.Unlock()
	o.brokers[at].Unsubscribe(tenant, text)
}

func (o *overlay) publish(from int, d wire.Delivery, tenant, channel, payload string) {
	o.Helper()
	o.publishAs("", from, d, tenant, channel, payload)
}

// publishAs publishes for a client whose token has a subject.
func (o *overlay) publishAs(sender string, from int, d wire.Delivery, tenant, channel, payload string) {
	o.Helper()
	m := pubsub.Message{Tenant: []byte(tenant), Channel: []byte(channel), Payload: []byte(payload), Sender: []byte(sender), Delivery: d}
	if err := o.brokers[from].Publish(m); err != nil {
		o.Error(err)
	}
	for _, b := range [][]byte{m.Tenant, m.Channel, m.Payload, m.Sender} { // they were lent
		clear(b)
	}
}

// awaitTotal waits until the edges have received want messages in all, and fails if they
// have more.
func (o *overlay) awaitTotal(want int) {
	o.Helper()
	o.await(fmt.Sprintf("%d messages", want), func() bool { return o.total() >= want })
	if n := o.total(); n != want {
		o.Fatalf("edges received %d messages, want %d", n, want)
	}
}

// total is how many messages the edges have received.
func (o *overlay) total() (n int) {
	for _, e := range o.edges {
		n += e.count()
	}
	return n
}

// await waits for a condition that a message may make true; what names it.
func (o *overlay) await(what string, is func() bool) {
	o.Helper()
	deadline := time.After(eventTimeout)
	for !is() {
		select {
		case <-o.arrived:
		case <-time.After(20 * time.Millisecond): // the signal may have been for another condition
		case <-deadline:
			for i, e := range o.edges {
				o.Logf("edge %d has %d messages", i, e.count())
			}
			o.Fatalf("waited %v in vain for %s", eventTimeout, what)
		}
	}
}
