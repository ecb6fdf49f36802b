package pattern

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync/atomic"
)

// children maps tokens to nodes. Like [list], it is for one writer and, at the
// same time, any number of readers, who only call get.
//
// It is a hash table with open addressing: a child stands in the slot that its
// hash names or, if that was taken, in the first free one after it. So a reader
// searches from there to the next empty slot. Slots are filled and never
// changed or emptied: a child that is left empty stays, as it matches nothing,
// and is used again when its token comes back. When a third of the slots is
// taken (more make searches longer) or most children are empty, those in use
// are put into a new table, which then takes the place of the old one. A reader
// of the old table still finds all that stood in it.
type children[V any] struct {
	table atomic.Pointer[table[V]] // nil: none
}

type table[V any] struct {
	slots []atomic.Pointer[node[V]] // a power of two, never all taken
	taken int                       // slots with a child; the writer's
	used  int                       // of these, children that are not empty; the writer's
}

var hashSeed = maphash.MakeSeed()

// get returns the child for text, which may be an empty one, or nil. It does
// not allocate.
func (c *children[V]) get(text []byte) *node[V] {
	if t := c.table.Load(); t != nil {
		return t.get(text)
	}
	return nil
}

// add returns the child for text, and makes it if there is none. The writer fills
// it if it is empty.
func (c *children[V]) add(text string) *node[V] {
	n := c.get([]byte(text))
	if n != nil && !n.empty() {
		return n
	}
	if n == nil {
		n = &node[V]{text: text, hash: maphash.String(hashSeed, text)}
		t := c.table.Load()
		if t == nil || 3*t.taken >= len(t.slots) {
			t = c.renew()
		}
		t.put(n)
	}
	c.table.Load().used++
	return n
}

// drop notes that one child has become empty.
func (c *children[V]) drop() {
	t := c.table.Load()
	t.used--
	if t.used == 0 {
		c.table.Store(nil)
	} else if 2*t.used < t.taken {
		c.renew()
	}
}

// renew puts the children in use into a new table, where they take at most a
// quarter. The next one is due after a number of changes in proportion to the
// work, so adding and dropping cost the same however many children there are.
func (c *children[V]) renew() *table[V] {
	all := c.inUse()
	size := 2
	for size < 4*len(all) {
		size *= 2
	}
	t := &table[V]{slots: make([]atomic.Pointer[node[V]], size), used: len(all)}
	for _, n := range all {
		t.put(n)
	}
	c.table.Store(t)
	return t
}

func (c *children[V]) empty() bool { return c.table.Load() == nil }

// inUse returns the children that are not empty.
func (c *children[V]) inUse() []*node[V] {
	t := c.table.Load()
	if t == nil {
		return nil
	}
	all := make([]*node[V], 0, t.used)
	for i := range t.slots {
		if n := t.slots[i].Load(); n != nil && !n.empty() {
			all = append(all, n)
		}
	}
	return all
}

func (c *children[V]) sorted() []*node[V] {
	return slices.SortedFunc(slices.Values(c.inUse()), func(a, b *node[V]) int { return cmp.Compare(a.text, b.text) })
}

func (t *table[V]) get(text []byte) *node[V] {
	hash := maphash.Bytes(hashSeed, text)
	for i := hash; ; i++ {
		n := t.slot(i).Load()
		if n == nil || n.hash == hash && n.text == string(text) {
			return n
		}
	}
}

func (t *table[V]) put(n *node[V]) {
	i := n.hash
	for t.slot(i).Load() != nil {
		i++
	}
	t.slot(i).Store(n)
	t.taken++
}

// slot returns the i-th slot; the count wraps around.
func (t *table[V]) slot(i uint64) *atomic.Pointer[node[V]] {
	return &t.slots[i&uint64(len(t.slots)-1)]
}
