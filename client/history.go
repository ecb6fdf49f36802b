package client

import (
	"cmp"
	"time"

	"github.com/millrace/millrace/wire"
)

// From says where a subscription with a history begins; see [WithHistory].
type From struct {
	from wire.From
	err  *Error
}

// The origins of a subscription with a history.
var (
	// Now begins with what comes from now on.
	Now = From{}
	// Last begins with the newest message of each matching channel.
	Last = From{from: wire.From{Origin: wire.OriginLast}}
)

// LastN begins with the newest n messages of a channel, 1 to 100,000. The pattern has no
// wildcard.
func LastN(n int) From {
	if n < 1 || n > wire.MaxLast {
		return From{err: badOption("LastN(%d): 1 to 100,000 messages are allowed", n)}
	}
	return From{from: wire.From{Origin: wire.OriginLastN, N: uint32(n)}}
}

// After begins behind a position that the application has kept: see [Message] and
// [Subscription.Position].
func After(position string) From {
	p, err := wire.ParsePosition(position)
	if err != nil {
		return From{err: badOption("After(%.80q): it takes the Position of a message or a subscription, as it was", position)}
	}
	return From{from: wire.From{Origin: wire.OriginPosition, Position: p}}
}

// WithHistory gives a subscription what the edge keeps of its channels: first the past
// from where it begins, then what comes. Its messages have a position, in whose order they
// come, each once. After every loss of the connection, and every move, it goes on behind
// the last one. If it is not certain that nothing is missing, the event [Gap] says so; a
// loss without it does not happen.
//
// Subscribe returns with the first message, or when there is none. A message for which the
// queue has no room is not lost: the client leaves the rest of them at the edge until the
// application has read the queue. The policies that drop messages therefore do not apply.
//
// The token needs the right to read the past, and the edge a history that contains the
// whole pattern, else the error is ErrNoHistory. Without that right, and on an edge
// without any history, the subscription goes on with what comes from now on, and Gap says
// so. A client has one subscription with a history for each pattern, and no other
// subscription for it.
func WithHistory(from From) SubscribeOption {
	return func(o *subscribeOptions) { o.history = &from }
}

// history is what an interest has if its subscription was made with [WithHistory]. One
// connection at a time has it: the protocol lets the next one go on exactly behind the
// last message, so a move needs no overlap. Guarded by the router, except for what is the
// loop's.
type history struct {
	from   wire.From // where to begin on the next connection
	on     *conn     // whose messages it takes; nil: none
	plain  bool      // on has no such history: it has a subscription without one
	begun  bool      // on has brought a message, or said how far there is none
	told   bool      // on has reported a gap at its place
	paused bool      // its queue is full

	// The loop's.
	asked     wire.Origin // of the RSUB without an answer, or of the last one
	forbidden bool        // the token does not allow to read the past, on this connection
	unwanted  bool        // the edge of on has no history that contains the pattern
	lossy     bool        // what is asked for does not go on behind what came last
}

// advance notes how far the messages have come.
func (h *history) advance(p wire.Position) {
	h.from = wire.From{Origin: wire.OriginPosition, Position: p}
}

// isBehind reports whether the message of a position was given already. The protocol
// rules that out; an edge that breaks it costs nothing then.
func (h *history) isBehind(p wire.Position) bool {
	at := h.from.Position
	return h.from.Origin == wire.OriginPosition && p.Epoch == at.Epoch && p.N <= at.N
}

// openHistory lets an interest take the messages of a connection, which is about to be
// asked for them. It returns where to begin.
func (r *router) openHistory(in *interest, on *conn, plain bool) wire.From {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := in.history
	h.on, h.plain, h.begun, h.told = on, plain, false, false
	from := h.from
	if plain {
		h.from = wire.From{} // what comes now has no position: nothing could go on behind it
	}
	return from
}

// isPaused reports whether the queue of an interest with a history is full.
func (r *router) isPaused(in *interest) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return in.history.paused
}

// unpause ends the pause. It reports false if there is none.
func (r *router) unpause(in *interest) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := in.history.paused
	in.history.paused = false
	return was
}

