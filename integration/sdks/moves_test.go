package sdks

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/wire"
)

// An sdkMove is something that happens to an edge while clients of every kind
// are connected to it.
type sdkMove struct {
	name  string
	only  string   // a transport; empty: both
	needs []string // features of clientdriver.Features
	run   func(t *testing.T, lab *sdk.Lab)
}

var (
	needsMoves  = needs("moves", "several-edges")
	needsReturn = needs("reconnect")
)

var sdkMoves = []sdkMove{
	{name: "drain by the admin API", needs: needsMoves, run: func(t *testing.T, lab *sdk.Lab) { sdkDrain(t, lab, (*harness.Edge).DrainByAdminAPI) }},
	{name: "drain by SIGTERM", needs: needsMoves, run: func(t *testing.T, lab *sdk.Lab) { sdkDrain(t, lab, (*harness.Edge).Terminate) }},
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

// When an edge drains, its clients move to the other one. They lose nothing, get
// nothing twice, and all in order; so do those who hear them.
func sdkDrain(t *testing.T, lab *sdk.Lab, drain func(*harness.Edge), first ...harness.Option) {
	p := startSDKPair(t, lab, sdk.Options{}, first...)
	var left, late []*sdk.Sub
	for _, c := range p.clients {
		left = append(left, c.Subscribe(p.Tenant, "left"))
	}
	stream, end := startNumbers(p.publisher, p.Tenant, "n"), p.publishAll()
	drain(p.from)
	for i, c := range p.clients {
		if e := c.Event("moving"); e.Reason != "drain" || e.Edge != p.from.HttpsURL("") {
			t.Errorf("%s: got %v, want drain, from %s", c.Kind, e, p.from.HttpsURL(""))
		}
		late = append(late, c.Subscribe(p.Tenant, "late")) // on both connections, or one
		unsubscribe(left[i])
	}
	for _, c := range p.clients {
		if e := c.Event("moved"); e.Reason != "drain" || e.Edge != p.to.HttpsURL("") || e.Transport != c.Kind.Transport {
			t.Errorf("%s: got %v, want drain, to %s by %s", c.Kind, e, p.to.HttpsURL(""), c.Kind.Transport)
		}
	}
	before := stream.sent()
	p.stays.Poll("messages after the move", func() bool { return stream.sent() > before+20 })
	counts, sent := end(), stream.halt()
	for _, sub := range p.subs {
		wantNumbers(sub, sent)
	}
	p.wantAll(counts)

	hear(p.Stage, p.publisher, "late", late)
	for i := range 10 {
		p.publisher.Publish(p.Tenant, "late", strconv.Itoa(i))
		p.publisher.Publish(p.Tenant, "left", "for nobody")
	}
	for i, c := range p.clients {
		wantNumbers(late[i], 10)
		left[i].WantEnd("")
		left[i].WantNone()
		c.Never("disconnected", "reconnecting", "publishError", "edgeError", "queueFull")
		c.Close()
	}
	t.Logf("%d messages, and %v of the clients", sent, counts)
}

// An edge that gets the others' messages later than its clients want to leave has to
// hand them over all the same: the clients have them from nobody else. And the others
// have what they publish in order, though it comes later from this edge than from the
// next one.
func sdkDrainLate(t *testing.T, lab *sdk.Lab) {
	link := harness.NewCutter(t, strings.TrimPrefix(lab.Nats[0].URL(), "nats://"))
	sdkDrain(t, lab, func(e *harness.Edge) {
		link.Delay(harness.Late{ToServer: 200 * time.Millisecond, ToEdge: 800 * time.Millisecond})
		e.DrainByAdminAPI()
	}, func(e *harness.Edge) { e.Broker = strings.Replace(e.Broker, lab.Nats[0].URL(), link.Url(), 1) })
}

// Clients are told when their edge loses the others, and when it has them again.
func sdkLosesOthers(t *testing.T, lab *sdk.Lab) {
	link := harness.NewCutter(t, strings.TrimPrefix(lab.Nats[0].URL(), "nats://"))
	p := startSDKPair(t, lab, sdk.Options{}, func(e *harness.Edge) { e.Broker = strings.Replace(e.Broker, lab.Nats[0].URL(), link.Url(), 1) })
	told := func(event string) {
		t.Helper()
		for _, c := range p.clients {
			if e := c.Event(event); e.Edge != p.from.HttpsURL("") {
				t.Errorf("%s: got %v, want the edge %s", c.Kind, e, p.from.HttpsURL(""))
			}
		}
	}
	link.Part()
	told("linkDown")
	link.Heal()
	told("linkUp")
	hear(p.Stage, p.publisher, "n", p.subs)
	for _, c := range p.clients {
		c.Never("disconnected", "moving")
	}
}

// Messages to one, while the edge of those who take them drains: no copy comes by
// the second connection, and those of after the move reach one client each. One
// that another edge sends to an edge whose clients have just been told to leave
// may be lost (docs/protocol.md, Promises): how many were is logged.
func sdkDrainJobs(t *testing.T, lab *sdk.Lab) {
	p := startSDKPair(t, lab, sdk.Options{})
	var jobs []*sdk.Sub
	for _, c := range p.clients {
		jobs = append(jobs, c.Subscribe(p.Tenant, "jobs"))
	}
	hear(p.Stage, p.publisher, "jobs", jobs)
	p.from.Terminate()
	during := 0
	publish := func(n int) {
		p.publisher.PublishTagged(wire.OneRandom, p.Tenant, "jobs", strconv.Itoa(n))
	}
	for _, c := range p.clients {
		for moved := false; !moved; during++ {
			publish(during)
			time.Sleep(numbersEvery / 2) // a load, not a wait
			moved = c.Count("moved") > 0
		}
	}
	p.from.Stop()
	const after = 100
	for n := range after {
		publish(during + n)
	}
	times, late := make([]int, during+after), 0
	p.stays.Poll("the jobs of after the move", func() bool { // they may wait until the edge knows who takes them
		for i, sub := range jobs {
			for len(sub.Messages.Rest()) > 0 {
				n, err := strconv.Atoi(string(sub.Next().Payload))
				if err != nil {
					t.Fatalf("%s: %v", p.clients[i].Kind, err)
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
		c.Flush()
	}
	for _, sub := range jobs {
		sub.WantNone()
	}
	t.Logf("%d of %d messages during the move were lost", lost, during)
}

// A token for one region: the edges of others are passed over.
func sdkOtherRegion(t *testing.T, lab *sdk.Lab) {
	join := lab.Joined()
	in := func(region string, more ...harness.Option) *harness.Edge {
		return harness.StartEdge(t, strings.Replace(harness.DefaultCaddyfile, "drain 7s", "drain 7s\n\t\tregion "+region, 1), append(more, join, harness.ForBrowsers)...)
	}
	european := in("EU")
	american := in("US", harness.WithMaster(european))
	for _, kind := range sdk.Kinds {
		s := lab.Stage(t, kind, european, american)
		for _, region := range []string{"EU", "US"} {
			request := harness.TokenRequest(harness.AllowAll(s.Room))
			request["right"].(harness.Object)["allow_regions"] = []string{region}
			c := s.Connect(sdk.Options{Token: european.IssueAs(european.Master, request).Token})
			want := map[string]*harness.Edge{"EU": european, "US": american}[region].HttpsURL("")
			if e := c.Event("connected"); e.Edge != want {
				t.Errorf("%s: got %v, want the edge of the region, %s", kind, e, want)
			}
			c.Flush()
			c.Close()
		}
	}
}

// Impatient clients notice soon that an edge is gone, and come back soon.
var sdkImpatient = sdk.Options{KeepAlive: 500, PongTimeout: 1000, MaxBackOff: 500}

// When an edge dies its clients go to the other one, within seconds if there are
// messages, and know for how long they were away.
func sdkKill(t *testing.T, lab *sdk.Lab) {
	p := startSDKPair(t, lab, sdk.Options{KeepAlive: 10_000, PongTimeout: 30_000})
	stream := startNumbersEvery(trafficEvery, "", p.publisher, p.Tenant, "n")
	var counts []*sdkCount
	for _, sub := range p.subs {
		n := newSDKCount(sub, time.Now())
		n.reach(20)
		counts = append(counts, n)
	}
	killed := time.Now()
	p.from.Kill()
	for i, c := range p.clients {
		e := c.IsBack()
		if e.Edge != p.to.HttpsURL("") || e.Away > sdk.InMS(harness.WaitTimeout) {
			t.Errorf("%s: got %v, want the edge %s and how long it took", c.Kind, e, p.to.HttpsURL(""))
		}
		wantSoon(c, e, killed)
		t.Logf("%s was away for %v ms: %s", c.Kind, e.Away, e.Event)
		counts[i].flows(stream)
		c.Never("closed", "moving")
		c.Close()
	}
}

// When there is one edge only, clients wait for it.
func sdkKillAlone(t *testing.T, lab *sdk.Lab) {
	e := harness.StartEdge(t, harness.DefaultCaddyfile, harness.ForBrowsers)
	s := lab.Stage(t, sdk.Kind{}, e)
	clients, subs := crowd(s, sdkImpatient)
	e.Kill()
	for _, c := range clients {
		c.Event("disconnected")
		c.Event("reconnecting")
		for _, cmd := range []string{"publish", "flush"} {
			if _, err := c.Try(sdk.Command{Cmd: cmd, Tenant: s.Tenant, Channel: "n"}); err.ErrorCode() != "disconnected" {
				t.Errorf("%s: %s without a connection: %v, want disconnected", c.Kind, cmd, err)
			}
		}
	}
	comeBack(s, sdk.Again(e), clients, subs)
}

// An edge that is back at once tells clients over WebTransport, as TCP does others, that it
// does not know their connection. Or their second connection is quicker.
func sdkKillBack(t *testing.T, lab *sdk.Lab) {
	e := harness.StartEdge(t, harness.DefaultCaddyfile, harness.ForBrowsers)
	s := lab.Stage(t, sdk.Kind{}, e)
	stream := startNumbersEvery(trafficEvery, "", s.Edges[0].Dial(s.Token()), s.Tenant, "n")
	clients, subs := crowd(s, sdk.Options{MaxBackOff: 500})
	for i, sub := range subs {
		newSDKCount(sub, clients[i].Event("connected").At).steady(stream)
	}
	e.Kill()
	comeBack(s, sdk.Again(e), clients, subs)
}

// A drain of the only edge ends with the loss of the connection, and its clients
// wait for it, too.
func sdkDrainAlone(t *testing.T, lab *sdk.Lab) {
	// All of the period is waited for: it is not as long as that of patient edges.
	e := harness.StartEdge(t, strings.Replace(harness.DefaultCaddyfile, "drain 7s", "drain 20s", 1), harness.ForBrowsers)
	s := lab.Stage(t, sdk.Kind{}, e)
	clients, subs := crowd(s, sdkImpatient)
	s.Edges[0].Terminate()
	for i, c := range clients {
		c.Event("moving")
		c.Publish(s.Tenant, "n", "still here, "+c.Name)
		subs[i].Until("still here, " + c.Name)
	}
	s.Edges[0].Stop()
	for _, c := range clients {
		c.Event("disconnected")
		c.Never("moved")
	}
	comeBack(s, sdk.Again(e), clients, subs)
}

// crowd connects a client of each kind, which subscribes to the channel n.
func crowd(s *sdk.Stage, options sdk.Options) (clients []*sdk.Client, subs []*sdk.Sub) {
	s.T.Helper()
	return crowdOf(s, sdk.Kinds, options)
}

// crowdOf is crowd with a client for each entry of a list of kinds.
func crowdOf(s *sdk.Stage, kinds []sdk.Kind, options sdk.Options) (clients []*sdk.Client, subs []*sdk.Sub) {
	s.T.Helper()
	options.Token = s.Token()
	for _, kind := range kinds {
		c := s.ClientOf(kind)
		c.Must(s.Connecting(kind, options))
		clients = append(clients, c)
		subs = append(subs, c.Subscribe(s.Tenant, "n"))
	}
	return clients, subs
}

// comeBack starts the edge again, and requires that all clients are as before.
func comeBack(s *sdk.Stage, same harness.Option, clients []*sdk.Client, subs []*sdk.Sub) {
	s.T.Helper()
	harness.StartEdge(s.T, harness.DefaultCaddyfile, harness.ForBrowsers, same)
	back := time.Now()
	for i, c := range clients {
		e := c.IsBack()
		if e.Away <= 0 || e.Transport != c.Kind.Transport {
			s.T.Errorf("%s: got %v, want how long it took, and %s", c.Kind, e, c.Kind.Transport)
		}
		wantSoon(c, e, back)
		c.Publish(s.Tenant, "n", "again, "+c.Name)
		subs[i].Until("again, " + c.Name)
		c.Never("closed")
		c.Close()
	}
}
