package sdks

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/wire"
)

// What clients do when they hear nothing: docs/clients.md, "What happens to the
// connection".
var sdkSuspicions = []sdkMove{
	{name: "a frozen edge", needs: needsSuspicion, run: sdkFrozen},
	{name: "a path that dies under traffic", needs: needs("suspicion", "several-edges"), run: sdkPathDies},
	{name: "a path that dies without traffic", needs: needs("suspicion", "several-edges"), run: sdkQuietPathDies},
	{name: "UDP dies", only: "webtransport", needs: needs("suspicion", "fallback"), run: sdkUDPDies},
	{name: "UDP is away", only: "webtransport", needs: needsSuspicion, run: sdkUDPAway},
	{name: "a path that becomes narrow", only: "webtransport", needs: needs("suspicion", "fallback"), run: sdkNarrowPath},
	{name: "another address", needs: needsSuspicion, run: sdkOtherAddress},
}

var needsSuspicion = needs("suspicion", "reconnect")

// frozenFor is less than an edge may be silent, 35 s, and more than a client takes to
// suspect it.
var frozenFor = harness.AtLength(8*time.Second, 15*time.Second)

// An edge that stands still, and goes on: its clients look for another one, there is
// none, and they stay. They miss nothing.
//
// Chromium ends a WebTransport connection 5 s after anything that it sent has no
// acknowledgement. Some 2 % of its connections have just sent such a thing when the
// edge freezes: with each 20th acknowledgement goes a PING of QUIC. Of several, one
// stays at least; a client that sent anything by itself would lose all.
func sdkFrozen(t *testing.T, lab *sdk.Lab) {
	e := harness.StartEdge(t, harness.DefaultCaddyfile, harness.ForBrowsers)
	t.Cleanup(func() { e.Signal(syscall.SIGCONT) }) // or it would not stop
	s := lab.Stage(t, sdk.Kind{}, e)
	chromium := sdk.Kind{Where: "chromium", Transport: "webtransport"}
	stream := startNumbersEvery(trafficEvery, "", s.Edges[0].Dial(s.Token()), s.Tenant, "n") // its socket holds what it sends meanwhile
	kinds := slices.Clone(sdk.Kinds)
	if slices.Contains(kinds, chromium) {
		kinds = append(kinds, slices.Repeat([]sdk.Kind{chromium}, 4)...)
	}
	clients, subs := crowdOf(s, kinds, sdk.Options{})
	var counts []*sdkCount
	for i, sub := range subs {
		counts = append(counts, newSDKCount(sub, clients[i].Event("connected").At))
	}
	for _, n := range counts {
		n.steady(stream)
	}
	command := e.Subscriber(s.Token(), append(e.Wss(), "--tenant", s.Tenant, "n")...) // which tells of it, too
	command.Await(command.Out, fmt.Sprintf("n %d\n", stream.sent()+10))
	e.Signal(syscall.SIGSTOP)
	thaw := time.NewTimer(frozenFor)
	for _, c := range clients {
		if e := c.Event("suspect"); e.Edge != s.Edges[0].HttpsURL("") || e.Transport != c.Kind.Transport {
			t.Errorf("%s: got %v, want the edge by %s", c.Kind, e, c.Kind.Transport)
		}
	}
	command.Await(command.Err, "the edge does not answer; looking for another connection")
	<-thaw.C
	thawed := time.Now()
	e.Signal(syscall.SIGCONT)
	stayed := map[sdk.Kind]bool{}
	for i, c := range clients {
		e := c.EitherEvent("recovered", "reconnected")
		if stayed[c.Kind] = stayed[c.Kind] || e.Event == "recovered"; e.Event == "recovered" && e.Away != 0 {
			t.Errorf("%s: got %v, want the same connection, and 0 away", c.Kind, e)
		}
		counts[i].flows(stream)
		t.Logf("%s: %s %v after the thaw", c.Kind, e.Event, e.At.Sub(thawed).Round(time.Millisecond))
	}
	command.Await(command.Err, "the edge answers again")
	sent := stream.halt()
	for i, c := range clients {
		if c.Kind != chromium || c.Count("disconnected") == 0 {
			counts[i].wantAll(sent)
			c.Never("disconnected", "reconnecting", "moving", "closed")
		}
		if counts[i].late > 0 {
			t.Errorf("%s: %d messages were late, on the only connection", c.Kind, counts[i].late)
		}
		c.Close()
	}
	if slices.Contains(kinds, chromium) && !stayed[chromium] {
		t.Errorf("no client in Chromium kept its connection over WebTransport")
	}
}

