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

// confirm answers the calls that wait, as an edge has it.
func (s *standing) confirm() {
	s.acked = true
	for _, call := range s.waiting {
		if call.presence != nil {
			s.view.add(call.presence)
		}
		call.answer <- nil
	}
	s.waiting = nil
}

func (s *standing) withoutError() *Error {
	return s.refusal(Code(wire.CodeNoPresence), reasons[wire.CodeNoPresence])
}

// refusal is an error about the standing.
func (s *standing) refusal(code Code, text string) *Error {
	e := &Error{Code: code, Text: text, Tenant: s.tenant}
	if s.verb == wire.VerbJoin {
		e.Channel = s.pattern
	} else {
		e.Pattern = s.pattern
	}
	return e
}

func (s *standing) event(code Code, text string) SubscriptionError {
	if s.verb == wire.VerbJoin {
		return SubscriptionError{Tenant: s.tenant, Channel: s.pattern, Code: code, Text: text}
	}
	return SubscriptionError{Tenant: s.tenant, Pattern: s.pattern, Code: code, Text: text}
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

// addStanding adds what the application wants: a membership, or the presence of call. create
// makes its standing if there is none, and join puts it in.
func (c *Client) addStanding(k standingKey, call standingCall, create func() *standing, join func(*standing) *Error) {
	if c.over {
		call.answer <- asError(c.closedError())
		return
	}
	s := c.standings[k]
	isNew := s == nil
	if isNew {
		s = create()
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
		s.confirm()
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
