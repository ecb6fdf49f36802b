package presence

import (
	"fmt"
	"time"
)

// Link carries messages between edges.
type Link interface {
	// SendPresence hands a message to the edge of this ID, or to all others if it is empty.
	// It does not block, keeps the message, and may lose it.
	SendPresence(to string, message []byte)
}

const (
	// beatEvery is how often an edge says where its log is, and so that it is there.
	beatEvery = 2 * time.Second
	// leastSilence is how long an edge may be silent at least, whatever the linger: it may
	// miss a beat.
	leastSilence = 5 * time.Second
	// forgetAfter is when an edge is forgotten that is silent, and has no members any more. It
	// would be asked for all of them.
	forgetAfter = time.Minute
	// askAgain is when a question that was not answered is asked again.
	askAgain = 500 * time.Millisecond
	// maxEdges is how many other edges an edge knows, maxEdgesOfName how many of one name,
	// which restarts of it make, and maxHeld how many members those of a name have.
	maxEdges       = 256
	maxEdgesOfName = 8
	maxHeld        = 1_000_000
	// maxHolders is with how many holders the names of others by other edges are taken.
	maxHolders = 1024
	// maxAnswers is how many pages an edge gets of this one in a tick, maxAllAnswers how many
	// all of them get that ask, and maxNews how many pages of what is new go to all.
	maxAnswers    = 16
	maxAllAnswers = 32
	maxNews       = 16
)

// edgeName is what the edges of one name have together: an edge that is taken over may have
// made up all but one. An edge without a name is on its own.
type edgeName struct{ edges, members int }

// edge is another edge, as this one knows it. Its members are those entries that have an owner with its ID.
type edge struct {
	name    string // of its edgeName
	at      uint64 // number in its log up to which this edge knows it
	target  uint64 // where its log was when this one started over: there, all members are known
	syncing bool
	round   uint64              // grows each time it starts over
	known   uint64              // the last one that has reached its target: members of rounds before are gone
	held    map[*entry]struct{} // its members
	current int                 // of these, those of this round
	ending  bool                // some of them are to end
	// lingers are its members by how long they stay when it is silent, in seconds, rounded up
	lingers map[int]int
	heardAt time.Time
	askedAt time.Time // of the question that is under way; zero: none is
	answers int       // in this tick
	waits   *message  // a question that is answered in the next one; nil: there is none
}

// countMember counts a member, or takes that back.
func (e *edge) countMember(o *owner, n int) {
	if o.round == e.round {
		e.current += n
	}
	at := int((o.linger + time.Second - 1) / time.Second)
	if e.lingers[at] += n; e.lingers[at] == 0 {
		delete(e.lingers, at)
	}
}

// hasEnded reports whether the edge does not have a member any more that it had. If it is silent, it is
// asked for all when it is heard again.
func (e *edge) hasEnded(o *owner, now time.Time) bool {
	if now.Sub(e.heardAt) >= max(o.linger, leastSilence) {
		e.at = 0
		return true
	}
	return o.round < e.known
}

// Receive takes a message of another edge. The error says why it is not one that this version
// sends.
//
// name is whose edge it is, as the broker vouches for; empty: it does not.
func (r *Registry) Receive(name, from string, message []byte) error {
	m, err := decode(message)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	e := r.others[from]
	if e == nil {
		if e, err = r.addEdge(name, from); err != nil {
			return err
		}
		r.beatAt = time.Time{} // it does not know this one
	}
	e.heardAt = now
	switch m.kind {
	case kindBeat:
		if m.to != e.at {
			r.ask(from, e, now)
		}
	case kindAsk:
		r.answer(from, e, &m)
	case kindPage:
		r.apply(from, e, m, now)
	}
	r.wake()
	return nil
}

// addEdge adds an edge that was not heard of before.
func (r *Registry) addEdge(name, id string) (*edge, error) {
	if name == "" {
		name = "id " + id // no name has a space
	}
	n := r.names[name]
	switch {
	case len(r.others) >= maxEdges:
		return nil, fmt.Errorf("there are more than %d edges", maxEdges)
	case n == nil:
		n = new(edgeName)
		r.names[name] = n
	case n.edges >= maxEdgesOfName:
		return nil, fmt.Errorf("there are more than %d edges of this name; those that are silent for %v are forgotten", maxEdgesOfName, forgetAfter)
	}
	n.edges++
	e := &edge{name: name, lingers: map[int]int{}, held: map[*entry]struct{}{}}
	r.others[id] = e
	return e, nil
}

// forgetEdge forgets an edge without members.
func (r *Registry) forgetEdge(id string, e *edge) {
	delete(r.others, id)
	n := r.names[e.name]
	if n.edges--; n.edges == 0 {
		delete(r.names, e.name)
	}
}

