package pattern

import "sync/atomic"

// list is a linked list for one writer and, at the same time, any number of
// readers. A reader walks it with
//
//	for l := list.first.Load(); l != nil; l = l.rest.first.Load()
//
// and meets each item that is there all the while exactly once, whatever the
// writer does: an item that is linked keeps its place, and an item that is taken
// out keeps its rest, for a reader that is there.
//
// What follows an item is a list again. So the writer only changes the front of
// the list that find returns.
type list[T any] struct {
	first atomic.Pointer[link[T]]
}

type link[T any] struct {
	item T // not written any more
	rest list[T]
}

func (l *list[T]) empty() bool { return l.first.Load() == nil }

// front returns the first item; there must be one, also for pop and replace.
func (l *list[T]) front() *T { return &l.first.Load().item }

func (l *list[T]) push(item T) { l.set(item, l.first.Load()) }

// replace sets the first item in one step: a reader meets the old or the new.
func (l *list[T]) replace(item T) { l.set(item, l.first.Load().rest.first.Load()) }

func (l *list[T]) pop() { l.first.Store(l.first.Load().rest.first.Load()) }

func (l *list[T]) set(item T, rest *link[T]) {
	first := &link[T]{item: item}
	first.rest.first.Store(rest)
	l.first.Store(first)
}

// find returns the list from the first item on for which order, by which the
// items are sorted, is not negative, and whether it is 0 for that item.
func (l *list[T]) find(order func(*T) int) (from *list[T], found bool) {
	for ; !l.empty(); l = &l.first.Load().rest {
		if o := order(l.front()); o >= 0 {
			return l, o == 0
		}
	}
	return l, false
}