// isFrom reports whether an interest takes its messages from a connection.
func (r *router) isFrom(in *interest, c *conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return in.history.on == c
}

// deliverStored gives a message with a position to the subscription. It returns the interest
// if this is the first that the connection has brought for it.
func (r *router) deliverStored(c *conn, d *delivery) (begun *interest, crowd bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := r.interests[key{d.tenant, d.patterns[0]}]
	if in == nil || in.history == nil {
		return nil, false // the application has left it
	}
	h := in.history
	if h.on != c || h.plain || h.isBehind(d.position) {
		return nil, false
	}
	h.advance(d.position)
	r.own.mark(d)
	payload := append(make([]byte, 0, len(d.payload)), d.payload...)
	m := Message{
		Tenant: d.tenant, Channel: d.channel, Pattern: d.patterns[0], Patterns: d.patterns, Payload: payload, Sender: d.sender,
		Position: d.position.String(), Time: time.UnixMilli(int64(d.position.T)), Own: d.own, Key: d.key,
	}
	for _, s := range in.subs { // one
		if d.own && s.noEcho {
			s.queue.reach(d.position)
			continue
		}
		switch s.queue.pushStored(m, d.position) {
		case queued, dropped:
		case crowded:
			crowd = true
		case behind:
			h.paused, h.on = true, nil
			r.paused(s)
			s.queue.awaitRead() // behind that: the loop is to hear of it first
		case full:
			s.end(queueFullError(in.key), false)
			r.over(s)
		}
	}
	if h.begun {
		return nil, crowd
	}
	h.begun = true
	return in, crowd
}

// of returns the interest of a subscription with a history; nil: it has ended.
func (r *router) of(s *Subscription) *interest {
	r.mu.Lock()
	defer r.mu.Unlock()
	if in := r.interests[s.key]; in != nil && in.history == s.history {
		return in
	}
	return nil
}

// reach takes a line of an edge that says how far an interest has come: OK:RSUB, AT and GAP
// keep their place among the messages. It returns whether the line reports a gap that was not
// told before: GAP stands before what follows it, and OK:RSUB says again that there was one.
func (r *router) reach(c *conn, l wire.ServerLine) (gap bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := r.interests[key{l.Tenant, l.Pattern}]
	if in == nil || in.history == nil || in.history.plain {
		return false
	}
	h := in.history
	if h.on == c {
		// Behind GAP come messages: Subscribe returns with the first, before the queue is full.
		h.begun = h.begun || l.Kind != wire.KindGap
		gap = l.Kind == wire.KindGap || l.Kind == wire.KindOKRsub && !l.Complete && !h.told
		h.told = h.told || l.Kind == wire.KindGap
		// A store that does not know the position goes back, as GAP says.
		if l.Kind == wire.KindGap || !h.isBehind(l.Position) {
			h.advance(l.Position)
			for _, s := range in.subs {
				s.queue.reach(l.Position)
			}
		}
	} else {
		// What a full queue leaves at the edge begins again later. But the edge also says so late
		// that something is missing among what the queue has, and may not find it again.
		gap = l.Kind == wire.KindGap && h.paused
	}
	if gap {
		r.untold = append(r.untold, Gap{Tenant: l.Tenant, Pattern: l.Pattern, Before: l.Position.String(), Reason: cmp.Or(GapReason(l.Reason), GapUnknown)})
	}
	return gap
}

// untoldGap removes and returns the first gap that the application has not been notified of, or nil.
func (r *router) untoldGap() Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.untold) == 0 {
		return nil
	}
	first := r.untold[0]
	r.untold = r.untold[1:]
	return first
}

// hasHistory reports whether there is a subscription with a history.
func (r *router) hasHistory() bool { return r.hasAny(true) }

// hasPlain reports whether there is a subscription without a history, where a loss of the
// connection loses messages.
func (r *router) hasPlain() bool { return r.hasAny(false) }

func (r *router) hasAny(history bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range r.interests {
		if (in.history != nil) == history {
			return true
		}
	}
	return false
}
