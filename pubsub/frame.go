package pubsub

import (
	"time"

	"github.com/millrace/millrace/wire"
)

// frame is one message in queues: a deliver frame, which all sessions that get
// it share, or a line that keeps its place between them. It never changes, but for
// its holders.
type frame struct {
	data []byte
	kind Kind
	// holders is how many queues it was put into, one after the other by one
	// publisher; see charge.
	holders uint32
	at      time.Duration // when the publish was accepted, on the hub's clock
	caps    *byteCaps     // of the tenant; nil: it has none
}

// publication is one publish on its way to this edge's subscribers.
type publication struct {
	tenant, channel, payload []byte // valid while it is handed out

	// subsVersion is what [Hub.changes] was before subscribers were looked for. A
	// session whose subscriptions have changed since then is asked again.
	subsVersion uint64
	at          time.Duration // on the hub's clock
	limits      *Limits
	caps        *byteCaps

	toFlush *flushList // sessions that wait to be written
	pace    pace

	// Of a message for one connection.
	lastResort     bool // it is for those alone that were told to leave
	leavingFound   bool // one of these could take it
	hasSubscribers bool // there are subscribers
}

// encode makes the frame for subscribers with these patterns, in bytewise order.
func (p *publication) encode(patterns []string) *frame {
	data := make([]byte, 0, wire.DeliverLen(p.tenant, p.channel, p.payload, patterns))
	return &frame{
		data: wire.AppendDeliver(data, p.tenant, p.channel, p.payload, patterns),
		kind: Binary, at: p.at, caps: p.caps,
	}
}
