package client

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Drain ends the subscription without losing what the edge has sent: no new messages come, what was received
// is given out, and then Messages is closed. It returns when the edge has ended the subscription, and a
// function of [Client.SubscribeFunc] has returned for all messages; call it from elsewhere than that function.
// The reader of Messages goes on until the channel is closed. So a worker that is told to stop calls Drain,
// and ends after its loop. A subscription that has ended is no error.
//
// The errors are ErrTimeout or that of ctx: then the subscription goes on ending.
func (s *Subscription) Drain(ctx context.Context) error {
	done := make(chan struct{})
	if s.client.post(func() { s.client.drain(s, done) }) {
		select {
		case <-done:
		case <-s.client.done:
		case <-ctx.Done():
			return s.key.ended(ctx, "the edge did not confirm the end of the subscription in time")
		}
	}
	if s.returned == nil || s.client.handler.inside() {
		return nil
	}
	select {
	case <-s.returned:
		return nil
	case <-ctx.Done():
		return s.key.ended(ctx, "the function had not returned for all messages in time")
	}
}

// Drain drains all subscriptions (see [Subscription.Drain]), waits until all that was received is taken, and
// closes the client. Who reads Messages in a loop may still be busy with the last message then, and cannot
// publish any more: such a worker drains its subscription, and closes the client after the loop.
//
// When ctx ends, it closes the client at once, and returns ErrTimeout or the error of ctx. Messages to one
// connection that are thrown away then are told by the event [Discarded].
func (c *Client) Drain(ctx context.Context) error {
	subs := make(chan []*Subscription, 1)
	var all []*Subscription
	if c.post(func() { subs <- c.router.subscriptions() }) {
		select {
		case all = <-subs:
		case <-c.done:
		}
	}
	errs := make([]error, len(all))
	var waiting sync.WaitGroup
	for i, s := range all {
		waiting.Go(func() {
			if errs[i] = s.Drain(ctx); errs[i] == nil {
				errs[i] = s.awaitReader(ctx)
			}
			if errs[i] != nil {
				s.end(nil, true)
			}
		})
	}
	waiting.Wait()
	return errors.Join(errors.Join(errs...), c.Close())
}

// awaitReader waits until all messages were taken. A channel does not tell, so it looks.
func (s *Subscription) awaitReader(ctx context.Context) error {
	const every = 5 * time.Millisecond
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for !s.queue.isGiven() {
		select {
		case <-ticker.C:
		case <-s.client.done:
			return nil
		case <-ctx.Done():
			return s.key.ended(ctx, "the application did not take all messages in time")
		}
	}
	return nil
}

// drain asks the edges for the end of a subscription, and then ends it. Until then it gets what they send.
func (c *Client) drain(s *Subscription, done chan<- struct{}) {
	finish := func() {
		in, last := c.router.remove(s)
		if last {
			in.answer(leftError(in.key))
			c.forgetPostponed(in)
		}
		s.end(nil, false)
		close(done)
	}
	in := c.router.beginDrain(s)
	if c.over || in == nil {
		finish()
		return
	}
	c.endOnEdges(in, finish)
}

// beginDrain returns the interest of a subscription that has it alone; nil: another one has it, too, or it
// has ended.
func (r *router) beginDrain(s *Subscription) *interest {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := r.interests[s.key]
	if in == nil || len(in.subs) != 1 || in.subs[0] != s {
		return nil
	}
	in.draining = true
	return in
}

// isDraining reports whether the subscription to a pattern is drained: another one has to wait.
func (r *router) isDraining(k key) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := r.interests[k]
	return in != nil && in.draining
}

// subscriptions returns all of them.
func (r *router) subscriptions() (all []*Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range r.interests {
		all = append(all, in.subs...)
	}
	return all
}
