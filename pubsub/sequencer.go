package pubsub

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// sequencer hands on the messages of one tenant in one history, in the order of their
// positions: to subscriptions with positions, and to plain ones.
//
// A message is stored before it comes here. Handing it on has two steps in this order: it
// is noted as handed, then it is matched and queued. A subscription that catches up reads
// what is stored, and looks at what was handed under its session's mutex: if it has read
// that far, whatever is handed later finds it live (resumable.go). So no lock is held
// while it reads, and nothing falls between.
type sequencer struct {
	hub   *Hub
	id    sequencerID
	store history.Store
	// shared is the store if other edges share it: then messages come from it (follow.go),
	// and where it stands is asked of it, since that is ahead of the tenant's last message.
	shared history.Shared
	users  int // subscriptions, and messages that were not handed on; guarded by Hub.sequencers.mu

	definition atomic.Pointer[history.History]
	owner      owner // of the tenant

	feedsMu sync.Mutex // held while feeds change
	feeds   pattern.Tree[*feed]
	all     map[*feed]struct{}
	shapes  treeShapes // of their patterns

	mu          sync.Mutex // guards the rest
	begun       bool       // handed is known
	handed      wire.Position
	queued      wire.Position // all up to here was matched and queued, too
	first, last *handing      // that wait to be handed on
	bytes       int           // of these
	running     bool          // a goroutine hands them on
}

// handing is a message that is stored and waits to be handed on.
type handing struct {
	tenant           string
	channel, payload []byte
	sender           []byte
	at               time.Duration // when this edge accepted or received it, on the hub's clock
	position         wire.Position
	before           wire.Position // of what was handed on before it

	publish *keptPublish // whose it is; nil: it came from a shared store, and is itself a user of the sequencer
	own     *ownPublish  // of what came from a shared store: which publish of this edge it is; nil: none, or it is not known
	skipped bool         // it is no message: those up to the position will not come
	after   *handing     // in the sequencer's list
}

func (e *handing) size() int {
	return len(e.channel) + len(e.payload) + len(e.sender) + itemOverhead
}

// begin finds out the history's head. Until then nobody uses the sequencer.
func (q *sequencer) begin() error {
	if q.shared != nil {
		return nil
	}
	q.mu.Lock()
	begun := q.begun
	q.mu.Unlock()
	if begun {
		return nil
	}
	// Two at a time may ask. Nothing is stored before the first of them is done, and what
	// the second one hears later is not used.
	head, err := q.store.Head(q.id.history, q.id.tenant)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.begun {
		q.begun, q.handed, q.queued = true, head, head
	}
	return nil
}

// standsAt is the position from which on a subscription gets all that is stored from now on.
func (q *sequencer) standsAt() (wire.Position, error) {
	if q.shared != nil {
		return q.store.Head(q.id.history, q.id.tenant)
	}
	return q.handedTo(), nil
}

// handedTo is the position of the last message that was handed on, or is being.
func (q *sequencer) handedTo() wire.Position {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.handed
}

// push takes a message that was stored. The store calls it, in the order of positions. It
// does not block.
func (q *sequencer) push(e *handing) {
	if !q.enqueue(e) {
		q.hub.Missed(1)
		q.release()
	}
}

// enqueue is push, and reports whether the message was added to what waits: not if it is
// one of those that are skipped since too much does.
func (q *sequencer) enqueue(e *handing) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e.publish == nil && !e.skipped && q.bytes > 0 && q.bytes+e.size() > maxHandingBytes {
		if q.last.skipped {
			q.last.position = e.position
			return false
		}
		q.hub.Missed(1)
		e = &handing{position: e.position, skipped: true}
	}
	q.bytes += e.size()
	if q.last == nil {
		q.first = e
	} else {
		q.last.after = e
	}
	q.last = e
	if !q.running {
		q.running = true
		q.hub.Go(q.run) // each message of this edge holds the group open, or its follower does
	}
	return true
}

// run hands on what waits.
func (q *sequencer) run() {
	for {
		q.mu.Lock()
		e := q.first
		if e == nil {
			q.running = false
			q.mu.Unlock()
			return
		}
		if q.first = e.after; q.first == nil {
			q.last = nil
		}
		q.bytes -= e.size()
		e.before, q.handed = q.handed, e.position // before it is matched: see sequencer
		q.mu.Unlock()
		if e.skipped {
			q.skip(e.position)
		} else {
			q.handOn(e)
		}
		q.mu.Lock()
		q.queued = e.position
		q.mu.Unlock()
		if e.publish != nil {
			e.publish.done()
		} else {
			q.release()
		}
	}
}

// skip lets subscriptions with positions find out from the history what they would have
// got of messages up to a position, which do not come.
func (q *sequencer) skip(to wire.Position) {
	for _, m := range q.members() {
		m.session.skipTo(m.sub.resumable, to)
	}
}

// handOn queues a message for all subscribers.
func (q *sequencer) handOn(e *handing) {
	h := q.hub
	tenant := []byte(e.tenant)
	t := h.tenant(tenant)
	by, asOwner := q.payersOf(t, e)
	p := h.publication(tenant, e.channel, e.payload, e.sender, h.beginPacedAccepted(by, asOwner, !asOwner))
	p.at = e.at
	if e.publish != nil {
		p.publisher, p.key = e.publish.session, e.publish.Key
	} else if e.own != nil {
		p.publisher, p.key = e.own.session, e.own.key
	}
	defer p.pace.end()
	q.fanOut(&p, e)
	h.fanOut(t, &p)
}

// payersOf are who pays for a message: the issuer of its publisher or, where that is not known, since it came from a
// shared store, the tenant's owner; and the tenant, unless its publisher was a guest. It reports whether the owner is
// the one who pays. The owner is known here unless only plain subscriptions get messages of a shared store.
func (q *sequencer) payersOf(t *tenant, e *handing) (by payers, asOwner bool) {
	by = q.hub.tenantPayers(t, []byte(e.tenant))
	if owner := q.owner.cpuAccount(q.hub); owner != nil {
		by.issuer = owner
	}
	if e.publish == nil {
		return by, true
	}
	owner := by.issuer
	by.issuer = q.hub.issuerCPU(e.publish.session.token)
	if e.publish.byGuest {
		by.tenant = nil
	}
	return by, by.issuer == owner
}

// fanOut queues a message for the subscriptions with positions: once for each, even if
// several of a session match.
func (q *sequencer) fanOut(p *publication, e *handing) {
	matches := feedLists.Get().(*[]*feed)
	defer func() {
		clear(*matches)
		*matches = (*matches)[:0]
		feedLists.Put(matches)
	}()
	*matches = q.feeds.AppendMatches(*matches, p.channel)
	p.pace.work.matched(len(*matches))
	n, expires := 0, time.Duration(0)
	if limit := q.maxLag(); limit > 0 {
		expires = e.at + limit
	}
	for _, f := range *matches {
		frames := keptFrames{at: e.position, pattern: f.pattern.String(), feed: f, before: e.before, expires: expires}
		for part := range f.subscribers.Load().chunks {
			for i := range part {
				if part[i].session.deliverKept(p, &frames, part[i].sub.resumable) {
					n++
				}
			}
			p.maybePause(chunk - 1)
		}
	}
	p.flush()
	if n > 0 {
		q.hub.count.deliveries.Add(uint64(n))
		q.hub.countTenant(p.limits, p.tenant, 0, n)
	}
}

var feedLists = sync.Pool{New: func() any { return new([]*feed) }}
