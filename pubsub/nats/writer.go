package nats

import (
	"errors"
	"fmt"
	"strings"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/internal/natssubject"
)

// errFull is returned for a message that would have to wait behind too many.
var errFull = fmt.Errorf("nats broker: %w", pubsub.ErrLinkFull)

// enqueueMessage enqueues a message of a client, and logs when there is no room.
func (b *Broker) enqueueMessage(m *pubsub.Message, subject, data func(to []byte) []byte) error {
	err := b.enqueue(m.Tenant, m.Issuer, subject, data)
	if errors.Is(err, errFull) {
		b.logLinkFull(m.Tenant)
	}
	return err
}

// logLinkFull logs now and then that a tenant's messages are lost.
func (b *Broker) logLinkFull(tenant []byte) {
	b.mu.Lock()
	quiet := time.Since(b.lastFullWarning) < warnInterval
	if !quiet {
		b.lastFullWarning = time.Now()
	}
	b.mu.Unlock()
	if !quiet {
		b.log.Warn("messages do not reach the other edges: more is published to a tenant than NATS takes; local delivery goes on",
			zap.String("tenant", string(tenant)))
	}
}

// enqueue queues a message for the writer, if there is room: see fits. subject and data
// append theirs; both are called with b.mu held. What edges say of themselves has no
// tenant.
func (b *Broker) enqueue(tenant []byte, issuer string, subject, data func(to []byte) []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.linkUp {
		return ErrUnavailable
	}
	at := len(b.records.bytes)
	r := append(b.records.bytes, make([]byte, recordHeader)...)
	r = subject(r)
	split := len(r)
	r = data(r)
	if !b.records.hasRoom(len(r)-at, at, tenant, issuer, b.config.QueueBytes) {
		b.records.bytes = r[:at] // its array may have grown, which the next one can use
		return errFull
	}
	b.records.add(r, split, tenant, issuer)
	signal(b.wakeWriter)
	return nil
}

// channelSubject appends the subject of a message.
func (b *Broker) channelSubject(kind string, m *pubsub.Message) func([]byte) []byte {
	return func(to []byte) []byte {
		return natssubject.AppendChannel(append(append(to, b.publishPrefix...), kind...), m.Tenant, m.Channel)
	}
}

// writeLoop writes what the hub asks for, as long as the broker runs: changes of
// subscriptions first, then messages, then one request or answer. It may wait for the connection.
func (b *Broker) writeLoop() {
	var (
		changed []*interest
		sending records
	)
	for {
		b.mu.Lock()
		changed, b.changedInterests = b.changedInterests, changed[:0]
		sending, b.records = b.records, sending
		asked := b.nextOutgoing()
		queued, flushes := b.subscribesQueued, b.flushes
		b.flushes = nil
		for _, in := range changed {
			in.queued, in.applyBroadcast, in.applyOne = false, in.wantBroadcast, in.wantOne
		}
		upToDate := b.subscribesWritten == queued // nobody waits for more to be written
		b.mu.Unlock()

		if len(changed) == 0 && len(sending.bytes) == 0 && asked == nil && len(flushes) == 0 && upToDate {
			select {
			case <-b.wakeWriter:
			case <-b.quit:
				return
			}
			continue
		}
		for _, in := range changed {
			b.apply(in)
		}
		clear(changed)
		b.mu.Lock()
		b.subscribesWritten = queued
		b.mu.Unlock()
		signal(b.wakeConfirmer)
		b.send(sending)
		sending.reset()
		if asked != nil {
			b.sendOutgoing(asked)
		}
		for _, done := range flushes {
			if b.conn.IsConnected() {
				_ = b.conn.FlushTimeout(leaveTimeout) // what it does not take by then is lost
			}
			close(done)
		}
	}
}

// flush returns when NATS has read all that was queued before, or after leaveTimeout.
func (b *Broker) flush() {
	done := make(chan struct{})
	b.mu.Lock()
	b.flushes = append(b.flushes, done)
	b.mu.Unlock()
	signal(b.wakeWriter)
	<-done
}

// send publishes records. What it cannot send is counted.
func (b *Broker) send(list records) {
	lost := 0
	for len(list.bytes) > 0 {
		subject, data, rest := list.next()
		list = rest
		m := client.Msg{Data: data}
		m.Subject, m.Reply, _ = strings.Cut(subject, replySeparator)
		switch err := b.publishMsg(&m); {
		case err == nil:
		case errors.Is(err, client.ErrMaxPayload):
			b.log.Error("NATS takes no message as large as this: raise its max_payload",
				zap.Int("bytes", len(data)), zap.Int64("max_payload", b.conn.MaxPayload()))
			lost++
		default: // the link has just gone, or goes
			lost++
		}
	}
	if lost > 0 {
		b.receiver.Unsent(lost)
	}
}