// A path goes silent, and there is another one: clients are there within seconds, and
// what they publish meanwhile waits. When the first is back it brings what they have
// missed.
func sdkPathDies(t *testing.T, lab *sdk.Lab) {
	p := startSDKPaths(t, lab, 2, sdk.Kinds, sdk.Options{}, "")
	listener := p.Edges[0].Dial(p.Token())
	listener.Subscribe(p.Tenant, "of")
	broken := time.Now()
	p.first.Swallow()
	var published []int
	for _, c := range p.clients {
		p.suspects(c, broken)
		published = append(published, c.Tell(sdk.Command{Cmd: "publish", Tenant: p.Tenant, Channel: "of", Payload: []byte(c.Name)}))
	}
	for i, c := range p.clients {
		p.takesOver(c, p.second, broken)
		p.counts[i].flows(p.stream)
		if r := c.Answer(published[i], "publish"); r.Error != nil {
			t.Errorf("%s: a publish meanwhile: %v", c.Kind, r.Error)
		}
	}
	p.first.Heal()
	sent := p.stream.halt()
	for i, c := range p.clients {
		if c.Kind != (sdk.Kind{Where: "chromium", Transport: "webtransport"}) { // see sdkUDPDies
			p.counts[i].wantAll(sent)
		}
		p.counts[i].wantOnce()
		t.Logf("%s: %d messages came late", c.Kind, p.counts[i].late)
	}
	var names []string
	for _, c := range p.clients {
		c.Never("disconnected", "reconnecting", "moving", "closed")
		names = append(names, c.Name)
	}
	p.hearsOnce(listener, "of", names)
}

// hearsOnce requires that these payloads have come to a channel that the socket
// subscribes to, each once.
func (p *sdkPaths) hearsOnce(s *harness.Socket, channel string, want []string) {
	p.T.Helper()
	var got []string
	for len(got) < len(want) {
		_, frame, err := s.Read()
		p.Edges[0].Must(err)
		if d, err := wire.DecodeDeliver(frame); err == nil && string(d.Channel) == channel {
			got = append(got, string(d.Payload))
		}
	}
	for _, d := range s.UntilFence() {
		got = append(got, string(d.Payload))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		p.T.Errorf("what the clients published came as %q, want %q", got, want)
	}
}

// Without messages a client notices by its keep-alive.
func sdkQuietPathDies(t *testing.T, lab *sdk.Lab) {
	p := newSDKPaths(t, lab, 2)
	p.connectKinds(sdk.Kinds, sdk.Options{KeepAlive: 3000})
	publisher := p.Edges[0].Dial(p.Token())
	broken := time.Now()
	p.first.Swallow()
	for _, c := range p.clients {
		p.suspects(c, broken)
	}
	for i, c := range p.clients {
		p.takesOver(c, p.second, broken)
		publisher.Publish(p.Tenant, "n", "hello, "+c.Name)
		p.counts[i].sub.Until("hello, " + c.Name)
		c.Never("disconnected", "reconnecting", "moving", "closed")
	}
}

// udpAway is how long UDP is: shorter than QUIC takes to give up.
var udpAway = harness.AtLength(5*time.Second, 8*time.Second)

