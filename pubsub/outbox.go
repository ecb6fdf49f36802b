package pubsub

import (
	"runtime"
	"sync"
)

// outboxLen is how many sessions are written one after the other before others
// get the processor: some 0.3 ms.
const outboxLen = 64

// outbox is a list of sessions that a publish has left something for. They are
// written by one goroutine: it costs a tenth of the write to start one for each
// of them.
type outbox struct {
	sessions [outboxLen]*Session
	n        int
	next     *outbox
	load     *load // that the writes are charged to; nil: the caller charges them
}

var outboxes = sync.Pool{New: func() any { return new(outbox) }}

// add returns o with a session more, in front of it if o is full; nil is an empty
// one. The session's lane is writing. The caller holds s.mu.
func (o *outbox) add(s *Session) *outbox {
	if o == nil || o.n == outboxLen {
		full := o
		o = outboxes.Get().(*outbox)
		o.next = full
		s.hub.wg.Add(1) // the session's reader is counted too: never from zero during Wait
	}
	o.sessions[o.n] = s
	o.n++
	return o
}

// send starts the writes to the sessions of o, and of those behind it, with most
// goroutines at a time: no more than can run at once. More would keep messages of
// smaller channels waiting behind all of them.
func (o *outbox) send(l *load, most int) {
	for each := o; each != nil; each = each.next {
		each.load = l
	}
	if o == nil {
		return
	}
	if o.next == nil {
		go o.write()
		return
	}
	r := &round{left: o}
	n := 0
	for ; o != nil && n < most; o = o.next { // before the first of them is written, and is another publish's
		n++
	}
	for range n {
		go r.write()
	}
}

// round is the outboxes of one publish.
type round struct {
	mu   sync.Mutex
	left *outbox
}

func (r *round) take() *outbox {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.left
	if o != nil {
		r.left = o.next
	}
	return o
}

func (r *round) write() {
	for o := r.take(); o != nil; o = r.take() {
		o.write()
		runtime.Gosched()
	}
}

func (o *outbox) write() {
	hub := o.sessions[0].hub
	defer hub.wg.Done()
	since := hub.now()
	b := batches.Get().(*batch)
	for i, s := range o.sessions[:o.n] {
		s.writeNow(b)
		b.reset()
		o.sessions[i] = nil
	}
	b.release()
	if o.load != nil {
		hub.charge(o.load, since)
	}
	o.n, o.next, o.load = 0, nil, nil
	outboxes.Put(o)
}
