package index

import (
	"time"

	"github.com/millrace/millrace/wire"
)

// A store on disk may be put back from an older copy. Then it gives numbers again that
// clients have seen on other messages. What tells these positions apart is their time: what
// follows the head at which a store was opened is not older than that.

// maxMarks is how many opens a tenant remembers, those between which it got messages.
// Positions from before are not known, unless their message is still stored.
const maxMarks = 16

// Opened notes that a store, whose messages were read, begins to take messages. It has to
// keep what Floors and Base say before it takes the first.
func (h *History) Opened(now time.Time) {
	h.opened = uint64(now.UnixMilli())
	for _, t := range h.tenants {
		for i := range t.marks { // the clock may have been set back
			t.marks[i].t = min(t.marks[i].t, h.opened)
		}
		t.mark(place{t.head.N, h.opened})
	}
}

// mark notes that positions above a number are not older than a time.
func (t *Tenant) mark(at place) {
	if at.t == 0 {
		return
	}
	if last := len(t.marks) - 1; last >= 0 && t.marks[last].n == at.n {
		t.marks[last].t = at.t
		return
	}
	t.marks = append(t.marks, at)
	if len(t.marks) > maxMarks {
		t.marks = t.marks[1:]
		t.marks[0].n = 0
	}
}

// agrees reports whether a position may have been given by this store, by the marks.
func (t *Tenant) agrees(p wire.Position) bool {
	for _, m := range t.marks {
		if p.N > m.n && p.T < m.t {
			return false
		}
	}
	return true
}

// Marks returns what a store keeps of a tenant for the next SetFloors.
func (h *History) Marks(tenant string) (marks []wire.Position) {
	if t := h.tenants[tenant]; t != nil {
		for _, m := range t.marks {
			marks = append(marks, h.position(m))
		}
	}
	return marks
}

// Base returns what a store keeps of the tenants that were forgotten, and the time at which
// it was opened, in milliseconds.
func (h *History) Base() (base wire.Position, opened uint64) {
	return h.position(h.base), h.opened
}

// SetBase sets what Base has returned, before anything else is read. opened is the time of
// the open before this one.
func (h *History) SetBase(base wire.Position, opened uint64) {
	h.base, h.before = place{base.N, base.T}, opened
}

// OnForget registers a function that is called for each tenant that is forgotten. Base is above its head then.
func (h *History) OnForget(forgot func(tenant string)) { h.forgot = forgot }

// Has reports whether a tenant is remembered.
func (h *History) Has(tenant string) bool { return h.tenants[tenant] != nil }

// restored returns a tenant that a store has read a message of. A tenant first seen here
// nothing before was made since the last open, with this message as its first.
func (h *History) restored(name string, first wire.Position) *Tenant {
	if t := h.tenants[name]; t != nil {
		return t
	}
	floor := place{n: first.N - 1}
	if floor.n == h.base.n {
		floor.t = h.base.t
	}
	return h.add(name, floor, h.before)
}
