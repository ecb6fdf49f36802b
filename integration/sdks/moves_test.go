package sdks

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
)

// pair is clients of every kind at one edge of an overlay, which know of the other one, too.
type pair struct {
	*stage
	from, to *harness.Edge
	link     *harness.Cutter  // by which from has NATS
	second   *harness.BadPath // by which the clients know to
	members  []*member
}

func newPair(s *stage) *pair {
	s.T.Helper()
	nats := s.lab.nats()
	p := &pair{link: harness.NewCutter(s.T, strings.TrimPrefix(nats[0].URL(), "nats://"))}
	joins := harness.Joining(nats, "")[0]
	p.from = harness.StartEdge(s.T, harness.PatientCaddyfile, joins, harness.ForBrowsers, func(e *harness.Edge) {
		e.Broker = strings.Replace(e.Broker, nats[0].URL(), p.link.Url(), 1)
	})
	p.to = harness.StartEdge(s.T, harness.PatientCaddyfile, joins, harness.ForBrowsers, harness.WithMaster(p.from))
	p.stage, p.second = s.with(p.from, p.to), harness.NewBadPath(s.T, p.to)
	p.second.Refuse()
	p.members = p.meet(impatient, p.from.HttpsURL(""), p.second.Url())
	p.second.Heal()
	return p
}

// listener is another client at an edge, and what it hears.
func (s *stage) listener(at *harness.Edge, pattern string) (*sdk.Client, *sdk.Sub) {
	s.T.Helper()
	c := s.ClientOf(s.kinds[0])
	c.Must(s.Connecting(s.kinds[0], sdk.Options{}, at.HttpsURL("")))
	return c, c.Subscribe(s.Tenant, pattern)
}

// When an edge drains, its clients move to the other one. They lose nothing, get nothing
// twice, and all in order, though it gets the others' messages later than they want to leave;
// so does who hears them.
func drains(s *stage) {
	p := newPair(s)
	listener, heard := p.listener(p.to, "of.*")
	published := map[string]int{}
	sent, halt := p.publish(p.to, "n")
	publish := func(m *member) {
		m.Publish(p.Tenant, "of."+m.Name, strconv.Itoa(published[m.Name]))
		published[m.Name]++
	}
	for _, m := range p.members {
		m.reach(10)
		p.to.Poll("what the clients publish", func() bool {
			m.Publish(p.Tenant, "of."+m.Name, "begin")
			return slices.ContainsFunc(heard.Messages.Rest(), func(r sdk.Report) bool { return r.Channel == "of."+m.Name })
		})
	}
	p.link.Delay(harness.Late{ToServer: 200 * time.Millisecond, ToEdge: 800 * time.Millisecond})
	p.from.Terminate()
	for _, m := range p.members {
		if e := m.Event("moving"); e.Reason != "drain" || e.Edge != p.from.HttpsURL("") {
			p.T.Errorf("%s: got %v, want drain, from %s", m.Kind, e, p.from.HttpsURL(""))
		}
		publish(m)
	}
	for _, m := range p.members {
		for m.Count("moved") == 0 {
			publish(m)
		}
		if e := m.Event("moved"); e.Reason != "drain" || e.Edge != p.second.Url() || e.Transport != m.Kind.Transport {
			p.T.Errorf("%s: got %v, want drain, to %s by %s", m.Kind, e, p.second.Url(), m.Kind.Transport)
		}
		publish(m)
	}
	p.from.Stop() // long before the end of its drain, as all have left
	for _, m := range p.members {
		m.reach(sent() + 20)
	}
	end := halt()
	for _, m := range p.members {
		m.wantAll(end)
		m.Never("disconnected", "reconnecting", "publishError", "edgeError", "queueFull")
	}
	next := map[string]int{}
	for _, m := range p.members {
		for next[m.Name] < published[m.Name] {
			r := heard.Next()
			name := strings.TrimPrefix(r.Channel, "of.")
			if text := string(r.Payload); text == strconv.Itoa(next[name]) {
				next[name]++
			} else if text != "begin" || next[name] > 0 {
				p.T.Fatalf("got %v, want the next numbers after %v", r, next)
			}
		}
	}
	listener.Flush()
	heard.WantNone()
}

// When an edge dies its clients go to the other one. What they lose was published while they
// were away, all in one place, and nothing comes twice or in another order.
func killed(s *stage) {
	p := newPair(s)
	sent, _ := p.publish(p.to, "n")
	for _, m := range p.members {
		m.reach(20)
	}
	p.from.Kill()
	for _, m := range p.members {
		if e := m.IsBack(); e.Edge != p.second.Url() || e.Transport != m.Kind.Transport {
			s.T.Errorf("%s: got %v, want the edge %s", m.Kind, e, p.second.Url())
		}
		m.reach(sent() + 20)
		if n := m.gaps(); n > 1 {
			s.T.Errorf("%s: messages are missing in %d places, and it was away once", m.Kind, n)
		}
		m.Never("closed", "moving")
	}
}

// When the only edge dies, its clients wait until it is there again.
func killedAlone(s *stage) {
	e := harness.StartEdge(s.T, harness.PatientCaddyfile, harness.ForBrowsers)
	s = s.with(e)
	members := s.meet(impatient, e.HttpsURL(""))
	s.Edges[0].Kill()
	for _, m := range members {
		m.Event("disconnected")
		m.Event("reconnecting")
		m.Refused(sdk.Command{Cmd: "publish", Tenant: s.Tenant, Channel: "n"}, "disconnected")
	}
	harness.StartEdge(s.T, harness.PatientCaddyfile, harness.ForBrowsers, sdk.Again(e))
	for _, m := range members {
		if back := m.IsBack(); back.Edge != e.HttpsURL("") || back.Transport != m.Kind.Transport {
			s.T.Errorf("%s: got %v, want the edge again, by %s", m.Kind, back, m.Kind.Transport)
		}
		m.Publish(s.Tenant, "n", "again, "+m.Name)
		m.sub.Until("again, " + m.Name)
		m.Never("closed", "moved")
		m.Close() // else the edge would wait for it
	}
}
