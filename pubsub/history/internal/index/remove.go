package index

import (
	"container/heap"

	"github.com/millrace/millrace/wire"
)

// roll removes the oldest messages of a channel that has more than it may, up to MaxStep.
func (t *Tenant) roll(c *Channel) {
	for left := MaxStep; left > 0 && len(c.entries) > t.history.limits.Messages; left-- {
		e := c.entries[0]
		t.raise(c, e.place())
		t.remove(e)
	}
}

// maxRaised is how many raises of floors a tenant remembers, so that a search that goes on looks at
// these alone, not at all floors again.
const maxRaised = 32

// raise notes that the channel's own limit has removed what stood at a place.
func (t *Tenant) raise(c *Channel, at place) {
	c.floor.raise(at)
	if t.raised == nil {
		t.raised = make([]*Channel, maxRaised)
	}
	t.raised[t.raises%maxRaised] = c
	t.raises++
	if c.rolled == 0 {
		heap.Push(&t.rolled, c)
	} else {
		heap.Fix(&t.rolled, c.rolled-1)
	}
}

// shrink removes messages, up to a number of them, until the history is within its size. divided: owners
// have shares, too. done: it is within its size.
func (h *History) shrink(divided bool, upTo int) (done bool) {
	for left := upTo; h.isTooLarge(); left-- {
		if left == 0 {
			return false
		}
		t, _ := h.victim(divided)
		t.removeFirst(t.entries[t.first])
	}
	return true
}

func (h *History) isTooLarge() bool { return h.bytes > h.limits.Size && h.messages > 1 }

// removeFirst removes the oldest message of a tenant, for all channels: who stands before
// it has missed it.
func (t *Tenant) removeFirst(e *Entry) {
	t.raiseFloor(e.place(), wire.GapExpired)
	t.remove(e)
	t.compact(compactEach)
}

// remove takes an entry out, which is the oldest of its channel.
func (t *Tenant) remove(e *Entry) {
	h, c := t.history, e.channel
	if h.removed != nil {
		h.removed(t.name, e)
	}
	c.entries[0] = nil
	c.entries = c.entries[1:]
	t.live--
	h.messages--
	t.addBytes(-e.bytes())
	e.channel, e.Payload = nil, nil
	if len(c.entries) == 0 {
		t.forget(c)
	}
	t.dropFront()
}

// forget takes out a channel without messages. Whoever has removed the last one has raised
// the floor of the tenant over it.
func (t *Tenant) forget(c *Channel) {
	delete(t.channels, c.name)
	t.addBytes(-channelOverhead - len(c.name))
	if c.rolled > 0 {
		heap.Remove(&t.rolled, c.rolled-1)
	}
}

// dropFront takes removed entries off the front, and corrects the tenant's place among the
// others.
func (t *Tenant) dropFront() {
	moved := false
	for t.first < len(t.entries) && t.entries[t.first].channel == nil {
		t.entries[t.first] = nil
		t.first++
		moved = true
	}
	if t.heapIndex < 0 || !moved {
		return
	}
	if t.live == 0 {
		heap.Remove(&t.owner.oldest, t.ownedIndex) // which compares the others alone
		t.owner.idle.add(t)
		t.entries, t.first, t.shorter = nil, 0, nil
		h := &t.history.oldest
		// The heap compares first entries, and this tenant has none: it leaves from its end.
		last := len(*h) - 1
		i := t.heapIndex
		if i != last {
			h.Swap(i, last)
		}
		h.Pop()
		if i != last {
			heap.Fix(h, i)
		}
		return
	}
	heap.Fix(&t.history.oldest, t.heapIndex)
	heap.Fix(&t.owner.oldest, t.ownedIndex)
}

// shorter is a list of entries that is being made. Some were removed since they were looked at.
type shorter struct {
	entries []*Entry
	next    int // index of the first one of Tenant.entries that was not looked at
}

// compactEach is how many entries compact looks at for each message that is added or removed: the list
// is made before entries have grown by half.
const compactEach = 4

// compact makes the list of entries shorter when most of it is not used any more: it looks at n of them.
// done: it is short enough.
func (t *Tenant) compact(n int) (done bool) {
	s := t.shorter
	if s == nil {
		if len(t.entries) < 64 || len(t.entries) < 2*t.live {
			return true
		}
		s = &shorter{entries: make([]*Entry, 0, t.live+t.live/4+16)}
		t.shorter = s
	}
	s.next = max(s.next, t.first)
	end := min(len(t.entries), s.next+n)
	for _, e := range t.entries[s.next:end] {
		if e.channel != nil {
			s.entries = append(s.entries, e)
		}
	}
	if s.next = end; end < len(t.entries) {
		return false
	}
	t.entries, t.first, t.shorter = s.entries, 0, nil
	t.dropFront()
	return true
}

// Tenants lists the names of the tenants, those without messages included.
func (h *History) Tenants() (names []string) {
	for name := range h.tenants {
		names = append(names, name)
	}
	return names
}
