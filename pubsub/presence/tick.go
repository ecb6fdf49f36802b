package presence

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// tickEvery is how often watchers and other edges are told what has changed.
	tickEvery = 100 * time.Millisecond
	// idleEvery is how often the registry looks at what ends by time.
	idleEvery = time.Second
	// tickBytes is what watchers get in one tick, all together.
	tickBytes = 4 << 20
	// maxEnded is how many members end at once by their linger: the lock is held so long. The others
	// do in the next ticks.
	maxEnded = 5_000
)

// Run tells watchers and other edges what changes, until ctx ends. It is called once.
func (r *Registry) Run(ctx context.Context) {
	timer := time.NewTimer(idleEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.kick:
		case <-timer.C:
		}
		r.Tick(time.Now())
		timer.Reset(idleEvery)
		pause := time.NewTimer(tickEvery) // what changes meanwhile is told together
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
		pause.Stop()
	}
}

// Tick does what is due. Run calls it.
func (r *Registry) Tick(now time.Time) {
	r.endLingering(now)
	r.mu.Lock()
	r.endSilent(now)
	r.tellEdges(now)
	r.mu.Unlock()
	r.endHeld(now)
	r.prune(now)
	r.tellWatchers(now)
}

// endLingering removes the members of this edge that were lost for their linger.
func (r *Registry) endLingering(now time.Time) {
	r.endOwn(func() (left []*ownMember) {
		for {
			m, ok := r.own.lingering.Min()
			switch {
			case !ok || m.until.After(now):
				return left
			case len(left) == maxEnded:
				r.wake()
				return left
			}
			r.removeOwn(m, now)
			left = append(left, m)
		}
	})
}

// tellWatchers serves the audiences that have changed, for tickBytes: each holder has the same part of
// them, and of that each of its tenants; what one does not need is for those after it. What a holder took
// beyond its part, since a page can be large, is taken off its next one: others' parts stay as they are,
// however many tenants one has. It takes the lock for each audience, so that others get it in between.
func (r *Registry) tellWatchers(now time.Time) {
	behind := r.takeDirty()
	budget, left := tickBytes, len(behind)
	var again []*audience
	fewest := func(a, b *holder) int { return cmp.Compare(len(behind[a]), len(behind[b])) } // tenants; needs least, maybe
	for _, h := range slices.SortedFunc(maps.Keys(behind), fewest) {
		share := budget / left
		left--
		rest := r.tellTenants(now, h.name, behind[h], share-h.owes, &again)
		h.owes = max(0, -rest)
		budget -= share - max(0, rest)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dirty = append(again, r.dirty...); len(r.dirty) > 0 {
		r.wake()
	}
}

// takeDirty takes the audiences that have changed, by who pays for them and by tenant, in another order
// each time: who got nothing comes first some time.
func (r *Registry) takeDirty() map[*holder]map[*tenant][]*audience {
	r.mu.Lock()
	dirty := r.dirty
	r.dirty = nil
	r.mu.Unlock()
	rand.Shuffle(len(dirty), func(i, j int) { dirty[i], dirty[j] = dirty[j], dirty[i] })
	behind := map[*holder]map[*tenant][]*audience{}
	for some := range slices.Chunk(dirty, stepSize) {
		r.mu.Lock()
		for _, a := range some {
			h := a.payer()
			if behind[h] == nil {
				behind[h] = map[*tenant][]*audience{}
			}
			behind[h][a.tenant] = append(behind[h][a.tenant], a)
		}
		r.mu.Unlock()
	}
	return behind
}

// payer returns who pays for what the watchers are told: whoever has the tenant, so that nobody can make
// its watchers wait by being the first to watch; where nobody knows, whose token was the first. The caller
// holds Registry.mu.
func (a *audience) payer() *holder {
	if a.tenant.holder.name != "" {
		return a.tenant.holder
	}
	return a.user
}

// tellTenants serves audiences of tenants that one holder pays for, for so many bytes, and appends to again
// those that are still behind. Left is how many bytes are left; below 0: so many were too much.
func (r *Registry) tellTenants(
	now time.Time, payer string, tenants map[*tenant][]*audience, budget int, again *[]*audience,
) (left int) {
	n := len(tenants)
	for t, list := range tenants {
		began := time.Now()
		share := budget / n
		if budget > 0 {
			share = max(1, share)
		}
		n--
		budget -= share - r.tellAudiences(now, list, share, again)
		if r.options.Worked != nil {
			r.options.Worked(t.name, payer, time.Since(began))
		}
	}
	return budget
}

// tellAudiences serves audiences of a tenant for so many bytes, appends to again those that are still
// behind, and returns how many bytes are left.
func (r *Registry) tellAudiences(now time.Time, list []*audience, budget int, again *[]*audience) (left int) {
	for i, a := range list {
		if budget <= 0 {
			*again = append(*again, list[i:]...)
			break
		}
		r.mu.Lock()
		if len(a.watchers) > 0 { // otherwise it has ended meanwhile
			var done bool
			if budget, done = a.serve(now, budget); done {
				a.dirty = false
				a.tenant.wildDirty = a.tenant.wildDirty && a.channel != nil
			} else {
				*again = append(*again, a)
			}
		}
		r.mu.Unlock()
	}
	return budget
}
