package indexed

import (
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
)

// ExpireEach is how many messages that are too old a message removes that is added: more than
// one, so that they do not pile up.
const ExpireEach = 64

// inSteps calls step, which holds the lock, until it is done, and lets go of the lock in
// between. The caller has locked k.
func inSteps[K Kept](k K, step func() (done bool)) {
	for !step() {
		k.Unlock() // a mutex is handed over to who has waited for a millisecond
		k.Lock()
	}
}

// lockExpired is Lock of a history without messages that are too old.
func (s *Set[K]) lockExpired(name string) (K, error) {
	k, err := s.Lock(name)
	if err == nil {
		inSteps(k, func() bool { return k.locked().Index.Expire(time.Now(), index.MaxStep) })
	}
	return k, err
}

// Purge removes messages from an index, as [history.Store] has it. flush is called without a
// lock, again and again, so that the store can do the same with its own; nil: it has nothing to
// do.
func (s *Set[K]) Purge(name, tenant, channel string, flush func() error) (removed int, err error) {
	k, err := s.Lock(name)
	if err != nil {
		return 0, err
	}
	purge := index.NewPurge(k.locked().Index, tenant, channel)
	k.Unlock()
	err = walk(k, purge.Step, flush)
	return purge.Removed, err
}

// SetLimits puts limits into effect, and removes what they exclude. flush is as in Purge.
func (s *Set[K]) SetLimits(k K, l history.Limits, flush func() error) error {
	h := k.locked().Index
	k.Lock()
	shrinking := h.SetLimits(l)
	k.Unlock()
	return walk(k, func() bool { return shrinking.Step(h, time.Now()) }, flush)
}

// walk calls step with the lock held, and flush without, until step is done.
func walk[K Kept](k K, step func() (done bool), flush func() error) error {
	for done := false; !done; {
		k.Lock()
		done = step()
		k.Unlock()
		if flush == nil {
			continue
		}
		if err := flush(); err != nil {
			return err
		}
	}
	return nil
}
