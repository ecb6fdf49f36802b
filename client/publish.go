package client

import (
	"context"
	"errors"
	"sync"

	"github.com/millrace/millrace/wire"
)

// maxPayload is the highest max_payload that an edge may have.
const maxPayload = 16 << 20

// markEvery is after how many bytes of publishes a PING marks what the edge has
// handled.
const markEvery = 64 << 10

// gate is where publishes go: to one connection, nowhere, or nowhere yet.
type gate struct {
	mu   sync.Mutex
	conn *conn
	err  error         // why there is no connection
	held chan struct{} // closed when the wait is over; nil: there is none

	changed chan struct{} // closed when there is another connection, or none any more; nil: nobody waits

	marked uint64 // bytes of the connection at the last mark
}

func (g *gate) open(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.conn, g.err = c, nil
	g.marked = 0
	g.release()
	g.change()
}

func (g *gate) close(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.conn, g.err = nil, err
	g.release()
	g.change()
}

func (g *gate) change() {
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}

// awaitChange returns what is closed when the gate is opened or closed. The caller holds
// g.mu.
func (g *gate) awaitChange() <-chan struct{} {
	if g.changed == nil {
		g.changed = make(chan struct{})
	}
	return g.changed
}

func (g *gate) hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held == nil {
		g.held = make(chan struct{})
	}
}

func (g *gate) release() {
	if g.held != nil {
		close(g.held)
		g.held = nil
	}
}

// try publishes, or returns what to wait for before the next try.
func (g *gate) try(p wire.Publish) (wait <-chan struct{}, mark *conn, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held != nil {
		return g.held, nil, nil
	}
	if g.conn == nil {
		return nil, nil, offline(g.err)
	}
	wait, total, ok := g.conn.out.publish(p)
	if !ok {
		return nil, nil, ErrDisconnected // the loop is about to hear of it
	}
	if total > g.marked+markEvery {
		g.marked, mark = total, g.conn
	}
	return wait, mark, nil
}

// offline says what to do without a connection, unless err says more.
func offline(err error) error {
	if err == ErrDisconnected { //nolint:errorlint // the bare sentinel
		return &Error{Code: CodeDisconnected, Text: "there is no connection now, and nothing is kept to be sent later: publish again after the event Reconnected, or use PublishConfirmed with a key, which waits"}
	}
	return err
}

// confirm publishes what the edge is to answer, and returns where the answer comes, and on
// which connection. Otherwise it returns what to wait for before the next try, and why, if
// there is no connection; or only the error, if waiting does not help.
func (g *gate) confirm(p wire.Publish) (c *conn, answer <-chan confirmed, wait <-chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.held != nil:
		return nil, nil, g.held, nil
	case g.conn == nil:
		return nil, nil, g.awaitChange(), g.err
	}
	c = g.conn
	select {
	case <-c.featured:
	default:
		return nil, nil, c.featured, nil
	}
	if answer = c.confirms.add(p); answer == nil {
		return nil, nil, g.awaitChange(), ErrDisconnected // the loop is about to change it
	}
	if !c.histories && !c.workQueue {
		c.confirms.forget(p.ID)
		return nil, nil, nil, &Error{
			Code: Code(wire.CodeNoHistory), Text: "the edge has no histories, and confirms nothing",
			Tenant: string(p.Tenant), Channel: string(p.Channel),
		}
	}
	full, _, ok := c.out.publish(p)
	switch {
	case !ok:
		c.confirms.forget(p.ID)
		return nil, nil, g.awaitChange(), ErrDisconnected // the loop is about to hear of it
	case full != nil:
		c.confirms.forget(p.ID)
		return nil, nil, full, nil
	}
	return c, answer, nil, nil
}

// Publish sends a message to everyone who subscribes to a pattern that matches the
// channel. An empty tenant is "~". It returns when the message is on its way, not
// when the edge has it; a refusal comes as the event PublishError. It waits while
// 256 KiB wait to be sent, while the client moves to another connection, and while its
// connection is suspect. What was published on a connection that is replaced then may be
// lost, or come behind what is published later; Flush tells.
//
// The errors are ErrDisconnected, ErrBadTenant, ErrBadChannel, ErrPayloadTooLarge,
// ErrTimeout or that of ctx, and what the client ended with, or ErrClosed. The
// payload can be used again after the call.
func (c *Client) Publish(ctx context.Context, tenant, channel string, payload []byte) error {
	return c.PublishTo(ctx, Broadcast, tenant, channel, payload)
}

