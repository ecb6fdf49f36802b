// Package queue is what waits to be stored. It knows no locks: the store that owns a [Queue] calls one
// method at a time.
package queue

import (
	"fmt"
	"time"

	"github.com/millrace/millrace/pubsub/history"
)

// Queue is messages that wait to be stored. Owners take turns, and in the turns of an owner its tenants
// do. So whoever stores a lot waits for itself, and others for one message of each. A tenant's messages
// keep their order: it has the turns of whoever was its owner when it came into the queue.
//
// No tenant has more than half of the room, and no owner.
type Queue struct {
	Most, MostBytes int // there is room for

	messages, bytes int
	tenants         map[tenantID]*tenant // those with messages
	owners          map[string]*owner    // those with messages, or tenants
	turns           ring[*owner]         // of these, those whose tenants do not all wait
	spare           []*tenant
}

type tenantID struct{ history, name string }

type tenant struct {
	id      tenantID
	owner   *owner
	list    ring[waiting]
	bytes   int
	waiting bool // for Resume; otherwise it is in owner.turns
}

type owner struct {
	name            string
	messages, bytes int // of messages that have this owner
	tenants         int
	turns           ring[*tenant]
	listed          bool // in Queue.turns
}

type waiting struct {
	message *history.Message
	size    int
	since   time.Time
}

// maxSpare is how many tenants without messages are kept for the next ones, and maxSpareList for how many
// messages each of these may have room.
const maxSpare, maxSpareList = 64, 64

// Overhead is what a message counts for beside its bytes.
const Overhead = 256

// Size is what a message counts for.
func Size(m *history.Message) int {
	return len(m.Tenant) + len(m.Channel) + len(m.Payload) + len(m.Sender) + len(m.Key) + Overhead
}

// What Push returns, all of which is [history.ErrUnavailable].
var (
	errFull       = fmt.Errorf("%w: too much waits to be stored", history.ErrUnavailable)
	errTenantFull = fmt.Errorf("%w: too much of one tenant waits to be stored", history.ErrUnavailable)
	errOwnerFull  = fmt.Errorf("%w: too much of one issuer waits to be stored", history.ErrUnavailable)
)

// Push adds a message, if there is room.
func (q *Queue) Push(m *history.Message) error {
	size, id := Size(m), tenantID{m.History, m.Tenant}
	t, o := q.tenants[id], q.owners[m.Owner]
	switch {
	case q.messages >= q.Most || q.messages > 0 && q.bytes+size > q.MostBytes:
		return errFull
	case t != nil && (t.list.n >= q.Most/2 || t.bytes+size > q.MostBytes/2):
		return errTenantFull
	case m.Owner != "" && o != nil && o.messages > 0 && (o.messages >= q.Most/2 || o.bytes+size > q.MostBytes/2):
		return errOwnerFull
	}
	if o == nil {
		o = q.addOwner(m.Owner)
	}
	if t == nil {
		t = q.addTenant(id, o)
	}
	t.list.push(waiting{m, size, time.Now()})
	t.bytes += size
	o.messages++
	o.bytes += size
	q.messages++
	q.bytes += size
	return nil
}

func (q *Queue) addOwner(name string) *owner {
	if q.owners == nil {
		q.owners, q.tenants = map[string]*owner{}, map[tenantID]*tenant{}
	}
	o := &owner{name: name}
	q.owners[name] = o
	return o
}

func (q *Queue) addTenant(id tenantID, o *owner) *tenant {
	t := new(tenant)
	if last := len(q.spare) - 1; last >= 0 {
		t, q.spare = q.spare[last], q.spare[:last]
	}
	t.id, t.owner = id, o
	q.tenants[id] = t
	o.tenants++
	q.enlist(t)
	return t
}

// enlist gives a tenant turns.
func (q *Queue) enlist(t *tenant) {
	t.waiting = false
	t.owner.turns.push(t)
	if !t.owner.listed {
		t.owner.listed = true
		q.turns.push(t.owner)
	}
}

// Next takes the message whose turn it is out of the queue; nil: none may go. If the first message of a
// tenant is not ready, the tenant has no turns until Resume; nil: all are.
func (q *Queue) Next(ready func(m *history.Message) bool) *history.Message {
	for range q.turns.n {
		o := q.turns.pop()
		m := q.nextOf(o, ready)
		if o.listed = o.turns.n > 0; o.listed {
			q.turns.push(o)
		}
		if m != nil {
			return m
		}
	}
	return nil
}

// nextOf is Next in the turn of an owner.
func (q *Queue) nextOf(o *owner, ready func(m *history.Message) bool) *history.Message {
	for range o.turns.n {
		t := o.turns.pop()
		if ready != nil && !ready(t.list.front().message) {
			t.waiting = true
			continue
		}
		m := q.take(t)
		if t.list.n > 0 {
			o.turns.push(t)
		} else {
			q.keep(t)
		}
		return m
	}
	return nil
}

// take takes the first message of a tenant.
func (q *Queue) take(t *tenant) *history.Message {
	w := t.list.pop()
	t.bytes -= w.size
	q.messages--
	q.bytes -= w.size
	of := q.owners[w.message.Owner]
	of.messages--
	of.bytes -= w.size
	q.forgetIfUnused(of)
	if t.list.n == 0 {
		delete(q.tenants, t.id)
		t.owner.tenants--
		q.forgetIfUnused(t.owner)
	}
	return w.message
}

func (q *Queue) forgetIfUnused(o *owner) {
	if o.messages+o.tenants == 0 {
		delete(q.owners, o.name)
	}
}

// keep keeps a tenant that has no messages, and no turns, for the next one.
func (q *Queue) keep(t *tenant) {
	if len(q.spare) < maxSpare && len(t.list.buffer) <= maxSpareList {
		t.id, t.owner = tenantID{}, nil
		q.spare = append(q.spare, t)
	}
}

// Resume gives turns back to a tenant that waits.
func (q *Queue) Resume(historyName, name string) {
	if t := q.tenants[tenantID{historyName, name}]; t != nil && t.waiting {
		q.enlist(t)
	}
}

// TakeAll takes the first messages of each tenant out of the queue, as many in a row as are meant, by the
// time since when they wait, and has all tenants resume.
func (q *Queue) TakeAll(meant func(since time.Time) bool) (list []*history.Message) {
	for _, t := range q.tenants {
		for t.list.n > 0 && meant(t.list.front().since) {
			list = append(list, q.take(t))
		}
		if t.waiting && t.list.n > 0 { // perhaps not for the same any more
			q.enlist(t)
		}
	}
	if len(list) == 0 {
		return nil
	}
	for range q.turns.n {
		o := q.turns.pop()
		for range o.turns.n {
			if t := o.turns.pop(); t.list.n > 0 {
				o.turns.push(t)
			}
		}
		if o.listed = o.turns.n > 0; o.listed {
			q.turns.push(o)
		}
	}
	return list
}

// Len returns how many messages wait.
func (q *Queue) Len() int { return q.messages }
