package sdks

import (
	"strings"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/natstest"
)

// pair is a client at one edge of an overlay, which knows of the other one, too. Another client is
// there, and numbers flow between the two.
type pair struct {
	*stage
	from          *harness.Edge
	link          *natstest.Proxy  // by which from has NATS
	first, second *harness.BadPath // by which the client knows them
	c             *sdk.Client
	in, out       *flow // of c
}

// newPair has the client know both edges, or one by both transports.
func newPair(s *stage, transports ...string) *pair {
	s.T.Helper()
	nats := harness.StartNATS(s.T, 1)
	p := &pair{link: natstest.ProxyTo(s.T, strings.TrimPrefix(nats[0].URL(), "nats://"))}
	joins := harness.Joining(nats, "")[0]
	p.from = harness.StartEdge(s.T, harness.PatientCaddyfile, joins, harness.ForBrowsers, func(e *harness.Edge) {
		e.Broker = strings.Replace(e.Broker, nats[0].URL(), p.link.URL(), 1)
	})
	to := harness.StartEdge(s.T, harness.PatientCaddyfile, joins, harness.ForBrowsers, harness.WithMaster(p.from))
	p.stage, p.first, p.second = s.with(p.from, to), harness.NewBadPath(s.T, p.from), harness.NewBadPath(s.T, to)
	options := sdk.Options{KeepAlive: 2000, MaxBackOff: 500, Transports: transports}
	p.second.Refuse()
	p.c = p.Connect(options, []string{p.first.Url(), p.second.Url()}[:2-len(transports)/2]...)
	for len(transports) > 1 && p.c.Event("connected").Transport != p.Kind.Transport { // it was too slow on a busy machine
		p.c.Close()
		p.c = p.Connect(options, p.first.Url())
	}
	p.second.Heal()
	other := p.Connect(sdk.Options{}, to.HttpsURL(""))
	p.in, p.out = p.flow(other, p.c), p.flow(p.c, other)
	return p
}

// beat says a number to the client, which says one, too, when it moves.
func (p *pair) beat() {
	p.T.Helper()
	if p.in.say(); p.c.Count("moving") > 0 {
		p.out.say()
	}
}

// lostNothing requires that all has come, to the client and from it, that it goes on, and that it
// was never without a connection.
func (p *pair) lostNothing() {
	p.T.Helper()
	p.beat()
	p.in.want(0)
	p.out.want(0)
	p.c.Never("disconnected", "reconnecting", "closed", "publishError", "edgeError", "queueFull")
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
	p.told(p.c, "moving", "drain", p.first.Url(), s.Kind.Transport, p.beat)
	p.told(p.c, "moved", "drain", p.second.Url(), s.Kind.Transport, p.beat)
	p.from.Stop() // long before the end of its drain, as all have left
	p.lostNothing()
}

// When an edge dies its clients go to the other one. What they lose was published while they
// were away, all in one place, and nothing comes twice or in another order.
func killed(s *stage) {
	p := newPair(s)
	p.from.Kill()
	p.poll("another connection", func() bool { p.beat(); return p.c.Count("reconnected", "recovered") > 0 })
	if e := p.c.IsBack(); e.Edge != p.second.Url() || e.Transport != s.Kind.Transport {
		s.T.Errorf("%s: got %v, want the edge %s", s.Kind, e, p.second.Url())
	}
	p.beat()
	p.in.want(1)
	p.c.Never("closed", "moving")
}

// Clients are told when their edge loses the others, and when it has them again.
func losesOthers(s *stage) {
	p := newPair(s)
	p.link.Hold()
	p.told(p.c, "linkDown", "", p.first.Url(), "", func() {})
	p.link.Heal()
	p.told(p.c, "linkUp", "", p.first.Url(), "", func() {})
	p.c.Never("disconnected", "moving")
}

// recovers requires that the client suspects the first path, and goes on by another connection, as
// what it publishes meanwhile does. Then the path heals.
func (p *pair) recovers(address, transport string) {
	p.T.Helper()
	p.told(p.c, "suspect", "", p.first.Url(), p.Kind.Transport, p.beat)
	p.out.say()
	p.told(p.c, "recovered", "", address, transport, p.beat)
	p.in.want(1)
	p.first.Heal()
}

// A path goes silent, and there is another one: clients take it. When the first is back it brings
// what they have missed. (docs/reference/go.md, Reconnects)
func pathDies(s *stage) {
	p := newPair(s)
	p.first.Swallow()
	p.recovers(p.second.Url(), s.Kind.Transport)
	p.lostNothing()
	p.c.Never("moving")
}

// A path goes silent under a client that only publishes: it notices long before its keepAlive, goes
// on by the other path, and tells how many messages may be lost.
func publishesAlone(s *stage) {
	p := newPair(s)
	p.c.Close()
	p.second.Refuse()
	c := p.Connect(sdk.Options{MaxBackOff: 500}, p.first.Url(), p.second.Url())
	p.second.Heal()
	out := p.flow(c, p.out.C)
	asked := c.Count("roundTrip")
	p.poll("answers", func() bool { out.say(); return c.Count("roundTrip") >= asked+2 })
	p.first.Swallow()
	died := time.Now()
	p.poll("publishUnknown", func() bool { out.say(); return c.Count("publishUnknown") > 0 })
	if e := c.Event("suspect"); e.At.Sub(died) > keepAlive*8/10 {
		s.T.Errorf("%s: suspect %v after its path died", s.Kind, e.At.Sub(died))
	}
	told := c.Event("publishUnknown")
	p.told(c, "recovered", "", p.second.Url(), s.Kind.Transport, out.say)
	out.want(1)
	if lost := out.said - len(out.seen); told.Edge != p.first.Url() || told.Transport != s.Kind.Transport || told.Count < max(lost, 1) || c.Count("publishUnknown") != 1 {
		s.T.Errorf("%s: told %v, and %d messages are lost", s.Kind, told, lost)
	}
	c.Never("disconnected", "moving", "publishError")
	p.first.Heal() // else the edge waits for the old connection when it stops
}

// keepAlive is the default of SDKs.
const keepAlive = 25 * time.Second

// UDP goes away alone: clients go on by WebSocket. When it is back, the old connection brings
// what they have missed, and they return.
func udpDies(s *stage) {
	p := newPair(s, bothTransports...)
	p.first.SwallowUDP()
	p.recovers(p.first.Url(), "websocket")
	if p.in.want(0); s.Kind.InBrowser() { // it looks at the machine's addresses, as TestWayBack of the Go SDK
		p.c.Must(sdk.Command{Cmd: "online"})
		p.told(p.c, "moving", "transport", p.first.Url(), "websocket", p.beat)
		p.told(p.c, "moved", "transport", p.first.Url(), "webtransport", p.beat)
	}
	p.lostNothing()
}