// PublishTo is Publish with another delivery, such as [OneNearest].
func (c *Client) PublishTo(ctx context.Context, d Delivery, tenant, channel string, payload []byte) error {
	p, err := newPublish(d, tenant, channel, payload)
	if err != nil {
		return err
	}
	for {
		wait, mark, err := c.gate.try(p)
		if mark != nil {
			c.post(func() { c.mark(mark) })
		}
		if wait == nil {
			return err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return ended(ctx, "the message could not be sent in time")
		}
	}
}

// newPublish checks what an application wants to publish.
func newPublish(d Delivery, tenant, channel string, payload []byte) (wire.Publish, error) {
	if tenant == "" {
		tenant = wire.DefaultTenant
	}
	var err error
	switch {
	case d > OneRandom:
		err = badOption("the delivery %d is unknown: Broadcast, OneNearest and OneRandom are allowed", d)
	case wire.CheckTenant(tenant) != nil:
		err = nameError(wire.CheckTenant(tenant), Error{Tenant: tenant})
	case wire.CheckChannel(channel) != nil:
		err = nameError(wire.CheckChannel(channel), Error{Tenant: tenant, Channel: channel})
	case len(payload) > maxPayload:
		err = &Error{Code: Code(wire.CodePayloadTooLarge), Text: "no edge takes more than 16 MiB", Tenant: tenant, Channel: channel}
	}
	return wire.Publish{Delivery: wire.Delivery(d), Tenant: []byte(tenant), Channel: []byte(channel), Payload: payload}, err
}

// refuseLargest takes the end of a connection on which a message was over the edge's read
// limit. The largest publish is certain to be over it, whether or not the edge has read it:
// it is not sent again. Others may not be, and what the edge read before was handled.
func (c *Client) refuseLargest(conn *conn) {
	const code = Code(wire.CodePayloadTooLarge)
	size, plain := conn.out.largestPublish()
	conn.confirms.refuse(size, code)
	if size > 0 && plain.size == size {
		c.events.emit(PublishError{plain.tenant, plain.channel, code, reasons[wire.CodePayloadTooLarge]})
		conn.reading.publishes++ // it is reported
	}
}

// reportUnread reports the publishes on a connection that is left, which its edge may not have
// read. It reports each once.
func (c *Client) reportUnread(conn *conn) {
	sent := conn.out.plainPublishes()
	if sent > conn.reading.publishes {
		c.events.emit(PublishUnknown{conn.edge, conn.transport, int(sent - conn.reading.publishes)}) //nolint:gosec // it fits
	}
	conn.reading.publishes = sent
}

// mark sends a PING whose answer says what the edge has handled.
func (c *Client) mark(conn *conn) {
	if !conn.dead && !c.over {
		conn.ping(false, nil)
	}
}

// Flush waits until the edge has handled all that was sent before on this
// connection. If that is lost, or replaced while something published may be lost with
// it, the error is ErrDisconnected; others are ErrTimeout or that of ctx, and what the
// client ended with, or ErrClosed.
func (c *Client) Flush(ctx context.Context) error {
	done := make(chan error, 1)
	if !c.post(func() { c.flush(done) }) {
		return c.closedError()
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ended(ctx, "the edge does not answer in time")
	case <-c.done:
		return c.closedError()
	}
}

func (c *Client) flush(done chan<- error) {
	switch {
	case c.over:
		done <- c.closedError()
	case c.suspicion != nil, c.move != nil && !c.move.publishBy.IsZero():
		c.flushes = append(c.flushes, done) // publishes wait, too
	case c.gate.conn == nil:
		done <- ErrDisconnected
	default:
		c.gate.conn.ping(true, func(err error) {
			if err == errReplaced { //nolint:errorlint // it is never wrapped
				c.flush(done)
			} else {
				done <- err
			}
		})
	}
}

// errReplaced ends the PINGs of a connection that was replaced, and that had handled all
// that was published on it.
var errReplaced = errors.New("replaced")
