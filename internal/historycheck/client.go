package historycheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// Client is a subscription with a history of clients of an SDK, one after the other, each of
// which goes on behind the last message of the one before. An SDK shows messages and gaps,
// not lines, and a gap need not come at its place among the messages. It is for histories
// that are not shared.
type Client struct {
	checker *Checker
	name    string
	tenant  string
	pattern pattern.Pattern

	begins []wire.Position // where each client began
	end    wire.Position
	got    []wire.Position // in the order in which they came
	gaps   []clientGap
}

// clientGap is a gap: between these positions something may be missing.
type clientGap struct{ from, before wire.Position }

// lined is so many clients after which a line came that says that nothing is missing before
// it, if nothing is: what is missing may be among the messages since the last line, and a
// client may have left before it had one.
const lined = 2

// Client adds a subscription of clients of an SDK.
func (c *Checker) Client(name, tenant string, p pattern.Pattern) *Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &Client{checker: c, name: name, tenant: tenant, pattern: p}
	c.clients = append(c.clients, s)
	return s
}

// Begin notes that a client begins, which has all that is stored behind a position.
func (s *Client) Begin(at wire.Position) {
	s.checker.mu.Lock()
	defer s.checker.mu.Unlock()
	s.begins = append(s.begins, at)
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
	s.gaps = append(s.gaps, clientGap{s.begins[max(0, len(s.begins)-1-lined)], before})
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
	if len(s.begins) == 0 {
		return
	}
	got := map[place]bool{}
	last := s.begins[0]
	for _, at := range s.got {
		// A gap may name an earlier position: what is behind it may have come before.
		again := slices.ContainsFunc(s.gaps, func(g clientGap) bool { return g.before.Epoch == at.Epoch && g.before.N < at.N })
		switch {
		case at.Epoch == last.Epoch && at.N <= last.N && !again:
			c.fault("%s: %v comes after %v", s.name, at, last)
		case at.Epoch != last.Epoch && !slices.ContainsFunc(s.gaps, func(g clientGap) bool { return g.before.Epoch == at.Epoch }):
			c.fault("%s: %v comes after %v, without a gap", s.name, at, last)
		}
		last = at
		got[place{s.tenant, at.Epoch, at.N}] = true
	}
	for p, m := range c.stored {
		if m.confirmed && p.tenant == s.tenant && s.pattern.Match(m.channel) && s.covers(p) && !got[p] && !s.excused(p) {
			c.fault("%s: %s=%.20s at %d was confirmed, and is missing without a gap: %s", s.name, m.channel, m.payload, p.n, s.around(p))
		}
	}
}

// around tells of the messages, begins and gaps before and after the place of a missing message.
func (s *Client) around(p place) string {
	i := slices.IndexFunc(s.got, func(at wire.Position) bool { return at.Epoch == p.epoch && at.N > p.n })
	if i < 0 {
		i = len(s.got)
	}
	var text strings.Builder
	for _, at := range s.got[max(0, i-2):min(len(s.got), i+2)] {
		fmt.Fprintf(&text, "%d ", at.N)
	}
	fmt.Fprint(&text, "came; clients began at")
	for _, at := range s.begins {
		fmt.Fprintf(&text, " %d", at.N)
	}
	fmt.Fprint(&text, "; gaps")
	for _, g := range s.gaps {
		fmt.Fprintf(&text, " %d-%d", g.from.N, g.before.N)
	}
	return text.String()
}

// covers reports whether a place is between the begin and the end.
func (s *Client) covers(p place) bool {
	begin := s.begins[0]
	return (p.epoch != begin.Epoch || p.n > begin.N) && (p.epoch != s.end.Epoch || p.n <= s.end.N)
}

// excused reports whether the client was told that what is at a place may be missing.
func (s *Client) excused(p place) bool {
	return slices.ContainsFunc(s.gaps, func(g clientGap) bool {
		if g.from.Epoch == p.epoch && p.n <= g.from.N {
			return false
		}
		// In another epoch, the history began anew.
		return g.before.Epoch == p.epoch && p.n <= g.before.N || g.before.Epoch != p.epoch && g.from.Epoch == p.epoch
	})
}
