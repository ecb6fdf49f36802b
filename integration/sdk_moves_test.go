package integration

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// An sdkMove is something that happens to an edge while clients of every kind
// are connected to it.
type sdkMove struct {
	name  string
	only  string   // a transport; empty: both
	needs []string // features of clientdriver.Features
	run   func(t *testing.T, lab *sdkLab)
}

var (
	needsMoves  = needs("moves", "several-edges")
	needsReturn = needs("reconnect")
)

var sdkMoves = []sdkMove{
	{name: "drain by the admin API", needs: needsMoves, run: func(t *testing.T, lab *sdkLab) { sdkDrain(t, lab, (*edge).drainByAdminAPI) }},
	{name: "drain by SIGTERM", needs: needsMoves, run: func(t *testing.T, lab *sdkLab) { sdkDrain(t, lab, (*edge).terminate) }},
	{name: "drain behind a late link", needs: needsMoves, run: sdkDrainLate},
	{name: "drain of the only edge", needs: needs("moves", "reconnect"), run: sdkDrainAlone},
	{name: "drain with messages to one", needs: needsMoves, run: sdkDrainJobs},
	{name: "drain with members", needs: needs("presence", "moves", "several-edges"), run: sdkDrainMembers},
	{name: "other region", needs: needs("several-edges"), run: sdkOtherRegion},
	{name: "an edge that loses the others", needs: needs("links", "several-edges"), run: sdkLosesOthers},
	{name: "kill", needs: needs("reconnect", "several-edges"), run: sdkKill},
	{name: "kill of the only edge", needs: needsReturn, run: sdkKillAlone},
	{name: "kill of an edge that is back at once", needs: needsReturn, run: sdkKillBack},
}

func (e *edge) drainByAdminAPI() {
	e.t.Helper()
	e.adminCall("POST", "/pubsub/drain", object{}).decode(e.t, 200, new(object))
}

// When an edge drains, its clients move to the other one. They lose nothing, get
// nothing twice, and all in order; so do those who hear them.
func sdkDrain(t *testing.T, lab *sdkLab, drain func(*edge), first ...option) {
	p := startSDKPair(t, lab, sdkOptions{}, first...)
	var left, late []*sdkSub
	for _, c := range p.clients {
		left = append(left, c.subscribe(p.tenant, "left"))
	}
	stream, end := startNumbers(p.publisher, p.tenant, "n"), p.publishAll()
	drain(p.from)
	for i, c := range p.clients {
		if e := c.event("moving"); e.Reason != "drain" || e.Edge != p.from.httpsURL("") {
			t.Errorf("%s: got %v, want drain, from %s", c.kind, e, p.from.httpsURL(""))
		}
		late = append(late, c.subscribe(p.tenant, "late")) // on both connections, or one
		left[i].unsubscribe()
	}
	for _, c := range p.clients {
		if e := c.event("moved"); e.Reason != "drain" || e.Edge != p.to.httpsURL("") || e.Transport != c.kind.transport {
			t.Errorf("%s: got %v, want drain, to %s by %s", c.kind, e, p.to.httpsURL(""), c.kind.transport)
		}
	}
	before := stream.sent()
	p.stays.poll("messages after the move", func() bool { return stream.sent() > before+20 })
	counts, sent := end(), stream.halt()
	for _, sub := range p.subs {
		sub.wantNumbers(sent)
	}
	p.wantAll(counts)

	p.hear(p.publisher, "late", late)
	for i := range 10 {
		p.publisher.publish(p.tenant, "late", strconv.Itoa(i))
		p.publisher.publish(p.tenant, "left", "for nobody")
	}
	for i, c := range p.clients {
		late[i].wantNumbers(10)
		left[i].wantEnd("")
		left[i].wantNone()
		c.never("disconnected", "reconnecting", "publishError", "edgeError", "queueFull")
		c.close()
	}
	t.Logf("%d messages, and %v of the clients", sent, counts)
}

// An edge that gets the others' messages later than its clients want to leave has to
// hand them over all the same: the clients have them from nobody else. And the others
// have what they publish in order, though it comes later from this edge than from the
// next one.
func sdkDrainLate(t *testing.T, lab *sdkLab) {
	link := newCutter(t, strings.TrimPrefix(lab.nats[0].URL(), "nats://"))
	sdkDrain(t, lab, func(e *edge) {
		link.delay(late{toServer: 200 * time.Millisecond, toEdge: 800 * time.Millisecond})
		e.drainByAdminAPI()
	}, func(e *edge) { e.Broker = strings.Replace(e.Broker, lab.nats[0].URL(), link.url(), 1) })
}

