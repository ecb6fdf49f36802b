package unixbroker

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// maxPayload is the most that an edge can be configured to take from its clients.
const maxPayload = 16 << 20

// Publish implements [pubsub.Broker]. It returns an error, too, if only some of the
// edges get a broadcast.
func (b *Broker) Publish(m pubsub.Message) error {
	if n := len(m.Payload); n > maxPayload {
		return fmt.Errorf("unix broker: the payload has %d bytes, must have at most %d", n, maxPayload)
	}
	if !b.begin() {
		return ErrClosed
	}
	defer b.running.Done()
	switch m.Delivery {
	case wire.Broadcast:
		return b.broadcast(&m)
	case wire.OneNearest: // all others are equally near, and the hub has tried this edge
		return b.search(m, search{tried: []edgeID{b.id}, full: m.HasSubscribers, leaving: m.HasSubscribers})
	}
	return b.search(m, search{})
}

func (b *Broker) broadcast(m *pubsub.Message) (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.missing) > 0 {
		err = ErrUnreachable
	}
	var frame []byte
	for _, p := range b.peers {
		if !p.matches(m) {
			continue
		}
		if frame == nil {
			frame = appendMessage(nil, m, search{})
		}
		if failed := p.out.pushMessage(frame); failed != nil {
			err = failed
		}
	}
	return err
}

// search finds an edge for a message for one connection, this one or another, and sends
// it there. When all were tried, and one has subscribers that were told to leave, they
// are tried once more for these alone.
func (b *Broker) search(m pubsub.Message, s search) error {
	for {
		here := !slices.Contains(s.tried, b.id) && b.receiver.Interested(m.Tenant, m.Channel)
		drawn, err := b.sendOne(&m, s, here)
		switch {
		case drawn == anotherEdge:
			return nil
		case drawn == thisEdge:
			var taken bool
			if taken, s = b.offer(m, s); taken {
				return nil
			}
		case s.leaving && !s.last:
			s = search{full: s.full, last: true}
		default:
			if err == nil && (s.full || s.last) {
				b.receiver.Unsent(1) // there are subscribers, and none has room
			}
			return err
		}
	}
}

type edgeDrawn int

const (
	noEdge edgeDrawn = iota
	thisEdge
	anotherEdge
)

// sendOne draws an edge that matches and was not tried, this one among them if here is
// set, and sends the message there if it is another one. It may return an error with
// noEdge: there may be one that cannot be reached.
func (b *Broker) sendOne(m *pubsub.Message, s search, here bool) (drawn edgeDrawn, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var candidates []*peer
	if here {
		candidates = append(candidates, nil)
	}
	for _, p := range b.peers {
		if p.matches(m) && !slices.Contains(s.tried, p.id) {
			candidates = append(candidates, p)
		}
	}
	if len(b.missing) > 0 {
		err = ErrUnreachable
	}
	for _, i := range rand.Perm(len(candidates)) {
		p := candidates[i]
		if p == nil {
			return thisEdge, nil
		}
		if err = p.out.pushMessage(appendMessage(nil, m, s)); err == nil {
			return anotherEdge, nil
		}
	}
	return noEdge, err
}

// offer offers a message to this edge, and adds the edge to those that were tried.
func (b *Broker) offer(m pubsub.Message, s search) (taken bool, _ search) {
	m.LastResort = s.last
	n := b.receiver.Receive(m)
	s.tried = append(slices.Clone(s.tried), b.id)
	s.full = s.full || n == pubsub.NoRoom
	s.leaving = s.leaving || n == pubsub.SomeLeaving
	return n > 0, s
}
