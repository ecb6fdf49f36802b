package index

import (
	"container/heap"
	"strings"

	"github.com/millrace/millrace/wire"
)

// owner is whom tenants belong to: an issuer of tokens, who can have any number of them. Empty is
// everybody whose tenants nobody is known to own.
type owner struct {
	name   string
	bytes  int64
	oldest ownedHeap // its tenants with messages, the one with the oldest message first
	idle   idleList  // its other tenants
	raised place     // counts as removed of all of its tenants; see RaiseOwnerFloors
}

// Takes reports whether a tenant gets another owner by a message. Somebody else's it becomes while it has
// no messages, or by its name: who stores something in a tenant does not take what it has from its owner.
// Empty: that is not known.
func (h *History) Takes(tenant, owner string) bool {
	t := h.tenants[tenant]
	return owner != "" && (t == nil || t.owner.name != owner && (t.live == 0 || TakesStored(tenant, t.owner.name, owner)))
}

// TakesStored is Takes for a tenant with messages, and an owner who is somebody: it is whose name the tenant's
// begins with, that is by a prefix of tokens and not only as the first user, or the longer one of two.
func TakesStored(tenant, from, to string) bool {
	return from == "" || strings.HasPrefix(tenant, to) && (len(to) > len(from) || !strings.HasPrefix(tenant, from))
}

// own notes whose a tenant is.
func (t *Tenant) own(name string) {
	if t.owner != nil && !t.history.Takes(t.name, name) {
		return
	}
	h := t.history
	to := h.owners[name]
	if to == nil {
		to = &owner{name: name}
		h.owners[name] = to
	}
	if t.owner != nil {
		t.leaveOwner()
	}
	t.owner = to
	to.bytes += t.bytes
	if t.live > 0 {
		heap.Push(&to.oldest, t)
	} else {
		to.idle.add(t)
	}
}

// leaveOwner undoes own.
func (t *Tenant) leaveOwner() {
	from := t.owner
	if t.ownedIndex >= 0 {
		heap.Remove(&from.oldest, t.ownedIndex)
	} else {
		from.idle.remove(t)
	}
	t.raiseFloor(from.raised, wire.GapExpired)
	from.bytes -= t.bytes
	if len(from.oldest)+from.idle.n == 0 {
		delete(t.history.owners, from.name)
	}
}

// Owner returns whose a tenant is; empty: that is not known.
func (h *History) Owner(tenant string) string {
	if t := h.tenants[tenant]; t != nil {
		return t.owner.name
	}
	return ""
}

// SetOwner sets what Owner has returned before the store was closed.
func (h *History) SetOwner(tenant, name string) { h.tenant(tenant).own(name) }

// noteLarge remembers a tenant, or an owner, that has more than half of the size. There is one of each at
// most, but for what the next shrink removes; the one that is remembered stays until it has less. Nobody
// known is no owner: those tenants have nothing in common.
func (h *History) noteLarge(t *Tenant) {
	half := h.limits.Size / 2
	if t.bytes > half && (h.large == nil || h.large.bytes <= half) {
		h.large = t
	}
	if o := t.owner; o.bytes > half && o.name != "" && (h.largeOwner == nil || h.largeOwner.bytes <= half) {
		h.largeOwner = o
	}
}

// victim returns the tenant that loses a message next, as the history is too large: one that has more
// than half, else the one with the oldest message of an owner that has, else the one with the oldest of
// all. The last message of anybody stays as long as there are others. large: it has more than half.
func (h *History) victim(divided bool) (t *Tenant, large bool) {
	oldest, half, owner := h.oldest[0], h.limits.Size/2, ""
	o := h.largeOwner
	switch t = h.large; {
	case t != nil && t.live > 1 && t.bytes > half:
	case divided && o != nil && o.bytes > half && (len(o.oldest) > 1 || len(o.oldest) == 1 && o.oldest[0].live > 1):
		t, owner = o.oldest[0], o.name
	default:
		return oldest, false
	}
	if t != oldest && h.shrinking != nil && !h.shrinking(owner, t.name, t.entries[t.first]) {
		return oldest, false
	}
	return t, true
}

// ownedHeap is a tenantHeap of the tenants of one owner.
type ownedHeap []*Tenant

func (h ownedHeap) Len() int           { return len(h) }
func (h ownedHeap) Less(i, j int) bool { return h[i].isOlder(h[j]) }
func (h ownedHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].ownedIndex, h[j].ownedIndex = i, j
}
func (h *ownedHeap) Push(x any) {
	t := x.(*Tenant)
	t.ownedIndex = len(*h)
	*h = append(*h, t)
}
func (h *ownedHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h, t.ownedIndex = old[:len(old)-1], -1
	return t
}
