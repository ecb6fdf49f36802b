package nats

import (
	"context"
	"math"
	"slices"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"
)

// queueGroup is that of all edges, for messages that go to one connection.
const queueGroup = "edges"

// interest is what the patterns of a tenant with one subject in NATS have in
// common: NATS knows wildcards for whole tokens only. Guarded by Broker.mu.
type interest struct {
	tenant   string
	of       *tenantInterests
	subject  string // the end of it, behind the kind
	shape    string
	patterns int  // that the hub has subscribers for
	all, one bool // broadcasts are wanted, and messages for one connection
	queued   bool // among those that the writer has to look at

	// the writer's own
	wantAll, wantOne bool
	subAll, subOne   *client.Subscription
}

// waiting is a confirmation that the hub waits for.
type waiting struct {
	number    uint64 // among all that were asked for
	since     time.Time
	confirmed func()
}

// Subscribe implements [pubsub.Broker].
func (b *Broker) Subscribe(tenant, pattern string, confirmed func()) {
	subject := interestIn(tenant, pattern)
	b.mu.Lock()
	t := b.interestsOf(tenant)
	in := t.bySubject[subject]
	if in == nil {
		in = &interest{tenant: tenant, of: t, subject: subject, shape: shapeOf(subject)}
		t.bySubject[subject] = in
	}
	if in.patterns++; in.patterns == 1 {
		b.count(in, 1)
	}
	up := b.up
	if up {
		b.asked++
		b.waiting = append(b.waiting, waiting{b.asked, time.Now(), confirmed})
		kick(b.work)
	}
	b.mu.Unlock()
	b.answerPendingQueries(tenant, pattern)
	if !up {
		confirmed()
	}
}

// Unsubscribe implements [pubsub.Broker].
func (b *Broker) Unsubscribe(tenant, pattern string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.interests[tenant]
	if t == nil {
		return // Close was faster
	}
	in := t.bySubject[interestIn(tenant, pattern)]
	if in == nil || in.patterns == 0 {
		return
	}
	if in.patterns--; in.patterns == 0 {
		b.count(in, -1)
	}
}

// change lets the writer look at an interest. The caller holds b.mu.
func (b *Broker) change(in *interest) {
	if !in.queued {
		in.queued = true
		b.changed = append(b.changed, in)
	}
	kick(b.work)
}

// apply makes NATS know of an interest what the hub wants.
func (b *Broker) apply(in *interest) {
	in.subAll = b.applyTo(in.subAll, in.wantAll, func() (*client.Subscription, error) {
		return b.conn.ChanSubscribe(b.listen+broadcasts+in.subject, b.in)
	})
	in.subOne = b.applyTo(in.subOne, in.wantOne, func() (*client.Subscription, error) {
		return b.conn.ChanQueueSubscribe(b.listen+nearest+in.subject, queueGroup, b.in)
	})
	if in.subAll == nil && in.subOne == nil {
		b.forget(in)
	}
}

func (b *Broker) applyTo(sub *client.Subscription, want bool, subscribe func() (*client.Subscription, error)) *client.Subscription {
	switch {
	case want == (sub != nil):
		return sub
	case want:
		sub, err := subscribe()
		if err != nil {
			b.log.Error("subscribe", zap.Error(err))
			return nil
		}
		return sub
	}
	b.end(sub)
	b.mu.Lock()
	delete(b.dropped, sub)
	b.mu.Unlock()
	return nil
}

// maxEnding is how many subscriptions end at a time with all that is on its way by
// them: each is a goroutine of NATS's client, until the server has answered.
const maxEnding = 1000

// end ends a subscription. What NATS has sent by it until it knows is still taken:
// a message for one connection may have come by no other one. Of more than
// maxEnding at once, that is lost. For the writer, which owns b.ending.
func (b *Broker) end(sub *client.Subscription) {
	if len(b.ending) >= maxEnding {
		b.ending = slices.DeleteFunc(b.ending, func(s *client.Subscription) bool { return !s.IsDraining() })
	}
	// Without a link the client would ask for it again with the next one.
	if len(b.ending) < maxEnding && b.conn.IsConnected() && sub.Drain() == nil {
		b.ending = append(b.ending, sub)
		return
	}
	_ = sub.Unsubscribe() // fails only when the connection is closed
}

// forget drops an interest that nobody has, and a tenant without any.
func (b *Broker) forget(in *interest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := in.of
	if in.patterns == 0 && !in.queued && in != t.whole {
		delete(t.bySubject, in.subject)
	}
	if len(t.bySubject) == 0 && !t.whole.queued && !t.turning && !t.all && b.interests[in.tenant] == t {
		delete(b.interests, in.tenant)
	}
}

// all is the number of a confirmation after any other.
const all = math.MaxUint64

// settle gives the confirmations up to a number.
func (b *Broker) settle(upTo uint64) {
	b.mu.Lock()
	n := 0
	for n < len(b.waiting) && b.waiting[n].number <= upTo {
		n++
	}
	given := b.waiting[:n:n]
	b.waiting = b.waiting[n:]
	if len(b.waiting) == 0 {
		b.waiting = nil
	}
	b.mu.Unlock()
	for _, w := range given {
		w.confirmed()
	}
}

// confirmAll asks the server whether it has read the subscriptions, as long as
// the broker runs.
func (b *Broker) confirmAll() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // ends with this method
		select {
		case <-b.quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	silent := false
	for ctx.Err() == nil {
		connected := b.conn.IsConnected()
		if silent && !connected { // it is worse than that
			silent = false
			b.linked(linkSilent, false)
		}
		b.mu.Lock()
		written := b.written
		ask := len(b.waiting) > 0 && b.waiting[0].number <= written
		deadline := time.Now().Add(silence)
		if ask {
			deadline = b.waiting[0].since.Add(silence)
		}
		b.mu.Unlock()
		if !ask && !silent || !connected {
			select {
			case <-b.confirm:
			case <-ctx.Done():
			}
			continue
		}

		// The call itself can wait for a writer that is stuck.
		barked := make(chan struct{})
		watchdog := time.AfterFunc(time.Until(deadline), func() {
			b.linked(linkSilent, true)
			close(barked)
		})
		patience, done := context.WithTimeout(ctx, silence)
		err := b.conn.FlushWithContext(patience)
		done()
		if !watchdog.Stop() {
			<-barked // so that it does not do so after what follows
		}
		silent = err != nil
		if !silent {
			b.settle(written)
			b.linked(linkSilent, false)
		}
	}
}

func kick(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
