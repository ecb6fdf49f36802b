package nats

import (
	"context"
	"encoding/hex"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/pubsub/history/internal/queue"
)

const (
	// maxQueued and maxQueuedBytes bound the messages of a history that wait to be sent; see queue.Queue.
	maxQueued      = 64 << 10
	maxQueuedBytes = 64 << 20
	// maxSent and maxSentBytes bound those that wait for the stream's answer. In a small
	// history it is a share of its size: what is under way is not counted there yet; see trims.
	maxSent      = 4096
	maxSentBytes = 4 << 20
	minSentBytes = 16 << 10
)

// Append implements [history.Store].
func (s *Store) Append(m *history.Message) {
	st, err := s.use(m.History)
	if err == nil {
		err = st.out.push(m)
	}
	if err != nil {
		m.Stored(m, history.Result{Err: err})
	}
}

// run sends what is in the queue, until ctx is done.
func (o *outgoing) run(ctx context.Context) {
	ticker := time.NewTicker(o.stream.store.patience / 10)
	defer ticker.Stop()
	for {
		up, changed := o.stream.isUp()
		for up && o.sendNext() {
			up, changed = o.stream.isUp()
		}
		select {
		case <-o.wake:
		case <-changed:
		case <-ticker.C:
			o.expire(time.Now().Add(-o.stream.store.patience))
			o.stream.store.acks.expire(time.Now())
			o.stream.stored.expire(time.Now().Add(-2 * o.stream.store.callTimeout))
		case <-ctx.Done():
			return
		}
	}
}

// sendNext sends the first message, and reports whether it could.
func (o *outgoing) sendNext() bool {
	m := o.begin()
	if m == nil {
		return false
	}
	o.send(m)
	return true
}

// begin takes the next message, if there is one and room for it.
func (o *outgoing) begin() *history.Message {
	st := o.stream
	holds := st.trims.behind.Load() > 0
	if holds {
		st.mu.Lock()
		defer st.mu.Unlock()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sent >= maxSent || o.sent > 0 && o.sentBytes >= st.window() {
		return nil
	}
	m := o.next(holds)
	if m != nil {
		o.sent++
		o.sentBytes += queue.Size(m)
	}
	return m
}

// window is how many bytes may be under way.
func (st *stream) window() int { return int(min(max(st.size.Load()/128, minSentBytes), maxSentBytes)) }

// send sends a message to the stream.
func (o *outgoing) send(m *history.Message) {
	st := o.stream
	msg := &client.Msg{Subject: st.store.names.message(m.History, m.Tenant, m.Channel), Data: m.Payload}
	var hash, ofAll index.KeyHash
	if m.Key != nil {
		hash, ofAll = index.HashKey(m), index.HashKeyOfAll(m)
	}
	st.mu.Lock()
	if st.index == nil { // it has gone out of reach just now
		st.mu.Unlock()
		o.end(m, history.Result{Err: history.ErrUnavailable})
		return
	}
	epoch, last, owner := st.epoch, st.last.n, st.index.OwnerAfter(m.Tenant, m.Owner)
	if m.Key != nil {
		if at, ok := st.index.Repeated(m, hash, ofAll, time.Now()); ok {
			st.mu.Unlock()
			o.end(m, history.Result{Position: at, Repeated: true})
			return
		}
		// Those that are under way do not count yet: they are less than one in fifty of all.
		if !st.index.HasKeyRoom(m.Tenant, m.Owner) {
			st.mu.Unlock()
			o.end(m, history.Result{Err: history.ErrKeysFull})
			return
		}
	}
	st.mu.Unlock()
	if msg.Header = headerOf(m, owner); m.Key != nil {
		if msg.Header == nil {
			msg.Header = client.Header{}
		}
		msg.Header.Set(jetstream.MsgIDHeader, hex.EncodeToString(hash[:]))
	}
	number, reply := st.store.acks.add(sent{o, m, time.Now(), epoch, last})
	msg.Reply = reply
	if err := st.store.conn.PublishMsg(msg); err != nil {
		if st.store.acks.remove(number) {
			r := refusal(err)
			st.store.warn("a message cannot be sent to its history", r.Err)
			o.end(m, r)
		}
	}
}
