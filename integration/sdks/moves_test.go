package sdks

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/natstest"
)

// pair is clients of every kind at one edge of an overlay, which know of the other one, too, and
// get numbers from there. Another client hears what they say.
type pair struct {
	*stage
	from, to      *harness.Edge
	link          *natstest.Proxy  // by which from has NATS
	first, second *harness.BadPath // by which the clients know them
	members       []*member
	sent, halt    func() int // of the numbers
	heard         *sdk.Sub
	said          map[string][]int // by the client's name: the commands
}

// newPair has the clients know both edges, or one by both transports.
func newPair(s *stage, transports ...string) *pair {
	s.T.Helper()
	nats := harness.StartNATS(s.T, 1)
	p := &pair{link: natstest.ProxyTo(s.T, strings.TrimPrefix(nats[0].URL(), "nats://")), said: map[string][]int{}}
	joins := harness.Joining(nats, "")[0]
	p.from = harness.StartEdge(s.T, harness.PatientCaddyfile, joins, harness.ForBrowsers, func(e *harness.Edge) {
		e.Broker = strings.Replace(e.Broker, nats[0].URL(), p.link.URL(), 1)
	})
	p.to = harness.StartEdge(s.T, harness.PatientCaddyfile, joins, harness.ForBrowsers, harness.WithMaster(p.from))
	p.stage, p.first, p.second = s.with(p.from, p.to), harness.NewBadPath(s.T, p.from), harness.NewBadPath(s.T, p.to)
	p.second.Refuse()
	options := impatient
	options.Transports = transports
	addresses := []string{p.first.Url(), p.second.Url()}
	p.members = p.meet(options, addresses[:2-len(transports)/2]...)
	p.second.Heal()
	p.sent, p.halt = p.publish(p.to, "n")
	p.heard = p.Connect(sdk.Options{}, p.to.HttpsURL("")).Subscribe(p.Tenant, "of.*")
	for _, m := range p.members {
		m.reach(20)
		p.to.Poll("what the client says", func() bool {
			m.Publish(p.Tenant, "of."+m.Name, "begin")
			return slices.ContainsFunc(p.heard.Messages.Rest(), func(r sdk.Report) bool { return r.Channel == "of."+m.Name })
		})
		m.Flush() // no "begin" is under way
	}
	return p
}

// say has a client publish its next number, and does not wait.
func (p *pair) say(m *member) {
	p.T.Helper()
	n := strconv.Itoa(len(p.said[m.Name]))
	p.said[m.Name] = append(p.said[m.Name], m.Tell(sdk.Command{Cmd: "publish", Tenant: p.Tenant, Channel: "of." + m.Name, Payload: []byte(n)}))
}

// heardAll requires that what each client has said is heard once and in order.
func (p *pair) heardAll() {
	p.T.Helper()
	next := map[string]int{}
	for _, m := range p.members {
		for _, id := range p.said[m.Name] {
			if r := m.Answer(id, "publish"); r.Error != nil {
				p.T.Errorf("%s: a publish meanwhile: %v", m.Kind, r.Error)
			}
		}
		for next[m.Name] < len(p.said[m.Name]) {
			r := p.heard.Next()
			name := strings.TrimPrefix(r.Channel, "of.")
			if text := string(r.Payload); text == strconv.Itoa(next[name]) {
				next[name]++
			} else if text != "begin" || next[name] > 0 {
				p.T.Fatalf("got %v, want the next numbers after %v", r, next)
			}
		}
	}
	p.heard.C.Flush()
	p.heard.WantNone()
}

// When an edge drains, its clients move to the other one. They lose nothing, get nothing
// twice, and all in order, though it gets the others' messages later than they want to leave;
// so does who hears them.
func drains(s *stage) {
	p := newPair(s)
	p.link.Delay(200*time.Millisecond, 800*time.Millisecond)
	p.from.Terminate()
	for _, m := range p.members {
		if e := m.Event("moving"); e.Reason != "drain" || e.Edge != p.first.Url() {
			p.T.Errorf("%s: got %v, want drain, from %s", m.Kind, e, p.first.Url())
		}
		p.say(m)
	}
	for _, m := range p.members {
		for m.Count("moved") == 0 {
			p.say(m)
			m.Flush()
		}
		if e := m.Event("moved"); e.Reason != "drain" || e.Edge != p.second.Url() || e.Transport != m.Kind.Transport {
			p.T.Errorf("%s: got %v, want drain, to %s by %s", m.Kind, e, p.second.Url(), m.Kind.Transport)
		}
		p.say(m)
	}
	p.from.Stop() // long before the end of its drain, as all have left
	for _, m := range p.members {
		m.reach(p.sent() + 20)
	}
	end := p.halt()
	for _, m := range p.members {
		m.wantAll(end)
		m.Never("disconnected", "reconnecting", "publishError", "edgeError", "queueFull")
	}
	p.heardAll()
}

