package pubsub

import (
	"sync"
	"time"
)

// bucket is a token bucket that holds one second's worth of bytes. It starts
// with a quarter of that: enough for a client's first lines, and little for one
// that comes back for more. A message may overdraw it, whatever its size; the next one
// waits until the debt is paid. That keeps the rate exact for messages
// larger than a second's worth. It is used by one goroutine at a time.
type bucket struct {
	tokens float64 // bytes that may pass at once; negative: overdrawn
	last   time.Time
}

// wait returns how long to wait at this rate (bytes/s) before the next message.
func (b *bucket) wait(now time.Time, rate float64) time.Duration {
	if b.last.IsZero() {
		b.tokens += rate / 4
	} else {
		b.tokens = min(rate, b.tokens+now.Sub(b.last).Seconds()*rate)
	}
	b.last = now
	if b.tokens >= 0 {
		return 0
	}
	// A nanosecond more than the debt, so that the next call finds it paid.
	return time.Duration(-b.tokens/rate*float64(time.Second)) + 1
}

// idle reports whether a new bucket would allow as much as this one.
func (b *bucket) idle(now time.Time, rate float64) bool {
	if b.last.IsZero() {
		return true
	}
	b.wait(now, rate)
	return b.tokens >= rate/4
}

// charge takes a message of n bytes.
func (b *bucket) charge(n int) { b.tokens -= float64(n + costOverhead) }

// sharedBucket is a bucket of several connections, safe for concurrent use. Those
// that wait for it continue at the same moment, each with a message, and all of them
// wait for what they overdraw together. It is for egress: publishers wait for a
// fairBucket.
type sharedBucket struct {
	mu sync.Mutex
	bucket
}

func (b *sharedBucket) wait(now time.Time, rate float64) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bucket.wait(now, rate)
}

// charge takes a message of n bytes, and reports whether the bucket is overdrawn now.
func (b *sharedBucket) charge(n int) (overdrawn bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bucket.charge(n)
	return b.tokens < 0
}

func (b *sharedBucket) idle(now time.Time, rate float64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return rate == 0 || b.bucket.idle(now, rate)
}
