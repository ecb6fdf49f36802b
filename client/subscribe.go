package client

import (
	"context"
	"time"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// Subscribe subscribes to the channels that the pattern matches, and returns when
// the edge has confirmed it: every matching message that is published from then on
// comes, as long as the connection holds. An empty tenant is "~". While there is no
// connection it waits for one. Subscriptions of a client to the same pattern are
// one on the edge, and each gets every message.
//
// The errors are ErrBadTenant, ErrBadPattern, ErrBadOption, ErrPermissionDenied,
// ErrTryLater, ErrTooManySubscriptions, ErrTooManyPatterns, ErrTimeout or that of ctx, and what
// the client ended with, or ErrClosed; with a history also ErrNoHistory and
// ErrTooManyChannels.
func (c *Client) Subscribe(ctx context.Context, tenant, pattern string, opts ...SubscribeOption) (*Subscription, error) {
	return c.subscribe(ctx, tenant, pattern, nil, opts)
}

// SubscribeFunc is Subscribe with a function that gets the messages, one after the
// other, from a goroutine of this subscription. It may call the client. Once
// Unsubscribe was called, or Close on a client that lives, it is not called again.
// When the client ends by itself, it still gets all messages that came before.
func (c *Client) SubscribeFunc(ctx context.Context, tenant, pattern string, f func(Message), opts ...SubscribeOption) (*Subscription, error) {
	if f == nil {
		return nil, badOption("SubscribeFunc needs a function, and has nil: Subscribe gives a channel")
	}
	return c.subscribe(ctx, tenant, pattern, f, opts)
}

func (c *Client) subscribe(ctx context.Context, tenant, text string, f func(Message), opts []SubscribeOption) (*Subscription, error) {
	if tenant == "" {
		tenant = wire.DefaultTenant
	}
	o := subscribeOptions{queue: c.s.Queue, policy: c.s.QueuePolicy}
	for _, opt := range opts {
		opt(&o)
	}
	if err := checkQueue(o.queue, o.policy); err != nil {
		return nil, err
	}
	if err := wire.CheckTenant(tenant); err != nil {
		return nil, nameError(err, Error{Tenant: tenant})
	}
	p, err := pattern.Parse(text)
	if err != nil {
		return nil, nameError(&wire.Error{Code: wire.CodeBadPattern, Reason: err.Error()}, Error{Tenant: tenant, Pattern: text})
	}
	switch from := o.history; {
	case from == nil:
	case from.err != nil:
		return nil, from.err
	case from.from.Origin == wire.OriginLastN && p.Shape() != 0:
		return nil, badOption("LastN is for one channel, and %s has a wildcard: begin with Last, which gives the newest message of each channel, or with After", text)
	}
	if err := ctx.Err(); err != nil {
		return nil, key{tenant, text}.ended(ctx, "the subscription was not begun")
	}
	group, closed := &c.group, c.closing
	if f != nil { // it empties the queue of a client that has ended by itself
		group, closed = &c.handler.group, c.left
	}
	s := &Subscription{
		client: c, key: key{tenant, text}, done: make(chan struct{}), noEcho: o.noEcho,
	}
	if o.history == nil {
		s.queue = newQueue(o.queue, o.policy, group, closed)
	} else {
		s.history = &history{from: o.history.from}
		s.queue = newHistoryQueue(o.queue, o.policy, group, closed, o.history.from)
		s.queue.onRead = func() { c.overflow.addRead(s) }
	}
	s.queue.onRoom = s.tellRoom
	if f != nil {
		s.queue.jobs.byCall, s.returned = true, make(chan struct{})
	}
	answer := make(chan *Error, 1)
	if !c.post(func() { c.addSubscription(s, f, answer) }) {
		return nil, c.closedError()
	}
	var refused *Error
	select {
	case refused = <-answer:
	case <-ctx.Done():
		s.end(nil, true)
		c.post(func() { c.forget(s, nil) })
		return nil, s.key.ended(ctx, "the edge did not confirm the subscription in time")
	case <-c.done:
		select {
		case refused = <-answer: // it came before the end did
		default:
			return nil, c.closedError()
		}
	}
	if refused != nil {
		return nil, refused
	}
	return s, nil
}

// read runs the function of a subscription until the subscription ends.
func (s *Subscription) read(f func(Message)) {
	defer close(s.returned)
	for m := range s.queue.out {
		select {
		case <-s.queue.stop: // by Unsubscribe
		case <-s.queue.closed: // by Close
		default:
			if f(m); m.toOne {
				s.queue.done()
			}
			continue
		}
		if m.toOne {
			s.tellDiscarded(1)
		}
		return
	}
}

func (c *Client) addSubscription(s *Subscription, f func(Message), answer chan<- *Error) {
	if c.over {
		answer <- asError(c.closedError())
		return
	}
	switch {
	case s.hasEnded(): // while it waited
		return
	case c.isLeaving(s.key), c.router.isDraining(s.key):
		c.delayed = append(c.delayed, func() { c.addSubscription(s, f, answer) })
		return
	}
	if !c.router.isShareable(s) {
		err := badOption("the client has a subscription to this pattern already, and one with a history is alone: share its messages, or Unsubscribe first")
		err.Tenant, err.Pattern = s.key.tenant, s.key.pattern
		answer <- err
		return
	}
	leaving := c.current != nil && c.current.unsubbed
	in, isNew := c.router.add(s, c.searching() != nil && c.current != nil && !leaving)
	if f != nil {
		c.handler.run(func() { s.read(f) })
	}
	if in.acked {
		answer <- nil
	} else {
		in.waiting = append(in.waiting, answer)
	}
	switch {
	case !isNew:
		return
	case in.history != nil:
		if c.current != nil && !leaving { // else it follows with the next connection
			c.sendHistory(c.current, in)
		}
		return
	}
	for _, conn := range c.conns() {
		if !conn.unsubbed {
			c.sendSub(conn, in)
		}
	}
	if c.move != nil && c.next != nil && c.current != nil && !leaving { // it is not left before the next one has this, too
		c.next.ready, c.move.settled = false, time.Time{}
	}
}

func (c *Client) sendSub(conn *conn, in *interest) {
	if in.history != nil {
		c.sendHistory(conn, in)
		return
	}
	if in.draining {
		return
	}
	c.router.beginCredit(conn, in)
	conn.sub(wire.VerbSub, in.key, func(code Code) { c.subscribed(conn, in, code) })
	c.giveCreditOn(conn, in) // else with the answer to FEATURES
}

// subscribed takes the answer to a SUB.
func (c *Client) subscribed(from *conn, in *interest, code Code) {
	if !c.router.has(in) {
		return // the application has left it
	}
	if code == "" {
		from.confirm(in)
		if from == c.next && c.current != nil && c.current.pending(in.key) {
			return // the other one is current, and what it delivers to others is not given again
		}
		in.confirm()
		return
	}
	if code == Code(wire.CodeTryLater) && in.acked {
		c.postpone(from, in)
		return
	}
	u := toSubscribe
	if in.history != nil && from.histories && in.history.asked != wire.OriginNow {
		u = toReadHistory
	}
	err := &Error{Code: code, Text: why(u, code, in.tenant, in.pattern, from.denial), Tenant: in.tenant, Pattern: in.pattern}
	if c.suspicion != nil && from == c.next && in.acked {
		from.lastErr = err // it cannot take over, and the current one, which has the subscription, may wake
		from.link.abort()
		return
	}
	for _, s := range c.router.clear(in) {
		s.end(err, false)
	}
	if in.acked {
		c.events.emit(SubscriptionError{Tenant: in.tenant, Pattern: in.pattern, Code: code, Text: err.Text})
	}
	in.answer(err)
	for _, conn := range c.conns() {
		if conn != from && !conn.unsubbed && in.history == nil {
			conn.sub(wire.VerbUnsub, in.key, func(Code) {})
		}
	}
	c.forgetPostponed(in)
}

// confirmNext takes the answers of the next connection for interests that the current one
// has not answered: nothing more comes of it.
func (c *Client) confirmNext() {
	for _, in := range c.router.all() {
		if !in.acked && in.history == nil && !c.next.pending(in.key) {
			in.confirm()
		}
	}
}

func (in *interest) confirm() {
	in.acked = true
	in.answer(nil)
}

// answer tells the Subscribe calls that wait.
func (in *interest) answer(err *Error) {
	for _, waiting := range in.waiting {
		waiting <- err
	}
	in.waiting = nil
}

func (c *Client) unsubscribe(ctx context.Context, s *Subscription) error {
	done := make(chan struct{})
	if !c.post(func() { c.forget(s, done) }) {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-c.done:
		return nil
	case <-ctx.Done():
		return s.key.ended(ctx, "the edge did not confirm the end of the subscription in time")
	}
}

// forget takes a subscription out, which has ended, and closes done when the edge
// has ended it, too.
func (c *Client) forget(s *Subscription, done chan<- struct{}) {
	if done == nil {
		done = make(chan struct{})
	}
	if c.over {
		return
	}
	in, last := c.router.remove(s)
	if !last {
		if in != nil {
			c.giveCredit(in) // those that stay may have more room
		}
		close(done)
		return
	}
	in.answer(leftError(in.key))
	c.router.leave(s)
	c.endOnEdges(in, func() {
		c.router.left(s)
		close(done)
	})
	c.forgetPostponed(in)
}

func leftError(k key) *Error {
	return &Error{Code: CodeClosed, Text: "the application has left the subscription", Tenant: k.tenant, Pattern: k.pattern}
}

// endOnEdges sends UNSUB on all connections, and calls done when all have answered or ended.
func (c *Client) endOnEdges(in *interest, done func()) {
	left := 1
	answered := func() {
		if left--; left == 0 {
			done()
		}
	}
	for _, conn := range c.conns() {
		if conn.unsubbed || in.history != nil && conn != c.current {
			continue
		}
		left++
		c.sendUnsub(conn, in.key, answered)
	}
	answered()
}

// endQueueFull forgets the subscriptions that ended because their queue was full.
func (c *Client) endQueueFull() {
	for _, s := range c.overflow.takeEnded() {
		c.forget(s, nil)
	}
}
