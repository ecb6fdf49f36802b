package tokenstore

import (
	"slices"
	"sync"
)

// Watchers is the list of watch functions that a [Store] keeps. The zero value
// is ready, and all methods may be called concurrently.
type Watchers struct {
	mu   sync.Mutex
	list []*func(Change) // replaced, never modified: Notify iterates over it without the lock
}

// Add is the Watch method of a [Store].
func (w *Watchers) Add(fn func(Change)) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(slices.Clone(w.list), &fn)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.list = slices.DeleteFunc(slices.Clone(w.list), func(f *func(Change)) bool { return f == &fn })
	}
}

// Notify calls every watch function in the order in which they were added.
// The caller keeps the changes of one kind and id in order.
func (w *Watchers) Notify(c Change) {
	w.mu.Lock()
	list := w.list
	w.mu.Unlock()
	for _, fn := range list {
		(*fn)(c)
	}
}
