// Package memory is the broker of edges that live in one process: normally
// one, on a laptop or a single server; several in tests.
package memory

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// ErrClosed is returned by a broker that left its bus.
var ErrClosed = errors.New("memory broker: closed")

// Bus connects the brokers of one process. The zero value is ready.
type Bus struct {
	mu      sync.RWMutex // held for reading while messages are passed to Receive
	members []*Broker
}

// Broker is one edge's place on a bus.
type Broker struct {
	bus      *Bus
	receiver pubsub.Receiver
}

// New returns a broker of a bus of its own: the broker of a single edge.
func New() *Broker { return new(Bus).New() }

// New returns a broker for one more edge on the bus.
func (b *Bus) New() *Broker { return &Broker{bus: b} }

// Join implements [pubsub.Broker].
func (b *Broker) Join(r pubsub.Receiver) {
	b.bus.mu.Lock()
	defer b.bus.mu.Unlock()
	b.receiver = r
	b.bus.members = append(b.bus.members, b)
}

// Publish implements [pubsub.Broker]. The other hubs have the message when it
// returns, so order holds and nothing waits in between.
func (b *Broker) Publish(m pubsub.Message) error {
	b.bus.mu.RLock()
	defer b.bus.mu.RUnlock()
	if !slices.Contains(b.bus.members, b) {
		return ErrClosed
	}
	if m.Delivery == wire.Broadcast {
		for _, other := range b.bus.members {
			if other != b {
				other.receiver.Receive(m)
			}
		}
		return nil
	}
	b.publishOne(m)
	return nil
}

// PublishConfirmed implements [pubsub.Confirmer].
func (b *Broker) PublishConfirmed(m pubsub.Message, told func(pubsub.Fate)) error {
	b.bus.mu.RLock()
	defer b.bus.mu.RUnlock()
	if !slices.Contains(b.bus.members, b) {
		told(pubsub.FateUnknown)
		return ErrClosed
	}
	told(b.publishOne(m))
	return nil
}

// publishOne finds an edge for a message to one connection. The caller holds the bus's mutex.
func (b *Broker) publishOne(m pubsub.Message) pubsub.Fate {
	// No edge is nearer than another here, so both modes try the edges in
	// random order; OneNearest has tried its own already.
	order := rand.Perm(len(b.bus.members))
	leaving, fate := m.HasSubscribers, pubsub.FateNoSubscriber
	if m.HasSubscribers {
		fate = pubsub.FateBusy
	}
	for _, m.LastResort = range []bool{false, true} {
		for _, i := range order {
			edge := b.bus.members[i]
			if m.Delivery == wire.OneNearest && edge == b && !m.LastResort {
				continue
			}
			n := edge.receiver.Receive(m)
			if n > 0 {
				return pubsub.FateTaken
			}
			if n < 0 {
				fate = pubsub.FateBusy
			}
			leaving = leaving || n == pubsub.SomeLeaving
		}
		if !leaving {
			break
		}
	}
	return fate
}

// Subscribe implements [pubsub.Broker]. There is nothing to announce: every
// hub on the bus is asked directly.
func (b *Broker) Subscribe(_, _ string, confirmed func()) { confirmed() }

// Unsubscribe implements [pubsub.Broker].
func (b *Broker) Unsubscribe(string, string) {}

// Close implements [pubsub.Broker].
func (b *Broker) Close() error {
	b.bus.mu.Lock()
	defer b.bus.mu.Unlock()
	b.bus.members = slices.DeleteFunc(b.bus.members, func(m *Broker) bool { return m == b })
	return nil
}

var (
	_ pubsub.Broker    = (*Broker)(nil)
	_ pubsub.Confirmer = (*Broker)(nil)
)
