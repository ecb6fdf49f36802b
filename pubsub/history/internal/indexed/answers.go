package indexed

import (
	"cmp"
	"slices"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/wire"
)

// Answers are the methods of a [history.Store] that the indexes answer alone. A store embeds
// them.
type Answers[K Kept] struct{ set *Set[K] }

// Answers returns the answers of a set.
func (s *Set[K]) Answers() Answers[K] { return Answers[K]{s} }

// Head implements [history.Store].
func (a Answers[K]) Head(name, tenant string) (wire.Position, error) {
	k, err := a.set.Lock(name)
	if err != nil {
		return wire.Position{}, err
	}
	defer k.Unlock()
	return k.locked().Index.Head(tenant), nil
}

// Knows implements [history.Store].
func (a Answers[K]) Knows(name, tenant string, p wire.Position) (bool, error) {
	k, err := a.set.Lock(name)
	if err != nil {
		return false, err
	}
	defer k.Unlock()
	return k.locked().Index.Knows(tenant, p), nil
}

// Before implements [history.Store].
func (a Answers[K]) Before(name, tenant, channel string, n int) (after, removed uint64, err error) {
	k, err := a.set.lockExpired(name)
	if err != nil {
		return 0, 0, err
	}
	defer k.Unlock()
	after, removed = k.locked().Index.Before(tenant, channel, n)
	return after, removed, nil
}

// Usage implements [history.Store].
func (a Answers[K]) Usage() (all []history.Usage, err error) {
	if err := a.set.WhileOpen(func() error { return nil }); err != nil {
		return nil, err
	}
	for _, k := range a.set.List() {
		l := k.locked()
		if _, err := a.set.lockExpired(l.Name); err != nil {
			return nil, err
		}
		inventory := index.NewInventory(l.Index)
		inSteps(k, func() bool { return inventory.Step(l.Name) })
		k.Unlock()
		slices.SortFunc(inventory.List, func(a, b history.Usage) int { return cmp.Compare(a.Tenant, b.Tenant) })
		all = append(all, inventory.List...)
	}
	return all, nil
}
