package pubsub

import (
	"container/list"
	"sync"
	"time"
)

// fairBucket is a bucket of several connections that is asked before a message is
// accepted: a message takes its bytes, or waits for its turn behind those that came
// before it. So one message at a time overdraws the bucket, however many connections
// there are: what is owed is never more than the largest message, and nobody gets
// ahead by a new connection. Safe for concurrent use.
type fairBucket struct {
	mu sync.Mutex
	bucket
	rate  float64     // bytes/s, as it was last asked with, or set; 0: no cap any more
	line  list.List   // of *turn, the longest waiting first
	timer *time.Timer // runs advance while somebody waits; nil: nobody ever has
}

// turn is the place of a message that waits for a fairBucket.
type turn struct {
	bucket *fairBucket
	place  *list.Element
	cost   int
	came   chan struct{} // closed once the message has taken its bytes
}

// take takes cost bytes at a rate in bytes per second, and returns nil; or the turn
// to wait for, which does it later. A turn that is not waited for is given up with
// leave.
func (b *fairBucket) take(rate float64, cost int) *turn {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rate = rate
	pause := b.wait(time.Now(), rate)
	if b.line.Len() == 0 && pause == 0 {
		b.tokens -= float64(cost)
		return nil
	}
	t := &turn{bucket: b, cost: cost, came: make(chan struct{})}
	t.place = b.line.PushBack(t)
	switch {
	case b.line.Len() > 1:
	case b.timer == nil:
		b.timer = time.AfterFunc(pause, b.advance)
	default:
		b.timer.Reset(pause)
	}
	return t
}

// advance gives the first of those that wait their turn, as the rate allows.
func (b *fairBucket) advance() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for first := b.line.Front(); first != nil; first = b.line.Front() {
		if b.rate > 0 {
			if pause := b.wait(time.Now(), b.rate); pause > 0 {
				b.timer.Reset(pause)
				return
			}
		}
		t := b.line.Remove(first).(*turn)
		b.tokens -= float64(t.cost)
		close(t.came)
	}
}

// setRate changes the rate for those that wait; 0: no cap.
func (b *fairBucket) setRate(rate float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rate = rate; b.line.Len() > 0 {
		b.timer.Reset(0)
	}
}

func (t *turn) hasCome() bool {
	select {
	case <-t.came:
		return true
	default:
		return false
	}
}

// leave gives the turn up, unless it has come.
func (t *turn) leave() {
	b := t.bucket
	b.mu.Lock()
	defer b.mu.Unlock()
	b.line.Remove(t.place) // which does nothing once it has come, or was given up
	if b.line.Len() == 0 {
		b.timer.Stop()
	}
}

// idle reports whether nobody waits, and a new bucket would allow as much as this
// one.
func (b *fairBucket) idle(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.line.Len() == 0 && (b.rate == 0 || b.bucket.idle(now, b.rate))
}
