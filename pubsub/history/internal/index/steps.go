package index

import (
	"slices"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

// MaxStep is how many messages, or tenants, one step removes or looks at, at most. What goes
// through a whole history does so in steps, between which its store lets others have the lock.
const MaxStep = 4096

// Expire removes messages that are older than the history's age, up to a number of them, and
// forgets keys whose time is over, up to MaxStep: an edge that only receives what others store asks for none.
// done: no such message is left.
func (h *History) Expire(now time.Time, upTo int) (done bool) {
	h.keys.expire(now, MaxStep)
	oldest := now.Add(-h.limits.Age).UnixMilli()
	for ; len(h.oldest) > 0; upTo-- {
		t := h.oldest[0]
		e := t.entries[t.first]
		if int64(e.T) > oldest {
			return true
		}
		if upTo <= 0 {
			return false
		}
		t.removeFirst(e)
	}
	return true
}

// Purge removes what there was when it began, or a little more if others add to it meanwhile.
type Purge struct {
	Removed int // so far

	channel string
	tenants []*Tenant // whose turn is still to come
	until   uint64    // the head of the first one; 0: its turn has not come
}

// NewPurge begins to remove what there is of a channel of a tenant, of the tenant if channel
// is empty, or of all tenants if both are.
func NewPurge(h *History, tenant, channel string) *Purge {
	p := &Purge{channel: channel}
	switch t := h.tenants[tenant]; {
	case tenant == "":
		p.tenants = slices.Clone(h.oldest)
	case t != nil:
		p.tenants = []*Tenant{t}
	}
	return p
}

// Step does one step. done: it was the last.
func (p *Purge) Step() (done bool) {
	for left := MaxStep; len(p.tenants) > 0; left-- {
		if left == 0 {
			return false
		}
		t := p.tenants[0]
		if p.until == 0 {
			p.until = t.head.N
		}
		if e := p.next(t); e != nil && e.N <= p.until {
			t.raiseFloor(e.place(), wire.GapPurged)
			t.remove(e)
			p.Removed++
			continue
		}
		if !t.compact(MaxStep) {
			return false
		}
		p.tenants, p.until = p.tenants[1:], 0
	}
	return true
}

// next returns the oldest message that is asked for, or nil.
func (p *Purge) next(t *Tenant) *Entry {
	switch {
	case t.live == 0:
		return nil
	case p.channel == "":
		return t.entries[t.first]
	}
	if c := t.channels[p.channel]; c != nil {
		return c.entries[0]
	}
	return nil
}

// Shrinking removes what limits exclude.
type Shrinking struct {
	tenants []*Tenant // whose channels are still to be looked at
	after   uint64    // how far the first one is done
	holders []*Tenant // that may have more than half of the size, or their owners
}

// SetLimits puts limits into effect. Step of what it returns is to be called until it is done:
// until then messages may be there that they exclude.
func (h *History) SetLimits(l history.Limits) *Shrinking {
	s := &Shrinking{holders: slices.Clone(h.oldest)}
	if l.Messages < h.limits.Messages {
		s.tenants = slices.Clone(h.oldest)
	}
	h.limits = l
	return s
}

// AfterRestore is SetLimits for what Restore has left.
func (h *History) AfterRestore() *Shrinking { return h.SetLimits(h.limits) }

// Step does one step. done: it was the last.
func (s *Shrinking) Step(h *History, now time.Time) (done bool) {
	left := MaxStep
	for len(s.tenants) > 0 {
		if left = s.roll(s.tenants[0], left); left <= 0 {
			return false
		}
		s.tenants, s.after = s.tenants[1:], 0
	}
	if !h.Expire(now, MaxStep) {
		return false
	}
	for ; len(s.holders) > 0; s.holders = s.holders[1:] {
		for h.noteLarge(s.holders[0]); h.isTooLarge(); {
			t, large := h.victim(true)
			if !large {
				break
			}
			t.removeFirst(t.entries[t.first])
			if left--; left <= 0 {
				return false
			}
		}
		if left--; left <= 0 {
			return false
		}
	}
	return h.shrink(true, left)
}

// roll removes messages of channels that have more than they may. It goes from the oldest one
// on, so that it meets those to be removed before others of their channel. It returns how many
// it may still look at; 0: there are more.
func (s *Shrinking) roll(t *Tenant, left int) int {
	for i := t.search(s.after + 1); i < len(t.entries); i = max(i+1, t.first) {
		if left--; left == 0 {
			break
		}
		e := t.entries[i]
		s.after = e.N
		if c := e.channel; c != nil && len(c.entries) > t.history.limits.Messages && c.entries[0] == e {
			t.raise(c, e.place())
			t.remove(e)
		}
	}
	if !t.compact(MaxStep) {
		return 0
	}
	return left
}

// Inventory is a list of what is kept, by tenant.
type Inventory struct {
	List []history.Usage // so far, in no order

	tenants []*Tenant
}

// NewInventory begins to list what is kept.
func NewInventory(h *History) *Inventory { return &Inventory{tenants: slices.Clone(h.oldest)} }

// Step does one step. done: it was the last.
func (v *Inventory) Step(name string) (done bool) {
	n := min(len(v.tenants), MaxStep)
	for _, t := range v.tenants[:n] {
		if t.live == 0 {
			continue
		}
		v.List = append(v.List, history.Usage{
			History: name, Tenant: t.name, Channels: len(t.channels), Messages: t.live, Bytes: t.bytes,
			Oldest: time.UnixMilli(int64(t.entries[t.first].T)).UTC(),
		})
	}
	v.tenants = v.tenants[n:]
	return len(v.tenants) == 0
}
