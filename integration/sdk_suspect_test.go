package integration

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

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
var frozenFor = atLength(8*time.Second, 15*time.Second)

// An edge that stands still, and goes on: its clients look for another one, there is
// none, and they stay. They miss nothing.
//
// Chromium ends a WebTransport connection 5 s after anything that it sent has no
// acknowledgement. Some 2 % of its connections have just sent such a thing when the
// edge freezes: with each 20th acknowledgement goes a PING of QUIC. Of several, one
// stays at least; a client that sent anything by itself would lose all.
func sdkFrozen(t *testing.T, lab *sdkLab) {
	e := startEdge(t, defaultCaddyfile, forBrowsers)
	t.Cleanup(func() { e.signal(syscall.SIGCONT) }) // or it would not stop
	s := lab.stage(t, sdkKind{}, e)
	chromium := sdkKind{"chromium", "webtransport"}
	stream := startNumbersEvery(trafficEvery, "", s.edges[0].dial(s.token()), s.tenant, "n") // its socket holds what it sends meanwhile
	kinds := slices.Clone(sdkKinds)
	if slices.Contains(kinds, chromium) {
		kinds = append(kinds, slices.Repeat([]sdkKind{chromium}, 4)...)
	}
	clients, subs := s.crowdOf(kinds, sdkOptions{})
	var counts []*sdkCount
	for i, sub := range subs {
		counts = append(counts, newSDKCount(sub, clients[i].event("connected").At))
	}
	for _, n := range counts {
		n.steady(stream)
	}
	command := e.subscriber(s.token(), append(e.wss(), "--tenant", s.tenant, "n")...) // which tells of it, too
	command.await(command.out, fmt.Sprintf("n %d\n", stream.sent()+10))
	e.signal(syscall.SIGSTOP)
	thaw := time.NewTimer(frozenFor)
	for _, c := range clients {
		if e := c.event("suspect"); e.Edge != s.edges[0].httpsURL("") || e.Transport != c.kind.transport {
			t.Errorf("%s: got %v, want the edge by %s", c.kind, e, c.kind.transport)
		}
	}
	command.await(command.err, "the edge does not answer; looking for another connection")
	<-thaw.C
	thawed := time.Now()
	e.signal(syscall.SIGCONT)
	stayed := map[sdkKind]bool{}
	for i, c := range clients {
		e := c.eitherEvent("recovered", "reconnected")
		if stayed[c.kind] = stayed[c.kind] || e.Event == "recovered"; e.Event == "recovered" && e.Away != 0 {
			t.Errorf("%s: got %v, want the same connection, and 0 away", c.kind, e)
		}
		counts[i].flows(stream)
		t.Logf("%s: %s %v after the thaw", c.kind, e.Event, e.At.Sub(thawed).Round(time.Millisecond))
	}
	command.await(command.err, "the edge answers again")
	sent := stream.halt()
	for i, c := range clients {
		if c.kind != chromium || c.count("disconnected") == 0 {
			counts[i].wantAll(sent)
			c.never("disconnected", "reconnecting", "moving", "closed")
		}
		if counts[i].late > 0 {
			t.Errorf("%s: %d messages were late, on the only connection", c.kind, counts[i].late)
		}
		c.close()
	}
	if slices.Contains(kinds, chromium) && !stayed[chromium] {
		t.Errorf("no client in Chromium kept its connection over WebTransport")
	}
}

func (e *edge) signal(s syscall.Signal) {
	select {
	case <-e.exited:
	default:
		if err := e.cmd.Process.Signal(s); err != nil {
			e.t.Errorf("%v to the edge: %v", s, err)
		}
	}
}

// A path goes silent, and there is another one: clients are there within seconds, and
// what they publish meanwhile waits. When the first is back it brings what they have
// missed.
func sdkPathDies(t *testing.T, lab *sdkLab) {
	p := startSDKPaths(t, lab, 2, sdkKinds, sdkOptions{}, "")
	listener := p.edges[0].dial(p.token())
	listener.subscribe(p.tenant, "of")
	broken := time.Now()
	p.first.swallow()
	var published []int
	for _, c := range p.clients {
		p.suspects(c, broken)
		published = append(published, c.tell(sdkCommand{Cmd: "publish", Tenant: p.tenant, Channel: "of", Payload: []byte(c.name)}))
	}
	for i, c := range p.clients {
		p.takesOver(c, p.second, broken)
		p.counts[i].flows(p.stream)
		if r := c.answer(published[i], "publish"); r.Error != nil {
			t.Errorf("%s: a publish meanwhile: %v", c.kind, r.Error)
		}
	}
	p.first.heal()
	sent := p.stream.halt()
	for i, c := range p.clients {
		if c.kind != (sdkKind{"chromium", "webtransport"}) { // see sdkUDPDies
			p.counts[i].wantAll(sent)
		}
		p.counts[i].wantOnce()
		t.Logf("%s: %d messages came late", c.kind, p.counts[i].late)
	}
	var names []string
	for _, c := range p.clients {
		c.never("disconnected", "reconnecting", "moving", "closed")
		names = append(names, c.name)
	}
	p.hearsOnce(listener, "of", names)
}

// hearsOnce requires that these payloads have come to a channel that the socket
// subscribes to, each once.
func (p *sdkPaths) hearsOnce(s *socket, channel string, want []string) {
	p.t.Helper()
	var got []string
	for len(got) < len(want) {
		_, frame, err := s.read()
		p.edges[0].must(err)
		if d, err := wire.DecodeDeliver(frame); err == nil && string(d.Channel) == channel {
			got = append(got, string(d.Payload))
		}
	}
	for _, d := range s.untilFence() {
		got = append(got, string(d.Payload))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		p.t.Errorf("what the clients published came as %q, want %q", got, want)
	}
}

