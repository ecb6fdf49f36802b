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
// not lines, and a gap need not come at its place among the messages.
type Client struct {
	checker *Checker
	name    string
	tenant  string
	pattern pattern.Pattern

	begins []wire.Position // where each client began
	ends   []int           // of each but the last: how many messages had come when the next one began
	end    wire.Position
	got    []wire.Position // in the order in which they came
	had    int             // messages that it had to have, and has
	gaps   []clientGap
}

// clientGap is a gap: between these positions something may be missing.
type clientGap struct {
	from, before wire.Position
	epochs       []uint64 // that the application was in between
	client       int      // that was told, an index of begins
	excused      interval // where edges share the history: see the method excuse
}

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
	if len(s.begins) > 0 {
		s.ends = append(s.ends, len(s.got))
	}
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
	first := max(0, len(s.begins)-1-lined)
	g := clientGap{from: s.begins[first], before: before, client: len(s.begins) - 1}
	for _, at := range s.begins[first:] {
		g.epochs = append(g.epochs, at.Epoch)
	}
	if first > 0 {
		first = s.ends[first-1] // the first message of that client
	}
	for _, at := range s.got[min(first, len(s.got)):] {
		if g.epochs[len(g.epochs)-1] != at.Epoch {
			g.epochs = append(g.epochs, at.Epoch)
		}
	}
	s.gaps = append(s.gaps, g)
}

// End notes that the application has all up to a position, or got notices of gaps.
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
	used := map[int]bool{} // gaps; each explains one step back
	for _, at := range s.got {
		// A gap may name an earlier position: what is behind it may have come before.
		if at.Epoch == last.Epoch && at.N <= last.N {
			if i := s.gapBefore(at, used); i >= 0 {
				used[i] = true
			} else {
				c.fault("%s: %v comes after %v", s.name, at, last)
			}
		}
		if at.Epoch != last.Epoch && !slices.ContainsFunc(s.gaps, func(g clientGap) bool { return g.before.Epoch == at.Epoch }) {
			c.fault("%s: %v comes after %v, without a gap", s.name, at, last)
		}
		last = at
		got[place{s.tenant, at.Epoch, at.N}] = true
	}
	for i := range s.gaps {
		s.gaps[i].excused = s.excuse(s.gaps[i])
	}
	seen := map[uint64]bool{s.end.Epoch: true}
	for _, list := range [][]wire.Position{s.begins, s.got} {
		for _, at := range list {
			seen[at.Epoch] = true
		}
	}
	for p, m := range c.stored {
		switch {
		case !m.confirmed || p.tenant != s.tenant || !s.pattern.Match(m.channel) || !s.covers(p) || s.excused(p):
		case !seen[p.epoch]: // it had ended before the client began, or was between two others
		case got[p]:
			s.had++
		default:
			c.fault("%s: %s=%.20s at %d was confirmed, and is missing without a gap: %s", s.name, m.channel, m.payload, p.n, s.around(p))
		}
	}
}

// gapBefore returns the last gap in front of a place that is not used yet; -1: there is none.
func (s *Client) gapBefore(at wire.Position, used map[int]bool) (found int) {
	found = -1
	for i, g := range s.gaps {
		if g.before.Epoch == at.Epoch && g.before.N < at.N && !used[i] && (found < 0 || g.before.N > s.gaps[found].before.N) {
			found = i
		}
	}
	return found
}

// around reports the messages, begins and gaps before and after the place of a missing message.
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
		switch e := g.excused; {
		case g.before.Epoch == p.epoch && s.checker.Shared:
			return e.from < p.n && p.n <= e.to
		case g.from.Epoch == p.epoch && p.n <= g.from.N:
			return false
		case g.before.Epoch == p.epoch:
			return p.n <= g.before.N
		}
		// The history started over, perhaps several times.
		return slices.Contains(g.epochs, p.epoch)
	})
}

// excuse is what may be missing by a gap, where edges share the history: what is in front of
// it, up to the message before, and what is behind it up to the next line of the subscription,
// which an SDK does not show: up to where the client came.
func (s *Client) excuse(g clientGap) interval {
	first, end := 0, len(s.got)
	if g.client > 0 {
		first = s.ends[g.client-1]
	}
	if g.client < len(s.ends) {
		end = s.ends[g.client]
	}
	e := interval{epoch: g.before.Epoch, to: g.before.N}
	for _, at := range append(s.got[first:end:end], s.begins[g.client]) {
		switch {
		case at.Epoch != e.epoch:
		case at.N <= g.before.N:
			e.from = max(e.from, at.N)
		default:
			e.to = max(e.to, at.N)
		}
	}
	return e
}
