package console

import "time"

// attempts is a bucket that attempts are taken from.
type attempts struct {
	used float64
	at   time.Time
}

// level is how many attempts count at a time.
func (a *attempts) level(now time.Time, every time.Duration) float64 {
	return max(0, a.used-float64(now.Sub(a.at))/float64(every))
}

// take counts an attempt, or returns after how long there is room for one.
func (a *attempts) take(now time.Time, burst float64, every time.Duration) time.Duration {
	level := a.level(now, every)
	if level > burst-1 {
		return max(time.Second, time.Duration((level-burst+1)*float64(every)))
	}
	a.used, a.at = level+1, now
	return 0
}

func (a *attempts) giveBack() { a.used = max(0, a.used-1) }

// buckets are those of addresses or networks, at most maxKept of them.
type buckets[K comparable] struct {
	every    time.Duration // after which one attempt more is forgotten
	byKey    map[K]*attempts
	overflow attempts  // of those for which there is no room
	swept    time.Time // when those that count nothing were last forgotten for room
}

func newBuckets[K comparable](every time.Duration) buckets[K] {
	return buckets[K]{every: every, byKey: map[K]*attempts{}}
}

// of returns the bucket of a key, creating it if needed.
func (b *buckets[K]) of(key K, now time.Time) *attempts {
	if a := b.byKey[key]; a != nil {
		return a
	}
	if len(b.byKey) >= maxKept && now.Sub(b.swept) >= sweepEvery {
		b.swept = now
		for other, a := range b.byKey {
			if a.level(now, b.every) == 0 {
				delete(b.byKey, other)
			}
		}
	}
	if len(b.byKey) >= maxKept {
		return &b.overflow
	}
	a := new(attempts)
	b.byKey[key] = a
	return a
}

// level is how many attempts of a key count at a time.
func (b *buckets[K]) level(key K, now time.Time) float64 {
	a := b.byKey[key]
	if a == nil {
		a = &b.overflow
	}
	return a.level(now, b.every)
}
