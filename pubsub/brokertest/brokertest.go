// Package brokertest is the conformance suite of [pubsub.Broker].
package brokertest

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// Run checks a backend. connect returns brokers of as many edges, connected
// with each other and not joined yet; the suite closes them.
func Run(t *testing.T, connect func(t *testing.T, edges int) []pubsub.Broker) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, *overlay)
	}{
		{"broadcast reaches every other edge once", broadcast},
		{"one nearest leaves the own edge out", oneNearest},
		{"one random reaches exactly one, own edge included", oneRandom},
		{"order holds", order},
		{"nothing comes after Close", closed},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &overlay{brokers: connect(t, 3), arrived: make(chan struct{}, 1)}
			for i, b := range o.brokers {
				e := &edge{accepts: true, arrived: o.arrived}
				o.edges = append(o.edges, e)
				b.Join(e)
				if err := b.Subscribe("t", "#"); err != nil {
					t.Fatalf("edge %d: Subscribe: %v", i, err)
				}
			}
			c.run(t, o)
			for i, b := range o.brokers {
				if err := b.Close(); err != nil {
					t.Errorf("edge %d: Close: %v", i, err)
				}
			}
		})
	}
}

type overlay struct {
	brokers []pubsub.Broker
	edges   []*edge
	arrived chan struct{} // says that an edge has received something
}

// edge stands in for a hub: it notes what it receives, or has no subscriber.
type edge struct {
	arrived chan<- struct{}

	mu      sync.Mutex
	accepts bool
	got     []pubsub.Message
}

func (e *edge) Receive(m pubsub.Message) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.accepts {
		return 0
	}
	// The bytes are the broker's again after this call.
	m.Tenant, m.Channel, m.Payload = bytes.Clone(m.Tenant), bytes.Clone(m.Channel), bytes.Clone(m.Payload)
	e.got = append(e.got, m)
	select {
	case e.arrived <- struct{}{}:
	default: // it is said already
	}
	return 1
}

func (e *edge) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.got)
}

// settle waits until the edges have received want messages in all.
func (o *overlay) settle(t *testing.T, want int) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for late := false; ; {
		total := 0
		for _, e := range o.edges {
			total += e.count()
		}
		if total == want {
			return
		}
		if total > want || late {
			t.Fatalf("edges received %d messages, want %d", total, want)
		}
		select {
		case <-o.arrived:
		case <-deadline:
			late = true
		}
	}
}

func (o *overlay) publish(t *testing.T, from int, d wire.Delivery, payload string) {
	t.Helper()
	m := pubsub.Message{Tenant: []byte("t"), Channel: []byte("a.b"), Payload: []byte(payload), Delivery: d}
	if err := o.brokers[from].Publish(m); err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{m.Tenant, m.Channel, m.Payload} { // they were lent
		clear(b)
	}
}

func broadcast(t *testing.T, o *overlay) {
	o.publish(t, 0, wire.Broadcast, "x")
	o.settle(t, 2)
	for i, want := range []int{0, 1, 1} {
		if got := o.edges[i].count(); got != want {
			t.Errorf("edge %d received %d, want %d", i, got, want)
		}
	}
	m := o.edges[1].got[0]
	if string(m.Tenant) != "t" || string(m.Channel) != "a.b" || string(m.Payload) != "x" || m.Delivery != wire.Broadcast {
		t.Errorf("received %+v", m)
	}
}

func oneNearest(t *testing.T, o *overlay) {
	for range 50 {
		o.publish(t, 0, wire.OneNearest, "x")
	}
	o.settle(t, 50)
	if got := o.edges[0].count(); got != 0 {
		t.Errorf("the own edge received %d, want 0", got)
	}
}

func oneRandom(t *testing.T, o *overlay) {
	o.edges[2].accepts = false
	for range 200 {
		o.publish(t, 0, wire.OneRandom, "x")
	}
	o.settle(t, 200)
	for i, some := range []bool{true, true, false} {
		if got := o.edges[i].count(); (got > 0) != some {
			t.Errorf("edge %d received %d of 200, want some: %v", i, got, some)
		}
	}
}

func order(t *testing.T, o *overlay) {
	const n = 1000
	for i := range n {
		o.publish(t, 0, wire.Broadcast, fmt.Sprint(i))
	}
	o.settle(t, 2*n)
	for e := 1; e < 3; e++ {
		for i, m := range o.edges[e].got {
			if string(m.Payload) != fmt.Sprint(i) {
				t.Fatalf("edge %d: message %d is %s", e, i, m.Payload)
			}
		}
	}
}

func closed(t *testing.T, o *overlay) {
	if err := o.brokers[1].Close(); err != nil {
		t.Fatal(err)
	}
	o.publish(t, 0, wire.Broadcast, "x")
	o.settle(t, 1)
	if got := o.edges[1].count(); got != 0 {
		t.Errorf("a closed broker's edge received %d", got)
	}
}
