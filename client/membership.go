package client

import (
	"context"
	"slices"
	"sync"

	"github.com/millrace/millrace/wire"
)

// Membership says that this client is present in a channel; see [Client.Join]. Its methods
// are safe for concurrent use.
type Membership struct {
	client *Client
	key    key

	once sync.Once
	err  error         // set before done is closed
	done chan struct{} // closed when it has ended
}

// Join makes the subject of the client's token a member of a channel, whom others see by
// [Client.Presence], and returns when the edge has acknowledged it. An empty tenant is "~". The
// client stays a member until Leave or Close: it joins again after each loss of the connection
// and in each move, and nobody sees it leave if that does not take longer than the edge lets
// members linger. It leaves a channel when all its memberships of the channel have ended. While
// there is no connection it waits for one.
//
// The errors are ErrBadTenant, ErrBadChannel, ErrNoPresence, also of an edge that knows
// nothing of presence, ErrNoSubject, ErrTooManyMembers, ErrPermissionDenied, which the right to
// subscribe to the channel prevents, ErrTooManySubscriptions, ErrTooManyPatterns, ErrTryLater,
// ErrTimeout or that of ctx, and what the client ended with, or ErrClosed.
func (c *Client) Join(ctx context.Context, tenant, channel string) (*Membership, error) {
	if tenant == "" {
		tenant = wire.DefaultTenant
	}
	if err := wire.CheckTenant(tenant); err != nil {
		return nil, nameError(err, Error{Tenant: tenant})
	}
	if err := wire.CheckChannel(channel); err != nil {
		return nil, nameError(err, Error{Tenant: tenant, Channel: channel})
	}
	m := &Membership{client: c, key: key{tenant, channel}, done: make(chan struct{})}
	k := standingKey{wire.VerbJoin, m.key}
	err := c.stand(ctx, func(answer chan<- *Error) {
		c.addStanding(k, standingCall{answer: answer}, func() *standing { return &standing{standingKey: k} }, func(s *standing) *Error {
			s.members = append(s.members, m)
			return nil
		})
	}, func() { c.leave(m, func() {}) })
	if err == nil {
		return m, nil
	}
	return nil, m.about(err)
}

// about gives an error of a context the names that it is about.
func (m *Membership) about(err error) error {
	if e, ok := err.(*Error); ok && e.Code == CodeTimeout { //nolint:errorlint // stand returns nothing else
		e.Tenant, e.Channel = m.key.tenant, m.key.pattern
	}
	return err
}

// stand runs begin on the loop, and waits for its answer. If ctx ends before, it runs
// abandon on the loop.
func (c *Client) stand(ctx context.Context, begin func(answer chan<- *Error), abandon func()) error {
	if ctx.Err() != nil {
		return ended(ctx, "it was not begun")
	}
	answer := make(chan *Error, 1)
	if !c.post(func() { begin(answer) }) {
		return c.closedError()
	}
	var refused *Error
	select {
	case refused = <-answer:
	case <-ctx.Done():
		c.post(abandon)
		return ended(ctx, "the edge did not confirm it in time")
	case <-c.done:
		select {
		case refused = <-answer: // it came before the end did
		default:
			return c.closedError()
		}
	}
	if refused != nil {
		return refused
	}
	return nil
}

// Tenant returns the tenant; "~" if it was given empty.
func (m *Membership) Tenant() string { return m.key.tenant }

// Channel returns the channel.
func (m *Membership) Channel() string { return m.key.pattern }

// Done is closed when the membership has ended: by Leave, with the client, or since an edge
// refused to restore it.
func (m *Membership) Done() <-chan struct{} { return m.done }

// Err returns why the membership ended: nil while it lives, and after Leave and Close.
func (m *Membership) Err() error {
	select {
	case <-m.done:
		return m.err
	default:
		return nil
	}
}

// Leave ends the membership. It returns when the edge has ended it, too, or there is no
// connection: then the edge ends it when the member has lingered. A membership that has ended
// is no error.
func (m *Membership) Leave(ctx context.Context) error {
	m.end(nil)
	return m.about(m.client.unstand(ctx, func(done func()) { m.client.leave(m, done) }))
}

// unstand runs f on the loop, and waits for it to call done.
func (c *Client) unstand(ctx context.Context, f func(done func())) error {
	done := make(chan struct{})
	if !c.post(func() { f(func() { close(done) }) }) {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-c.done:
		return nil
	case <-ctx.Done():
		return ended(ctx, "the edge did not confirm the end in time")
	}
}

func (m *Membership) end(err error) {
	m.once.Do(func() {
		m.err = err
		close(m.done)
	})
}

// leave takes a membership out, and calls done when the edge has ended it, too.
func (c *Client) leave(m *Membership, done func()) {
	s := c.standings[standingKey{wire.VerbJoin, m.key}]
	if s == nil || !slices.Contains(s.members, m) {
		done()
		return
	}
	if s.members = slices.DeleteFunc(s.members, func(other *Membership) bool { return other == m }); len(s.members) > 0 {
		done()
		return
	}
	c.dropStanding(s, done)
}
