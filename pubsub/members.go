package pubsub

import "slices"

// chunk is how many members, or chunks of them, are copied to remove one.
const chunk = 64

// members is an immutable set of subscribers: a publisher can go through it while others
// subscribe and unsubscribe. It is a list in chunks of three sizes;
// all but the last of a size are full. Adding uses the room behind a slice's end,
// which older sets do not look at; removing copies what it changes, with a million
// members some 9 KB of their 24 MB.
type members struct {
	full [][][]member // of chunk times chunk members each
	tail [][]member   // of chunk members each; fewer than chunk of them
	last []member
}

// member is a subscription, with copies of what each delivery needs of it.
type member struct {
	session *Session
	lane    *lane
	sub     *subscription
}

func (m *members) len() int { return (len(m.full)*chunk+len(m.tail))*chunk + len(m.last) }

// chunks goes through the members, a slice at a time.
func (m *members) chunks(yield func([]member) bool) {
	for _, tail := range m.full {
		for _, part := range tail {
			if !yield(part) {
				return
			}
		}
	}
	for _, part := range m.tail {
		if !yield(part) {
			return
		}
	}
	yield(m.last)
}

// with returns the set with one more member, at the index len().
func (m *members) with(added member) *members {
	if len(m.last) < chunk {
		return &members{m.full, m.tail, append(m.last, added)}
	}
	next := &members{m.full, append(m.tail, m.last), []member{added}}
	if len(next.tail) == chunk {
		next.full, next.tail = append(m.full, next.tail), nil
	}
	return next
}

// without returns the set without the member at i, whose place the last one
// takes.
func (m *members) without(i int) (_ *members, moved *subscription) {
	end := len(m.last) - 1
	from := m.last[end]
	next := &members{m.full, m.tail, slices.Clone(m.last[:end])}
	switch at := i/chunk - len(m.full)*chunk; {
	case at < 0:
		at += len(m.full) * chunk
		next.full = slices.Clone(m.full)
		next.full[at/chunk] = replace(m.full[at/chunk], at%chunk, i%chunk, from)
	case at < len(m.tail):
		next.tail = replace(m.tail, at, i%chunk, from)
	case i%chunk < end:
		next.last[i%chunk] = from
	}
	if len(next.last) > 0 {
		return next, from.sub
	}
	if n := len(next.full); len(next.tail) == 0 && n > 0 {
		next.tail, next.full = next.full[n-1], next.full[:n-1:n-1]
	}
	if n := len(next.tail); n > 0 {
		next.last, next.tail = next.tail[n-1], next.tail[:n-1:n-1]
	}
	return next, from.sub
}

// replace returns a copy of a list of chunks with another member at one place.
func replace(list [][]member, at, i int, by member) [][]member {
	list = slices.Clone(list)
	list[at] = slices.Clone(list[at])
	list[at][i] = by
	return list
}
