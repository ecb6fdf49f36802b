package pubsub

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/millrace/millrace/wire"
	"go.uber.org/zap"
)

// publish passes on a message that this edge accepted from one of its clients.
func (h *Hub) publish(p wire.Publish) {
	switch p.Delivery {
	case wire.Broadcast:
		h.fanOut(p.Tenant, p.Channel, p.Payload)
	case wire.OneNearest:
		if h.deliverOne(p.Tenant, p.Channel, p.Payload) {
			return
		}
	case wire.OneRandom: // the broker chooses the edge
	}
	// The transport reuses the frame's buffer: the broker gets its own bytes.
	err := h.broker.Publish(Message{
		Tenant:   string(p.Tenant),
		Channel:  string(p.Channel),
		Payload:  bytes.Clone(p.Payload),
		Delivery: p.Delivery,
	})
	if err != nil {
		h.log.Warn("broker: message not passed on", zap.Error(err))
	}
}

// Receive implements [Receiver] for the broker.
func (h *Hub) Receive(m Message) int {
	tenant, channel := []byte(m.Tenant), []byte(m.Channel)
	if m.Delivery == wire.Broadcast {
		return h.fanOut(tenant, channel, m.Payload)
	}
	if h.deliverOne(tenant, channel, m.Payload) {
		return 1
	}
	return 0
}

// fanOut queues the message for every local subscriber, and says how many: a
// session with streams of its own may count twice.
func (h *Hub) fanOut(tenant, channel, payload []byte) int {
	t := h.readTenant(tenant)
	if t == nil {
		return 0
	}
	defer t.mu.RUnlock()
	m := matchers.Get().(*matcher)
	defer m.release()
	m.match(t, channel)

	if len(m.interests) == 1 { // the common case needs no sets
		in := m.interests[0]
		frame := encode(tenant, channel, payload, []string{in.pattern.String()})
		for _, sub := range in.subscribers {
			sub.session.deliver(frame, sub.lane)
		}
		return len(in.subscribers)
	}
	m.group()
	frames := make([][]byte, len(m.sets))
	frame := func(set int) []byte {
		if frames[set] == nil {
			frames[set] = encode(tenant, channel, payload, m.patterns(set))
		}
		return frames[set]
	}
	for session, set := range m.members {
		if set != 0 {
			session.deliver(frame(set), nil)
		}
	}
	for _, o := range m.own {
		o.sub.session.deliver(frame(o.set), o.sub.lane)
	}
	return len(m.members)
}

// deliverOne queues the message for exactly one local subscriber, chosen
// uniformly over connections, if any can take it.
func (h *Hub) deliverOne(tenant, channel, payload []byte) bool {
	t := h.readTenant(tenant)
	if t == nil {
		return false
	}
	defer t.mu.RUnlock()
	m := matchers.Get().(*matcher)
	defer m.release()
	m.match(t, channel)
	m.group()
	for session := range m.members {
		m.candidates = append(m.candidates, session)
	}
	for left := len(m.candidates); left > 0; left-- {
		i := rand.IntN(left)
		session := m.candidates[i]
		var parts []part
		if set := m.members[session]; set != 0 {
			parts = append(parts, part{nil, encode(tenant, channel, payload, m.patterns(set))})
		}
		for _, o := range m.own {
			if o.sub.session == session {
				parts = append(parts, part{o.sub.lane, encode(tenant, channel, payload, m.patterns(o.set))})
			}
		}
		if session.offer(parts) {
			return true
		}
		m.candidates[i] = m.candidates[left-1]
	}
	return false
}

func encode(tenant, channel, payload []byte, patterns []string) []byte {
	frame := make([]byte, 0, wire.DeliverLen(tenant, channel, payload, patterns))
	return wire.AppendDeliver(frame, tenant, channel, payload, patterns)
}

// matcher is the scratch space of one match.
type matcher struct {
	interests  []*interest      // that match, sorted by pattern
	members    map[*Session]int // to the set of the default lane; 0: it has none
	own        []ownMatch
	sets       []patternSet
	steps      map[step]int
	candidates []*Session
}

// patternSet is a set of matched patterns as a chain: the set before, and the
// interest that this one adds to it. Set 0 is the empty one. Chains make equal
// sets equal numbers at the price of one small map look-up per subscription.
type patternSet struct{ before, interest int }

// ownMatch is a match of a subscription with a stream of its own, which gets a
// frame of its own.
type ownMatch struct {
	sub *subscription
	set int
}

// step is the way from one set to the next.
type step = patternSet

var matchers = sync.Pool{New: func() any {
	return &matcher{members: map[*Session]int{}, steps: map[step]int{}}
}}

func (m *matcher) match(t *tenant, channel []byte) {
	m.interests = t.tree.AppendMatches(m.interests, channel)
	slices.SortFunc(m.interests, func(a, b *interest) int {
		return strings.Compare(a.pattern.String(), b.pattern.String())
	})
}

// group finds each session's set of matched patterns.
func (m *matcher) group() {
	m.sets = append(m.sets, patternSet{})
	for i, in := range m.interests {
		for _, sub := range in.subscribers {
			if sub.lane != nil {
				m.own = append(m.own, ownMatch{sub, m.extend(0, i)})
				if _, member := m.members[sub.session]; !member {
					m.members[sub.session] = 0
				}
				continue
			}
			m.members[sub.session] = m.extend(m.members[sub.session], i)
		}
	}
}

// extend returns the set that has one interest more.
func (m *matcher) extend(set, interest int) int {
	way := step{set, interest}
	next, known := m.steps[way]
	if !known {
		next = len(m.sets)
		m.sets = append(m.sets, way)
		m.steps[way] = next
	}
	return next
}

// patterns lists a set's patterns in bytewise order.
func (m *matcher) patterns(set int) []string {
	var list []string
	for ; set != 0; set = m.sets[set].before {
		list = append(list, m.interests[m.sets[set].interest].pattern.String())
	}
	slices.Reverse(list)
	return list
}

func (m *matcher) release() {
	if len(m.members) > 4096 || cap(m.interests) > 4096 {
		return // let a rare large one go
	}
	clear(m.interests)
	clear(m.candidates)
	clear(m.own)
	clear(m.members)
	clear(m.steps)
	m.interests, m.candidates, m.own, m.sets = m.interests[:0], m.candidates[:0], m.own[:0], m.sets[:0]
	matchers.Put(m)
}
