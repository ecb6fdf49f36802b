package nats

import (
	"context"
	"math"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"
)

// queueGroup is that of all edges, for messages that go to one connection.
const queueGroup = "edges"

type interestKey struct{ tenant, pattern string }

// interest is one distinct pattern of a tenant that this edge has, or had until
// a moment ago, subscribers for.
type interest struct {
	key    interestKey
	wanted bool
	queued bool // among those that the writer has to look at

	// the writer's own
	want          bool
	subscriptions []*client.Subscription
}

// waiting is a confirmation that the hub waits for.
type waiting struct {
	number    uint64 // among all that were asked for
	since     time.Time
	confirmed func()
}

// Subscribe implements [pubsub.Broker].
func (b *Broker) Subscribe(tenant, pattern string, confirmed func()) {
	key := interestKey{tenant, pattern}
	b.mu.Lock()
	in := b.interests[key]
	if in == nil {
		in = &interest{key: key}
		b.interests[key] = in
	}
	in.wanted = true
	b.change(in)
	up := b.up
	if up {
		b.asked++
		b.waiting = append(b.waiting, waiting{b.asked, time.Now(), confirmed})
	}
	b.mu.Unlock()
	b.tellAskers(tenant, pattern)
	if !up {
		confirmed()
	}
}

// Unsubscribe implements [pubsub.Broker].
func (b *Broker) Unsubscribe(tenant, pattern string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	in := b.interests[interestKey{tenant, pattern}]
	if in == nil {
		return // Close was faster
	}
	in.wanted = false
	b.change(in)
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
	if in.want == (in.subscriptions != nil) {
		b.forget(in)
		return
	}
	if !in.want {
		for _, s := range in.subscriptions {
			_ = s.Unsubscribe() // fails only when the connection is closed
			b.mu.Lock()
			delete(b.dropped, s)
			b.mu.Unlock()
		}
		in.subscriptions = nil
		b.forget(in)
		return
	}
	channels := interestIn(in.key.tenant, in.key.pattern)
	each, err := b.conn.ChanSubscribe(b.listen+broadcasts+channels, b.in)
	if err != nil {
		b.log.Error("subscribe", zap.Error(err))
		return
	}
	in.subscriptions = append(in.subscriptions, each)
	one, err := b.conn.ChanQueueSubscribe(b.listen+nearest+channels, queueGroup, b.in)
	if err != nil {
		b.log.Error("subscribe", zap.Error(err))
		return
	}
	in.subscriptions = append(in.subscriptions, one)
}

// forget drops an interest that nobody has.
func (b *Broker) forget(in *interest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !in.wanted && !in.queued {
		delete(b.interests, in.key)
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
