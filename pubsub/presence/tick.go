package presence

import (
	"context"
	"math/rand/v2"
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

// tellWatchers serves the audiences that have changed, for tickBytes: each tenant has the same
// part of them, and what one does not need is for those after it, in another order each time.
// It takes the lock for each audience, so that others get it in between.
func (r *Registry) tellWatchers(now time.Time) {
	r.mu.Lock()
	dirty := r.dirty
	r.dirty = nil
	r.mu.Unlock()
	// Who got nothing comes first some time.
	rand.Shuffle(len(dirty), func(i, j int) { dirty[i], dirty[j] = dirty[j], dirty[i] })
	byTenant := map[*tenant][]*audience{}
	for _, a := range dirty {
		byTenant[a.tenant] = append(byTenant[a.tenant], a)
	}
	budget, left := tickBytes, len(byTenant)
	var again []*audience
	for t, list := range byTenant {
		began := time.Now()
		share := budget / left
		rest, owner := r.tellAudiences(now, list, share, &again)
		budget -= share - rest
		left--
		if r.options.Worked != nil {
			r.options.Worked(t.name, owner, time.Since(began))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dirty = append(again, r.dirty...); len(r.dirty) > 0 {
		r.wake()
	}
}

// tellAudiences serves audiences of a tenant for so many bytes, appends to again those that are still
// behind, and returns how many bytes are left, and whose the tenant is.
func (r *Registry) tellAudiences(
	now time.Time, list []*audience, budget int, again *[]*audience,
) (left int, owner string) {
	for i, a := range list {
		if budget <= 0 {
			*again = append(*again, list[i:]...)
			break
		}
		r.mu.Lock()
		owner = a.tenant.holder.name
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
	return budget, owner
}