// When an edge dies its clients go to the other one. What they lose was published while they
// were away, all in one place, and nothing comes twice or in another order.
func killed(s *stage) {
	p := newPair(s)
	p.from.Kill()
	for _, m := range p.members {
		if e := m.IsBack(); e.Edge != p.second.Url() || e.Transport != m.Kind.Transport {
			s.T.Errorf("%s: got %v, want the edge %s", m.Kind, e, p.second.Url())
		}
		m.reach(p.sent() + 20)
		if n := m.gaps(); n > 1 {
			s.T.Errorf("%s: messages are missing in %d places, and it was away once", m.Kind, n)
		}
		m.Never("closed", "moving")
	}
}

// Clients are told when their edge loses the others, and when it has them again.
func losesOthers(s *stage) {
	p := newPair(s)
	for _, event := range []string{"linkDown", "linkUp"} {
		map[string]func(){"linkDown": p.link.Hold, "linkUp": p.link.Heal}[event]()
		for _, m := range p.members {
			if e := m.Event(event); e.Edge != p.first.Url() {
				s.T.Errorf("%s: got %v, want the edge %s", m.Kind, e, p.first.Url())
			}
			m.Never("disconnected", "moving")
		}
	}
}

// recovers requires that the client suspects the first path, and goes on by another connection.
func (p *pair) recovers(m *member, address, transport string) {
	p.T.Helper()
	if e := m.Event("suspect"); e.Edge != p.first.Url() || e.Transport != m.Kind.Transport {
		m.T.Errorf("%s: got %v, want %s by %s", m.Kind, e, p.first.Url(), m.Kind.Transport)
	}
	p.say(m)
	if e := m.Event("recovered"); e.Edge != address || e.Transport != transport || e.Away <= 0 {
		m.T.Errorf("%s: got %v, want %s by %s, and how long it took", m.Kind, e, address, transport)
	}
	m.reach(p.sent())
}

// kept requires that the client has missed nothing, and was never without a connection. Chromium
// is held to less: it ends a WebTransport connection 5 s after anything that it sent has no
// acknowledgement, and with it what the edge would send again.
func (m *member) kept(end int) {
	m.T.Helper()
	if m.wantOnce(); m.Kind != (sdk.Kind{Where: "chromium", Transport: "webtransport"}) {
		m.wantAll(end)
	}
	m.Never("disconnected", "reconnecting", "closed")
}

// A path goes silent, and there is another one: clients take it, and what they publish
// meanwhile waits. When the first is back it brings what they have missed. (docs/clients.md,
// "What happens to the connection")
func pathDies(s *stage) {
	p := newPair(s)
	p.first.Swallow()
	for _, m := range p.members {
		p.recovers(m, p.second.Url(), m.Kind.Transport)
	}
	p.first.Heal()
	end := p.halt()
	for _, m := range p.members {
		m.kept(end)
		m.Never("moving")
	}
	p.heardAll()
}

// UDP goes away alone: clients go on by WebSocket. When it is back, the old connection brings
// what they have missed, and they return.
func udpDies(s *stage) {
	p := newPair(s, bothTransports...)
	p.first.SwallowUDP()
	for _, m := range p.members {
		p.recovers(m, p.first.Url(), "websocket")
	}
	p.first.Heal()
	for _, m := range p.members {
		m.kept(p.sent())
		if !m.Kind.InBrowser() { // it looks at the machine's addresses, as TestWayBack of the Go SDK
			continue
		}
		m.Must(sdk.Command{Cmd: "online"})
		for event, transport := range map[string]string{"moving": "websocket", "moved": "webtransport"} {
			if e := m.Event(event); e.Reason != "transport" || e.Edge != p.first.Url() || e.Transport != transport {
				s.T.Errorf("%s: got %v, want the reason transport, and %s", m.Kind, e, transport)
			}
		}
		m.reach(p.sent())
	}
	p.heardAll()
}
