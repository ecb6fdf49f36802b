package histories

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/internal/historycheck"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// subscriber is a subscription of clients, one after the other, each of which goes on behind the
// last message of the one before.
type subscriber struct {
	*run
	random          *rand.Rand
	tenant, pattern string
	check           *historycheck.Client
	at              wire.Position // of the last message; zero: none has come
}

// subscribe lets clients come and go until the run ends, and then one more get all.
func (r *run) subscribe(random *rand.Rand) {
	s := &subscriber{run: r, random: random, tenant: tenants[random.IntN(2)], pattern: []string{"chat.#", "chat.*", "chat.1"}[random.IntN(3)]}
	p, err := pattern.Parse(s.pattern)
	if err != nil {
		r.T.Error(err)
	}
	s.check = r.check.Client(s.tenant+" "+s.pattern, s.tenant, p)
	for done := false; !done; {
		last := !history.PauseRandomly(random, 500, r.subscribing.Done())
		// Who has had no message has nowhere to go on.
		done = last && s.at.N == 0 || s.visit(last) && last
	}
}

func (s *subscriber) position(text string) wire.Position {
	at, err := wire.ParsePosition(text)
	if err != nil {
		s.T.Errorf("a subscriber of %s got the position %q: %v", s.pattern, text, err)
	}
	return at
}

// reached reports whether the last message has come.
func (s *subscriber) reached() bool {
	end := s.ends[s.tenant]
	return s.at.Epoch == end.Epoch && s.at.N >= end.N
}

// visit is one client, which reads for a while, quickly or slowly, or, the last one, until it has
// all. It reports whether it was subscribed.
func (s *subscriber) visit(last bool) bool {
	within, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	var slow time.Duration
	if !last { // it leaves even if nothing comes; sometimes it stays longer than a fault of its edge lasts
		limit := []int{1500, 1500, 10_000}[s.random.IntN(3)]
		within, cancel = context.WithTimeout(s.subscribing, time.Duration(s.random.IntN(limit))*time.Millisecond)
		slow = time.Duration(max(0, s.random.IntN(6000)-3000)) * time.Microsecond
	}
	defer cancel()
	var gaps []string
	closed := make(chan struct{})
	c := s.connect(s.random, func(e client.Event) {
		switch e := e.(type) {
		case client.Gap:
			gaps = append(gaps, e.Before)
		case client.Closed:
			close(closed)
		}
	})
	if c == nil {
		return false // the edge is away
	}
	defer c.Close()
	from := client.Now
	if s.at.N > 0 {
		from = client.After(s.at.String())
	}
	// Queues get full, so that clients leave messages at the edge.
	queue := client.WithQueue([]int{4, 100, 100_000}[s.random.IntN(3)], "")
	sub, err := c.Subscribe(within, s.tenant, s.pattern, client.WithHistory(from), queue)
	if err != nil {
		if !errors.Is(err, client.ErrDisconnected) && (last || within.Err() == nil) { // neither is the edge away, nor did it leave
			s.T.Errorf("subscribing to %s from %v: %v", s.pattern, s.at, err)
			return true
		}
		return false
	}
	if s.at.N > 0 {
		s.check.Begin(s.at)
	}
	defer context.AfterFunc(within, func() { _ = c.Close() })()
	for !last || !s.reached() {
		m, open := <-sub.Messages()
		if !open {
			break
		}
		at := s.position(m.Position)
		if s.at.N == 0 {
			s.check.Begin(wire.Position{Epoch: at.Epoch, N: at.N - 1, T: at.T})
		}
		s.at = at
		s.check.Message(m.Tenant, m.Channel, string(m.Payload), at)
		s.received.Add(1)
		select { // a client that reads slowly, but for what its queue has when it leaves: that may be thousands
		case <-within.Done():
		case <-time.After(slow):
		}
	}
	_ = c.Close()
	<-closed
	for _, before := range gaps {
		if s.at.N > 0 { // else it has not begun
			s.check.Gap(s.position(before))
		}
	}
	if last && !s.reached() {
		s.T.Errorf("a subscriber of %s is at %v, and does not reach the end, %v", s.pattern, s.at, s.ends[s.tenant])
	}
	s.check.End(s.at)
	return true
}
