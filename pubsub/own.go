package pubsub

import (
	"bytes"
	"math/rand/v2"
	"sync"
)

// ownMarks find, for what a shared history hands back, which publish of this edge it is: a message comes
// from there like those of other edges, and perhaps before the answer to its publisher. So it has a mark
// beside it, if its publisher has asked for the feature own. Safe for concurrent use.
//
// A mark is there while its publish is under way, which the stores bound. Where it is not known whether the
// message was stored, it may come later: of these a session keeps maxUnsettled.
type ownMarks struct {
	mu   sync.Mutex // guards the rest, and all Session.unsettled
	last uint64     // random at first: other edges have marks, too
	of   map[uint64]*ownPublish
}

// ownPublish is a publish that has a mark. It keeps nothing of the message.
type ownPublish struct {
	session *Session
	key     []byte
	channel uint64 // see channelHash: other edges can see marks
}

const maxUnsettled = 64

// add gives a publish its mark, before it goes to the store.
func (m *ownMarks) add(e *keptPublish) {
	own := &ownPublish{session: e.session, key: bytes.Clone(e.Key), channel: e.channelHash}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of, m.last = map[uint64]*ownPublish{}, rand.Uint64()
	}
	if m.last++; m.last == 0 {
		m.last++
	}
	e.Mark = m.last
	m.of[e.Mark] = own
}

// find returns the publish with a mark; nil: there is none.
func (m *ownMarks) find(mark, channel uint64) *ownPublish {
	m.mu.Lock()
	defer m.mu.Unlock()
	if own := m.of[mark]; own != nil && own.channel == channel {
		return own
	}
	return nil
}

// settle is called when the store has said what became of a publish: if it was stored, it has come.
func (m *ownMarks) settle(e *keptPublish, mayCome bool) {
	if e.Mark == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := e.session
	if !mayCome || s.Closing() {
		delete(m.of, e.Mark)
		return
	}
	if s.unsettled = append(s.unsettled, e.Mark); len(s.unsettled) > maxUnsettled {
		delete(m.of, s.unsettled[0])
		s.unsettled = s.unsettled[1:]
	}
}

// forget is called when a session, which is closing, has ended.
func (m *ownMarks) forget(s *Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, mark := range s.unsettled {
		delete(m.of, mark)
	}
	s.unsettled = nil
}
