package client

import (
	"time"

	"github.com/millrace/millrace/wire"
)

// standing is a JOIN or a WHO that every connection is to have, and those of the application
// that share it. It is the loop's.
type standing struct {
	standingKey
	count   bool // of a WHO: of numbers alone
	acked   bool // once: JOIN was answered, or WHO has brought all there is
	waiting []standingCall
	members []*Membership // of a JOIN
	view    *view         // of a WHO
	source  *conn         // of a WHO: what it brings is shown; nil: none has brought all there is
}

type standingKey struct {
	verb wire.Verb // JOIN or WHO
	key            // of a JOIN the pattern is the channel
}

// standingCall is a call of Join, or of Presence with what it is to return.
type standingCall struct {
	answer   chan<- *Error
	presence *Presence
}

// hold is what a connection has of a standing.
type hold struct {
	state   holdState
	attempt int       // for back-off
	at      time.Time // of holdPostponed: when to ask again
	told    bool      // the application was told of try_later
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
		c.without(conn, s, h)
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
			c.stands(s)
		}
	case code == Code(wire.CodeNoPresence):
		c.without(from, s, h)
	case code == Code(wire.CodeTryLater) && s.acked:
		c.postponeStanding(from, s, h)
	default:
		c.refuseStanding(from, s, s.error(code, "the edge refused it"))
	}
}

// stands answers the calls that wait, as an edge has it.
func (c *Client) stands(s *standing) {
	s.acked = true
	for _, call := range s.waiting {
		if call.presence != nil {
			s.view.add(call.presence)
		}
		call.answer <- nil
	}
	s.waiting = nil
}

// without notes that the edge of a connection does not have a standing. One that another edge
// has had is kept: the next edge may have it.
func (c *Client) without(from *conn, s *standing, h *hold) {
	if !s.acked {
		c.refuseStanding(from, s, s.withoutError())
		return
	}
	h.state = holdWithout
	c.events.emit(EdgeError{Code: Code(wire.CodeNoPresence), Detail: s.verb.String() + ":" + s.tenant + ":" + s.pattern})
}

func (s *standing) withoutError() *Error {
	return s.error(Code(wire.CodeNoPresence), "the edge has no presence that contains it")
}

// error is about the standing.
func (s *standing) error(code Code, text string) *Error {
	e := &Error{Code: code, Text: text, Tenant: s.tenant}
	if s.verb == wire.VerbJoin {
		e.Channel = s.pattern
	} else {
		e.Pattern = s.pattern
	}
	return e
}

func (s *standing) event(code Code) SubscriptionError {
	if s.verb == wire.VerbJoin {
		return SubscriptionError{Tenant: s.tenant, Channel: s.pattern, Code: code}
	}
	return SubscriptionError{Tenant: s.tenant, Pattern: s.pattern, Code: code}
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
		c.events.emit(s.event(Code(wire.CodeTryLater)))
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
		c.events.emit(s.event(err.Code))
	}
	s.refuse(err)
	c.dropStanding(s, func() {})
}

// end ends what shares a standing.
func (s *standing) end(err error, discard bool) {
	for _, m := range s.members {
		m.end(err)
	}
	if s.view != nil {
		s.view.end(err, discard)
	}
}

// refuse answers the calls that wait.
func (s *standing) refuse(err *Error) {
	for _, call := range s.waiting {
		call.answer <- err
	}
	s.waiting = nil
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
			c.without(from, s, from.holds[s])
			return true
		}
	}
	return false
}

// addStanding adds what the application wants: a membership, or the presence of call. make
// makes its standing if there is none.
func (c *Client) addStanding(k standingKey, call standingCall, make func() *standing, join func(*standing) *Error) {
	if c.over {
		call.answer <- asError(c.closedError())
		return
	}
	s := c.standings[k]
	isNew := s == nil
	if isNew {
		s = make()
	} else if h := c.held(s); h != nil && h.state == holdWithout {
		call.answer <- s.withoutError()
		return
	}
	if err := join(s); err != nil {
		call.answer <- err
		return
	}
	s.waiting = append(s.waiting, call)
	if s.acked && (s.view == nil || s.source != nil) {
		c.stands(s)
	}
	if !isNew {
		return
	}
	c.standings[k] = s
	leaving := c.current != nil && c.current.unsubbed
	if c.move != nil && c.next != nil && c.current != nil && !leaving { // it is not left before the next one has this, too
		c.next.ready, c.move.settled = false, time.Time{}
	}
	for _, conn := range c.conns() {
		if !conn.unsubbed && c.standings[k] == s { // else the first has refused it
			c.hold(conn, s)
		}
	}
	c.checkAllReady()
}

func (c *Client) held(s *standing) *hold {
	if c.current == nil {
		return nil
	}
	return c.current.holds[s]
}

// checkAllReady looks whether a connection has all that it is to have, after a change of what
// that is.
func (c *Client) checkAllReady() {
	for _, conn := range c.conns() {
		c.checkReady(conn)
	}
}

// dropStanding forgets a standing, and calls done when all edges have ended it.
func (c *Client) dropStanding(s *standing, done func()) {
	delete(c.standings, s.standingKey)
	verb := wire.VerbLeave
	if s.verb == wire.VerbWho {
		verb = wire.VerbUnwho
	}
	left := 1
	answered := func() {
		if left--; left == 0 {
			done()
		}
	}
	for _, conn := range c.conns() {
		h := conn.holds[s]
		delete(conn.holds, s)
		if h != nil && (h.state == holdAsked || h.state == holdHas) {
			left++
			conn.sub(verb, s.key, func(Code) { answered() })
		}
	}
	if c.trail != nil && c.trail.conn != nil && s.verb == wire.VerbJoin { // it may have the subject as a member still
		c.trail.conn.out.line(wire.AppendLine(nil, verb, s.tenant, s.pattern))
	}
	answered()
	if !c.over {
		c.checkAllReady()
	}
}

// leaveAll sends LEAVE for all that the client has joined, as it is closed: so others need
// not wait for the edge to give it up.
func (c *conn) leaveAll() {
	for s, h := range c.holds {
		if s.verb == wire.VerbJoin && (h.state == holdAsked || h.state == holdHas) {
			c.out.line(wire.AppendLine(nil, wire.VerbLeave, s.tenant, s.pattern))
		}
	}
}

// endStandings ends all of them with the client.
func (c *Client) endStandings(err error) {
	for _, s := range c.standings {
		s.end(err, err == nil)
		s.refuse(asError(c.closedError()))
	}
	clear(c.standings)
}
