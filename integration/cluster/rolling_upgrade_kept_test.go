package cluster

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
)

// keptClients are clients of both SDKs at edges that are replaced: they publish messages that
// are kept, with keys, and messages that are not, and get all of them.
type keptClients struct {
	stage      *sdk.Stage
	publishers []*keptPublisher
	clients    []*keptClient
	stop       chan struct{}
	publishing sync.WaitGroup
}

// keptPublisher publishes numbers until stop is closed, each to a channel of its own that is
// kept, and to one that is not.
type keptPublisher struct {
	*sdk.Client
	kept, plain string
	at          []string // the positions of what was confirmed
}

// keptClient subscribes to what each publisher publishes.
type keptClient struct {
	*sdk.Client
	kept, plain []*sdk.Sub
}

// patient is for clients that share two busy cores with the edges.
var patient = sdk.Options{PongTimeout: 60_000, ConnectTimeout: 60_000}

// startKeptClients starts them, and returns when each has got a message.
func startKeptClients(t *testing.T, edges []*harness.Edge) *keptClients {
	t.Helper()
	stage := new(sdk.Lab).Stage(t, sdk.Kind{Where: "node", Transport: "websocket"}, edges...)
	k := &keptClients{stage: stage, stop: make(chan struct{})}
	options := patient
	options.Token = edges[0].Issue(history.AllowHistory(stage.Room)).Token
	connect := func(kind sdk.Kind) *sdk.Client {
		c := stage.ClientOf(kind)
		c.Must(stage.Connecting(kind, options))
		return c
	}
	for i, kind := range []sdk.Kind{{Where: "go", Transport: "websocket"}, {Where: "node", Transport: "websocket"}} {
		p := &keptPublisher{Client: connect(kind), kept: "chat." + strconv.Itoa(i), plain: "plain." + strconv.Itoa(i)}
		k.publishers = append(k.publishers, p)
	}
	for _, kind := range []sdk.Kind{{Where: "go", Transport: "websocket"}, {Where: "go", Transport: "webtransport"}, {Where: "node", Transport: "websocket"}} {
		c := &keptClient{Client: connect(kind)}
		for _, p := range k.publishers {
			c.kept = append(c.kept, c.From("now", stage.Tenant, p.kept))
			c.plain = append(c.plain, c.Subscribe(stage.Tenant, p.plain))
		}
		k.clients = append(k.clients, c)
	}
	for i, p := range k.publishers {
		edges[0].Poll("a message to be stored", func() bool { return p.confirmNext(stage.Tenant) })
		for _, c := range k.clients {
			c.kept[i].WantStored(0, p.at...)
		}
	}
	t.Cleanup(k.publishing.Wait)
	t.Cleanup(func() { k.End() })
	for _, p := range k.publishers {
		k.publishing.Go(func() { p.Run(stage.Tenant, k.stop) }) // ends with stop
	}
	return k
}

// Ask carries out a command, and reports whether it succeeded. Any goroutine may call it, one
// at a time.
func (p *keptPublisher) Ask(command sdk.Command) (r sdk.Report, ok bool) {
	id := int(p.Ids.Add(1))
	command.ID, command.Client = id, p.Name
	if err := p.Host.Send(command); err != nil {
		p.T.Errorf("%s: %s: %v", p.Kind, command.Cmd, err)
		return r, false
	}
	if r, ok = p.Answers.Take(func(r sdk.Report) bool { return r.ID == id }); !ok {
		p.T.Errorf("%s: no answer to %s", p.Kind, command.Cmd)
	}
	return r, ok && r.Error == nil
}

// confirmNext publishes the next number to the channel that is kept.
func (p *keptPublisher) confirmNext(tenant string) bool {
	number := strconv.Itoa(len(p.at))
	r, ok := p.Ask(sdk.Command{Cmd: "publish", Tenant: tenant, Channel: p.kept, Payload: []byte(number), Confirm: true, Key: "key " + number})
	if ok {
		p.at = append(p.at, r.Position)
	}
	return ok
}

