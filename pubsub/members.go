package pubsub

import "slices"

// chunk is how many members are copied to remove one.
const chunk = 64

// members is a set of subscribers that never changes: who has one can go through
// it while others join and leave. All slices but the last are full. Adding uses
// the room behind a slice's end, which older sets do not look at; removing copies
// what it changes.
type members struct {
	full [][]member
	last []member
}

// member is a subscription with what each delivery needs of it at hand.
type member struct {
	session *Session
	lane    *lane
	sub     *subscription
}

func (m *members) len() int { return len(m.full)*chunk + len(m.last) }

// with returns the set with one member more, at the index len().
func (m *members) with(added member) *members {
	if len(m.last) < chunk {
		return &members{m.full, append(m.last, added)}
	}
	return &members{append(m.full, m.last), []member{added}}
}

// without returns the set without the member at i, whose place the last one
// takes.
func (m *members) without(i int) (_ *members, moved *subscription) {
	end := len(m.last) - 1
	from := m.last[end]
	next := &members{m.full, slices.Clone(m.last[:end])}
	switch at := i / chunk; {
	case at < len(m.full):
		next.full = slices.Clone(m.full)
		next.full[at] = slices.Clone(m.full[at])
		next.full[at][i%chunk] = from
	case i%chunk < end:
		next.last[i%chunk] = from
	}
	if n := len(next.full); len(next.last) == 0 && n > 0 {
		next.last, next.full = next.full[n-1], next.full[:n-1:n-1]
	}
	return next, from.sub
}
