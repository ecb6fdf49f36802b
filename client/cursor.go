package client

import "github.com/millrace/millrace/wire"

// cursor says how far the application has read a subscription with a history. Guarded by
// the queue.
type cursor struct {
	reached wire.Position   // behind all that came, and what the edge says there was not
	known   bool            // reached is known
	read    wire.Position   // behind the message that was read last
	isRead  bool            // read is known
	unread  []wire.Position // of the messages since; some of the first were read, too
}

// add notes a message behind those that wait.
func (c *cursor) add(at wire.Position, waiting, limit int) {
	if len(c.unread) > 2*limit {
		c.trim(waiting)
	}
	c.unread = append(c.unread, at)
	c.reached, c.known = at, c.known || at != wire.Position{}
}

// trim forgets the messages that were read: all but those that wait.
func (c *cursor) trim(waiting int) {
	if n := len(c.unread) - waiting; n > 0 {
		c.read, c.isRead = c.unread[n-1], c.known
		c.unread = c.unread[n:]
	}
}

// reach notes a line that says how far the history has come.
func (q *queue) reach(p wire.Position) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := &q.cursor
	c.reached, c.known = p, true
	if c.trim(q.waiting()); len(c.unread) == 0 {
		c.read, c.isRead = p, true
	} else {
		c.unread[len(c.unread)-1] = p // behind the last message
	}
}

// position returns where to go on behind all that the application has read; not ok: that is
// not known.
func (q *queue) position() (p wire.Position, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.waiting()
	q.cursor.trim(waiting)
	if waiting == 0 {
		return q.cursor.reached, q.cursor.known
	}
	return q.cursor.read, q.cursor.isRead
}
