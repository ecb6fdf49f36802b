package pubsub

import "time"

// bucket is a token bucket of one second's worth of bytes. A message may
// overdraw it, whatever its size; what is owed is waited for before the next
// one. That keeps the rate exact for messages larger than a second's worth.
// It is used by one goroutine at a time.
type bucket struct {
	tokens float64 // bytes that may pass at once; negative: owed
	last   time.Time
}

// wait returns how long to wait at this rate (bytes/s) before the next message.
func (b *bucket) wait(now time.Time, rate float64) time.Duration {
	if b.last.IsZero() {
		b.tokens = rate
	} else {
		b.tokens = min(rate, b.tokens+now.Sub(b.last).Seconds()*rate)
	}
	b.last = now
	if b.tokens > 0 {
		return 0
	}
	// A nanosecond more than owed, so that the next call finds it paid.
	return time.Duration(-b.tokens/rate*float64(time.Second)) + 1
}

// charge takes a message of n bytes.
func (b *bucket) charge(n int) { b.tokens -= float64(n + costOverhead) }
