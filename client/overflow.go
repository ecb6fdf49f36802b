package client

import (
	"sync"
	"time"
)

// fullEvery is the shortest time between two events QueueFull or Discarded of a subscription.
const fullEvery = time.Second

// overflow collects the subscriptions that dropped messages, or threw them away, so that the loop
// reports each once a second at most.
type overflow struct {
	wake chan struct{}

	mu    sync.Mutex
	subs  []*Subscription // lost something that nobody was notified of
	ended []*Subscription // by the policy EndOnFull, and the edge has not heard of it
	full  []*Subscription // with a history, whose queues are full; the edge has not heard of it
	read  []*Subscription // of these, those that were read since
	room  []*Subscription // are to get more credit

	told map[*Subscription]time.Time // the loop's: when an event went out last
}

// add is called once for each subscription until the loop resets its flag.
func (o *overflow) add(s *Subscription) {
	o.mu.Lock()
	o.subs = append(o.subs, s)
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// addEnded is for a subscription that has ended because its queue was full.
func (o *overflow) addEnded(s *Subscription) {
	o.mu.Lock()
	o.ended = append(o.ended, s)
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// addFull is for a subscription with a history whose queue is full.
func (o *overflow) addFull(s *Subscription) {
	o.mu.Lock()
	o.full = append(o.full, s)
	o.mu.Unlock()
	offer(o.wake)
}

// addRead is for one of these whose queue was read.
func (o *overflow) addRead(s *Subscription) {
	o.mu.Lock()
	o.read = append(o.read, s)
	o.mu.Unlock()
	offer(o.wake)
}

// addRoom is for a subscription that is to get more credit. It is called once for each until the loop resets
// its flag.
func (o *overflow) addRoom(s *Subscription) {
	o.mu.Lock()
	o.room = append(o.room, s)
	o.mu.Unlock()
	offer(o.wake)
}

func (o *overflow) takeRoom() []*Subscription {
	o.mu.Lock()
	defer o.mu.Unlock()
	room := o.room
	o.room = nil
	return room
}

func (o *overflow) takePaused() (full, read []*Subscription) {
	o.mu.Lock()
	defer o.mu.Unlock()
	full, read = o.full, o.read
	o.full, o.read = nil, nil
	return full, read
}

func (o *overflow) takeEnded() []*Subscription {
	o.mu.Lock()
	defer o.mu.Unlock()
	ended := o.ended
	o.ended = nil
	return ended
}

// tell returns the events that are due, and when to ask again; zero: when wake
// says so.
func (o *overflow) tell(now time.Time) (events []Event, next time.Time) {
	o.mu.Lock()
	subs := o.subs
	o.subs = nil
	o.mu.Unlock()
	if o.told == nil {
		o.told = map[*Subscription]time.Time{}
	}
	for s, at := range o.told {
		if now.Sub(at) >= fullEvery {
			delete(o.told, s)
		}
	}
	var later []*Subscription
	for _, s := range subs {
		if at, recent := o.told[s]; recent {
			later = append(later, s)
			if due := at.Add(fullEvery); next.IsZero() || due.Before(next) {
				next = due
			}
			continue
		}
		o.told[s] = now
		s.flagged.Store(false)
		if n := s.dropped.Swap(0); n > 0 { // else the event before has reported it
			events = append(events, QueueFull{s.key.tenant, s.key.pattern, int(n)})
		}
		if n := s.discarded.Swap(0); n > 0 {
			events = append(events, Discarded{s.key.tenant, s.key.pattern, int(n)})
		}
	}
	o.mu.Lock()
	o.subs = append(o.subs, later...)
	o.mu.Unlock()
	return events, next
}
