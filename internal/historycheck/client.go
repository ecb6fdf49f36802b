package historycheck

import (
	"slices"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// Client is a subscription with a history of clients of an SDK, one after the other, each of
// which goes on behind the last message of the one before. An SDK shows messages and gaps,
// not lines, and a gap need not come at its place among the messages. It is for histories
// that are not shared: there, nothing but what is behind the last message before a GAP, up
// to its position, may be missing.
type Client struct {
	checker *Checker
	name    string
	tenant  string
	pattern pattern.Pattern

	begin wire.Position
	end   wire.Position
	got   []wire.Position // in the order in which they came
	gaps  []wire.Position // before which something may be missing
}

// Client adds a subscription of clients of an SDK, which has all that is stored behind a
// position.
func (c *Checker) Client(name, tenant string, p pattern.Pattern, begin wire.Position) *Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &Client{checker: c, name: name, tenant: tenant, pattern: p, begin: begin, end: begin}
	c.clients = append(c.clients, s)
	return s
}

// Message notes a message of the subscription.
func (s *Client) Message(tenant, channel, payload string, at wire.Position) {
	c := s.checker
	c.mu.Lock()
	defer c.mu.Unlock()
	if tenant != s.tenant || !s.pattern.Match(channel) {
		c.fault("%s: a message for others: %s %s", s.name, tenant, channel)
		return
	}
	c.note(s.tenant, message{channel, payload, false}, at)
	s.got = append(s.got, at)
}

// Gap notes the event of a gap.
func (s *Client) Gap(before wire.Position) {
	s.checker.mu.Lock()
	defer s.checker.mu.Unlock()
	s.gaps = append(s.gaps, before)
}

// End notes that the application has all up to a position, or was told of gaps.
func (s *Client) End(at wire.Position) {
	s.checker.mu.Lock()
	defer s.checker.mu.Unlock()
	s.end = at
}

// check looks for what came twice or out of order, and for what is missing without a gap.
// The caller holds c.mu.
func (s *Client) check() {
	c := s.checker
	got := map[uint64][]uint64{} // by epoch
	last := s.begin
	for _, at := range s.got {
		// A gap may name an earlier position: what is behind it may have come before.
		again := slices.ContainsFunc(s.gaps, func(g wire.Position) bool { return g.Epoch == at.Epoch && g.N < at.N })
		switch {
		case at.Epoch == last.Epoch && at.N <= last.N && !again:
			c.fault("%s: %v comes after %v", s.name, at, last)
		case at.Epoch != last.Epoch && !slices.ContainsFunc(s.gaps, func(g wire.Position) bool { return g.Epoch == at.Epoch }):
			c.fault("%s: %v comes after %v, without a gap", s.name, at, last)
		}
		last = at
		got[at.Epoch] = append(got[at.Epoch], at.N)
	}
	for _, list := range got {
		slices.Sort(list)
	}
	for p, m := range c.stored {
		if m.confirmed && p.tenant == s.tenant && s.pattern.Match(m.channel) && s.covers(p) && !s.excused(p, got[p.epoch]) {
			c.fault("%s: %s=%s at %d was confirmed, and is missing without a gap: of %d messages and the gaps %v", s.name, m.channel, m.payload, p.n, len(s.got), s.gaps)
		}
	}
}

// covers reports whether a place is between the begin and the end.
func (s *Client) covers(p place) bool {
	return (p.epoch != s.begin.Epoch || p.n > s.begin.N) && (p.epoch != s.end.Epoch || p.n <= s.end.N)
}

// excused reports whether the client has what is at a place, or was told that it may not: by
// a gap between that place and the next one of which it has the message.
func (s *Client) excused(p place, got []uint64) bool {
	i, is := slices.BinarySearch(got, p.n)
	if is {
		return true
	}
	return slices.ContainsFunc(s.gaps, func(g wire.Position) bool {
		if g.Epoch != p.epoch { // the history began anew, behind all that the client has of this epoch
			return i == len(got)
		}
		return g.N >= p.n && (i == len(got) || g.N < got[i])
	})
}
