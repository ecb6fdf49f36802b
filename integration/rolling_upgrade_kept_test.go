package integration

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// keptClients are clients of both SDKs at edges that are replaced: they publish messages that
// are kept, with keys, and messages that are not, and get all of them.
type keptClients struct {
	stage      *sdkStage
	publishers []*keptPublisher
	clients    []*keptClient
	stop       chan struct{}
	publishing sync.WaitGroup
}

// keptPublisher publishes numbers until stop is closed, each to a channel of its own that is
// kept, and to one that is not.
type keptPublisher struct {
	*sdkClient
	kept, plain string
	at          []string // the positions of what was confirmed
}

// keptClient subscribes to what each publisher publishes.
type keptClient struct {
	*sdkClient
	kept, plain []*sdkSub
}

// patient is for clients that share two busy cores with the edges.
var patient = sdkOptions{PongTimeout: 60_000, ConnectTimeout: 60_000}

// startKeptClients starts them, and returns when each has got a message.
func startKeptClients(t *testing.T, edges []*edge) *keptClients {
	t.Helper()
	stage := new(sdkLab).stage(t, sdkKind{"node", "websocket"}, edges...)
	k := &keptClients{stage: stage, stop: make(chan struct{})}
	options := patient
	options.Token = edges[0].issue(allowHistory(stage.room)).Token
	connect := func(kind sdkKind) *sdkClient {
		c := stage.clientOf(kind)
		c.must(stage.connecting(kind, options))
		return c
	}
	for i, kind := range []sdkKind{{"go", "websocket"}, {"node", "websocket"}} {
		p := &keptPublisher{sdkClient: connect(kind), kept: "chat." + strconv.Itoa(i), plain: "plain." + strconv.Itoa(i)}
		k.publishers = append(k.publishers, p)
	}
	for _, kind := range []sdkKind{{"go", "websocket"}, {"go", "webtransport"}, {"node", "websocket"}} {
		c := &keptClient{sdkClient: connect(kind)}
		for _, p := range k.publishers {
			c.kept = append(c.kept, c.from("now", stage.tenant, p.kept))
			c.plain = append(c.plain, c.subscribe(stage.tenant, p.plain))
		}
		k.clients = append(k.clients, c)
	}
	for i, p := range k.publishers {
		edges[0].poll("a message to be stored", func() bool { return p.confirmNext(stage.tenant) })
		for _, c := range k.clients {
			c.kept[i].wantStored(0, p.at...)
		}
	}
	t.Cleanup(k.publishing.Wait)
	t.Cleanup(func() { k.end() })
	for _, p := range k.publishers {
		k.publishing.Go(func() { p.run(stage.tenant, k.stop) }) // ends with stop
	}
	return k
}

// ask carries out a command, and reports whether it succeeded. Any goroutine may call it, one
// at a time.
func (p *keptPublisher) ask(command sdkCommand) (r sdkReport, ok bool) {
	id := int(p.ids.Add(1))
	command.ID, command.Client = id, p.name
	if err := p.host.send(command); err != nil {
		p.t.Errorf("%s: %s: %v", p.kind, command.Cmd, err)
		return r, false
	}
	if r, ok = p.answers.take(func(r sdkReport) bool { return r.ID == id }); !ok {
		p.t.Errorf("%s: no answer to %s", p.kind, command.Cmd)
	}
	return r, ok && r.Error == nil
}

// confirmNext publishes the next number to the channel that is kept.
func (p *keptPublisher) confirmNext(tenant string) bool {
	number := strconv.Itoa(len(p.at))
	r, ok := p.ask(sdkCommand{Cmd: "publish", Tenant: tenant, Channel: p.kept, Payload: []byte(number), Confirm: true, Key: "key " + number})
	if ok {
		p.at = append(p.at, r.Position)
	}
	return ok
}

