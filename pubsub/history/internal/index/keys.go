package index

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

// KeyHash stands for a key of a channel of a tenant. It is long enough that nobody finds two
// keys with the same one.
type KeyHash [16]byte

// HashKey returns the hash of a message's key.
func HashKey(tenant string, channel, key []byte) (hash KeyHash) {
	text := make([]byte, 0, 512)
	text = binary.BigEndian.AppendUint16(text, uint16(len(tenant)))
	text = append(text, tenant...)
	text = binary.BigEndian.AppendUint16(text, uint16(len(channel)))
	text = append(append(text, channel...), key...)
	sum := sha256.Sum256(text)
	copy(hash[:], sum[:])
	return hash
}

// keyBytes is how many bytes of a history's size allow one key: with the default size, a
// million.
const keyBytes = 256

// keys are the keys that a history remembers.
type keys struct {
	known    map[KeyHash]wire.Position
	byTenant map[string]int
	queue    []rememberedKey // in the order in which they are forgotten
	first    int             // index of the first that is not forgotten
}

type rememberedKey struct {
	hash   KeyHash
	tenant string
	until  time.Time
}

// Repeated returns the position of the message that was stored with a key, if there is one.
func (h *History) Repeated(hash KeyHash, now time.Time) (at wire.Position, ok bool) {
	h.keys.expire(now)
	at, ok = h.keys.known[hash]
	return at, ok
}

// HasKeyRoom reports whether one more key of a tenant can be remembered.
func (h *History) HasKeyRoom(tenant string) bool {
	limit := int(h.limits.Size / keyBytes)
	return len(h.keys.known) < limit && h.keys.byTenant[tenant] < limit/2
}

// Remember remembers the key of a message that was stored at a time.
func (h *History) Remember(tenant string, hash KeyHash, at wire.Position, stored time.Time) {
	k := &h.keys
	if k.known == nil {
		k.known, k.byTenant = map[KeyHash]wire.Position{}, map[string]int{}
	}
	k.known[hash] = at
	k.byTenant[tenant]++
	k.queue = append(k.queue, rememberedKey{hash, tenant, stored.Add(min(history.KeyTime, h.limits.Age))})
}

// expire forgets keys whose time is over.
func (k *keys) expire(now time.Time) {
	for k.first < len(k.queue) && !k.queue[k.first].until.After(now) {
		old := &k.queue[k.first]
		delete(k.known, old.hash)
		if k.byTenant[old.tenant]--; k.byTenant[old.tenant] == 0 {
			delete(k.byTenant, old.tenant)
		}
		*old = rememberedKey{}
		k.first++
	}
	if k.first > 64 && k.first > len(k.queue)/2 {
		k.queue = append([]rememberedKey(nil), k.queue[k.first:]...)
		k.first = 0
	}
}
