package sdks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/wire"
)

// pair is clients of every kind at one edge of an overlay, which know of the other one, too.
type pair struct {
	*stage
	from, to *harness.Edge
	first    string           // the address of from
	second   *harness.BadPath // by which the clients know to
	members  []*member
}

// newPair connects the clients. link is a way from the first edge to NATS that can break; nil:
// the usual one.
func newPair(s *stage, link *harness.Cutter) *pair {
	s.T.Helper()
	caddyfile, joins := withRooms(harness.PatientCaddyfile, "6s"), harness.Joining(s.lab.nats(), "")[0]
	from := harness.StartEdge(s.T, caddyfile, joins, harness.ForBrowsers, func(e *harness.Edge) {
		if link != nil {
			e.Broker = strings.Replace(e.Broker, s.lab.nats()[0].URL(), link.Url(), 1)
		}
	})
	to := harness.StartEdge(s.T, caddyfile, joins, harness.ForBrowsers, harness.WithMaster(from))
	p := &pair{stage: s.with(from, to), from: from, to: to, first: from.HttpsURL(""), second: harness.NewBadPath(s.T, to)}
	p.second.Refuse()
	p.members = p.meet(s.kinds, impatient, p.first, p.second.Url())
	p.second.Heal()
	return p
}

func newLink(s *stage) *harness.Cutter {
	return harness.NewCutter(s.T, strings.TrimPrefix(s.lab.nats()[0].URL(), "nats://"))
}

func drains(s *stage) { drain(newPair(s, nil), func() {}) }

// An edge that gets the others' messages later than its clients want to leave has to hand
// them over all the same. And the others have what they publish in order, though it comes
// later from this edge than from the next one.
func drainsLate(s *stage) {
	link := newLink(s)
	drain(newPair(s, link), func() { link.Delay(harness.Late{ToServer: 200 * time.Millisecond, ToEdge: 800 * time.Millisecond}) })
}

// When an edge drains, its clients move to the other one. They lose nothing, get nothing
// twice, and all in order; so does who hears them. Of messages to one, no copy comes by the
// second connection; those during the move may be lost (docs/protocol.md, Promises).
func drain(p *pair, before func()) {
	listener := p.ClientOf(p.kinds[0])
	listener.Must(p.Connecting(p.kinds[0], sdk.Options{}, p.to.HttpsURL("")))
	heard := listener.Subscribe(p.Tenant, "of.*")
	numbers := p.publish(p.to, "n")
	jobs := p.publishAs(p.to, wire.Publish{Channel: []byte("jobs"), Tagged: true, Delivery: wire.OneRandom}, "")
	var takers, left, late []*sdk.Sub
	for i, m := range p.members {
		takers, left = append(takers, m.Subscribe(p.Tenant, "jobs")), append(left, m.Subscribe(p.Tenant, "left"))
		m.reach(10)
		p.to.Poll("what the clients publish", func() bool {
			m.Publish(p.Tenant, fmt.Sprintf("of.%d", i), "begin")
			return slices.ContainsFunc(heard.Messages.Rest(), func(r sdk.Report) bool { return r.Channel == fmt.Sprintf("of.%d", i) })
		})
	}
	before()
	p.from.Terminate()
	published := make([]int, len(p.members))
	publish := func(i int) {
		p.members[i].Publish(p.Tenant, fmt.Sprintf("of.%d", i), strconv.Itoa(published[i]))
		published[i]++
	}
	for i, m := range p.members {
		if e := m.Event("moving"); e.Reason != "drain" || e.Edge != p.first {
			p.T.Errorf("%s: got %v, want drain, from %s", m.Kind, e, p.first)
		}
		late = append(late, m.Subscribe(p.Tenant, "late")) // on both connections, or one
		left[i].Do("unsubscribe")
		publish(i)
	}
	for i, m := range p.members {
		for m.Count("moved") == 0 {
			publish(i)
		}
		if e := m.Event("moved"); e.Reason != "drain" || e.Edge != p.second.Url() || e.Transport != m.Kind.Transport {
			p.T.Errorf("%s: got %v, want drain, to %s by %s", m.Kind, e, p.second.Url(), m.Kind.Transport)
		}
		publish(i)
	}
	p.from.Stop() // long before the end of its drain, as all have left
	after := jobs.sent() + 1
	for _, m := range p.members {
		m.reach(numbers.sent() + 20)
	}
	sent := numbers.halt()
	listener.Publish(p.Tenant, "late", "hello")
	for i, m := range p.members {
		m.wantAll(sent)
		late[i].Want(p.Tenant, "late", "hello", "late")
		left[i].WantEnd("")
		left[i].WantNone()
	}
	p.heardAll(heard, published)
	p.jobsOnce(takers, after, jobs.halt())
	for _, m := range p.members {
		m.Never("disconnected", "reconnecting", "publishError", "edgeError", "queueFull")
	}
}

// heardAll requires what each client has published, once and in order.
func (p *pair) heardAll(s *sdk.Sub, published []int) {
	p.T.Helper()
	next := make([]int, len(published))
	for !slices.Equal(next, published) {
		r := s.Next()
		i, err := strconv.Atoi(strings.TrimPrefix(r.Channel, "of."))
		if text := string(r.Payload); err != nil || text != "begin" && text != strconv.Itoa(next[i]) || text == "begin" && next[i] > 0 {
			p.T.Fatalf("got %v, want the next numbers after %d", r, next)
		} else if text != "begin" {
			next[i]++
		}
	}
	s.C.Flush()
	s.WantNone()
}