// UDP goes away alone: clients go on by WebSocket at the same edge. When it is back,
// the old connection brings what they have missed, and they return.
//
// Chromium is held to less here: it ends a WebTransport connection 5 s after anything
// that it sent has no acknowledgement, and with it what the edge would send again.
func sdkUDPDies(t *testing.T, lab *sdk.Lab) {
	p := startSDKPaths(t, lab, 1, sdk.KindsOver("webtransport"), sdk.Options{Transports: bothTransports}, "")
	broken := time.Now()
	back := time.NewTimer(udpAway)
	p.first.SwallowUDP()
	for i, c := range p.clients {
		p.suspects(c, broken)
		if e := p.takesOver(c, p.first, broken); e.Transport != "websocket" {
			t.Errorf("%s: got %v, want websocket", c.Kind, e)
		}
		p.counts[i].flows(p.stream)
	}
	<-back.C
	p.first.Heal()
	for i, c := range p.clients {
		if c.Kind.Where != "chromium" {
			p.counts[i].wantAll(p.stream.sent())
		}
		t.Logf("%s: %d messages came late", c.Kind, p.counts[i].late)
		from := p.counts[i].last
		if c.Kind.InBrowser() { // others look at the machine's addresses, as TestBackToWebTransport of the Go SDK
			c.Must(sdk.Command{Cmd: "online"})
			if e := c.Event("moving"); e.Reason != "transport" || e.Edge != p.first.Url() || e.Transport != "websocket" {
				t.Errorf("%s: got %v, want that it moves for the transport", c.Kind, e)
			}
			if e := c.Event("moved"); e.Reason != "transport" || e.Edge != p.first.Url() || e.Transport != "webtransport" {
				t.Errorf("%s: got %v, want webtransport again", c.Kind, e)
			}
		}
		p.counts[i].wantFrom(from, p.stream.sent())
		c.Never("disconnected", "reconnecting", "closed")
	}
	sent := p.stream.halt()
	for _, n := range p.counts {
		n.reach(sent - 1)
		n.wantOnce()
	}
}

// UDP goes away for seconds, and there is nothing else: the connection survives, and
// brings all. Chromium's does not; see sdkUDPDies.
func sdkUDPAway(t *testing.T, lab *sdk.Lab) {
	kinds := slices.DeleteFunc(sdk.KindsOver("webtransport"), func(k sdk.Kind) bool { return k.Where == "chromium" })
	p := startSDKPaths(t, lab, 1, kinds, sdk.Options{}, "")
	broken := time.Now()
	back := time.NewTimer(udpAway)
	p.first.SwallowUDP()
	for _, c := range p.clients {
		p.suspects(c, broken)
	}
	<-back.C
	p.first.Heal()
	for i, c := range p.clients {
		t.Logf("%s: away for %v ms", c.Kind, c.Event("recovered").Away) // 0, if no attempt was quicker
		p.counts[i].flows(p.stream)
		c.Never("disconnected", "reconnecting", "moving", "closed")
	}
	sent := p.stream.halt()
	for _, n := range p.counts {
		n.wantAll(sent)
	}
}

// A path that carries packets of 1,300 bytes only, suddenly, and later not even these:
// what is longer than a packet gets stuck, while PING and PONG would pass.
func sdkNarrowPath(t *testing.T, lab *sdk.Lab) {
	p := startSDKPaths(t, lab, 1, sdk.KindsOver("webtransport"), sdk.Options{Transports: bothTransports}, " "+strings.Repeat("x", 5000))
	narrow := func(to int, clients []*sdk.Client) (stay []*sdk.Client) {
		broken := time.Now()
		p.first.Narrow(to)
		for _, c := range clients {
			p.suspects(c, broken)
			if e := p.takesOver(c, p.first, broken); e.Transport == "webtransport" {
				stay = append(stay, c)
			}
			p.counts[slices.Index(p.clients, c)].reach(p.stream.sent() + 20) // a rhythm again
		}
		return stay
	}
	onUDP := narrow(1300, p.clients)
	if left := narrow(1220, onUDP); len(left) > 0 {
		t.Errorf("%d clients use packets that do not pass", len(left))
	}
	for i, c := range p.clients {
		p.counts[i].flows(p.stream)
		c.Never("disconnected", "reconnecting", "closed")
	}
}

// A client gets another address: QUIC goes on, TCP begins anew.
func sdkOtherAddress(t *testing.T, lab *sdk.Lab) {
	p := startSDKPaths(t, lab, 1, sdk.Kinds, sdk.Options{}, "")
	broken := time.Now()
	p.first.Readdress()
	before := p.stream.sent()
	for i, c := range p.clients {
		if c.Kind.Transport == "websocket" {
			p.suspects(c, broken)
			p.takesOver(c, p.first, broken)
		}
		p.counts[i].reach(before)
		if took := p.counts[i].at.Sub(broken); took > soon {
			t.Errorf("%s: messages came again after %v, want %v at most", c.Kind, took, soon)
		}
		c.Never("disconnected", "reconnecting", "moving", "closed")
	}
	sent := p.stream.halt()
	for i, c := range p.clients {
		if c.Kind.Transport == "webtransport" {
			p.counts[i].wantAll(sent)
		}
	}
}
