// Package index is what stores that know their messages by number keep in memory: which
// messages a history has, in which order, and what was removed. It knows no locks: the
// store that owns a [History] calls one method at a time.
package index

import (
	"container/heap"
	"time"
	"unique"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

// What bookkeeping counts as, in bytes, towards the size of a history.
const (
	entryOverhead   = 128
	channelOverhead = 256
)

// maxIdleTenants is how many tenants without a message a history remembers. Beyond, they
// are forgotten, and who stands at a position of theirs is notified of a gap.
const maxIdleTenants = 8192

// History is the messages of one history.
type History struct {
	epoch   uint64
	limits  history.Limits
	removed func(tenant string, e *Entry) // tells the store of each entry that goes; nil: it need not know

	tenants  map[string]*Tenant
	owners   map[string]*owner
	oldest   tenantHeap // tenants with messages, the one with the oldest message first
	bytes    int64
	messages int
	base     place          // the highest number and time of the tenants that were forgotten: new ones begin there
	raised   place          // counts as removed of every tenant; see RaiseFloors
	why      wire.GapReason // of raised
	opened   uint64         // when the store was opened, and before the last time; see Opened
	before   uint64
	forgot   func(tenant string)

	large      *Tenant // that has more than half of the size, or had; see noteLarge
	largeOwner *owner  // likewise
	ofOwners   uint64  // the highest number of RaiseOwnerFloors

	shrinking func(owner, tenant string, e *Entry) bool // see OnShrink; nil: nobody is asked
	keys      keys
}

// New makes an empty history. removed is called for each entry that is removed.
func New(epoch uint64, l history.Limits, removed func(tenant string, e *Entry)) *History {
	return &History{epoch: epoch, limits: l, removed: removed, tenants: map[string]*Tenant{}, owners: map[string]*owner{}}
}

// Tenant is the messages of one tenant in a history.
type Tenant struct {
	history *History
	name    string
	head    wire.Position
	floor   place          // the last message that age, size or a purge has removed
	why     wire.GapReason // of floor; empty: not known
	marks   []place        // ascending; see Opened
	entries []*Entry       // ascending; some were removed since, by the limit of their channel
	first   int            // index of the first entry that was not taken off the front
	shorter *shorter       // a list in place of entries, while it is made; nil: none is
	live    int            // entries that were not removed
	bytes   int64

	channels map[string]*Channel
	rolled   rolledHeap // the channels from which their own limit has removed messages
	raises   uint64     // how often the floor of one of these was raised
	raised   []*Channel // of the last len(raised) of these, by their number; some may be forgotten

	heapIndex  int // in History.oldest; -1: it has no messages
	ownedIndex int // likewise, in owner.oldest
	owner      *owner
	idle       links // in owner.idle
}

// place is where a message stood.
type place struct{ n, t uint64 }

// raise moves a place on to another one, if that is behind it.
func (p *place) raise(to place) {
	if to.n > p.n {
		*p = to
	}
}

// raiseFloor raises the floor of a tenant.
func (t *Tenant) raiseFloor(at place, why wire.GapReason) {
	if at.n > t.floor.n {
		t.floor, t.why = at, why
	}
}

func (e *Entry) place() place { return place{e.N, e.T} }

// Channel is the messages of one channel.
type Channel struct {
	name    string
	entries []*Entry // ascending, none is removed
	floor   place    // the last message that its own limit has removed
	rolled  int      // its place in Tenant.rolled, from 1; 0: it is not there
}

// Entry is one message.
type Entry struct {
	N, T    uint64
	Payload []byte // nil where the store keeps it elsewhere
	Size    int    // bytes of the payload

	channel *Channel // nil: removed
	// sender is shared by the messages that have the same, and takes one word of each; zero: none.
	sender unique.Handle[string]
}

// Sender returns who sent the message; empty: it is not known.
func (e *Entry) Sender() string {
	if e.sender == (unique.Handle[string]{}) {
		return ""
	}
	return e.sender.Value()
}

// Channel returns the name of the entry's channel, while it is not removed.
func (e *Entry) Channel() string { return e.channel.name }

// Head returns the position of the last message of a tenant.
func (h *History) Head(tenant string) wire.Position {
	if t := h.tenants[tenant]; t != nil {
		return t.head
	}
	return h.position(h.base)
}

// Next returns the position of the next message of a tenant.
func (h *History) Next(tenant string, now time.Time) wire.Position {
	head := h.Head(tenant)
	return wire.Position{Epoch: h.epoch, N: head.N + 1, T: max(head.T, h.opened, uint64(now.UnixMilli()))}
}

// Add adds a message at a position behind the head of its tenant, and removes what is
// beyond the limits now, perhaps this message, too. The payload may be nil; size is its
// length. See [history.Message].Owner for the owner: without one, no owner has a share.
func (h *History) Add(owner, tenant string, channel []byte, at wire.Position, sender, payload []byte, size int) *Entry {
	t := h.tenants[tenant]
	if t == nil {
		t = h.begin(owner, tenant, at)
	}
	t.own(owner)
	e := t.add(channel, at, sender, payload, size)
	h.noteLarge(t)
	h.shrink(owner != "", MaxStep)
	return e
}

// add adds a message, and removes what is beyond the limit of its channel.
func (t *Tenant) add(channel []byte, at wire.Position, sender, payload []byte, size int) *Entry {
	h := t.history
	c := t.channels[string(channel)]
	if c == nil {
		c = &Channel{name: string(channel)}
		t.channels[c.name] = c
		t.addBytes(channelOverhead + len(c.name))
	}
	e := &Entry{N: at.N, T: at.T, Payload: payload, Size: size, channel: c}
	if len(sender) > 0 {
		e.sender = unique.Make(string(sender))
	}
	c.entries = append(c.entries, e)
	t.entries = append(t.entries, e)
	t.live++
	h.messages++
	t.addBytes(e.bytes())
	t.head = at
	if t.heapIndex < 0 {
		t.owner.idle.remove(t)
		heap.Push(&h.oldest, t)
		heap.Push(&t.owner.oldest, t)
	}
	t.roll(c)
	t.compact(compactEach)
	return e
}

// Restore is Add for a message that a store has read from its disk: its tenant's head may be known to be
// further. What is beyond the size stays until AfterRestore: who has more than half is known when all is read.
func (h *History) Restore(tenant string, channel []byte, at wire.Position, sender []byte, size int) {
	t := h.restored(tenant, at)
	head := t.head
	t.add(channel, at, sender, nil, size)
	if head.N > at.N {
		t.head = head
	}
}

// Skip moves the head of a tenant on, and counts all up to it as removed: messages may be
// missing that readers have seen.
func (h *History) Skip(tenant string, to wire.Position, why wire.GapReason) {
	t := h.tenant(tenant)
	t.head = to
	t.raiseFloor(place{to.N, to.T}, why)
}

// SetFloors sets what a store has remembered of a tenant, before its messages are read:
// what was removed, numbers up to floor, the head, and its Marks.
func (h *History) SetFloors(tenant string, head, floor wire.Position, marks []wire.Position) {
	t := h.add(tenant, place{floor.N, floor.T}, 0)
	t.head = head
	for _, m := range marks {
		t.mark(place{m.N, m.T})
	}
}

// SetChannelFloor is SetFloors for what the limit of one channel has removed.
func (h *History) SetChannelFloor(tenant, channel string, floor wire.Position) {
	t, at := h.tenant(tenant), place{floor.N, floor.T}
	if c := t.channels[channel]; c != nil {
		t.raise(c, at)
	} else {
		t.raiseFloor(at, wire.GapExpired)
	}
}

// Floor returns the position of the last message that was removed from a tenant, the
// limits of channels aside.
func (h *History) Floor(tenant string) wire.Position {
	if t := h.tenants[tenant]; t != nil {
		lost, _ := t.lostTo()
		return h.position(lost)
	}
	return h.position(h.base)
}

// ChannelFloor returns the position of the last message that a channel's own limit has
// removed; N is 0: there is none.
func (h *History) ChannelFloor(tenant, channel string) wire.Position {
	if t := h.tenants[tenant]; t != nil && t.channels[channel] != nil {
		return h.position(t.channels[channel].floor)
	}
	return wire.Position{Epoch: h.epoch}
}

func (h *History) position(p place) wire.Position {
	return wire.Position{Epoch: h.epoch, N: p.n, T: p.t}
}

func (e *Entry) bytes() int { return e.Size + len(e.Sender()) + entryOverhead }

func (t *Tenant) addBytes(n int) {
	t.bytes += int64(n)
	t.owner.bytes += int64(n)
	t.history.bytes += int64(n)
}

// isOlder reports whether the oldest message of a tenant is older than that of another one. Where the
// numbers are those of all tenants, that is exact; otherwise to the millisecond.
func (t *Tenant) isOlder(than *Tenant) bool {
	a, b := t.entries[t.first], than.entries[than.first]
	return a.T < b.T || a.T == b.T && a.N < b.N
}

// tenantHeap orders tenants by their oldest message.
type tenantHeap []*Tenant

func (h tenantHeap) Len() int           { return len(h) }
func (h tenantHeap) Less(i, j int) bool { return h[i].isOlder(h[j]) }
func (h tenantHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].heapIndex, h[j].heapIndex = i, j
}
func (h *tenantHeap) Push(x any) {
	t := x.(*Tenant)
	t.heapIndex = len(*h)
	*h = append(*h, t)
}
func (h *tenantHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h, t.heapIndex = old[:len(old)-1], -1
	return t
}