// jobsOnce requires that no number came to two clients, or twice, and that those from after on
// came.
func (p *pair) jobsOnce(takers []*sdk.Sub, after, end int) {
	p.T.Helper()
	times := map[int]int{}
	p.to.Poll("the messages to one", func() bool {
		for _, sub := range takers {
			for len(sub.Messages.Rest()) > 0 {
				n, err := strconv.Atoi(string(sub.Next().Payload))
				p.to.Must(err)
				if times[n]++; times[n] > 1 {
					p.T.Fatalf("%s: message %d to one came again", sub.C.Kind, n)
				}
			}
		}
		for n := after; n < end; n++ {
			if times[n] == 0 {
				return false
			}
		}
		return true
	})
}

// When an edge drains, nobody sees its clients leave, nor do they.
func drainsMembers(s *stage) {
	p := newPair(s, nil)
	// One that does not move is gone when it has lingered.
	ghost := p.from.Dial(subject(p.stage, "ghost", "").Token)
	ghost.SendLine("JOIN:" + p.Tenant + ":room.1")
	ghost.ExpectText("OK:JOIN:" + p.Tenant + ":room.1")
	all := []string{"room.1/ghost"}
	var watches []*watch
	for _, m := range p.members {
		join(p.stage, m.Client, "room.1", "")
		all = append(all, "room.1/"+m.Name)
		watches = append(watches, startWatch(m.Client, "iterate", p.Tenant, "room.*", false))
	}
	for _, w := range watches {
		w.reach(all...)
	}
	p.from.Terminate()
	for _, m := range p.members {
		m.Event("moved")
	}
	ghost.ExpectText("RECONNECT")
	ghost.Close()
	for _, w := range watches {
		w.want("left", "room.1", "ghost", "")
	}
	for _, m := range p.members {
		leave(m.Client, "room.1") // which it is seen to do only if it has joined on the other edge, too
		watches[0].want("left", "room.1", m.Name, "")
		m.Never("disconnected", "edgeError", "subscriptionError")
	}
}

// A token for one region: the edges of others are passed over.
func otherRegion(s *stage) {
	edges := map[string]*harness.Edge{}
	joins := harness.Joining(s.lab.nats(), "")[0]
	for _, region := range []string{"EU", "US"} {
		options := []harness.Option{joins, harness.ForBrowsers}
		if region == "US" {
			options = append(options, harness.WithMaster(edges["EU"]))
		}
		edges[region] = harness.StartEdge(s.T, strings.Replace(harness.DefaultCaddyfile, "drain 7s", "drain 7s\n\t\tregion "+region, 1), options...)
	}
	for _, kind := range s.kinds {
		at := s.lab.Stage(s.T, kind, edges["EU"], edges["US"])
		for region, e := range edges {
			request := harness.TokenRequest(harness.AllowAll(at.Room))
			request["right"].(harness.Object)["allow_regions"] = []string{region}
			c := at.Connect(sdk.Options{Token: edges["EU"].IssueAs(edges["EU"].Master, request).Token})
			if got := c.Event("connected"); got.Edge != e.HttpsURL("") {
				s.T.Errorf("%s: got %v, want the edge of the region, %s", kind, got, e.HttpsURL(""))
			}
			c.Close()
		}
	}
}

// Clients are told when their edge loses the others, and when it has them again.
func losesOthers(s *stage) {
	link := newLink(s)
	p := newPair(s, link)
	told := func(event string) {
		s.T.Helper()
		for _, m := range p.members {
			m.EventThat(func(r sdk.Report) bool { return r.Edge == p.first }, event)
		}
	}
	link.Part()
	told("linkDown")
	link.Heal()
	told("linkUp")
	for _, m := range p.members {
		m.Never("disconnected", "moving")
	}
}

// When an edge dies its clients go to the other one. What they lose was published while they
// were away, all in one place, and nothing comes twice or in another order.
func killed(s *stage) {
	p := newPair(s, nil)
	numbers := p.publish(p.to, "n")
	for _, m := range p.members {
		m.reach(20)
	}
	p.from.Kill()
	for _, m := range p.members {
		if e := m.IsBack(); e.Edge != p.second.Url() || e.Transport != m.Kind.Transport {
			s.T.Errorf("%s: got %v, want the edge %s", m.Kind, e, p.second.Url())
		}
		m.reach(numbers.sent() + 20)
		if n := m.gaps(); n > 1 {
			s.T.Errorf("%s: messages are missing in %d places, and it was away once", m.Kind, n)
		}
		m.Never("closed", "moving")
	}
}

// returns has something happen to an edge, the only one, starts it again, and requires that
// all clients are as before.
func returns(s *stage, happens func(*harness.Edge, []*member)) {
	e := harness.StartEdge(s.T, harness.PatientCaddyfile, harness.ForBrowsers)
	s = s.with(e)
	members := s.meet(s.kinds, impatient, e.HttpsURL(""))
	happens(s.Edges[0], members)
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

func killedAlone(s *stage) {
	returns(s, func(e *harness.Edge, members []*member) {
		e.Kill()
		for _, m := range members {
			m.Event("disconnected")
			m.Event("reconnecting")
			m.Refused(sdk.Command{Cmd: "publish", Tenant: s.Tenant, Channel: "n"}, "disconnected")
			m.Refused(sdk.Command{Cmd: "flush"}, "disconnected")
		}
	})
}

// An edge that is back at once tells clients over WebTransport, as TCP does others, that it
// does not know their connection. Or their second connection is quicker.
func killedBriefly(s *stage) {
	returns(s, func(e *harness.Edge, _ []*member) { e.Kill() })
}

// A drain of the only edge ends with the loss of the connection: until then clients use it.
func drainsAlone(s *stage) {
	returns(s, func(e *harness.Edge, members []*member) {
		e.Terminate()
		for _, m := range members {
			m.Event("moving")
			m.Flush()
		}
		e.Kill() // as it does itself after a minute
		for _, m := range members {
			m.Event("disconnected")
		}
	})
}
