package sdks

import (
	"cmp"
	"strings"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/natstest"
)

// impatient clients notice what is wrong within seconds, whether messages come or not.
var impatient = sdk.Options{KeepAlive: 2000, MaxBackOff: 500}

// meet connects a client of each of the stage's kinds, by its transport.
func (s *stage) meet(options sdk.Options, addresses ...string) (all []*sdk.Client) {
	s.T.Helper()
	for _, kind := range s.kinds {
		c := s.ClientOf(kind)
		c.Must(s.Connecting(kind, options, addresses...))
		for c.Event("connected").Transport != kind.Transport && len(options.Transports) > 1 {
			c.Close() // it was too slow on a busy machine: the next one tries again
			c = s.ClientOf(kind)
			c.Must(s.Connecting(kind, options, addresses...))
		}
		all = append(all, c)
	}
	return all
}

// pair is clients of every kind at one edge of an overlay, which know of the other one, too. One
// more client is there, and numbers flow between it and each of them.
type pair struct {
	*stage
	from, to      *harness.Edge
	link          *natstest.Proxy  // by which from has NATS
	first, second *harness.BadPath // by which the clients know them
	members       []*member
}

type member struct {
	*sdk.Client
	in, out *flow
}

// newPair has the clients know both edges, or one by both transports.
func newPair(s *stage, transports ...string) *pair {
	s.T.Helper()
	nats := harness.StartNATS(s.T, 1)
	p := &pair{link: natstest.ProxyTo(s.T, strings.TrimPrefix(nats[0].URL(), "nats://"))}
	joins := harness.Joining(nats, "")[0]
	p.from = harness.StartEdge(s.T, harness.PatientCaddyfile, joins, harness.ForBrowsers, func(e *harness.Edge) {
		e.Broker = strings.Replace(e.Broker, nats[0].URL(), p.link.URL(), 1)
	})
	p.to = harness.StartEdge(s.T, harness.PatientCaddyfile, joins, harness.ForBrowsers, harness.WithMaster(p.from))
	p.stage, p.first, p.second = s.with(p.from, p.to), harness.NewBadPath(s.T, p.from), harness.NewBadPath(s.T, p.to)
	options := impatient
	options.Transports = transports
	addresses := []string{p.first.Url(), p.second.Url()}
	other := p.Connect(sdk.Options{}, p.to.HttpsURL(""))
	p.second.Refuse()
	for _, c := range p.meet(options, addresses[:2-len(transports)/2]...) {
		p.members = append(p.members, &member{c, p.flow(other, c), p.flow(c, other)})
	}
	p.second.Heal()
	return p
}

// beat says a number to each client. Those that move say one, too.
func (p *pair) beat() {
	p.T.Helper()
	for _, m := range p.members {
		if m.in.say(); m.Count("moving") > 0 {
			m.out.say()
		}
	}
}

// told requires an event of each client, by its own transport if none is named.
func (p *pair) told(event, reason, edge, transport string) {
	p.T.Helper()
	for _, m := range p.members {
		p.stage.told(m.Client, event, reason, edge, cmp.Or(transport, m.Kind.Transport), p.beat)
	}
}

// lostNothing requires that all have come, to the clients and from them, that they go on, and that
// none was without a connection.
func (p *pair) lostNothing() {
	p.T.Helper()
	p.beat()
	for _, m := range p.members {
		m.in.wantAll()
		m.out.wantAll()
		m.Never("disconnected", "reconnecting", "closed", "publishError", "edgeError", "queueFull")
	}
}

// When an edge drains, its clients move to the other one. They lose nothing, get nothing
// twice, and all in order, though it gets the others' messages later than they want to leave;
// so does who hears them.
func drains(s *stage) {
	p := newPair(s)
	p.link.Delay(200*time.Millisecond, 800*time.Millisecond)
	for range 20 {
		p.beat()
	}
	p.from.Terminate()
	p.told("moving", "drain", p.first.Url(), "")
	p.told("moved", "drain", p.second.Url(), "")
	p.from.Stop() // long before the end of its drain, as all have left
	p.lostNothing()
}

// When an edge dies its clients go to the other one. What they lose was published while they
// were away, all in one place, and nothing comes twice or in another order.
func killed(s *stage) {
	p := newPair(s)
	p.from.Kill()
	for _, m := range p.members {
		p.poll("another connection", func() bool { p.beat(); return m.Count("reconnected", "recovered") > 0 })
		if e := m.IsBack(); e.Edge != p.second.Url() || e.Transport != m.Kind.Transport {
			s.T.Errorf("%s: got %v, want the edge %s", m.Kind, e, p.second.Url())
		}
		p.beat()
		m.in.reach()
		if n := m.in.gaps(); n > 1 {
			s.T.Errorf("%s: messages are missing in %d places, and it was away once", m.Kind, n)
		}
		m.Never("closed", "moving")
	}
}

// Clients are told when their edge loses the others, and when it has them again.
func losesOthers(s *stage) {
	p := newPair(s)
	for i, event := range []string{"linkDown", "linkUp"} {
		[]func(){p.link.Hold, p.link.Heal}[i]()
		for _, m := range p.members {
			p.stage.told(m.Client, event, "", p.first.Url(), "", func() {})
			m.Never("disconnected", "moving")
		}
	}
}

// recovers requires that all clients suspect the first path, and go on by another connection, as
// what they publish meanwhile does. Then the path heals.
func (p *pair) recovers(address, transport string) {
	p.T.Helper()
	p.told("suspect", "", p.first.Url(), "")
	for _, m := range p.members {
		m.out.say()
	}
	p.told("recovered", "", address, transport)
	for _, m := range p.members {
		m.in.reach()
	}
	p.first.Heal()
}

// A path goes silent, and there is another one: clients take it. When the first is back it brings
// what they have missed. (docs/clients.md, "What happens to the connection")
func pathDies(s *stage) {
	p := newPair(s)
	p.first.Swallow()
	p.recovers(p.second.Url(), "")
	p.lostNothing()
	for _, m := range p.members {
		m.Never("moving")
	}
}

// UDP goes away alone: clients go on by WebSocket. When it is back, the old connection brings
// what they have missed, and they return.
func udpDies(s *stage) {
	p := newPair(s, bothTransports...)
	p.first.SwallowUDP()
	p.recovers(p.first.Url(), "websocket")
	for _, m := range p.members {
		if m.in.wantAll(); m.Kind.InBrowser() { // it looks at the machine's addresses, as TestWayBack of the Go SDK
			m.Must(sdk.Command{Cmd: "online"})
			p.stage.told(m.Client, "moving", "transport", p.first.Url(), "websocket", p.beat)
			p.stage.told(m.Client, "moved", "transport", p.first.Url(), "webtransport", p.beat)
		}
	}
	p.lostNothing()
}
