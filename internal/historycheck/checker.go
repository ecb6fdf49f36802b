// Package historycheck checks what histories promise (docs/protocol.md, Promises): it is
// told what publishers were answered and what subscribers got, in whatever way messages
// came to them, and finds what was lost without a word, came twice, or came out of order.
package historycheck

import (
	"fmt"
	"strings"
	"sync"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// maxFaults bounds what a Checker remembers of what is wrong.
const maxFaults = 20

// Checker knows what is stored. It may be used concurrently.
type Checker struct {
	// Shared: subscribers go from edge to edge, and what comes between a GAP and the next
	// line may have holes. It is set before anything else.
	// Positions count the messages of all tenants then.
	Shared bool
	// Restored: stores are put back to older copies. Then a history starts over, and what the
	// copy has, or a publisher repeats, has another place.
	Restored bool
	// KeysEndAfter is for runs in which servers of a store are restarted: then nobody may know
	// the key of a message that is no longer kept, because so many later ones of its channel
	// were stored. 0: keys outlive their messages. It is set before Finish.
	KeysEndAfter int

	mu          sync.Mutex
	stored      map[place]message
	byText      map[text]place      // each payload of a run is unique
	tenants     map[position]string // whose message it is, in a history that is shared
	notStored   map[text]bool       // what publishers were told is not stored
	subscribers []*Subscriber
	clients     []*Client
	twice       []pair
	faults      []string
}

// pair is a message at two places of a history.
type pair struct {
	message
	first, second place
}

// place is a position without its time.
type place struct {
	tenant   string
	epoch, n uint64
}

// position is a place in a history whose tenants have no places of their own.
type position struct{ epoch, n uint64 }

// text is a message that is stored once; epoch is 0 where that holds for all epochs.
type text struct {
	epoch                    uint64
	tenant, channel, payload string
}

type message struct {
	channel, payload string
	confirmed        bool
}

// New makes a Checker.
func New() *Checker {
	return &Checker{stored: map[place]message{}, byText: map[text]place{}, tenants: map[position]string{}, notStored: map[text]bool{}}
}

// Confirmed notes that a publisher was told a position. A publish that was repeated with
// its key is noted again, with the payload of the first try.
func (c *Checker) Confirmed(tenant, channel, payload string, at wire.Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(tenant, message{channel, payload, true}, at)
}

// NotStored notes that a publisher was told for certain that its message is not stored. Nobody else publishes the same
// payload to the channel.
func (c *Checker) NotStored(tenant, channel, payload string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notStored[text{0, tenant, channel, payload}] = true
}

// note notes a message at its place. The caller holds c.mu.
func (c *Checker) note(tenant string, m message, at wire.Position) {
	p := place{tenant, at.Epoch, at.N}
	if known, ok := c.stored[p]; ok {
		if known.channel != m.channel || known.payload != m.payload {
			c.fault("%v has %s=%s and %s=%s", at, known.channel, known.payload, m.channel, m.payload)
		}
		m.confirmed = m.confirmed || known.confirmed
	}
	if c.Shared {
		at := position{p.epoch, p.n}
		if other, ok := c.tenants[at]; ok && other != tenant {
			c.fault("%v is of %s and of %s: %s=%s", at, other, tenant, m.channel, m.payload)
		}
		c.tenants[at] = tenant
	}
	once := text{0, tenant, m.channel, m.payload}
	if c.Restored {
		once.epoch = p.epoch
	}
	if other, ok := c.byText[once]; ok && other != p {
		c.twice = append(c.twice, pair{m, other, p})
	}
	c.stored[p], c.byText[once] = m, p
}

func (c *Checker) fault(format string, args ...any) {
	if len(c.faults) < maxFaults {
		c.faults = append(c.faults, fmt.Sprintf(format, args...))
	}
}

// Summary is what a run had.
type Summary struct {
	Confirmed, Received, Resumed, Complete, Gaps int

	// Had is how many confirmed messages clients of SDKs had to have, as no gap was told, and
	// have.
	Had    int
	Faults []string // empty: all promises were kept
}

// Finish compares what was stored with what each subscriber got. Whoever feeds the Checker
// has stopped, and each subscriber has resumed once more and was told OK:RSUB: what
// comes after the last line of a subscription may yet turn out to be behind a gap.
func (c *Checker) Finish() Summary {
	c.mu.Lock()
	defer c.mu.Unlock()
	var sum Summary
	c.checkTwice()
	for p, m := range c.stored {
		if c.notStored[text{0, p.tenant, m.channel, m.payload}] {
			c.fault("%s=%s at %d is stored, and its publisher was told that it is not", m.channel, m.payload, p.n)
		}
		if !m.confirmed {
			continue
		}
		sum.Confirmed++
		for _, s := range c.subscribers {
			if s.tenant == p.tenant && s.pattern.Match(m.channel) && s.covers(p) && !s.got[p] {
				c.fault("%s: %s=%s at %d was confirmed, and is missing without a gap: %s", s.name, m.channel, m.payload, p.n, s.around(p))
			}
		}
	}
	for _, s := range c.clients {
		s.check()
		sum.Had += s.had
		sum.Received += len(s.got)
		sum.Gaps += len(s.gaps)
	}
	for _, s := range c.subscribers {
		sum.Received += len(s.got)
		sum.Resumed += s.resumed
		sum.Complete += s.complete
		sum.Gaps += s.gaps
	}
	sum.Faults = c.faults
	return sum
}

// checkTwice looks at what was stored twice. The caller holds c.mu.
func (c *Checker) checkTwice() {
	for _, t := range c.twice {
		from, to := min(t.first.n, t.second.n), max(t.first.n, t.second.n)
		later := 0
		for p, m := range c.stored {
			if p.tenant == t.first.tenant && p.epoch == t.first.epoch && m.channel == t.channel && p.n > from && p.n < to {
				later++
			}
		}
		if c.KeysEndAfter == 0 || t.first.epoch != t.second.epoch || later < c.KeysEndAfter {
			c.fault("%s/%s=%s is stored twice, at %d and %d, with %d between", t.first.tenant, t.channel, t.payload, from, to, later)
		}
	}
}

// Subscriber is one subscription with positions, over all connections that it has one
// after the other.
type Subscriber struct {
	checker *Checker
	name    string
	tenant  string
	pattern pattern.Pattern

	at        wire.Position // up to here it has all, or knows of the gaps
	known     bool          // at is valid
	begun     bool          // since the last RSUB it was told where it stands
	gapped    bool          // since the last RSUB it was notified of a gap
	behindGap bool          // of its lines, a GAP came last
	got       map[place]bool
	ranges    []interval // it has all of these
	proven    int        // so many of ranges end with a line that says so
	trail     []string   // what came, in words
	places    []uint64   // of each, the number
	again     bool       // it was told to begin from the start: messages may come again
	resumed   int
	complete  int
	gaps      int
}

// interval is all numbers of an epoch above from and up to to.
type interval struct{ epoch, from, to uint64 }

// Subscriber adds a subscriber.
func (c *Checker) Subscriber(name, tenant string, p pattern.Pattern) *Subscriber {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &Subscriber{checker: c, name: name, tenant: tenant, pattern: p, got: map[place]bool{}}
	c.subscribers = append(c.subscribers, s)
	return s
}

// Begin returns with what the next RSUB begins: a position, or, the first time, now.
func (s *Subscriber) Begin() wire.From {
	s.checker.mu.Lock()
	defer s.checker.mu.Unlock()
	s.begun, s.gapped = s.known, false
	if !s.known {
		return wire.From{}
	}
	s.resumed++
	if s.checker.Shared && s.behindGap { // it was told that what it got since may have holes
		s.ranges = s.ranges[:s.proven]
	}
	s.note("RSUB", s.at)
	s.ranges = append(s.ranges, interval{s.at.Epoch, s.at.N, s.at.N})
	return wire.From{Origin: wire.OriginPosition, Position: s.at}
}

// Message notes a frame of the subscription.
func (s *Subscriber) Message(d wire.Deliver) {
	c := s.checker
	c.mu.Lock()
	defer c.mu.Unlock()
	at := d.Position
	m := message{string(d.Channel), string(d.Payload), false}
	switch {
	case !d.Stored || len(d.Patterns) != 1 || d.Patterns[0] != s.pattern.String() || string(d.Tenant) != s.tenant || !s.pattern.Match(m.channel):
		c.fault("%s: a frame for others: %+v", s.name, d)
		return
	case !s.begun:
		c.fault("%s: %d comes before OK:RSUB", s.name, at.N)
		return
	case at.Epoch != s.at.Epoch || at.N <= s.at.N:
		c.fault("%s: %v comes after %v", s.name, at, s.at)
		return
	}
	c.note(s.tenant, m, at)
	p := place{s.tenant, at.Epoch, at.N}
	if s.got[p] && !s.again {
		c.fault("%s: %d comes twice", s.name, at.N)
	}
	s.got[p] = true
	s.note(m.channel, at)
	s.reach(at)
}

// Line notes a line of the subscription: OK:RSUB, AT or GAP.
func (s *Subscriber) Line(l wire.ServerLine) {
	c := s.checker
	c.mu.Lock()
	defer c.mu.Unlock()
	s.note(fmt.Sprintf("line %d (complete: %v)", l.Kind, l.Complete), l.Position)
	switch l.Kind {
	case wire.KindGap:
		s.gaps++
		s.gapped, s.behindGap = true, true
		s.again = s.again || l.Position.Epoch == s.at.Epoch && l.Position.N < s.at.N
		// What is missing may be among the messages since the last line.
		s.ranges = s.ranges[:s.proven]
		s.at = l.Position
		s.prove()
	case wire.KindOKRsub:
		if l.Complete == s.gapped {
			c.fault("%s: OK:RSUB says complete: %v, and a gap was told: %v", s.name, l.Complete, s.gapped)
		}
		if l.Complete {
			s.complete++
		}
		if !s.begun { // it has begun now
			s.at, s.begun, s.known, s.behindGap = l.Position, true, true, false
			s.prove()
			return
		}
		s.reachBy(l)
	case wire.KindAt:
		s.reachBy(l)
	default:
		c.fault("%s: %v is no line of a subscription", s.name, l.Kind)
	}
}

func (s *Subscriber) reachBy(l wire.ServerLine) {
	if l.Position.Epoch != s.at.Epoch || l.Position.N < s.at.N {
		s.checker.fault("%s: a line says %v, behind %v", s.name, l.Position, s.at)
		return
	}
	s.reach(l.Position)
	s.behindGap = false
	s.prove()
}

// prove closes what the subscriber has, and begins a new range behind it.
func (s *Subscriber) prove() {
	s.proven = len(s.ranges)
	s.ranges = append(s.ranges, interval{s.at.Epoch, s.at.N, s.at.N})
}

// reach notes that the subscriber has all up to a position.
func (s *Subscriber) reach(at wire.Position) {
	s.at = at
	s.ranges[len(s.ranges)-1].to = at.N
}

// covers reports whether the subscriber was told that it has all at this place: by a line
// behind it, without a gap before that line.
func (s *Subscriber) covers(p place) bool {
	for _, r := range s.ranges[:s.proven] {
		if r.epoch == p.epoch && r.from < p.n && p.n <= r.to {
			return true
		}
	}
	return false
}

// note remembers what came, for faults.
func (s *Subscriber) note(what string, at wire.Position) {
	s.trail, s.places = append(s.trail, fmt.Sprintf("%s@%d", what, at.N)), append(s.places, at.N)
}

// around returns what came before and after the place of a missing message.
func (s *Subscriber) around(p place) string {
	for i := range s.places {
		if s.places[i] > p.n {
			return strings.Join(s.trail[max(0, i-8):min(len(s.trail), i+4)], " ")
		}
	}
	return "nothing behind it"
}

// At returns the position up to which the subscriber has all, or knows of the gaps.
func (s *Subscriber) At() wire.Position {
	s.checker.mu.Lock()
	defer s.checker.mu.Unlock()
	return s.at
}
