package client

import (
	"time"

	"github.com/millrace/millrace/wire"
)

// hold is what a connection has of a standing.
type hold struct {
	state   holdState
	attempt int       // for back-off
	at      time.Time // of holdPostponed: when to ask again
	told    bool      // the application got try_later
	feed    feed
}

type holdState uint8

const (
	holdUnasked   holdState = iota // it waits for what the edge says of itself
	holdAsked                      // it has no answer
	holdHas                        // it was answered with OK
	holdPostponed                  // it was answered with try_later, and is repeated
	holdWithout                    // this edge does not have it
)

// hasUnasked reports whether there is something to ask when the edge has said what it knows.
func (c *conn) hasUnasked() bool {
	for _, h := range c.holds {
		if h.state == holdUnasked {
			return true
		}
	}
	return false
}

// restoreStandings asks a connection for all that it does not have.
func (c *Client) restoreStandings(conn *conn) {
	for _, s := range c.standings {
		if conn.holds[s] == nil {
			c.hold(conn, s)
		}
	}
}

// hold asks a connection for a standing, as soon as it is known whether the edge knows it.
func (c *Client) hold(conn *conn, s *standing) {
	h := &hold{}
	conn.holds[s] = h
	switch {
	case conn.asks:
	case conn.presence:
		c.ask(conn, s, h)
	default:
		c.markUnsupported(conn, s, h)
	}
}

// sendUnasked asks for what has waited until the edge has said what it knows.
func (c *Client) sendUnasked(conn *conn) {
	for s, h := range conn.holds {
		if h.state == holdUnasked {
			c.hold(conn, s)
		}
	}
}

func (c *Client) ask(conn *conn, s *standing, h *hold) {
	h.state = holdAsked
	line := wire.AppendLine(nil, wire.VerbJoin, s.tenant, s.pattern)
	if s.verb == wire.VerbWho {
		line = wire.AppendWho(nil, s.tenant, s.pattern, s.count)
	}
	conn.send(s.verb, s.key, line, func(code Code) {
		if conn.holds[s] == h { // else the application has left it
			c.standingAnswered(conn, s, h, code)
		}
	})
}

// standingAnswered takes the answer to a JOIN or WHO.
func (c *Client) standingAnswered(from *conn, s *standing, h *hold, code Code) {
	switch {
	case code == "":
		h.state = holdHas
		if s.verb == wire.VerbJoin {
			s.confirm()
		}
	case code == Code(wire.CodeNoPresence):
		c.markUnsupported(from, s, h)
	case code == Code(wire.CodeTryLater) && s.acked:
		c.postponeStanding(from, s, h)
	default:
		u := toJoin
		switch {
		case s.verb == wire.VerbWho && s.count:
			u = toSubscribe
		case s.verb == wire.VerbWho:
			u = toSeePresence
		}
		c.refuseStanding(from, s, s.refusal(code, why(u, code, s.tenant, s.pattern, from.denial)))
	}
}

// markUnsupported notes that the edge of a connection does not have a standing. One that another edge
// has had is kept: the next edge may have it.
func (c *Client) markUnsupported(from *conn, s *standing, h *hold) {
	if !s.acked {
		c.refuseStanding(from, s, s.withoutError())
		return
	}
	h.state = holdWithout
	c.events.emit(EdgeError{Code: Code(wire.CodeNoPresence), Detail: s.verb.String() + ":" + s.tenant + ":" + s.pattern})
}

// postponeStanding plans to ask again, as for a subscription.
func (c *Client) postponeStanding(conn *conn, s *standing, h *hold) {
	if conn.unsubbed {
		delete(conn.holds, s) // it is about to be left, or is asked again
		return
	}
	h.attempt++ // 0 would mean no pause
	h.state, h.at = holdPostponed, time.Now().Add(c.s.backOff(h.attempt, 0))
	conn.ready = false
	if !h.told {
		h.told = true
		c.events.emit(s.event(Code(wire.CodeTryLater), reasons[wire.CodeTryLater]))
	}
}

// refuseStanding ends a standing that an edge has refused.
func (c *Client) refuseStanding(from *conn, s *standing, err *Error) {
	if c.suspicion != nil && from == c.next && s.acked {
		from.lastErr = err // as for a subscription
		from.link.abort()
		return
	}
	delete(from.holds, s)
	s.end(err, false)
	if s.acked {
		c.events.emit(s.event(err.Code, err.Text))
	}
	s.refuse(err)
	c.dropStanding(s, func() {})
}

// standingRefused takes an ERR line about a JOIN, LEAVE, WHO or UNWHO, and reports whether it
// was one. It may concern what was granted before: an edge that is reloaded may have no
// presence any more.
func (c *Client) standingRefused(from *conn, word string, k key, code Code) bool {
	for _, verb := range []wire.Verb{wire.VerbJoin, wire.VerbLeave, wire.VerbWho, wire.VerbUnwho} {
		switch {
		case verb.String() != word:
		case from.awaits(verb, k):
			from.answered(verb, k, code)
			return true
		default:
			s := c.standings[standingKey{verb, k}]
			if h := from.holds[s]; h == nil || h.state != holdHas || code != Code(wire.CodeNoPresence) {
				return false
			}
			from.holds[s] = &hold{}
			c.unfeedStanding(from, s)
			c.markUnsupported(from, s, from.holds[s])
			return true
		}
	}
	return false
}
