package nats

import "github.com/millrace/millrace/pubsub/history/internal/index"

// cache bounds the payloads that the entries of an index have: of too many, those that came
// first go. All that an edge receives passes through it, and what it has read since.
type cache struct {
	most, bytes int64
	queue       []*index.Entry // oldest first
	first       int
}

// add gives an entry its payload. The caller holds the stream's mutex.
func (c *cache) add(e *index.Entry, payload []byte) {
	if payload == nil {
		payload = []byte{}
	}
	e.Payload = payload
	c.queue = append(c.queue, e)
	c.bytes += cost(e)
	for c.bytes > c.most && c.first < len(c.queue) {
		old := c.queue[c.first]
		c.queue[c.first] = nil
		c.first++
		c.bytes -= cost(old)
		old.Payload = nil
	}
	if c.first > 64 && c.first > len(c.queue)/2 {
		c.queue = append([]*index.Entry(nil), c.queue[c.first:]...)
		c.first = 0
	}
}

// cost is what an entry counts for. It does not change, also when the entry is removed.
func cost(e *index.Entry) int64 { return int64(e.Size) + 64 }
