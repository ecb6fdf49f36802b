package client

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/wire"
)

// handleLine takes a line of an edge, behind which nothing had come since heard.
func (c *Client) handleLine(from *conn, l wire.ServerLine, heard time.Time) {
	if from.dead || c.over {
		return
	}
	if c.trail != nil && from == c.trail.conn {
		if l.Kind == wire.KindPong {
			c.trailPong()
		}
		return
	}
	if c.suspicion != nil && from == c.current && c.woken() && !isLastWord(l) {
		c.keepCurrent()
	}
	switch l.Kind {
	case wire.KindOK:
		from.answered(l.Verb, key{l.Tenant, l.Pattern}, "")
		c.checkReady(from)
	case wire.KindPong:
		c.handlePong(from, heard)
	case wire.KindReconnect:
		from.draining = true
		if from == c.current {
			c.startMove(ReasonDrain)
		}
	case wire.KindFeatures:
		from.workQueue = l.HasFeature(wire.FeatureWorkQueue)
		c.featuresKnown(from, l.HasFeature(wire.FeatureHistory), l.HasFeature(wire.FeaturePresence))
	case wire.KindLink:
		from.linkDown = !l.Up
		c.emitLink()
	case wire.KindOKPub:
		if l.Stored {
			c.router.noteOwn(l.Position, from.confirms.key(l.ID))
		}
		from.confirms.answer(l.ID, confirmed{position: positionOf(l)})
	case wire.KindErr:
		if id, ok := l.RefusedID(); ok {
			from.confirms.answer(id, confirmed{code: Code(l.Code), denial: l.Denial})
			return
		}
		from.denial = l.Denial
		c.handleErr(from, Code(l.Code), printable(l.Detail))
	}
}

// featuresKnown takes the answer to FEATURES.
func (c *Client) featuresKnown(from *conn, histories, presence bool) {
	from.asks, from.histories, from.presence = false, histories, presence
	from.knowFeatures()
	c.emitLink()
	c.sendUnasked(from)
	c.sendPostponedHistories(from, nil)
	for _, in := range c.router.all() {
		c.giveCreditOn(from, in)
	}
}

// emitLink reports a change of the link that the current connection's edge has to others.
func (c *Client) emitLink() {
	if c.current == nil || c.current.asks || c.current.linkDown == c.linkDown {
		return
	}
	c.linkDown = c.current.linkDown
	if c.linkDown {
		c.events.emit(LinkDown{c.current.edge})
	} else {
		c.events.emit(LinkUp{c.current.edge})
	}
}

func (c *Client) handlePong(from *conn, heard time.Time) {
	if len(from.pings) == 0 {
		return
	}
	p := from.pings[0]
	from.pings = from.pings[1:]
	from.confirmed, from.doubts = p.total, 0
	rtt := time.Since(p.sent)
	timed := !p.untimed && !from.draining
	if timed {
		from.trips.add(rtt)
	}
	from.reading.proven(p.mark, p.bytes, timed)
	if p.asked {
		c.rtt.Store(int64(rtt))
		c.events.emit(RoundTrip{rtt})
	}
	if p.done != nil {
		p.done(nil)
	}
	if c.suspicion != nil && from == c.current && len(from.pings) == 0 {
		c.keepCurrent() // the answer was on its way through calls as the suspicion began
	}
}

func isLastWord(l wire.ServerLine) bool {
	return l.Kind == wire.KindErr && lastWord(Code(l.Code), l.Detail) != nil
}

// lastWord is the error of an ERR line after which the edge closes; nil: it does not.
func lastWord(code Code, detail string) *Error {
	text := "the edge ended the connection"
	switch wire.Code(code) {
	case wire.CodeForbidden:
		what, reason, _ := strings.Cut(detail, ":")
		code = Code(what + "_not_allowed")
		text = cmp.Or(reason, text)
	case wire.CodeTokenExpired, wire.CodeTokenRevoked, wire.CodeUnauthorized, wire.CodeTokenUnverifiable, wire.CodeClosedByOperator, wire.CodeInternal:
	default:
		return nil
	}
	return &Error{Code: code, Text: text}
}

// handleErr takes an ERR line.
func (c *Client) handleErr(from *conn, code Code, detail string) {
	switch wire.Code(code) {
	case wire.CodeBadRequest:
		if from.asks { // an edge of an earlier version
			c.featuresKnown(from, false, false)
			return
		}
		if strings.HasPrefix(detail, wire.VerbCredit.String()+":") {
			return // for a subscription that was refused, or has ended meanwhile
		}
	case wire.CodeSlowConsumer:
		n, _ := strconv.Atoi(detail)
		c.events.emit(SlowConsumer{n})
		return
	case wire.CodeEgressLimited, wire.CodeIngressLimited:
		n, _ := strconv.Atoi(detail)
		direction := In
		if wire.Code(code) == wire.CodeIngressLimited {
			direction = Out
		}
		c.limitedUntil.Store(time.Now().Add(limitedTime).UnixNano())
		c.events.emit(Limited{direction, time.Duration(n) * time.Second})
		return
	}
	if last := lastWord(code, detail); last != nil {
		from.lastErr = last
		return // the close follows
	}
	verb, rest, _ := strings.Cut(detail, ":")
	tenant, name, ok := strings.Cut(rest, ":")
	switch {
	case ok && verb == "PUB":
		c.events.emit(PublishError{tenant, name, code, why(toPublish, code, tenant, name, from.denial)})
	case ok && verb == wire.VerbSub.String():
		from.answered(wire.VerbSub, key{tenant, name}, code)
		c.checkReady(from)
	case ok && verb == wire.VerbRsub.String() && code == Code(wire.CodeHistoryUnavailable):
		c.historyUnavailable(from, key{tenant, name})
	case ok && verb == wire.VerbRsub.String():
		from.answered(wire.VerbRsub, key{tenant, name}, code)
		c.checkReady(from)
	case ok && verb == wire.VerbUnsub.String():
		from.answered(wire.VerbUnsub, key{tenant, name}, code)
	case ok && c.standingRefused(from, verb, key{tenant, name}, code):
		c.checkReady(from)
	default:
		c.events.emit(EdgeError{Code: code, Detail: detail})
	}
}
