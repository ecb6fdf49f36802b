package client

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// The bounds of what a move remembers (docs/decisions/0008-clients.md).
const (
	noteLife     = time.Second      // and as much more as the two connections are there
	maxNoteLife  = 10 * time.Second // with that
	maxNotes     = 65536
	maxPile      = 65536
	maxPileBytes = 16 << 20
)

// digest stands for the tenant, channel and payload of a message.
type digest [sha256.Size]byte

func digestOf(tenant, channel string, payload []byte) digest {
	h := sha256.New()
	var lengths [8]byte
	binary.BigEndian.PutUint32(lengths[:4], uint32(len(tenant)))
	binary.BigEndian.PutUint32(lengths[4:], uint32(len(channel)))
	h.Write(lengths[:])
	h.Write([]byte(tenant))
	h.Write([]byte(channel))
	h.Write(payload)
	var d digest
	h.Sum(d[:0])
	return d
}

// notes counts messages, each for as long as it says. When there are too many the
// oldest is forgotten.
type notes struct {
	counts map[digest]counts
	order  []note // oldest first; some were used up
	limit  int
	life   time.Duration
	since  time.Time // life grows from then on, up to maxNoteLife; zero: it does not
}

type counts struct {
	live int
	used int // used up, and still in the order: the oldest ones
}

type note struct {
	of digest
	at time.Time
}

func newNotes(life time.Duration) *notes {
	return &notes{counts: map[digest]counts{}, limit: maxNotes, life: life}
}

func (n *notes) add(now time.Time, d digest) {
	n.expire(now)
	c := n.counts[d]
	c.live++
	n.counts[d] = c
	n.order = append(n.order, note{d, now})
	if len(n.order) > n.limit {
		n.forget(1)
	}
}

// use reports whether there is a note, and uses up the oldest.
func (n *notes) use(now time.Time, d digest) bool {
	n.expire(now)
	c := n.counts[d]
	if c.live == 0 {
		return false
	}
	c.live, c.used = c.live-1, c.used+1
	n.counts[d] = c
	return true
}

// grow has life grow from now on, by what added says.
func (n *notes) grow(now time.Time) { n.since = now }

// added is what life has grown by.
func (n *notes) added(now time.Time) time.Duration {
	if n.since.IsZero() {
		return 0
	}
	return min(now.Sub(n.since), maxNoteLife-noteLife)
}

// settle ends the growth, and returns it.
func (n *notes) settle(now time.Time) time.Duration {
	added := n.added(now)
	n.life, n.since = n.life+added, time.Time{}
	return added
}

func (n *notes) expire(now time.Time) {
	life := n.life + n.added(now)
	old := 0
	for old < len(n.order) && now.Sub(n.order[old].at) >= life {
		old++
	}
	n.forget(old)
}

// each calls f for every note that is not used up.
func (n *notes) each(f func(digest)) {
	for d, c := range n.counts {
		for range c.live {
			f(d)
		}
	}
}

func (n *notes) forget(oldest int) {
	for _, note := range n.order[:oldest] {
		c := n.counts[note.of]
		if c.used > 0 {
			c.used--
		} else {
			c.live--
		}
		if c == (counts{}) {
			delete(n.counts, note.of)
		} else {
			n.counts[note.of] = c
		}
	}
	n.order = n.order[oldest:]
}

// merger decides what of two connections the application gets. It holds no
// goroutine and no socket, and is told the time. M is a message.
type merger[M any] struct {
	notes *notes // of what the current connection delivered
	early *notes // of what the pile gave before the current connection delivered it
	twice *notes // of what was in the pile when the next connection was replaced; nil: nothing

	pile      []piled[M] // in order; of some the message is gone
	base      int        // the number of pile[0]
	pileBytes int
	at        map[digest][]int // the numbers of those that are not gone
	maxPile   int
	maxBytes  int
}

type piled[M any] struct {
	of      digest
	at      time.Time
	size    int
	message M
	gone    bool
}

