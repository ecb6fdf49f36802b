package client

import "time"

// minPongTimeout is how long an answer may take at least before a connection is suspect.
const minPongTimeout = time.Second

// maxDoubts is how often the patience with a PING doubles.
const maxDoubts = 10

// slowTrips is how many round trips in a row have to take more than twice the patience
// before that is the way to the edge, and not a hole.
const slowTrips = 3

// probeEvery is how often a connection is probed whose PING has no answer.
const probeEvery = time.Second

// spread is the part of KeepAlive that a PING may be sent later, so that clients do not
// ask in step.
const spread = 16

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// heard is when a connection brought something last, or the machine woke: limits
// start over then.
func (c *Client) heard(conn *conn) time.Time { return later(conn.link.heard(), c.wokeAt) }

// steady reports whether a connection can be judged by its rhythm and its round trips:
// it is current, has its subscriptions, and is not about to be left. Behind RECONNECT a PONG
// is held up.
func (c *Client) steady(conn *conn) bool {
	return conn == c.current && c.move == nil && conn.ready && !conn.draining && !conn.aborted
}

// askAt is when to ask whether a connection lives; zero: not now. It is the only rule of
// that: after KeepAlive without a byte, sooner where something is expected, and soon after
// something was sent that has no answer. What comes until then puts it off, which is found
// out then. As long as it goes by KeepAlive alone, the next message may make it earlier, so
// the reading goroutine tells the loop of that; so does who publishes.
func (c *Client) askAt(conn *conn) time.Time {
	if conn.aborted || len(conn.pings) > 0 || c.s.KeepAlive < 0 {
		return time.Time{}
	}
	silence := c.s.KeepAlive + time.Duration(conn.spread*float64(c.s.KeepAlive)/spread)
	if !c.steady(conn) {
		return c.heard(conn).Add(silence)
	}
	conn.wantsActive.Store(true) // first, so that nothing comes between
	if u := conn.expected(); u > 0 {
		conn.wantsActive.Store(false)
		silence = min(silence, u)
	}
	at := c.heard(conn).Add(silence)
	if since := conn.out.unreadSince(); !since.IsZero() {
		at = earliest(at, since.Add(min(unreadTime, c.s.KeepAlive)))
	}
	return at
}

// expected is how long a silence is unusual while something is to come: messages flow, or an
// answer is owed. Zero: nothing is expected.
func (c *conn) expected() time.Duration {
	heard := c.link.heard()
	if u := c.unusual(); u > 0 && heard.Sub(c.since)-time.Duration(c.message.Load()) < rhythmEnd {
		return u
	}
	if c.unacked > 0 || c.confirms.any() {
		return unusualMost
	}
	return 0
}

// unusual is how long a silence is unusual; zero: nothing is usual here. The pause that
// made a connection suspect is not usual, and does not hide the next one.
func (c *conn) unusual() time.Duration {
	u := c.link.unusual()
	if c.usual > 0 && u > c.usual && time.Since(c.wokeAt) < 2*rhythmSpan {
		return c.usual
	}
	return u
}

// suspectAt is when a connection is suspect; zero: not now.
func (c *Client) suspectAt(conn *conn) time.Time {
	if len(conn.pings) == 0 || c.suspicion != nil || !c.steady(conn) {
		return time.Time{}
	}
	oldest := conn.pings[0]
	patience := conn.trips.answerTimeout()
	if conn.link.heard().After(oldest.sent) { // only the answer stays away
		patience = max(patience, conn.unusual())
	}
	patience <<= min(conn.doubts, maxDoubts)
	return later(oldest.sent, c.heard(conn)).Add(patience + conn.reading.sendTime(oldest.bytes))
}

// lostAt is when a connection counts as lost; zero: no question is open.
func (c *Client) lostAt(conn *conn) time.Time {
	if conn.aborted || len(conn.pings) == 0 {
		return time.Time{}
	}
	oldest := conn.pings[0]
	sent, heard := later(oldest.sent, c.wokeAt), c.heard(conn)
	if c.s.KeepAlive > 0 {
		heard = heard.Add(c.s.KeepAlive)
	}
	return later(sent, heard).Add(c.s.PongTimeout + conn.reading.sendTime(oldest.bytes))
}

// lose abandons a connection. handleLost follows after what was received is handled.
func (c *Client) lose(conn *conn) {
	conn.lastErr = &Error{Code: CodeTimeout, Text: "the edge does not answer"}
	conn.aborted = true
	conn.link.abort()
}

// mistime says of PINGs under way that their time says nothing of the way to the edge.
func mistime(pings []*ping) {
	for _, p := range pings {
		p.untimed = true
	}
}

// probeAt is when to probe a connection next; zero: no PING waits.
func (c *conn) probeAt() time.Time {
	if c.aborted || len(c.pings) == 0 {
		return time.Time{}
	}
	return later(later(c.pings[0].sent, c.probed), c.link.heard()).Add(probeEvery)
}

// trips are the round-trip times of a connection, as RFC 6298 smooths them.
type trips struct {
	known          bool // one is
	smoothed, vary time.Duration
	slow           int // in a row; see slowTrips
}

func (t *trips) add(d time.Duration) {
	if most := 2 * t.answerTimeout(); d <= most {
		t.slow = 0
	} else if t.slow++; t.slow < slowTrips {
		return
	} else {
		d = most
	}
	if !t.known {
		t.known, t.smoothed, t.vary = true, d, d/2
		return
	}
	t.vary += ((t.smoothed - d).Abs() - t.vary) / 4
	t.smoothed += (d - t.smoothed) / 8
}

// answerTimeout is how long an answer may take that the round trips before explain.
func (t *trips) answerTimeout() time.Duration { return max(minPongTimeout, t.smoothed+4*t.vary) }
