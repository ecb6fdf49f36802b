package sdks

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
)

// trafficEvery is the rhythm of messages on a path that breaks.
const trafficEvery = 50 * time.Millisecond

// soon is what a client takes at most to have messages again. It takes 2 to 3 s where
// messages flow steadily; asking after the usual keep-alive alone took 35 s.
const soon = 30 * time.Second

// sdkPaths is clients at the shared edge by a path that can break. They may know of
// a second path, which is another edge to them; they begin at the first.
type sdkPaths struct {
	*sdk.Stage
	first, second *harness.BadPath // the second may be nil
	clients       []*sdk.Client
	counts        []*sdkCount // of messages to the channel n, one for each client
	stream        *numbers    // published at the edge, not by a path; nil: none
}

// startSDKPaths connects a client of each kind, by one path or two, and held to its
// transport if the options have none. It returns when messages flow steadily.
func startSDKPaths(t *testing.T, lab *sdk.Lab, paths int, kinds []sdk.Kind, options sdk.Options, pad string) *sdkPaths {
	t.Helper()
	p := newSDKPaths(t, lab, paths)
	p.stream = startNumbersEvery(trafficEvery, pad, p.Edges[0].Dial(p.Token()), p.Tenant, "n")
	p.connectKinds(kinds, options)
	for _, n := range p.counts {
		n.steady(p.stream)
	}
	return p
}

func newSDKPaths(t *testing.T, lab *sdk.Lab, paths int) *sdkPaths {
	t.Helper()
	p := &sdkPaths{Stage: lab.Stage(t, sdk.Kind{}, lab.Shared), first: harness.NewBadPath(t, lab.Shared)}
	if paths > 1 {
		p.second = harness.NewBadPath(t, lab.Shared)
	}
	return p
}

func (p *sdkPaths) connectKinds(kinds []sdk.Kind, options sdk.Options) {
	p.T.Helper()
	options.Token = p.Token()
	addresses := []string{p.first.Url()}
	if p.second != nil {
		p.second.Refuse()
		defer p.second.Heal()
		addresses = append(addresses, p.second.Url())
	}
	for _, kind := range kinds {
		c := p.ClientOf(kind)
		c.Must(p.Connecting(kind, options, addresses...))
		e := c.Event("connected")
		if e.Edge != p.first.Url() || e.Transport != kind.Transport {
			p.T.Fatalf("%s: got %v, want %s", kind, e, p.first.Url())
		}
		p.clients = append(p.clients, c)
		p.counts = append(p.counts, newSDKCount(c.Subscribe(p.Tenant, "n"), e.At))
	}
}

// suspects requires that the client suspects the first path.
func (p *sdkPaths) suspects(c *sdk.Client, broken time.Time) {
	p.T.Helper()
	e := c.Event("suspect")
	if e.Edge != p.first.Url() || e.Transport != c.Kind.Transport {
		p.T.Errorf("%s: got %v, want %s by %s", c.Kind, e, p.first.Url(), c.Kind.Transport)
	}
	wantSoon(c, e, broken)
}

// takesOver requires that the client goes on by another connection, and returns
// the event.
func (p *sdkPaths) takesOver(c *sdk.Client, to *harness.BadPath, broken time.Time) sdk.Report {
	p.T.Helper()
	e := c.Event("recovered")
	if e.Edge != to.Url() || e.Away <= 0 || e.Away > sdk.InMS(harness.WaitTimeout) {
		p.T.Errorf("%s: got %v, want %s, and how long it took", c.Kind, e, to.Url())
	}
	wantSoon(c, e, broken)
	p.T.Logf("%s: recovered after %v, by %s", c.Kind, e.At.Sub(broken).Round(time.Millisecond), e.Transport)
	return e
}

func wantSoon(c *sdk.Client, e sdk.Report, since time.Time) {
	c.T.Helper()
	if took := e.At.Sub(since); took > soon {
		c.T.Errorf("%s: %v came after %v, want %v at most", c.Kind, e, took, soon)
	}
}

// sdkCount looks at the numbers that a subscription brings: each once, and in
// order, if they are not late.
type sdkCount struct {
	sub  *sdk.Sub
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
func newSDKCount(sub *sdk.Sub, heard time.Time) *sdkCount {
	return &sdkCount{sub: sub, seen: map[int]bool{}, last: -1, at: heard}
}

func (n *sdkCount) Take(r sdk.Report) {
	c := n.sub.C
	c.T.Helper()
	n.pauses = append(n.pauses, pause{r.At, r.At.Sub(n.at)})
	n.at = r.At
	number, _, _ := strings.Cut(string(r.Payload), " ")
	i, err := strconv.Atoi(number)
	switch {
	case err != nil:
		c.T.Errorf("%s: got %s, want a number", c.Kind, sdk.Short(string(r.Payload)))
		return
	case n.seen[i]:
		c.T.Errorf("%s: %d came twice", c.Kind, i)
	case r.Late:
		n.late++
	case i < n.last:
		c.T.Errorf("%s: %d came after %d, and not as late", c.Kind, i, n.last)
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
	n.sub.C.T.Helper()
	for n.last < number {
		n.Take(n.sub.Next())
	}
}

// steady returns when the client has a rhythm without long pauses, as it has at once
// if the machine has time for it: three times the longest of 10 s is what it waits.
func (n *sdkCount) steady(stream *numbers) {
	n.sub.C.T.Helper()
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
	n.sub.C.T.Helper()
	n.reach(stream.sent())
}

// wantAll requires all numbers from the first that came to below the end, late or not.
func (n *sdkCount) wantAll(end int) {
	n.sub.C.T.Helper()
	n.wantFrom(n.first, end)
}

func (n *sdkCount) wantFrom(first, end int) {
	c := n.sub.C
	c.T.Helper()
	for i := first; i < end; i++ {
		for !n.seen[i] {
			r, ok := n.sub.Messages.Take(func(sdk.Report) bool { return true })
			if !ok {
				c.T.Errorf("%s: of %d to %d, %d is missing, %d came in all, %d late; events: %v",
					c.Kind, first, end-1, i, len(n.seen), n.late, c.Events.Rest())
				return
			}
			n.Take(r)
		}
	}
	n.wantOnce()
}

// wantOnce requires that nothing of what is left came before.
func (n *sdkCount) wantOnce() {
	n.sub.C.T.Helper()
	n.sub.C.Flush()
	for len(n.sub.Messages.Rest()) > 0 {
		n.Take(n.sub.Next())
	}
}
