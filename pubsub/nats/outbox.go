package nats

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
)

// records are messages on their way to the connection: each u32 length of the
// subject, u32 length of the data, both. The subject may end with replyTo and
// where answers go.
type records struct {
	bytes []byte
	of    map[string]int // bytes by tenant
}

const (
	recordHeader = 8
	replyTo      = " "
)

// keptBytes is what an empty list of records keeps for the next ones.
const (
	keptBytes   = 1 << 20
	keptTenants = 1 << 10
)

// add puts a record there that begins at the end of what was there, and is split
// there: r.bytes with it.
func (r *records) add(bytes []byte, split int, tenant []byte) {
	at := len(r.bytes)
	binary.BigEndian.PutUint32(bytes[at:], uint32(split-at-recordHeader))
	binary.BigEndian.PutUint32(bytes[at+4:], uint32(len(bytes)-split))
	r.bytes = bytes
	if len(tenant) == 0 {
		return
	}
	if r.of == nil {
		r.of = map[string]int{}
	}
	r.of[string(tenant)] += len(bytes) - at
}

func (r *records) reset() {
	r.bytes = r.bytes[:0]
	if cap(r.bytes) > keptBytes {
		r.bytes = nil
	}
	if len(r.of) > keptTenants {
		r.of = nil
	}
	clear(r.of)
}

// next takes the first one; they are valid until reset.
func (r *records) next() (subject string, data []byte, rest records) {
	n, m := binary.BigEndian.Uint32(r.bytes), binary.BigEndian.Uint32(r.bytes[4:])
	b := r.bytes[recordHeader:]
	return string(b[:n]), b[n : n+m], records{bytes: b[n+m:]}
}

// errFull is returned for a message that would have to wait behind too many.
var errFull = fmt.Errorf("nats broker: %w", pubsub.ErrLinkFull)

// pass enqueues a message of a client.
func (b *Broker) pass(tenant []byte, subject, data func(to []byte) []byte) error {
	err := b.enqueue(tenant, subject, data)
	if errors.Is(err, errFull) {
		b.sayFull(tenant)
	}
	return err
}

// sayFull logs now and then that a tenant's messages are lost.
func (b *Broker) sayFull(tenant []byte) {
	b.mu.Lock()
	quiet := time.Since(b.warnedFull) < warnEvery
	if !quiet {
		b.warnedFull = time.Now()
	}
	b.mu.Unlock()
	if !quiet {
		b.log.Warn("messages do not reach the other edges: more is published to a tenant than NATS takes; local delivery goes on",
			zap.String("tenant", string(tenant)))
	}
}

// enqueue leaves a message to the writer, if it fits: see there. subject and data
// append theirs; both are called with b.mu held. What edges say for themselves has
// no tenant.
func (b *Broker) enqueue(tenant []byte, subject, data func(to []byte) []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.up {
		return ErrUnavailable
	}
	at := len(b.records.bytes)
	r := append(b.records.bytes, make([]byte, recordHeader)...)
	r = subject(r)
	split := len(r)
	r = data(r)
	if !fits(len(r)-at, b.records.of[string(tenant)], at, b.config.QueueBytes) {
		b.records.bytes = r[:at] // it may be a larger array, for the next one
		return errFull
	}
	b.records.add(r, split, tenant)
	kick(b.work)
	return nil
}

// channel appends the subject of a message.
func (b *Broker) channel(kind string, m *pubsub.Message) func([]byte) []byte {
	return func(to []byte) []byte {
		return appendChannel(append(append(to, b.speak...), kind...), m.Tenant, m.Channel)
	}
}

// write passes on what the hub asks for, as long as the broker runs. It may wait
// for the connection.
func (b *Broker) write() {
	var (
		changed []*interest
		sending records
	)
	for {
		b.mu.Lock()
		changed, b.changed = b.changed, changed[:0]
		sending, b.records = b.records, sending
		asked, barriers := b.asked, b.barriers
		b.barriers = nil
		for _, in := range changed {
			in.queued, in.wantAll, in.wantOne = false, in.all, in.one
		}
		confirmed := b.written == asked // nobody waits for more to be written
		b.mu.Unlock()

		if len(changed) == 0 && len(sending.bytes) == 0 && len(barriers) == 0 && confirmed {
			select {
			case <-b.work:
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
		b.written = asked
		b.mu.Unlock()
		kick(b.confirm)
		b.send(sending)
		sending.reset()
		for _, done := range barriers {
			if b.conn.IsConnected() {
				_ = b.conn.FlushTimeout(leaveTime) // what it does not take by then is lost
			}
			close(done)
		}
	}
}

// barrier returns when NATS has read all that was asked for before, or after
// leaveTime.
func (b *Broker) barrier() {
	done := make(chan struct{})
	b.mu.Lock()
	b.barriers = append(b.barriers, done)
	b.mu.Unlock()
	kick(b.work)
	<-done
}

func (b *Broker) send(list records) {
	lost := 0
	for len(list.bytes) > 0 {
		subject, data, rest := list.next()
		list = rest
		m := client.Msg{Data: data}
		m.Subject, m.Reply, _ = strings.Cut(subject, replyTo)
		switch err := b.conn.PublishMsg(&m); {
		case err == nil:
		case errors.Is(err, client.ErrMaxPayload):
			b.log.Error("NATS takes no message as large as this: raise its max_payload",
				zap.Int("bytes", len(data)), zap.Int64("max_payload", b.conn.MaxPayload()))
			lost++
		case errors.Is(err, os.ErrDeadlineExceeded): // half of something is written, so nothing can follow it
			_ = b.conn.ForceReconnect() // fails only when it is closed
			lost++
		default: // the link has just gone
			lost++
		}
	}
	if lost > 0 {
		b.receiver.Unsent(lost)
	}
}