// Clients are told when their edge loses the others, and when it has them again.
func sdkLosesOthers(t *testing.T, lab *sdkLab) {
	link := newCutter(t, strings.TrimPrefix(lab.nats[0].URL(), "nats://"))
	p := startSDKPair(t, lab, sdkOptions{}, func(e *edge) { e.Broker = strings.Replace(e.Broker, lab.nats[0].URL(), link.url(), 1) })
	told := func(event string) {
		t.Helper()
		for _, c := range p.clients {
			if e := c.event(event); e.Edge != p.from.httpsURL("") {
				t.Errorf("%s: got %v, want the edge %s", c.kind, e, p.from.httpsURL(""))
			}
		}
	}
	link.part()
	told("linkDown")
	link.heal()
	told("linkUp")
	p.hear(p.publisher, "n", p.subs)
	for _, c := range p.clients {
		c.never("disconnected", "moving")
	}
}

// Messages to one, while the edge of those who take them drains: no copy comes by
// the second connection, and those of after the move reach one client each. One
// that another edge sends to an edge whose clients have just been told to leave
// may be lost (docs/protocol.md, Promises): how many were is logged.
func sdkDrainJobs(t *testing.T, lab *sdkLab) {
	p := startSDKPair(t, lab, sdkOptions{})
	var jobs []*sdkSub
	for _, c := range p.clients {
		jobs = append(jobs, c.subscribe(p.tenant, "jobs"))
	}
	p.hear(p.publisher, "jobs", jobs)
	p.from.terminate()
	during := 0
	publish := func(n int) {
		p.publisher.publishTagged(wire.OneRandom, p.tenant, "jobs", strconv.Itoa(n))
	}
	for _, c := range p.clients {
		for moved := false; !moved; during++ {
			publish(during)
			time.Sleep(numbersEvery / 2) // a load, not a wait
			moved = c.count("moved") > 0
		}
	}
	p.from.stop()
	const after = 100
	for n := range after {
		publish(during + n)
	}
	times, late := make([]int, during+after), 0
	p.stays.poll("the jobs of after the move", func() bool { // they may wait until the edge knows who takes them
		for i, sub := range jobs {
			for len(sub.messages.rest()) > 0 {
				n, err := strconv.Atoi(string(sub.next().Payload))
				if err != nil {
					t.Fatalf("%s: %v", p.clients[i].kind, err)
				}
				if times[n]++; n >= during {
					late++
				}
			}
		}
		return late >= after
	})
	lost := 0
	for n, count := range times {
		switch {
		case count > 1:
			t.Errorf("%d came %d times", n, count)
		case count == 0:
			lost++
		}
	}
	for _, c := range p.clients {
		c.flush()
	}
	for _, sub := range jobs {
		sub.wantNone()
	}
	t.Logf("%d of %d messages during the move were lost", lost, during)
}

// A token for one region: the edges of others are passed over.
func sdkOtherRegion(t *testing.T, lab *sdkLab) {
	join := lab.joined()
	in := func(region string, more ...option) *edge {
		return startEdge(t, strings.Replace(defaultCaddyfile, "drain 7s", "drain 7s\n\t\tregion "+region, 1), append(more, join, forBrowsers)...)
	}
	european := in("EU")
	american := in("US", withMaster(european))
	for _, kind := range sdkKinds {
		s := lab.stage(t, kind, european, american)
		for _, region := range []string{"EU", "US"} {
			request := tokenRequest(allowAll(s.room))
			request["right"].(object)["allow_regions"] = []string{region}
			c := s.connect(sdkOptions{Token: european.issueAs(european.master, request).Token})
			want := map[string]*edge{"EU": european, "US": american}[region].httpsURL("")
			if e := c.event("connected"); e.Edge != want {
				t.Errorf("%s: got %v, want the edge of the region, %s", kind, e, want)
			}
			c.flush()
			c.close()
		}
	}
}

// Impatient clients notice soon that an edge is gone, and come back soon.
var sdkImpatient = sdkOptions{KeepAlive: 500, PongTimeout: 1000, MaxBackOff: 500}

