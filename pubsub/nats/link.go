package nats

import (
	"errors"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/outage"
	"github.com/millrace/millrace/pubsub"
)

// defaultServerTimeout is how long a server may take to answer.
const defaultServerTimeout = 5 * time.Second

// linkCause is a set of reasons for which the link is down.
type linkCause uint8

const (
	linkDisconnected linkCause = 1 << iota
	linkSilent                 // a confirmation did not come in time
)

// setLinkDown notes that there is, or no longer is, a cause for the link to be down. It
// tells the hub when the link goes down or comes up; see the package's documentation.
func (b *Broker) setLinkDown(cause linkCause, down bool) {
	b.linkMu.Lock()
	defer b.linkMu.Unlock()
	before := b.downCauses
	if down {
		b.downCauses |= cause
	} else {
		b.downCauses &^= cause
	}
	if b.receiver == nil {
		return
	}
	up := b.downCauses == 0
	if up == (before == 0) {
		return
	}
	b.mu.Lock()
	b.linkUp, b.linkSince = up, time.Now()
	b.mu.Unlock()
	b.receiver.Linked(up)
	if up {
		b.log.Info("the link to the other edges is up")
		b.announce()
		return
	}
	b.log.Warn("the link to the other edges is down; local delivery goes on", zap.Stringer("reason", b.downCauses))
	b.dropOutgoing()
	b.requests.failAll(pubsub.ErrNoLink)
	b.fates.expire(time.Time{})
	b.confirm(allConfirmations) // new subscriptions do not wait from here on
}

// linkState reports whether the link is up, and since when.
func (b *Broker) linkState() (bool, time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.linkUp, b.linkSince
}

// String says why, for a log.
func (c linkCause) String() string {
	if c&linkDisconnected != 0 {
		return "not connected to NATS"
	}
	return "NATS does not answer"
}

// handleDisconnect notes that the connection is gone.
func (b *Broker) handleDisconnect() {
	select {
	case <-b.stopReceiving:
		return
	default:
	}
	b.setLinkDown(linkDisconnected, true)
}

// handleAsyncError takes an error of NATS that belongs to no call.
func (b *Broker) handleAsyncError(sub *client.Subscription, err error) {
	if !errors.Is(err, client.ErrSlowConsumer) || sub == nil {
		if err != nil {
			b.noteFault("NATS", err)
		}
		return
	}
	if b.isRequestSubject(sub.Subject) {
		b.noteFault("requests between edges, or messages about presence or tokens, are lost: more come than this edge takes", nil)
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
	b.countMissed(b.subscriptionTenant(sub.Subject), lost)
}

// noteFault logs an error of NATS, but not each time. Where permissions deny an edge what it
// sends, each message is an error.
func (b *Broker) noteFault(what string, err error) {
	kind := ""
	if err != nil && !errors.Is(err, client.ErrPermissionViolation) { // which names the channel of the message
		kind = err.Error()
	}
	b.faults.Note(what, kind, outage.Line{Level: zap.ErrorLevel, Message: what, Err: err})
}

// faultSilence is how long no error occurs until it is over.
const faultSilence = 10 * time.Second

// warnInterval is the least time between two warnings of one kind.
const warnInterval = 10 * time.Second
