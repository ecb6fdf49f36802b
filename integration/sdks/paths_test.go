package sdks

import (
	"slices"
	"strings"
	"syscall"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/wire"
)

// What clients do when they hear nothing: docs/clients.md, "What happens to the connection".
// They are at the shared edge by a path that can break, and may know of a second path, which
// is another edge to them.
type paths struct {
	*stage
	first, second *harness.BadPath // the second may be nil
	members       []*member
	numbers       *stream // published at the edge, not by a path; nil: none
}

// newPaths connects a client of each kind; with pad, numbers flow, which have it.
func newPaths(s *stage, two bool, kinds []sdk.Kind, options sdk.Options, pad *string) *paths {
	s.T.Helper()
	p := &paths{stage: s, first: harness.NewBadPath(s.T, s.Edges[0])}
	addresses := []string{p.first.Url()}
	if two {
		p.second = harness.NewBadPath(s.T, s.Edges[0])
		p.second.Refuse()
		defer p.second.Heal()
		addresses = append(addresses, p.second.Url())
	}
	p.members = s.meet(kinds, options, addresses...)
	if pad != nil {
		p.numbers = s.publishAs(s.Edges[0], wire.Publish{Channel: []byte("n")}, *pad)
		for _, m := range p.members {
			m.reach(20)
		}
	}
	return p
}

var noPad = ""

// mayFallBack is impatient clients that may use both transports.
var mayFallBack = sdk.Options{KeepAlive: impatient.KeepAlive, MaxBackOff: impatient.MaxBackOff, Transports: bothTransports}

// suspects requires that the client suspects the first path.
func (p *paths) suspects(m *member) {
	p.T.Helper()
	if e := m.Event("suspect"); e.Edge != p.first.Url() || e.Transport != m.Kind.Transport {
		p.T.Errorf("%s: got %v, want %s by %s", m.Kind, e, p.first.Url(), m.Kind.Transport)
	}
}

// takesOver requires that the client goes on by another connection, and returns the event.
func (p *paths) takesOver(m *member, to *harness.BadPath) sdk.Report {
	p.T.Helper()
	e := m.Event("recovered")
	if e.Edge != to.Url() || e.Away <= 0 {
		p.T.Errorf("%s: got %v, want %s, and how long it took", m.Kind, e, to.Url())
	}
	return e
}

// stayed requires that the client has never been without a connection.
func stayed(m *member) {
	m.T.Helper()
	m.Never("disconnected", "reconnecting", "closed")
}

// inChromium says that the client is held to less: Chromium ends a WebTransport connection 5 s
// after anything that it sent has no acknowledgement, and with it what the edge would send again.
func inChromium(k sdk.Kind) bool { return k == sdk.Kind{Where: "chromium", Transport: "webtransport"} }

// An edge that stands still, and goes on: its clients look for another one, there is none, and
// they stay. They miss nothing.
func frozen(s *stage) {
	e := harness.StartEdge(s.T, harness.DefaultCaddyfile, harness.ForBrowsers)
	s.T.Cleanup(func() { e.Signal(syscall.SIGCONT) }) // or it would not stop
	s = s.with(e)
	members := s.meet(s.kinds, impatient, e.HttpsURL(""))
	numbers := s.publish(e, "n") // its socket holds what it sends meanwhile
	for _, m := range members {
		m.reach(20)
	}
	e.Signal(syscall.SIGSTOP)
	for _, m := range members {
		if r := m.Event("suspect"); r.Edge != e.HttpsURL("") || r.Transport != m.Kind.Transport {
			s.T.Errorf("%s: got %v, want the edge by %s", m.Kind, r, m.Kind.Transport)
		}
	}
	e.Signal(syscall.SIGCONT)
	for _, m := range members {
		m.Event("recovered", "reconnected")
		m.reach(numbers.sent())
	}
	sent := numbers.halt()
	for _, m := range members {
		if !inChromium(m.Kind) || m.Count("disconnected") == 0 {
			m.wantAll(sent)
			stayed(m)
		}
		m.Close()
	}
}