// When an edge dies its clients go to the other one, within seconds if there are
// messages, and know for how long they were away.
func sdkKill(t *testing.T, lab *sdkLab) {
	p := startSDKPair(t, lab, sdkOptions{KeepAlive: 10_000, PongTimeout: 30_000})
	stream := startNumbersEvery(trafficEvery, "", p.publisher, p.tenant, "n")
	var counts []*sdkCount
	for _, sub := range p.subs {
		n := newSDKCount(sub, time.Now())
		n.reach(20)
		counts = append(counts, n)
	}
	killed := time.Now()
	p.from.kill()
	for i, c := range p.clients {
		e := c.isBack()
		if e.Edge != p.to.httpsURL("") || e.Away > inMS(waitTimeout) {
			t.Errorf("%s: got %v, want the edge %s and how long it took", c.kind, e, p.to.httpsURL(""))
		}
		wantSoon(c, e, killed)
		t.Logf("%s was away for %v ms: %s", c.kind, e.Away, e.Event)
		counts[i].flows(stream)
		c.never("closed", "moving")
		c.close()
	}
}

// When there is one edge only, clients wait for it.
func sdkKillAlone(t *testing.T, lab *sdkLab) {
	e := startEdge(t, defaultCaddyfile, forBrowsers)
	s := lab.stage(t, sdkKind{}, e)
	clients, subs := s.crowd(sdkImpatient)
	e.kill()
	for _, c := range clients {
		c.event("disconnected")
		c.event("reconnecting")
		for _, cmd := range []string{"publish", "flush"} {
			if _, err := c.try(sdkCommand{Cmd: cmd, Tenant: s.tenant, Channel: "n"}); err.ErrorCode() != "disconnected" {
				t.Errorf("%s: %s without a connection: %v, want disconnected", c.kind, cmd, err)
			}
		}
	}
	s.comeBack(again(e), clients, subs)
}

// An edge that is back at once tells clients over WebTransport, as TCP does others, that it
// does not know their connection. Or their second connection is quicker.
func sdkKillBack(t *testing.T, lab *sdkLab) {
	e := startEdge(t, defaultCaddyfile, forBrowsers)
	s := lab.stage(t, sdkKind{}, e)
	stream := startNumbersEvery(trafficEvery, "", s.edges[0].dial(s.token()), s.tenant, "n")
	clients, subs := s.crowd(sdkOptions{MaxBackOff: 500})
	for i, sub := range subs {
		newSDKCount(sub, clients[i].event("connected").At).steady(stream)
	}
	e.kill()
	s.comeBack(again(e), clients, subs)
}

// A drain of the only edge ends with the loss of the connection, and its clients
// wait for it, too.
func sdkDrainAlone(t *testing.T, lab *sdkLab) {
	// All of the period is waited for: it is not as long as that of patient edges.
	e := startEdge(t, strings.Replace(defaultCaddyfile, "drain 7s", "drain 20s", 1), forBrowsers)
	s := lab.stage(t, sdkKind{}, e)
	clients, subs := s.crowd(sdkImpatient)
	s.edges[0].terminate()
	for i, c := range clients {
		c.event("moving")
		c.publish(s.tenant, "n", "still here, "+c.name)
		subs[i].until("still here, " + c.name)
	}
	s.edges[0].stop()
	for _, c := range clients {
		c.event("disconnected")
		c.never("moved")
	}
	s.comeBack(again(e), clients, subs)
}

// crowd connects a client of each kind, which subscribes to the channel n.
func (s *sdkStage) crowd(options sdkOptions) (clients []*sdkClient, subs []*sdkSub) {
	s.t.Helper()
	return s.crowdOf(sdkKinds, options)
}

// crowdOf is crowd with a client for each entry of a list of kinds.
func (s *sdkStage) crowdOf(kinds []sdkKind, options sdkOptions) (clients []*sdkClient, subs []*sdkSub) {
	s.t.Helper()
	options.Token = s.token()
	for _, kind := range kinds {
		c := s.clientOf(kind)
		c.must(s.connecting(kind, options))
		clients = append(clients, c)
		subs = append(subs, c.subscribe(s.tenant, "n"))
	}
	return clients, subs
}

// comeBack starts the edge again, and requires that all clients are as before.
func (s *sdkStage) comeBack(same option, clients []*sdkClient, subs []*sdkSub) {
	s.t.Helper()
	startEdge(s.t, defaultCaddyfile, forBrowsers, same)
	back := time.Now()
	for i, c := range clients {
		e := c.isBack()
		if e.Away <= 0 || e.Transport != c.kind.transport {
			s.t.Errorf("%s: got %v, want how long it took, and %s", c.kind, e, c.kind.transport)
		}
		wantSoon(c, e, back)
		c.publish(s.tenant, "n", "again, "+c.name)
		subs[i].until("again, " + c.name)
		c.never("closed")
		c.close()
	}
}
