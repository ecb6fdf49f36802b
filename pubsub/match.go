package pubsub

import (
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// matcher finds the sessions that get a message, and the patterns that match for each.
// It is scratch space for one match at a time.
type matcher struct {
	interests  []*interest // that match, sorted by pattern
	sessions   []matchedSession
	ownMatches []ownMatch
	sets       []patternSet
	single     patternSet // that of the only interest that matches, where there are no others
	steps      map[step]int
	latest     patternStep // the last one of steps that was asked for
	patterns   []string
	laneFrames []laneFrame

	// slots is a hash table from sessions to their indexes in sessions. Slots of
	// another round count as empty, so that the table never has to be cleared.
	slots []slot
	round uint32
}

// matchedSession is a session that has matching subscriptions.
type matchedSession struct {
	session *Session
	set     int // of the matched patterns in its main lane; 0: it has none there
}

type slot struct {
	id    uint64 // of the session
	round uint32
	at    int32
}

// patternSet is a set of matched patterns as a chain: another set, and the interest that
// this one adds to it. Set 0 is the empty one. With chains, equal sets have equal numbers,
// at the price of one small look-up per subscription.
type patternSet struct {
	step
	frames [variants]*frame // nil: not encoded yet
}

// step is the way from one set to the next.
type step struct{ before, interest int }

type patternStep struct {
	step
	next int // 0: none
}

// ownMatch is a match of a subscription with a stream of its own, which gets a
// frame of its own.
type ownMatch struct {
	session *Session
	lane    *lane
	set     int
}

var matchers = sync.Pool{New: func() any { return &matcher{steps: map[step]int{}, round: 1} }}

func (m *matcher) match(t *tenant, channel []byte) {
	m.interests = t.tree.AppendMatches(m.interests, channel)
	if len(m.interests) > 1 {
		slices.SortFunc(m.interests, func(a, b *interest) int {
			return strings.Compare(a.patterns[0], b.patterns[0])
		})
	}
}

// group finds each session's set of matched patterns, with a look of pace from time to time.
func (m *matcher) group(pace *pace) {
	m.sets = append(m.sets, patternSet{})
	added := 0
	for i, in := range m.interests {
		all := in.subscribers.Load()
		m.reserve(len(m.sessions) + all.len())
		for part := range all.chunks {
			m.addAll(i, part)
			if added += len(part); added >= lookEvery {
				pace.work.matched(added)
				added = 0
				pace.look()
			}
		}
	}
	pace.work.matched(added)
}

// lookEvery is after how many subscribers group looks at the clock: some 100 us.
const lookEvery = 1024

func (m *matcher) addAll(interest int, list []member) {
	for i := range list {
		session, lane := list[i].session, list[i].lane
		f := m.find(session)
		if lane == nil {
			f.set = m.extend(f.set, interest)
		} else {
			m.ownMatches = append(m.ownMatches, ownMatch{session, lane, m.extend(0, interest)})
		}
	}
}

// reserve makes room for n sessions, in a table that stays half empty.
func (m *matcher) reserve(n int) {
	if len(m.slots) >= 2*n {
		return
	}
	m.slots = make([]slot, 1<<bits.Len(uint(max(2*n, 64)-1)))
	for at := range m.sessions {
		id := m.sessions[at].session.client.ID
		*m.slot(id) = slot{id, m.round, int32(at)}
	}
}

// slot returns the slot of a session, or the empty one where it belongs.
func (m *matcher) slot(id uint64) *slot {
	mask := uint64(len(m.slots) - 1)
	for i := id * 0x9E3779B97F4A7C15 >> 20; ; i++ {
		if s := &m.slots[i&mask]; s.round != m.round || s.id == id {
			return s
		}
	}
}

// find returns the entry of a session in sessions, and adds it if there is none.
func (m *matcher) find(session *Session) *matchedSession {
	id := session.client.ID
	s := m.slot(id)
	if s.round != m.round {
		*s = slot{id, m.round, int32(len(m.sessions))}
		m.sessions = append(m.sessions, matchedSession{session: session})
	}
	return &m.sessions[s.at]
}

// extend returns the set that has one interest more.
func (m *matcher) extend(set, interest int) int {
	way := step{set, interest}
	if m.latest.step == way && m.latest.next != 0 {
		return m.latest.next
	}
	next, known := m.steps[way]
	if !known {
		next = len(m.sets)
		m.sets = append(m.sets, patternSet{step: way})
		m.steps[way] = next
	}
	m.latest = patternStep{way, next}
	return next
}

// frame returns a variant of the deliver frame for the subscribers with this set of
// patterns. It is encoded when the first of them takes it.
func (set *patternSet) frame(p *publication, v variant) *frame {
	if f := set.frames[v]; f != nil {
		return f
	}
	return p.matcher.encode(p, set, v)
}

func (m *matcher) encode(p *publication, set *patternSet, v variant) *frame {
	if set == &m.single {
		set.frames[v] = p.encode(m.interests[0].patterns[:], v)
		return set.frames[v]
	}
	set.frames[v] = p.encode(m.patternsOf(set), v)
	return set.frames[v]
}

// patternsOf returns the patterns of a set of group's, sorted. They are valid until the next call.
func (m *matcher) patternsOf(set *patternSet) []string {
	m.patterns = m.patterns[:0]
	for at := set; at != &m.sets[0]; at = &m.sets[at.before] {
		m.patterns = append(m.patterns, m.interests[at.interest].patterns[0])
	}
	slices.Reverse(m.patterns)
	return m.patterns
}

// release gives the scratch space back, without what it points to.
func (m *matcher) release() {
	if cap(m.sessions) > 1<<16 || cap(m.interests) > 4096 || m.round == 1<<32-1 {
		return // let a rare large one go
	}
	m.round++
	m.latest = patternStep{}
	m.single.frames = [variants]*frame{}
	clear(m.interests)
	clear(m.sessions)
	clear(m.ownMatches)
	clear(m.sets)
	clear(m.steps)
	clear(m.patterns)
	clear(m.laneFrames[:cap(m.laneFrames)])
	m.interests, m.sessions, m.ownMatches, m.sets, m.laneFrames = m.interests[:0], m.sessions[:0], m.ownMatches[:0], m.sets[:0], m.laneFrames[:0]
	matchers.Put(m)
}