// A path goes silent, and there is another one: clients take it, and what they publish
// meanwhile waits. When the first is back it brings what they have missed.
func pathDies(s *stage) {
	p := newPaths(s, true, s.kinds, impatient, &noPad)
	listener := s.ClientOf(s.kinds[0])
	listener.Must(s.Connecting(s.kinds[0], sdk.Options{}))
	heard := listener.Subscribe(s.Tenant, "of")
	p.first.Swallow()
	var published []int
	for _, m := range p.members {
		p.suspects(m)
		published = append(published, m.Tell(sdk.Command{Cmd: "publish", Tenant: s.Tenant, Channel: "of", Payload: []byte(m.Name)}))
	}
	for i, m := range p.members {
		p.takesOver(m, p.second)
		m.reach(p.numbers.sent())
		if r := m.Answer(published[i], "publish"); r.Error != nil {
			s.T.Errorf("%s: a publish meanwhile: %v", m.Kind, r.Error)
		}
	}
	p.first.Heal()
	sent := p.numbers.halt()
	var want, got []string
	for _, m := range p.members {
		if m.wantOnce(); !inChromium(m.Kind) {
			m.wantAll(sent)
		}
		stayed(m)
		m.Never("moving")
		want = append(want, m.Name)
	}
	for range want {
		got = append(got, string(heard.Next().Payload))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.T.Errorf("what the clients published came as %q, want %q", got, want)
	}
	listener.Flush()
	heard.WantNone()
}

// Without messages a client notices by its keep-alive.
func quietPathDies(s *stage) {
	p := newPaths(s, true, s.kinds, impatient, nil)
	p.first.Swallow()
	for _, m := range p.members {
		p.suspects(m)
	}
	publisher := s.Edges[0].Dial(s.Token())
	for _, m := range p.members {
		p.takesOver(m, p.second)
		publisher.Publish(s.Tenant, "n", "hello, "+m.Name)
		m.sub.Until("hello, " + m.Name)
		stayed(m)
	}
}

// UDP goes away alone: clients go on by WebSocket at the same edge. When it is back, the old
// connection brings what they have missed, and they return.
func udpDies(s *stage) {
	p := newPaths(s, false, s.kinds, mayFallBack, &noPad)
	p.first.SwallowUDP()
	for _, m := range p.members {
		p.suspects(m)
		if e := p.takesOver(m, p.first); e.Transport != "websocket" {
			s.T.Errorf("%s: got %v, want websocket", m.Kind, e)
		}
		m.reach(p.numbers.sent())
	}
	p.first.Heal()
	for _, m := range p.members {
		if !inChromium(m.Kind) {
			m.wantAll(p.numbers.sent())
		}
		if m.Kind.InBrowser() { // others look at the machine's addresses, as TestBackToWebTransport of the Go SDK
			m.Must(sdk.Command{Cmd: "online"})
			for event, transport := range map[string]string{"moving": "websocket", "moved": "webtransport"} {
				if e := m.Event(event); e.Reason != "transport" || e.Edge != p.first.Url() || e.Transport != transport {
					s.T.Errorf("%s: got %v, want the reason transport, and %s", m.Kind, e, transport)
				}
			}
		}
		m.reach(p.numbers.sent())
		stayed(m)
	}
}

// UDP goes away for seconds, and there is nothing else: the connection survives, and brings
// all. Chromium's does not.
func udpAway(s *stage) {
	kinds := slices.DeleteFunc(slices.Clone(s.kinds), inChromium)
	if len(kinds) == 0 {
		return
	}
	p := newPaths(s, false, kinds, impatient, &noPad)
	p.first.SwallowUDP()
	for _, m := range p.members {
		p.suspects(m)
	}
	p.first.Heal()
	for _, m := range p.members {
		m.Event("recovered")
		m.reach(p.numbers.sent())
		stayed(m)
	}
	sent := p.numbers.halt()
	for _, m := range p.members {
		m.wantAll(sent)
	}
}

// A path that carries packets of 1,300 bytes only, suddenly, and later not even these:
// what is longer than a packet gets stuck, while PING and PONG would pass.
func narrowPath(s *stage) {
	pad := " " + strings.Repeat("x", 5000)
	p := newPaths(s, false, s.kinds, mayFallBack, &pad)
	left := p.members
	for _, longest := range []int{1300, 1220} {
		p.first.Narrow(longest)
		var stay []*member
		for _, m := range left {
			p.suspects(m)
			if e := p.takesOver(m, p.first); e.Transport == "webtransport" {
				stay = append(stay, m)
			}
			m.reach(p.numbers.sent() + 20) // a rhythm again
			stayed(m)
		}
		left = stay
	}
	if len(left) > 0 {
		s.T.Errorf("%d clients use packets that do not pass", len(left))
	}
}

// A client gets another address: QUIC goes on, TCP begins again.
func otherAddress(s *stage) {
	p := newPaths(s, false, s.kinds, impatient, &noPad)
	p.first.Readdress()
	for _, m := range p.members {
		if m.Kind.Transport == "websocket" {
			p.suspects(m)
			p.takesOver(m, p.first)
		}
		m.reach(p.numbers.sent())
		stayed(m)
	}
	sent := p.numbers.halt()
	for _, m := range p.members {
		if m.Kind.Transport == "webtransport" {
			m.wantAll(sent)
		}
	}
}
