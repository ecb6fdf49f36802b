package pubsub

import (
	"container/list"
	"sync"
	"time"
)

// fairBucket is a bucket of several connections that is asked before a message is
// accepted: a message takes its bytes, or waits for its turn behind those that came
// before it. So one message at a time overdraws the bucket, however many connections
// there are: the debt is never more than the largest message, and nobody gets
// ahead by a new connection. Safe for concurrent use.
type fairBucket struct {
	mu sync.Mutex
	bucket
	rate    float64     // bytes/s, as it was last asked with, or set; 0: no cap any more
	waiting list.List   // of *turn, the longest waiting first
	timer   *time.Timer // runs advance while somebody waits; nil: nobody ever has
}

// turn is the place of a message that waits for a fairBucket.
type turn struct {
	bucket  *fairBucket
	element *list.Element
	cost    int
	granted chan struct{} // closed once the message has taken its bytes
}

// take takes cost bytes at a rate in bytes per second, and returns nil; or the turn
// to wait for, which does it later. A turn that is not waited for is given up with
// leave.
func (b *fairBucket) take(rate float64, cost int) *turn {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rate = rate
	pause := b.wait(time.Now(), rate)
	if b.waiting.Len() == 0 && pause == 0 {
		b.tokens -= float64(cost)
		return nil
	}
	t := &turn{bucket: b, cost: cost, granted: make(chan struct{})}
	t.element = b.waiting.PushBack(t)
	switch {
	case b.waiting.Len() > 1:
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
	for first := b.waiting.Front(); first != nil; first = b.waiting.Front() {
		if b.rate > 0 {
			if pause := b.wait(time.Now(), b.rate); pause > 0 {
				b.timer.Reset(pause)
				return
			}
		}
		t := b.waiting.Remove(first).(*turn)
		b.tokens -= float64(t.cost)
		close(t.granted)
	}
}

// setRate changes the rate for those that wait; 0: no cap.
func (b *fairBucket) setRate(rate float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rate = rate; b.waiting.Len() > 0 {
		b.timer.Reset(0)
	}
}

func (t *turn) isGranted() bool {
	select {
	case <-t.granted:
		return true
	default:
		return false
	}
}

// giveUp gives the turn up, unless it has come.
func (t *turn) giveUp() {
	b := t.bucket
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting.Remove(t.element) // which does nothing once it has come, or was given up
	if b.waiting.Len() == 0 {
		b.timer.Stop()
	}
}

// idle reports whether nobody waits, and a new bucket would allow as much as this
// one.
func (b *fairBucket) idle(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting.Len() == 0 && (b.rate == 0 || b.bucket.idle(now, b.rate))
}