func (p *keptPublisher) run(tenant string, stop <-chan struct{}) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for number := 0; ; number++ {
		select {
		case <-tick.C:
		case <-stop:
			if _, ok := p.ask(sdkCommand{Cmd: "flush"}); !ok {
				p.t.Errorf("%s: flush failed", p.kind)
			}
			return
		}
		text := strconv.Itoa(number)
		if r, ok := p.ask(sdkCommand{Cmd: "publish", Tenant: tenant, Channel: p.plain, Payload: []byte(text)}); !ok {
			p.t.Errorf("%s: publish %s: %v", p.kind, text, r.Error)
			return
		}
		if number%10 == 0 { // what is published again with its key is stored once, whichever edge gets it
			r, ok := p.ask(sdkCommand{Cmd: "publish", Tenant: tenant, Channel: p.kept, Payload: []byte("again"), Confirm: true, Key: "key " + text})
			if !ok || r.Position != p.at[number] {
				p.t.Errorf("%s: publish %s again: at %q, %v, want %s", p.kind, text, r.Position, r.Error, p.at[number])
			}
		}
		if !p.confirmNext(tenant) {
			p.t.Errorf("%s: publish %d to a history failed", p.kind, len(p.at))
			return
		}
	}
}

func (k *keptClients) end() {
	select {
	case <-k.stop:
	default:
		close(k.stop)
	}
}

// check ends the publishing, and requires all of it at each client.
func (k *keptClients) check() {
	t := k.stage.t
	t.Helper()
	k.end()
	k.publishing.Wait()
	copies := 0
	for _, c := range k.clients {
		for i, p := range k.publishers {
			c.kept[i].wantStored(1, p.at[1:]...)
			copies += c.plain[i].wantEach(len(p.at) - 1)
		}
		c.never("gap", "disconnected", "queueFull", "slowConsumer", "subscriptionError", "publishError")
		c.event("moved")
	}
	for i, p := range k.publishers {
		p.never("disconnected", "publishError")
		p.event("moved")
		end := p.confirm(k.stage.tenant, p.kept, "end", "")
		for _, c := range k.clients { // and nothing before it
			if r := c.kept[i].next(); string(r.Payload) != "end" || r.Position != end {
				t.Errorf("%s: got %v behind the last message of %s", c.kind, r, p.kept)
			}
		}
	}
	var numbers []string
	for _, p := range k.publishers {
		numbers = append(numbers, strconv.Itoa(len(p.at)))
		p.must(sdkCommand{Cmd: "close"})
	}
	for _, c := range k.clients {
		c.must(sdkCommand{Cmd: "close"})
	}
	t.Logf("upgrade: %d clients of both SDKs got %s messages with positions, and as many without, in order; %d of these came twice, from just before a move or more than a second apart", len(k.clients), strings.Join(numbers, " and "), copies)
}

// wantEach requires the numbers below n, each once, and in order unless they are late. It
// returns how many came twice as the SDK does not promise to know them; see heardNumber.
func (s *sdkSub) wantEach(n int) (copies int) {
	s.c.t.Helper()
	came, last := map[int]time.Time{}, -1
	for len(came) < n {
		r := s.next()
		number, err := strconv.Atoi(string(r.Payload))
		first, again := came[number]
		switch {
		case again && (r.At.Sub(first) >= time.Second || !s.c.surelyMoved(first)):
			copies++
			continue
		case err != nil || number >= n || again || number < last && !r.Late:
			s.c.t.Errorf("%s: got %v after %d of %d", s.c.kind, r, last, n)
			return copies
		}
		came[number], last = r.At, max(last, number)
	}
	return copies
}

// surelyMoved reports whether the client was moving at a time; see surelyMoving.
func (c *sdkClient) surelyMoved(at time.Time) bool {
	var began time.Time
	for _, r := range c.events.rest() {
		switch {
		case r.Event == "moving":
			began = r.At
		case r.Event == "moved" && at.Sub(began) > surelyMoving && at.Before(r.At):
			return true
		}
	}
	return false
}