func (p *keptPublisher) Run(tenant string, stop <-chan struct{}) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for number := 0; ; number++ {
		select {
		case <-tick.C:
		case <-stop:
			if _, ok := p.Ask(sdk.Command{Cmd: "flush"}); !ok {
				p.T.Errorf("%s: flush failed", p.Kind)
			}
			return
		}
		text := strconv.Itoa(number)
		if r, ok := p.Ask(sdk.Command{Cmd: "publish", Tenant: tenant, Channel: p.plain, Payload: []byte(text)}); !ok {
			p.T.Errorf("%s: publish %s: %v", p.Kind, text, r.Error)
			return
		}
		if number%10 == 0 { // what is published again with its key is stored once, whichever edge gets it
			r, ok := p.Ask(sdk.Command{Cmd: "publish", Tenant: tenant, Channel: p.kept, Payload: []byte("again"), Confirm: true, Key: "key " + text})
			if !ok || r.Position != p.at[number] {
				p.T.Errorf("%s: publish %s again: at %q, %v, want %s", p.Kind, text, r.Position, r.Error, p.at[number])
			}
		}
		if !p.confirmNext(tenant) {
			p.T.Errorf("%s: publish %d to a history failed", p.Kind, len(p.at))
			return
		}
	}
}

func (k *keptClients) End() {
	select {
	case <-k.stop:
	default:
		close(k.stop)
	}
}

// Check ends the publishing, and requires all of it at each client.
func (k *keptClients) Check() {
	t := k.stage.T
	t.Helper()
	k.End()
	k.publishing.Wait()
	copies := 0
	for _, c := range k.clients {
		for i, p := range k.publishers {
			c.kept[i].WantStored(1, p.at[1:]...)
			copies += wantEach(c.plain[i], len(p.at)-1)
		}
		c.Never("gap", "disconnected", "queueFull", "slowConsumer", "subscriptionError", "publishError")
		c.Event("moved")
	}
	for i, p := range k.publishers {
		p.Never("disconnected", "publishError")
		p.Event("moved")
		end := p.Confirm(k.stage.Tenant, p.kept, "end", "")
		for _, c := range k.clients { // and nothing before it
			if r := c.kept[i].Next(); string(r.Payload) != "end" || r.Position != end {
				t.Errorf("%s: got %v behind the last message of %s", c.Kind, r, p.kept)
			}
		}
	}
	var numbers []string
	for _, p := range k.publishers {
		numbers = append(numbers, strconv.Itoa(len(p.at)))
		p.Must(sdk.Command{Cmd: "close"})
	}
	for _, c := range k.clients {
		c.Must(sdk.Command{Cmd: "close"})
	}
	t.Logf("upgrade: %d clients of both SDKs got %s messages with positions, and as many without, in order; %d of these came twice, from just before a move or more than a second apart", len(k.clients), strings.Join(numbers, " and "), copies)
}

// wantEach requires the numbers below n, each once, and in order unless they are late. It
// returns how many came twice as the SDK does not promise to know them; see heardNumber.
func wantEach(s *sdk.Sub, n int) (copies int) {
	s.C.T.Helper()
	came, last := map[int]time.Time{}, -1
	for len(came) < n {
		r := s.Next()
		number, err := strconv.Atoi(string(r.Payload))
		first, again := came[number]
		switch {
		case again && (r.At.Sub(first) >= time.Second || !surelyMoved(s.C, first)):
			copies++
			continue
		case err != nil || number >= n || again || number < last && !r.Late:
			s.C.T.Errorf("%s: got %v after %d of %d", s.C.Kind, r, last, n)
			return copies
		}
		came[number], last = r.At, max(last, number)
	}
	return copies
}

// surelyMoved reports whether the client was moving at a time; see surelyMoving.
func surelyMoved(c *sdk.Client, at time.Time) bool {
	var began time.Time
	for _, r := range c.Events.Rest() {
		switch {
		case r.Event == "moving":
			began = r.At
		case r.Event == "moved" && at.Sub(began) > surelyMoving && at.Before(r.At):
			return true
		}
	}
	return false
}
