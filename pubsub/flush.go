package pubsub

import (
	"runtime"
	"sync"
)

const (
	// flushListLen is how many sessions are written to, one after the other, before other
	// goroutines get the processor: some 0.3 ms.
	flushListLen = 64
	// writesPerLook is how many sessions are written to between two looks at the clock.
	writesPerLook = 8
)

// flushList is a list of sessions for which a publish has queued something. One
// goroutine writes to all of them: to start one for each would cost a tenth of the
// write.
type flushList struct {
	sessions [flushListLen]*Session
	n        int
	next     *flushList
	payers   payers // that the writes are charged to
}

var flushLists = sync.Pool{New: func() any { return new(flushList) }}

// add returns the list with one more session: o itself, or a new list in front of it if
// it is full; nil is the empty list. The session's main lane is marked as writing. The
// caller holds s.mu.
func (o *flushList) add(s *Session) *flushList {
	if o == nil || o.n == flushListLen {
		full := o
		o = flushLists.Get().(*flushList)
		o.next = full
		s.hub.wg.Add(1) // the session's reader is counted too: never from zero during Wait
	}
	o.sessions[o.n] = s
	o.n++
	return o
}

// start starts the writes to the sessions of o, and of the lists behind it, with at most
// so many goroutines: no more than can run at once. More would keep messages of smaller
// channels waiting behind all of them.
func (o *flushList) start(by payers, most int) {
	for each := o; each != nil; each = each.next {
		each.payers = by
	}
	if o == nil {
		return
	}
	if o.next == nil {
		go o.run()
		return
	}
	r := &flushQueue{next: o}
	n := 0
	for ; o != nil && n < most; o = o.next { // before the first of them is written, and is another publish's
		n++
	}
	for range n {
		go r.run()
	}
}

// flushQueue is the flush lists of one publish, which several goroutines share.
type flushQueue struct {
	mu   sync.Mutex
	next *flushList
}

func (r *flushQueue) take() *flushList {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.next
	if o != nil {
		r.next = o.next
	}
	return o
}

func (r *flushQueue) run() {
	for o := r.take(); o != nil; o = r.take() {
		o.run()
		runtime.Gosched()
	}
}

// run is flush with a pace of its own.
func (o *flushList) run() {
	hub := o.sessions[0].hub
	p := pace{hub: hub, payers: o.payers, chargedUntil: hub.now()}
	o.flush(&p)
	p.charge()
	p.note(p.chargedUntil)
}

// flush writes to the sessions of one list, and gives the list back. The caller charges what was used since
// the last look.
func (o *flushList) flush(p *pace) {
	defer p.hub.wg.Done()
	b := batches.Get().(*batch)
	for i, s := range o.sessions[:o.n] {
		s.tryWrite(b, &p.work)
		b.reset()
		o.sessions[i] = nil
		if i%writesPerLook == writesPerLook-1 && b.taken.Sub(p.hub.epoch)-p.chargedUntil >= paceEvery {
			p.look()
		}
	}
	b.release()
	o.n, o.next, o.payers = 0, nil, payers{}
	flushLists.Put(o)
}
