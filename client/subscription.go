package client

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
)

// Subscription is a subscription of this client to a pattern. Its methods are
// safe for concurrent use.
type Subscription struct {
	client  *Client
	key     key
	queue   *queue
	history *history // nil: without one

	dropped   atomic.Int64 // messages, since the last event
	discarded atomic.Int64 // those to one connection that were thrown away, since the last event
	flagged   atomic.Bool  // the loop has been asked to report them

	hasRoom  atomic.Bool   // the loop has been asked for more credit
	noEcho   bool          // it leaves out what the client has published
	returned chan struct{} // closed when the function of SubscribeFunc is not called any more; nil: there is none

	once sync.Once
	err  error         // set before done is closed
	done chan struct{} // closed when it has ended
}

// SubscribeOption changes one subscription.
type SubscribeOption func(*subscribeOptions)

type subscribeOptions struct {
	queue   int
	policy  QueuePolicy
	history *From // nil: without one
	noEcho  bool
}

// WithoutEcho leaves out what this client has published itself: see [Message].Own. An edge of an earlier version
// does not say whose a message is; then it comes.
func WithoutEcho() SubscribeOption {
	return func(o *subscribeOptions) { o.noEcho = true }
}

// WithQueue sets how many messages may wait in this subscription, and what
// happens when they are more. 0 and the empty policy leave what [Options] say.
func WithQueue(n int, policy QueuePolicy) SubscribeOption {
	return func(o *subscribeOptions) {
		o.queue, o.policy = cmp.Or(n, o.queue), cmp.Or(policy, o.policy)
	}
}

// Tenant returns the tenant; "~" if it was given empty.
func (s *Subscription) Tenant() string { return s.key.tenant }

// Pattern returns the pattern as it was given.
func (s *Subscription) Pattern() string { return s.key.pattern }

// Position returns where to go on, with [After], behind all messages that were taken from
// Messages, or given to the function: for the next start of the program, for example. It
// also moves on while nothing that matches is published. It is empty as long as it is not
// known, and without a history.
func (s *Subscription) Position() string {
	if p, ok := s.queue.position(); ok {
		return p.String()
	}
	return ""
}

// Messages returns the channel of the messages, in order. It is closed when the
// subscription has ended, which [Subscription.Err] explains; what came before an
// end with an error can still be read then, until Close. For a subscription
// of [Client.SubscribeFunc] it is the function that reads it.
func (s *Subscription) Messages() <-chan Message { return s.queue.out }

// Err returns nil while the subscription lives, and after Unsubscribe and Close.
func (s *Subscription) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

func (s *Subscription) hasEnded() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Unsubscribe ends the subscription: its channel is closed at once. It returns
// when the edge has ended it, too, or there is no connection. Messages that are
// not read by then may be lost; the event [Discarded] says how many of them were published to one
// connection, so that nobody else gets them. [Subscription.Drain] loses none. A subscription that has
// ended is no error.
func (s *Subscription) Unsubscribe(ctx context.Context) error {
	s.end(nil, true)
	return s.client.unsubscribe(ctx, s)
}

// end closes the channel. It may be called more than once.
func (s *Subscription) end(err error, discard bool) {
	s.once.Do(func() {
		s.err = err
		close(s.done)
	})
	s.queue.end(discard)
	s.tellDiscarded(s.queue.takeLost())
}
