package index

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

// KeyHash stands for a key of a publisher in a channel of a tenant. It is long enough that nobody
// finds two keys with the same one.
type KeyHash [16]byte

// What a hash begins with tells whose key it is. No name of a tenant is that long, so it is not
// the hash of earlier versions either, which begins with the length of the tenant's name.
const (
	ofSender = 0xffff
	ofToken  = 0xfffe
)

// HashKey returns the hash of a message's key.
func HashKey(m *history.Message) KeyHash {
	text := make([]byte, 0, 1024)
	if len(m.Sender) > 0 {
		text = appendName(binary.BigEndian.AppendUint16(text, ofSender), m.Sender)
	} else {
		text = appendName(binary.BigEndian.AppendUint16(text, ofToken), m.TokenID)
	}
	return sumKey(text, m)
}

// HashKeyOfAll is the hash of earlier versions, in which a key belonged to all publishers of its
// channel. A store may have some for [history.KeyTime] after an upgrade, or from older edges. It is zero
// for a message without sender, whose key is not known to be its own.
func HashKeyOfAll(m *history.Message) (hash KeyHash) {
	if len(m.Sender) > 0 {
		hash = sumKey(make([]byte, 0, 512), m)
	}
	return hash
}

func sumKey(text []byte, m *history.Message) (hash KeyHash) {
	text = append(appendName(appendName(text, m.Tenant), m.Channel), m.Key...)
	sum := sha256.Sum256(text)
	copy(hash[:], sum[:])
	return hash
}

func appendName[T string | []byte](text []byte, name T) []byte {
	return append(binary.BigEndian.AppendUint16(text, uint16(len(name))), name...)
}

// keyBytes is how many bytes of a history's size allow one key: with the default size, a
// million.
const keyBytes = 256

// keys are the keys that a history remembers.
type keys struct {
	known    map[KeyHash]wire.Position
	reserved int                 // see ReserveKey
	byTenant map[string]int      // these included
	byOwner  map[string]int      // without unknown ones
	queue    fifo[rememberedKey] // in the order in which they are forgotten
}

type rememberedKey struct {
	hash          KeyHash
	tenant, owner string
	n             uint64 // of its message
	until         time.Time
}

// Repeated returns the position of the message that was stored with a message's key, if there is one.
// The hashes are those of HashKey and, in a store that may have such keys, HashKeyOfAll, otherwise zero.
func (h *History) Repeated(m *history.Message, hash, ofAll KeyHash, now time.Time) (at wire.Position, ok bool) {
	h.keys.expire(now, MaxStep)
	if at, ok = h.known(hash, now); ok || ofAll == (KeyHash{}) {
		return at, ok
	}
	// What an earlier version stored is the sender's if its message is.
	at, ok = h.known(ofAll, now)
	return at, ok && h.sender(m.Tenant, at.N) == string(m.Sender)
}

// known returns the position of the message of a key, unless its time is over: expire may not have come
// to it.
func (h *History) known(hash KeyHash, now time.Time) (at wire.Position, ok bool) {
	at, ok = h.keys.known[hash]
	return at, ok && int64(at.T) > now.Add(-h.keyTime()).UnixMilli()
}

func (h *History) keyTime() time.Duration { return min(history.KeyTime, h.limits.Age) }

// sender returns the sender of a message; empty: there is none, or no such message.
func (h *History) sender(tenant string, n uint64) string {
	if t := h.tenants[tenant]; t != nil {
		if i := t.search(n); i < len(t.entries) && t.entries[i].N == n {
			return t.entries[i].Sender()
		}
	}
	return ""
}

// HasKeyRoom reports whether one more key of a tenant can be remembered, by a message that has this owner;
// without one, no owner has a share.
func (h *History) HasKeyRoom(tenant, owner string) bool {
	limit := int(h.limits.Size / keyBytes)
	return len(h.keys.known)+h.keys.reserved < limit && h.keys.byTenant[tenant] < limit/2 &&
		h.keys.byOwner[h.OwnerAfter(tenant, owner)] < limit/2
}

// OwnerAfter returns whose a tenant is after a message that has this owner; empty: the message has none.
func (h *History) OwnerAfter(tenant, owner string) string {
	if owner == "" || h.Takes(tenant, owner) {
		return owner
	}
	return h.Owner(tenant)
}

// ReservedKey is room for a key. The zero value means none.
type ReservedKey struct {
	history       *History
	tenant, owner string
}

// ReserveKey takes room for the key of a message that is about to be stored. ok: there is some, and
// Release gives it back, after Remember.
func (h *History) ReserveKey(tenant, owner string) (r ReservedKey, ok bool) {
	if !h.HasKeyRoom(tenant, owner) {
		return r, false
	}
	r = ReservedKey{h, tenant, h.OwnerAfter(tenant, owner)}
	h.keys.reserved++
	h.keys.count(r.tenant, r.owner, 1)
	return r, true
}

// Release gives room back, if there is any to give.
func (r ReservedKey) Release() {
	if r.history != nil {
		r.history.keys.reserved--
		r.history.keys.count(r.tenant, r.owner, -1)
	}
}

// Remember remembers the key of a message that was stored at a time.
func (h *History) Remember(tenant string, hash KeyHash, at wire.Position, stored time.Time) {
	k, owner := &h.keys, h.Owner(tenant)
	if k.known == nil {
		k.known = map[KeyHash]wire.Position{}
	}
	k.known[hash] = at
	k.count(tenant, owner, 1)
	k.queue.push(rememberedKey{hash, tenant, owner, at.N, stored.Add(h.keyTime())})
}

// count counts a key for a tenant and its owner, or with -1 takes that back.
func (k *keys) count(tenant, owner string, sign int) {
	if k.byTenant == nil {
		k.byTenant, k.byOwner = map[string]int{}, map[string]int{}
	}
	if k.byTenant[tenant] += sign; k.byTenant[tenant] == 0 {
		delete(k.byTenant, tenant)
	}
	if owner == "" {
		return
	}
	if k.byOwner[owner] += sign; k.byOwner[owner] == 0 {
		delete(k.byOwner, owner)
	}
}

// expire forgets keys whose time is over, up to a number of them.
func (k *keys) expire(now time.Time, upTo int) {
	for ; upTo > 0; upTo-- {
		old := k.queue.front()
		if old == nil || old.until.After(now) {
			return
		}
		if k.known[old.hash].N == old.n { // else it was stored again since
			delete(k.known, old.hash)
		}
		k.count(old.tenant, old.owner, -1)
		k.queue.pop()
	}
}

// fifo is a queue in blocks: however long it is, it is never copied. The zero value is empty.
type fifo[T any] struct {
	blocks [][]T // of maxBlock each, the last one aside
	first  int   // index in blocks[0]
}

const maxBlock = 256

func (q *fifo[T]) push(v T) {
	if n := len(q.blocks); n == 0 || len(q.blocks[n-1]) == maxBlock {
		q.blocks = append(q.blocks, make([]T, 0, maxBlock))
	}
	last := &q.blocks[len(q.blocks)-1]
	*last = append(*last, v)
}

// front returns the first one, until pop takes it out, or nil.
func (q *fifo[T]) front() *T {
	if len(q.blocks) == 0 {
		return nil
	}
	return &q.blocks[0][q.first]
}

func (q *fifo[T]) pop() {
	if q.first++; q.first == len(q.blocks[0]) {
		q.blocks[0] = nil
		q.blocks, q.first = q.blocks[1:], 0
	}
}
