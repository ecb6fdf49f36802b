package nats

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/pubsub/history"
)

// acks are the messages that wait for the answer of a stream. It comes on a subject with
// their number.
type acks struct {
	prefix   string // of these subjects
	sub      *client.Subscription
	patience time.Duration // how long a message waits

	mu      sync.Mutex // guards the rest
	next    uint64
	first   uint64 // no message below this number waits
	waiting map[uint64]sent
}

type sent struct {
	out     *outgoing
	message *history.Message
	since   time.Time
	epoch   uint64
	after   uint64 // what the edge had received when it was sent
}

func newAcks(conn *client.Conn, patience time.Duration) (*acks, error) {
	a := &acks{patience: patience, prefix: conn.NewInbox() + ".", next: 1, first: 1, waiting: map[uint64]sent{}}
	var err error
	a.sub, err = conn.Subscribe(a.prefix+"*", a.handle)
	return a, err
}

// add notes a message that is sent.
func (a *acks) add(w sent) (number uint64, reply string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	number = a.next
	a.next++
	a.waiting[number] = w
	return number, a.prefix + strconv.FormatUint(number, 36)
}

// remove forgets a message, and reports whether it was there.
func (a *acks) remove(number uint64) bool {
	_, ok := a.take(number)
	return ok
}

func (a *acks) take(number uint64) (sent, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w, ok := a.waiting[number]
	delete(a.waiting, number)
	return w, ok
}

// handle takes an answer. NATS calls it for one after the other.
func (a *acks) handle(m *client.Msg) {
	number, err := strconv.ParseUint(strings.TrimPrefix(m.Subject, a.prefix), 36, 64)
	if err != nil {
		return
	}
	w, ok := a.take(number)
	if !ok {
		return // it has waited for too long
	}
	st := w.out.stream
	var ack published
	switch {
	case status(m) == noResponders: // the stream has no leader
		w.out.end(w.message, history.Result{Err: history.ErrUnavailable})
	case json.Unmarshal(m.Data, &ack) != nil || ack.Error == nil && ack.Sequence == 0:
		w.out.end(w.message, history.Result{Err: history.ErrUnconfirmed})
	case ack.Error != nil:
		r := refusal(ack.Error)
		st.store.warn("a stream answered a message with an error", r.Err)
		w.out.end(w.message, r)
	case !ack.Duplicate && ack.Sequence <= w.after: // the stream gives numbers again
		w.out.end(w.message, history.Result{Err: history.ErrUnconfirmed})
		st.restart()
	default:
		st.stored.add(st, arrival{w, ack.Sequence, ack.Duplicate})
	}
}

// expire ends the wait of messages that have waited for too long.
func (a *acks) expire(now time.Time) {
	for {
		a.mu.Lock()
		for a.first < a.next {
			if _, ok := a.waiting[a.first]; ok {
				break
			}
			a.first++
		}
		w, ok := a.waiting[a.first]
		if !ok || now.Sub(w.since) < a.patience {
			a.mu.Unlock()
			return
		}
		delete(a.waiting, a.first)
		a.mu.Unlock()
		w.out.end(w.message, history.Result{Err: history.ErrUnconfirmed})
	}
}

// close ends the wait of all.
func (a *acks) close() {
	_ = a.sub.Unsubscribe()
	a.expire(time.Now().Add(time.Hour))
}

// arrivals are messages that are stored, and wait until this edge has received them: then
// they have a position, and are there to be read.
type arrivals struct {
	mu     sync.Mutex // held while publishers are told, so that this has an order
	list   []arrival  // by number
	closed bool
}

type arrival struct {
	sent
	number   uint64
	repeated bool
}

// add takes a message that is stored.
func (a *arrivals) add(st *stream, w arrival) {
	a.mu.Lock()
	defer a.mu.Unlock()
	st.mu.Lock()
	same, received := st.epoch == w.epoch, st.head.N >= w.number
	st.mu.Unlock()
	switch {
	case !same || a.closed:
		w.out.end(w.message, history.Result{Err: history.ErrUnconfirmed})
		return
	case received:
		a.end(st, w)
		return
	}
	i := len(a.list)
	for i > 0 && a.list[i-1].number > w.number {
		i--
	}
	a.list = append(a.list, arrival{})
	copy(a.list[i+1:], a.list[i:])
	a.list[i] = w
}

// reach is called when all up to a position was received and handed on.
func (a *arrivals) reach(st *stream, n uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.list) > 0 && a.list[0].number <= n {
		w := a.list[0]
		a.list[0] = arrival{}
		a.list = a.list[1:]
		a.end(st, w)
	}
	if len(a.list) == 0 {
		a.list = nil
	}
}

// end tells a publisher the position.
func (a *arrivals) end(st *stream, w arrival) {
	st.mu.Lock()
	at := st.times.at(w.number)
	st.mu.Unlock()
	w.out.end(w.message, history.Result{Position: at, Repeated: w.repeated})
}

// fail tells publishers that it is not known any more whether their message is stored.
func (a *arrivals) fail(until func(arrival) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := a.list[:0]
	for _, w := range a.list {
		if until(w) {
			w.out.end(w.message, history.Result{Err: history.ErrUnconfirmed})
		} else {
			kept = append(kept, w)
		}
	}
	clear(a.list[len(kept):])
	a.list = kept
}

// close fails all, and what comes later.
func (a *arrivals) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.fail(func(arrival) bool { return true })
}

// expire fails what was sent before a time.
func (a *arrivals) expire(before time.Time) {
	a.fail(func(w arrival) bool { return w.since.Before(before) })
}