// newMerger returns a merger whose notes are good for life.
func newMerger[M any](life time.Duration) *merger[M] {
	return &merger[M]{
		notes: newNotes(life), early: newNotes(life),
		at: map[digest][]int{}, maxPile: maxPile, maxBytes: maxPileBytes,
	}
}

// fromCurrent takes a message of the current connection, and reports whether it is for
// the application.
func (m *merger[M]) fromCurrent(now time.Time, d digest) bool {
	if m.early.use(now, d) {
		return false
	}
	if len(m.at[d]) > 0 {
		m.takeOff(d)
	} else {
		m.notes.add(now, d)
	}
	return true
}

// takeOff removes the oldest message of the pile with this digest.
func (m *merger[M]) takeOff(d digest) (taken M) {
	numbers := m.at[d]
	p := &m.pile[numbers[0]-m.base]
	if len(numbers) == 1 {
		delete(m.at, d)
	} else {
		m.at[d] = numbers[1:]
	}
	taken = p.message
	m.pileBytes -= p.size
	*p = piled[M]{gone: true}
	for len(m.pile) > 0 && m.pile[0].gone {
		m.pile = m.pile[1:]
		m.base++
	}
	return taken
}

// known reports whether a message of the next connection is a copy of what the
// current one has delivered, or the next connection before this one.
func (m *merger[M]) known(now time.Time, d digest) bool {
	return m.notes.use(now, d) || m.twice != nil && m.twice.use(now, d)
}

// fromNext takes a message of the next connection that is not known, and that
// the current connection may deliver, too: it waits. It returns what no longer fits
// and is for the application.
func (m *merger[M]) fromNext(now time.Time, d digest, size int, message M) (due []M) {
	m.at[d] = append(m.at[d], m.base+len(m.pile))
	m.pile = append(m.pile, piled[M]{of: d, at: now, size: size, message: message})
	m.pileBytes += size
	for len(m.pile) > m.maxPile || m.pileBytes > m.maxBytes {
		due = append(due, m.giveOldest(now))
	}
	return due
}

// giveOldest takes the oldest message off the pile for the application.
func (m *merger[M]) giveOldest(now time.Time) M {
	oldest := m.pile[0].of // never gone, see takeOff, and the first of its digest
	m.early.add(now, oldest)
	return m.takeOff(oldest)
}

// release returns the pile, which is for the application although the current one
// connection may deliver the same.
func (m *merger[M]) release(now time.Time) (due []M) {
	for len(m.pile) > 0 {
		due = append(due, m.giveOldest(now))
	}
	return due
}

// waited returns the messages that have been in the pile for d. They are for the
// application.
func (m *merger[M]) waited(now time.Time, d time.Duration) (due []M) {
	for len(m.pile) > 0 && now.Sub(m.pile[0].at) >= d {
		due = append(due, m.giveOldest(now))
	}
	return due
}

// nextBegins says that there is a next connection from now on. Notes are good the longer, the
// longer it is there: what makes copies late, an edge or a client that gets no time, makes a
// move long, too.
func (m *merger[M]) nextBegins(now time.Time) { m.notes.grow(now) }

// nextReplaced keeps the pile of the next connection that has died before, as the
// current one may be dead, too. Its successor may bring the same as long as notes are good.
func (m *merger[M]) nextReplaced(now time.Time) {
	m.twice = newNotes(noteLife)
	m.twice.grow(now)
	for _, p := range m.pile {
		if !p.gone {
			m.twice.add(now, p.of)
		}
	}
}

// nextJoined forgets the pile of the next connection that has died before: the
// current one lives, and delivers the same.
func (m *merger[M]) nextJoined() { m.forget() }

func (m *merger[M]) forget() {
	m.pile, m.base, m.pileBytes = nil, 0, 0
	clear(m.at)
}

// left ends the time of two connections. It returns the pile, which is for the
// application, and the notes, which are good for what the next connection
// delivers late, until a time.
func (m *merger[M]) left(now time.Time) (due []M, late *notes, until time.Time) {
	until = now.Add(noteLife + m.notes.settle(now))
	for _, p := range m.pile {
		if !p.gone {
			due = append(due, p.message)
		}
	}
	m.forget()
	return due, m.notes, until
}
