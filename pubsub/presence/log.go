package presence

import (
	"time"

	"github.com/google/btree"
)

// keepGone is how long a log has what is gone: longer than it takes to read a large snapshot at
// a low cap. MaxGone is how much of it a log has; where there is more, the oldest is dropped once
// a second.
const (
	keepGone = 10 * time.Minute
	maxGone  = 20_000
)

// log has things in the order in which they changed last.
type log[T any] struct {
	number func(T) *uint64 // where a thing has its number; 0: it is not in the log
	tree   *btree.BTreeG[T]
	head   uint64    // the last number that was given
	floor  uint64    // the highest number of a thing that was dropped
	gone   []gone[T] // in the order in which they went; some may be back, or have gone again
}

// gone is a thing that went at a time.
type gone[T any] struct {
	thing T
	at    time.Time
}

func newLog[T any](number func(T) *uint64) log[T] {
	return log[T]{number: number, tree: btree.NewG(8, func(a, b T) bool { return *number(a) < *number(b) })}
}

// put gives a thing that has changed the next number.
func (l *log[T]) put(t T) {
	l.head++
	l.move(t, l.head)
}

// move gives a thing this number, which is the highest.
func (l *log[T]) move(t T, number uint64) {
	n := l.number(t)
	if *n != 0 {
		l.tree.Delete(t)
	}
	*n, l.head = number, number
	l.tree.ReplaceOrInsert(t)
}

// drop forgets a thing that is gone.
func (l *log[T]) drop(t T) {
	n := l.number(t)
	if *n == 0 {
		return
	}
	l.floor = max(l.floor, *n)
	l.tree.Delete(t)
	*n = 0
}

// after calls fn for what has a number above this one, in order, until fn returns false.
func (l *log[T]) after(number uint64, probe T, fn func(T) bool) {
	*l.number(probe) = number + 1
	l.tree.AscendGreaterOrEqual(probe, fn)
}

// mustRestart reports whether a reader at this number has to start over. Base is where the log was
// when it began: what was gone by then it has never been notified of, so that may be forgotten
// while it reads on from 0.
func (l *log[T]) mustRestart(number, base uint64) bool {
	return max(number, base) < l.floor || number > l.head
}

// leave notes that a thing is gone.
func (l *log[T]) leave(t T, now time.Time) { l.gone = append(l.gone, gone[T]{t, now}) }

// expired takes off the next thing that has been gone for long, or is one of too many.
func (l *log[T]) expired(now time.Time) (g gone[T], ok bool) {
	if len(l.gone) == 0 || now.Sub(l.gone[0].at) < keepGone && len(l.gone) <= maxGone {
		return g, false
	}
	return l.takeGone()
}

// takeGone takes off the next thing that is gone.
func (l *log[T]) takeGone() (g gone[T], ok bool) {
	if len(l.gone) == 0 {
		return g, false
	}
	g, l.gone[0] = l.gone[0], g
	if l.gone = l.gone[1:]; len(l.gone) == 0 {
		l.gone = nil
	}
	return g, true
}
