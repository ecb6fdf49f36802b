package nats

import (
	"context"
	"math"
	"time"
)

// confirmation is what a call of Subscribe waits for.
type confirmation struct {
	number    uint64 // of the subscription: Broker.subscribesQueued
	since     time.Time
	confirmed func()
}

// allConfirmations is a number that no subscription exceeds.
const allConfirmations = math.MaxUint64

// confirm confirms all subscriptions up to a number.
func (b *Broker) confirm(upTo uint64) {
	b.mu.Lock()
	n := 0
	for n < len(b.confirmations) && b.confirmations[n].number <= upTo {
		n++
	}
	confirmed := b.confirmations[:n:n]
	b.confirmations = b.confirmations[n:]
	if len(b.confirmations) == 0 {
		b.confirmations = nil
	}
	b.mu.Unlock()
	for _, c := range confirmed {
		c.confirmed()
	}
}

// confirmLoop asks the server, by a PING, whether it has read the subscriptions, as long
// as the broker runs.
func (b *Broker) confirmLoop() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // ends with this method
		select {
		case <-b.quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	silent := false
	for ctx.Err() == nil {
		connected := b.conn.IsConnected()
		if silent && !connected { // linkDisconnected says more
			silent = false
			b.setLinkDown(linkSilent, false)
		}
		b.mu.Lock()
		written := b.subscribesWritten
		ask := len(b.confirmations) > 0 && b.confirmations[0].number <= written
		deadline := time.Now().Add(b.config.serverTimeout)
		if ask {
			deadline = b.confirmations[0].since.Add(b.config.serverTimeout)
		}
		b.mu.Unlock()
		if !ask && !silent || !connected {
			select {
			case <-b.wakeConfirmer:
			case <-ctx.Done():
			}
			continue
		}

		// The call itself can wait for a writer that is stuck.
		fired := make(chan struct{})
		watchdog := time.AfterFunc(time.Until(deadline), func() {
			b.setLinkDown(linkSilent, true)
			close(fired)
		})
		flushCtx, cancelFlush := context.WithTimeout(ctx, b.config.serverTimeout)
		err := b.conn.FlushWithContext(flushCtx)
		cancelFlush()
		if !watchdog.Stop() {
			<-fired // so that it does not end the link after what follows
		}
		silent = err != nil
		if !silent {
			b.confirm(written)
			b.setLinkDown(linkSilent, false)
		}
	}
}

// signal wakes the goroutine that waits for c, now or when it next looks.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
