package nats

import (
	"errors"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"
)

// silence is how long a server may say nothing that it was asked for.
const silence = 5 * time.Second

// linkCause is a set of reasons for which the link is down.
type linkCause uint8

const (
	linkDisconnected linkCause = 1 << iota
	linkSilent                 // a confirmation did not come in time
)

// linked notes that there is, or no longer is, a reason for the link to be down.
func (b *Broker) linked(cause linkCause, down bool) {
	b.linkMu.Lock()
	defer b.linkMu.Unlock()
	before := b.down
	if down {
		b.down |= cause
	} else {
		b.down &^= cause
	}
	if b.receiver == nil {
		return
	}
	up := b.down == 0
	if up == (before == 0) {
		return
	}
	b.mu.Lock()
	b.up, b.since = up, time.Now()
	b.mu.Unlock()
	b.receiver.Linked(up)
	if up {
		b.log.Info("the link to the other edges is up")
		b.announce()
		return
	}
	b.log.Warn("the link to the other edges is down; local delivery goes on", zap.Stringer("reason", b.down))
	b.settle(all) // new subscriptions do not wait from here on
}

// isUp reports whether the link is up, and since when.
func (b *Broker) isUp() (bool, time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.up, b.since
}

// String says why, for a log.
func (c linkCause) String() string {
	if c&linkDisconnected != 0 {
		return "not connected to NATS"
	}
	return "NATS does not answer"
}

// disconnected notes that the connection is gone.
func (b *Broker) disconnected(err error) {
	select {
	case <-b.enough:
		return
	default:
	}
	if err != nil {
		b.log.Warn("disconnected from NATS", zap.Error(err))
	}
	b.linked(linkDisconnected, true)
}

// failed takes what NATS says beside an operation.
func (b *Broker) failed(sub *client.Subscription, err error) {
	if !errors.Is(err, client.ErrSlowConsumer) || sub == nil {
		if err != nil && b.sayFailed() {
			b.log.Error("NATS", zap.Error(err))
		}
		return
	}
	n, err := sub.Dropped()
	if err != nil {
		return // it has ended
	}
	b.mu.Lock()
	lost := n - b.dropped[sub]
	if b.dropped[sub] = n; sub.IsDraining() { // nobody takes it out later
		delete(b.dropped, sub)
	}
	b.mu.Unlock()
	b.miss(b.tenantIn(sub.Subject), lost)
}

// sayFailed reports whether an error of NATS is to be logged. Each message can be
// one, where permissions deny an edge what it sends: in a second the first is.
func (b *Broker) sayFailed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.warnedFailed) < time.Second {
		return false
	}
	b.warnedFailed = time.Now()
	return true
}

const warnEvery = 10 * time.Second
