package integration

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// trafficEvery is the rhythm of messages on a path that breaks.
const trafficEvery = 50 * time.Millisecond

// soon is what a client takes at most to have messages again. It takes 2 to 3 s where
// messages flow steadily; asking after the usual keep-alive alone took 35 s.
const soon = 30 * time.Second

// sdkPaths is clients at the shared edge by a path that can break. They may know of
// a second path, which is another edge to them; they begin at the first.
type sdkPaths struct {
	*sdkStage
	first, second *badPath // the second may be nil
	clients       []*sdkClient
	counts        []*sdkCount // of messages to the channel n, one for each client
	stream        *numbers    // published at the edge, not by a path; nil: none
}

// startSDKPaths connects a client of each kind, by one path or two, and held to its
// transport if the options have none. It returns when messages flow steadily.
func startSDKPaths(t *testing.T, lab *sdkLab, paths int, kinds []sdkKind, options sdkOptions, pad string) *sdkPaths {
	t.Helper()
	p := newSDKPaths(t, lab, paths)
	p.stream = startNumbersEvery(trafficEvery, pad, p.edges[0].dial(p.token()), p.tenant, "n")
	p.connectKinds(kinds, options)
	for _, n := range p.counts {
		n.steady(p.stream)
	}
	return p
}

func newSDKPaths(t *testing.T, lab *sdkLab, paths int) *sdkPaths {
	t.Helper()
	p := &sdkPaths{sdkStage: lab.stage(t, sdkKind{}, lab.shared), first: newBadPath(t, lab.shared)}
	if paths > 1 {
		p.second = newBadPath(t, lab.shared)
	}
	return p
}

func (p *sdkPaths) connectKinds(kinds []sdkKind, options sdkOptions) {
	p.t.Helper()
	options.Token = p.token()
	addresses := []string{p.first.url()}
	if p.second != nil {
		p.second.refuse()
		defer p.second.heal()
		addresses = append(addresses, p.second.url())
	}
	for _, kind := range kinds {
		c := p.clientOf(kind)
		c.must(p.connecting(kind, options, addresses...))
		e := c.event("connected")
		if e.Edge != p.first.url() || e.Transport != kind.transport {
			p.t.Fatalf("%s: got %v, want %s", kind, e, p.first.url())
		}
		p.clients = append(p.clients, c)
		p.counts = append(p.counts, newSDKCount(c.subscribe(p.tenant, "n"), e.At))
	}
}

// suspects requires that the client suspects the first path.
func (p *sdkPaths) suspects(c *sdkClient, broken time.Time) {
	p.t.Helper()
	e := c.event("suspect")
	if e.Edge != p.first.url() || e.Transport != c.kind.transport {
		p.t.Errorf("%s: got %v, want %s by %s", c.kind, e, p.first.url(), c.kind.transport)
	}
	wantSoon(c, e, broken)
}

// takesOver requires that the client goes on by another connection, and returns
// the event.
func (p *sdkPaths) takesOver(c *sdkClient, to *badPath, broken time.Time) sdkReport {
	p.t.Helper()
	e := c.event("recovered")
	if e.Edge != to.url() || e.Away <= 0 || e.Away > inMS(waitTimeout) {
		p.t.Errorf("%s: got %v, want %s, and how long it took", c.kind, e, to.url())
	}
	wantSoon(c, e, broken)
	p.t.Logf("%s: recovered after %v, by %s", c.kind, e.At.Sub(broken).Round(time.Millisecond), e.Transport)
	return e
}

func wantSoon(c *sdkClient, e sdkReport, since time.Time) {
	c.t.Helper()
	if took := e.At.Sub(since); took > soon {
		c.t.Errorf("%s: %v came after %v, want %v at most", c.kind, e, took, soon)
	}
}

// sdkCount looks at the numbers that a subscription brings: each once, and in
// order, if they are not late.
type sdkCount struct {
	sub  *sdkSub
	seen map[int]bool
	last int // of those in order
	late int

	first  int       // that came
	at     time.Time // when the last one came
	pauses []pause
}

// A pause is the time from one message to the next.
type pause struct {
	end  time.Time
	took time.Duration
}

// newSDKCount counts what a client gets that has heard of the edge then.
func newSDKCount(sub *sdkSub, heard time.Time) *sdkCount {
	return &sdkCount{sub: sub, seen: map[int]bool{}, last: -1, at: heard}
}

func (n *sdkCount) take(r sdkReport) {
	c := n.sub.c
	c.t.Helper()
	n.pauses = append(n.pauses, pause{r.At, r.At.Sub(n.at)})
	n.at = r.At
	number, _, _ := strings.Cut(string(r.Payload), " ")
	i, err := strconv.Atoi(number)
	switch {
	case err != nil:
		c.t.Errorf("%s: got %s, want a number", c.kind, short(string(r.Payload)))
		return
	case n.seen[i]:
		c.t.Errorf("%s: %d came twice", c.kind, i)
	case r.Late:
		n.late++
	case i < n.last:
		c.t.Errorf("%s: %d came after %d, and not as late", c.kind, i, n.last)
	default:
		n.last = i
	}
	if len(n.seen) == 0 {
		n.first = i
	}
	n.seen[i] = true
}

// reach takes messages up to a number.
func (n *sdkCount) reach(number int) {
	n.sub.c.t.Helper()
	for n.last < number {
		n.take(n.sub.next())
	}
}

// steady returns when the client has a rhythm without long pauses, as it has at once
// if the machine has time for it: three times the longest of 10 s is what it waits.
func (n *sdkCount) steady(stream *numbers) {
	n.sub.c.t.Helper()
	for {
		n.reach(stream.sent() + 10)
		recent := n.at.Add(-10 * time.Second)
		if !slices.ContainsFunc(n.pauses, func(p pause) bool { return p.end.After(recent) && p.took > time.Second }) {
			return
		}
	}
}

// flows requires that messages come that are published from now on.
func (n *sdkCount) flows(stream *numbers) {
	n.sub.c.t.Helper()
	n.reach(stream.sent())
}

// wantAll requires all numbers from the first that came to below the end, late or not.
func (n *sdkCount) wantAll(end int) {
	n.sub.c.t.Helper()
	n.wantFrom(n.first, end)
}

func (n *sdkCount) wantFrom(first, end int) {
	c := n.sub.c
	c.t.Helper()
	for i := first; i < end; i++ {
		for !n.seen[i] {
			r, ok := n.sub.messages.take(func(sdkReport) bool { return true })
			if !ok {
				c.t.Errorf("%s: of %d to %d, %d is missing, %d came in all, %d late; events: %v",
					c.kind, first, end-1, i, len(n.seen), n.late, c.events.rest())
				return
			}
			n.take(r)
		}
	}
	n.wantOnce()
}

// wantOnce requires that nothing of what is left came before.
func (n *sdkCount) wantOnce() {
	n.sub.c.t.Helper()
	n.sub.c.flush()
	for len(n.sub.messages.rest()) > 0 {
		n.take(n.sub.next())
	}
}
