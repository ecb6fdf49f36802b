package presence

import (
	"context"
	"time"
)

const (
	// tickEvery is how often watchers and other edges are told what has changed.
	tickEvery = 100 * time.Millisecond
	// idleEvery is how often the registry looks at what ends by time.
	idleEvery = time.Second
	// tickBytes is what watchers get in one tick, all together.
	tickBytes = 4 << 20
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
	r.prune(now)
	r.mu.Unlock()
	r.tellWatchers(now)
}

// endLingering removes the members of this edge that were lost for their linger.
func (r *Registry) endLingering(now time.Time) {
	r.endOwn(func() (left []Key) {
		for {
			m, ok := r.own.lingering.Min()
			if !ok || m.until.After(now) {
				return left
			}
			r.removeOwn(m.key, now)
			left = append(left, m.key)
		}
	})
}

// tellWatchers serves the audiences that have changed. It takes the lock for each, so that
// others get it in between.
func (r *Registry) tellWatchers(now time.Time) {
	r.mu.Lock()
	list := make([]*audience, 0, len(r.dirty))
	for a := range r.dirty { // in another order each time: who got nothing comes first some time
		list = append(list, a)
	}
	r.mu.Unlock()
	budget := tickBytes
	for _, a := range list {
		r.mu.Lock()
		if _, dirty := r.dirty[a]; dirty {
			var done bool
			if budget, done = a.serve(now, budget); done {
				delete(r.dirty, a)
			}
		}
		r.mu.Unlock()
		if budget <= 0 {
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.dirty) > 0 {
		r.wake()
	}
}
