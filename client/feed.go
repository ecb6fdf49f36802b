package client

import (
	"time"

	"github.com/millrace/millrace/wire"
)

// feed is what a connection has reported for a WHO.
type feed struct {
	all   *roster // what is true; nil: it has yet to come
	begun *roster // what has come since it started over, until all has come; nil: nothing
}

// readPresence takes a presence frame. It is called by the reading goroutine.
func (c *conn) readPresence(frame []byte, to sink) *Error {
	p, err := wire.DecodePresence(frame)
	if err != nil {
		return &Error{Code: CodeProtocol, Text: "the edge sent a frame that is not understood", Err: err}
	}
	to.presence(c, &p)
	return nil
}

// memberOf is a member as an entry of a frame has it; nil: it is gone.
func memberOf(m *wire.Member) (memberKey, *Member) {
	k := memberKey{m.Channel, m.Subject}
	if !m.Here {
		return k, nil
	}
	here := &Member{Channel: m.Channel, Subject: m.Subject, Since: time.UnixMilli(int64(m.Since)).UTC()}
	if len(m.Info) > 0 {
		here.Info = m.Info
	}
	return k, here
}

// add takes the entries of a frame.
func (r *roster) add(p *wire.Presence) {
	for i := range p.Members {
		r.set(memberOf(&p.Members[i]))
	}
	for _, c := range p.Channels {
		r.setCount(c.Channel, int(c.Members))
	}
}

// handlePresence takes a presence frame.
func (c *Client) handlePresence(from *conn, p *wire.Presence) {
	if from.dead || c.over || from != c.current && from != c.next {
		return
	}
	s := c.standings[standingKey{wire.VerbWho, key{p.Tenant, p.Pattern}}]
	h := from.holds[s]
	switch {
	case h == nil || h.state != holdHas: // of one that the application has left
		return
	case p.Counts && !s.count:
		if s.source == from || s.source == nil && from == c.current {
			s.view.tell(p.Channels)
		}
		return
	case p.Counts != s.count: // no edge does that
		return
	}
	f := &h.feed
	if p.First {
		f.begun = newRoster()
	}
	switch {
	case f.begun != nil:
		f.begun.add(p)
	case f.all == nil: // no edge does that
		return
	case s.source == from:
		s.view.apply(p)
	default:
		f.all.add(p)
	}
	if !p.Synced || f.begun == nil {
		return
	}
	f.all, f.begun = f.begun, nil
	if s.source == nil || s.source == from || from == c.next {
		c.feedFrom(from, s)
	}
}

// feedFrom shows what a connection has brought, which is all there is.
func (c *Client) feedFrom(conn *conn, s *standing) {
	s.source = conn
	s.view.show(conn.holds[s].feed.all)
	s.confirm()
}

// unfeed shows what another connection brings in place of one that is left or lost.
func (c *Client) unfeed(lost *conn) {
	for _, s := range c.standings {
		if s.source == lost {
			c.unfeedStanding(lost, s)
		}
	}
}

func (c *Client) unfeedStanding(lost *conn, s *standing) {
	if s.view == nil || s.source != lost {
		return
	}
	s.source = nil
	for _, conn := range c.conns() {
		if h := conn.holds[s]; conn != lost && h != nil && h.feed.all != nil {
			c.feedFrom(conn, s)
			return
		}
	}
	s.view.lose()
}

// isUnsynced reports whether the next connection has yet to bring what the current one shows.
func (c *Client) isUnsynced(next *conn) bool {
	if next == nil {
		return false
	}
	for _, s := range c.standings {
		if h := next.holds[s]; s.source != nil && s.source == c.current && h != nil && h.state == holdHas && h.feed.all == nil {
			return true
		}
	}
	return false
}