// Without messages a client notices by its keep-alive.
func sdkQuietPathDies(t *testing.T, lab *sdkLab) {
	p := newSDKPaths(t, lab, 2)
	p.connectKinds(sdkKinds, sdkOptions{KeepAlive: 3000})
	publisher := p.edges[0].dial(p.token())
	broken := time.Now()
	p.first.swallow()
	for _, c := range p.clients {
		p.suspects(c, broken)
	}
	for i, c := range p.clients {
		p.takesOver(c, p.second, broken)
		publisher.publish(p.tenant, "n", "hello, "+c.name)
		p.counts[i].sub.until("hello, " + c.name)
		c.never("disconnected", "reconnecting", "moving", "closed")
	}
}

// udpAway is how long UDP is: shorter than QUIC takes to give up.
var udpAway = atLength(5*time.Second, 8*time.Second)

// UDP goes away alone: clients go on by WebSocket at the same edge. When it is back,
// the old connection brings what they have missed, and they return.
//
// Chromium is held to less here: it ends a WebTransport connection 5 s after anything
// that it sent has no acknowledgement, and with it what the edge would send again.
func sdkUDPDies(t *testing.T, lab *sdkLab) {
	p := startSDKPaths(t, lab, 1, sdkKindsOver("webtransport"), sdkOptions{Transports: bothTransports}, "")
	broken := time.Now()
	back := time.NewTimer(udpAway)
	p.first.swallowUDP()
	for i, c := range p.clients {
		p.suspects(c, broken)
		if e := p.takesOver(c, p.first, broken); e.Transport != "websocket" {
			t.Errorf("%s: got %v, want websocket", c.kind, e)
		}
		p.counts[i].flows(p.stream)
	}
	<-back.C
	p.first.heal()
	for i, c := range p.clients {
		if c.kind.where != "chromium" {
			p.counts[i].wantAll(p.stream.sent())
		}
		t.Logf("%s: %d messages came late", c.kind, p.counts[i].late)
		from := p.counts[i].last
		if c.kind.inBrowser() { // others look at the machine's addresses, as TestBackToWebTransport of the Go SDK
			c.must(sdkCommand{Cmd: "online"})
			if e := c.event("moving"); e.Reason != "transport" || e.Edge != p.first.url() || e.Transport != "websocket" {
				t.Errorf("%s: got %v, want that it moves for the transport", c.kind, e)
			}
			if e := c.event("moved"); e.Reason != "transport" || e.Edge != p.first.url() || e.Transport != "webtransport" {
				t.Errorf("%s: got %v, want webtransport again", c.kind, e)
			}
		}
		p.counts[i].wantFrom(from, p.stream.sent())
		c.never("disconnected", "reconnecting", "closed")
	}
	sent := p.stream.halt()
	for _, n := range p.counts {
		n.reach(sent - 1)
		n.wantOnce()
	}
}

// UDP goes away for seconds, and there is nothing else: the connection survives, and
// brings all. Chromium's does not; see sdkUDPDies.
func sdkUDPAway(t *testing.T, lab *sdkLab) {
	kinds := slices.DeleteFunc(sdkKindsOver("webtransport"), func(k sdkKind) bool { return k.where == "chromium" })
	p := startSDKPaths(t, lab, 1, kinds, sdkOptions{}, "")
	broken := time.Now()
	back := time.NewTimer(udpAway)
	p.first.swallowUDP()
	for _, c := range p.clients {
		p.suspects(c, broken)
	}
	<-back.C
	p.first.heal()
	for i, c := range p.clients {
		t.Logf("%s: away for %v ms", c.kind, c.event("recovered").Away) // 0, if no attempt was quicker
		p.counts[i].flows(p.stream)
		c.never("disconnected", "reconnecting", "moving", "closed")
	}
	sent := p.stream.halt()
	for _, n := range p.counts {
		n.wantAll(sent)
	}
}

// A path that carries packets of 1,300 bytes only, suddenly, and later not even these:
// what is longer than a packet gets stuck, while PING and PONG would pass.
func sdkNarrowPath(t *testing.T, lab *sdkLab) {
	p := startSDKPaths(t, lab, 1, sdkKindsOver("webtransport"), sdkOptions{Transports: bothTransports}, " "+strings.Repeat("x", 5000))
	narrow := func(to int, clients []*sdkClient) (stay []*sdkClient) {
		broken := time.Now()
		p.first.narrow(to)
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
		c.never("disconnected", "reconnecting", "closed")
	}
}

// A client gets another address: QUIC goes on, TCP begins anew.
func sdkOtherAddress(t *testing.T, lab *sdkLab) {
	p := startSDKPaths(t, lab, 1, sdkKinds, sdkOptions{}, "")
	broken := time.Now()
	p.first.readdress()
	before := p.stream.sent()
	for i, c := range p.clients {
		if c.kind.transport == "websocket" {
			p.suspects(c, broken)
			p.takesOver(c, p.first, broken)
		}
		p.counts[i].reach(before)
		if took := p.counts[i].at.Sub(broken); took > soon {
			t.Errorf("%s: messages came again after %v, want %v at most", c.kind, took, soon)
		}
		c.never("disconnected", "reconnecting", "moving", "closed")
	}
	sent := p.stream.halt()
	for i, c := range p.clients {
		if c.kind.transport == "webtransport" {
			p.counts[i].wantAll(sent)
		}
	}
}