// answer answers a question of another edge, in this tick or in the next one.
func (r *Registry) answer(id string, e *edge, m *message) {
	e.waits = m
	if e.answers < maxAnswers && r.answers < maxAllAnswers {
		e.waits = nil
		e.answers++
		r.answers++
		page, _, _ := r.own.page(m.from, m.base)
		r.options.Link.SendPresence(id, page)
	}
}

// ask asks an edge for what is missing, unless it was asked just now.
func (r *Registry) ask(id string, e *edge, now time.Time) {
	if now.Sub(e.askedAt) >= askAgain {
		e.askedAt = now
		r.asked++
		r.options.Link.SendPresence(id, encodeAsk(e.at, e.target))
	}
}

// apply takes a page of another edge's log.
func (r *Registry) apply(id string, e *edge, m message, now time.Time) {
	switch {
	case m.from == 0 && (m.first || e.at == 0): // from the beginning
		e.round++
		e.current = 0
		e.syncing, e.target = true, m.head
	case m.from > e.at || m.first:
		r.ask(id, e, now)
		return
	case m.to <= e.at:
		return
	}
	name := r.names[e.name]
	for _, c := range m.changes {
		key, user := c.key, r.userNamed(c.user)
		known := r.find(key)
		old := known.ownedBy(id)
		switch {
		case !c.here:
			if old != nil {
				r.removeHeld(id, e, known, now)
			}
		case !r.set.Has(key.Tenant, key.Channel): // another configuration
		case old == nil && (name.members >= r.maxHeld || !r.hasRoom(key, user)):
		default:
			if old != nil {
				e.countMember(old, -1)
			} else {
				name.members++
			}
			o := owner{id, c.since, c.info, e.round, c.linger}
			e.countMember(&o, 1)
			e.held[r.setOwner(key, user, o, now)] = struct{}{}
		}
	}
	e.at, e.askedAt = m.to, time.Time{}
	if e.syncing && e.at >= e.target {
		e.syncing, e.known = false, e.round
		e.ending = e.ending || e.current < len(e.held)
	}
	if e.at < m.head {
		r.ask(id, e, now)
	}
}

// userNamed is a user that another edge names. One that has made up all but one takes no more than
// maxHolders: they are gone through when there is no room.
func (r *Registry) userNamed(user string) string {
	if r.holders[user] == nil && len(r.holders) >= maxHolders {
		return ""
	}
	return user
}

// removeHeld notes that another edge does not have one of its members any more.
func (r *Registry) removeHeld(id string, e *edge, m *entry, now time.Time) {
	e.countMember(m.ownedBy(id), -1)
	delete(e.held, m)
	r.names[e.name].members--
	r.clearOwner(m, id, now)
}

// endSilent looks for edges that are silent, once a second, whose members end, each after its linger. The
// caller holds r.mu.
func (r *Registry) endSilent(now time.Time) {
	if now.Sub(r.silentAt) < idleEvery {
		return
	}
	r.silentAt = now
	for id, e := range r.others {
		silence := now.Sub(e.heardAt)
		if silence < leastSilence {
			continue
		}
		for seconds := range e.lingers {
			if silence >= time.Duration(seconds)*time.Second {
				e.ending = true
			}
		}
		if silence >= forgetAfter && len(e.held) == 0 {
			r.forgetEdge(id, e)
		}
	}
}

// endHeld ends the members of other edges that these do not have any more. It looks at no others: an edge
// that flaps, or is taken over, costs as much as its own members are. Others get the lock in between. Tick
// calls it.
func (r *Registry) endHeld(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	looked := 0
	for id, e := range r.others {
		if !e.ending {
			continue
		}
		e.ending = false
		for m := range e.held {
			if e.hasEnded(m.ownedBy(id), now) {
				r.removeHeld(id, e, m, now)
			}
			if looked++; looked%stepSize == 0 {
				r.mu.Unlock()
				r.mu.Lock()
			}
		}
	}
}

// tellEdges sends the others what is new, and where the log is. The caller holds r.mu.
func (r *Registry) tellEdges(now time.Time) {
	if r.options.Link == nil {
		return
	}
	r.answers = 0
	for id, e := range r.others { // in another order each time: all get their turn
		e.answers = 0
		if e.waits != nil {
			r.answer(id, e, e.waits)
		}
	}
	for range maxNews {
		if r.own.sent == r.own.log.head {
			break
		}
		page, through, base := r.own.page(r.own.sent, r.own.sentBase)
		r.own.sent, r.own.sentBase = through, base
		r.options.Link.SendPresence("", page)
	}
	if r.own.sent != r.own.log.head {
		r.wake()
	}
	if now.Sub(r.beatAt) >= beatEvery {
		r.beatAt = now
		r.options.Link.SendPresence("", encodeBeat(r.own.sent))
	}
}
