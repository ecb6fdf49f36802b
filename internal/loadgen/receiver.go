package loadgen

import "sync/atomic"

// A receiver reads one connection in one goroutine, which owns all fields except delivered
// until it has ended.
type receiver struct {
	conn     Conn
	run      *run
	orders   []order // by publisher of its channel
	reached  uint64  // messages that arrived or were skipped, of all publishers
	position uint64  // in the window

	// Of the current read; 0: the clock has not been read yet.
	now, from, to int64

	count                          int64
	duplicates, reordered, foreign int64
	times                          histogram

	_         [64]byte // what follows is read by others
	delivered atomic.Int64
	_         [64]byte
}

// receive reads until the connection or the run ends, and returns why.
func (c *receiver) receive() error {
	message := c.message // one allocation for all reads
	if l, ok := c.conn.(Looper); ok {
		return l.Loop(message, c.done)
	}
	for {
		err := c.conn.Receive(message)
		c.done()
		if err != nil {
			return err
		}
	}
}

// done ends a read: it publishes what the read received.
func (c *receiver) done() {
	if c.now == 0 {
		return // nothing
	}
	c.now = 0
	c.delivered.Store(c.count)
	if w := c.run.window; w != nil && c.reached != c.position {
		from := c.position
		c.position = c.reached
		w.move(from, c.position)
	}
}

// message handles one delivery.
func (c *receiver) message(payload []byte) {
	if len(payload) < MinPayload {
		c.foreign++
		return
	}
	s := readStamp(payload)
	if s.run != c.run.tag || s.publisher >= uint32(len(c.orders)) {
		c.foreign++
		return
	}
	if c.now == 0 {
		c.now, c.from, c.to = nanotime(), c.run.from.Load(), c.run.to.Load()
	}
	o := &c.orders[s.publisher]
	if s.number == o.next {
		o.next++
		c.reached++
	} else {
		before := o.next
		how := o.skip(s.number)
		c.reached += o.next - before
		switch how {
		case duplicate:
			c.duplicates++
			return
		case late:
			c.reordered++
		}
	}
	c.count++
	if s.sent >= c.from && s.sent < c.to {
		c.times.record(c.now - s.sent)
	}
}
