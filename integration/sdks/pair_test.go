package sdks

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/wire"
)

// startSDKOverlay is n patient edges of an overlay, the first with these options.
func startSDKOverlay(t *testing.T, lab *sdk.Lab, n int, first ...harness.Option) (edges []*harness.Edge) {
	t.Helper()
	join := lab.Joined()
	for i := range n {
		options := []harness.Option{join, harness.ForBrowsers}
		if i == 0 {
			options = append(options, first...)
		} else {
			options = append(options, harness.WithMaster(edges[0]))
		}
		edges = append(edges, harness.StartEdge(t, harness.PatientCaddyfile, options...))
	}
	return edges
}

// hear returns when messages of a socket to the channel reach all subscriptions,
// with none of them left.
func hear(s *sdk.Stage, from *harness.Socket, channel string, subs []*sdk.Sub) {
	s.T.Helper()
	for _, sub := range subs {
		mark := "mark " + harness.RandomHex()
		for found := false; !found; {
			from.Publish(s.Tenant, channel, mark)
			found = heard(sub, mark)
		}
	}
	from.Publish(s.Tenant, channel, "begin")
	for _, sub := range subs {
		sub.Until("begin")
	}
}

// heard waits a little for a message.
func heard(s *sdk.Sub, payload string) bool {
	for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for _, r := range s.Messages.Rest() {
			if string(r.Payload) == payload {
				return true
			}
		}
	}
	return false
}

// wantNumbers requires the numbers below n, each once, and in order.
func wantNumbers(s *sdk.Sub, n int) {
	s.C.T.Helper()
	for i := range n {
		if r := s.Next(); string(r.Payload) != strconv.Itoa(i) {
			s.C.T.Errorf("%s: got %s, want the number %d of %d; events: %v", s.C.Kind, sdk.Short(string(r.Payload)), i, n, s.C.Events.Rest())
			return
		}
	}
	s.C.Flush()
	s.WantNone()
}

// sdkPair is clients of every kind at one edge, which know of another one; both
// are joined with a third that stays.
type sdkPair struct {
	*sdk.Stage
	from, to, stays *harness.Edge
	clients         []*sdk.Client
	subs            []*sdk.Sub      // to the channel n, one of each client
	publisher       *harness.Socket // at the third edge, heard by all
	listener        *harness.Socket // there, too, hears what clients publish to of.*
}

func startSDKPair(t *testing.T, lab *sdk.Lab, options sdk.Options, first ...harness.Option) *sdkPair {
	t.Helper()
	edges := startSDKOverlay(t, lab, 3, first...)
	p := &sdkPair{Stage: lab.Stage(t, sdk.Kind{}, edges...)}
	p.from, p.to, p.stays = p.Edges[0], p.Edges[1], p.Edges[2]
	options.Token = p.Token()
	commands := map[sdk.Kind]sdk.Command{}
	for _, kind := range sdk.Kinds {
		commands[kind] = p.Connecting(kind, options, p.Addresses(p.from, p.to)...)
	}
	p.to.Stop() // or some clients would begin there; a killed one the others would count on for a while
	for _, kind := range sdk.Kinds {
		c := p.ClientOf(kind)
		c.Must(commands[kind])
		if e := c.Event("connected"); e.Edge != p.from.HttpsURL("") || e.Transport != kind.Transport {
			t.Fatalf("%s: got %v, want the edge %s", kind, e, p.from.HttpsURL(""))
		}
		p.clients = append(p.clients, c)
		p.subs = append(p.subs, c.Subscribe(p.Tenant, "n"))
	}
	p.to = p.restart(p.to)
	p.publisher, p.listener = p.stays.Dial(options.Token), p.stays.Dial(options.Token)
	p.listener.Subscribe(p.Tenant, "of.*")
	hear(p.Stage, p.publisher, "n", p.subs)
	p.heardBy(p.listener)
	return p
}

// restart starts an edge that has ended again. Before it ends with the test, the clients
// leave: it would wait for them.
func (p *sdkPair) restart(ended *harness.Edge) *harness.Edge {
	p.T.Helper()
	e := harness.StartEdge(p.T, harness.PatientCaddyfile, harness.ForBrowsers, sdk.Again(ended))
	p.T.Cleanup(func() {
		for _, c := range p.clients {
			_ = c.Host.Send(sdk.Command{ID: int(c.Ids.Add(1)), Client: c.Name, Cmd: "close"}) // else its program has ended
		}
	})
	return e
}

// heardBy returns when messages of all clients reach the listener, with none of
// them left.
func (p *sdkPair) heardBy(listener *harness.Socket) {
	p.T.Helper()
	for i, c := range p.clients {
		channel := fmt.Sprintf("of.%d", i)
		arrived := make(chan error, 1)
		go func() { // ends with the message, or the link's timeout
			for {
				_, frame, err := listener.Read()
				if d, broken := wire.DecodeDeliver(frame); err != nil || broken == nil && string(d.Channel) == channel {
					arrived <- err
					return
				}
			}
		}()
		for found := false; !found; {
			c.Publish(p.Tenant, channel, "begin")
			select {
			case err := <-arrived:
				p.stays.Must(err)
				found = true
			case <-time.After(100 * time.Millisecond):
			}
		}
		c.Flush()
	}
	for _, c := range p.clients { // on the way of each, behind the rest
		c.Publish(p.Tenant, "of.end", "")
		c.Flush()
	}
	for ends := 0; ends < len(p.clients); {
		_, frame, err := listener.Read()
		p.stays.Must(err)
		if d, err := wire.DecodeDeliver(frame); err == nil && string(d.Channel) == "of.end" {
			ends++
		}
	}
}

// publishAll lets each client publish numbers to its own channel, and returns what
// ends that and says how many each has published.
func (p *sdkPair) publishAll() (end func() []int) {
	stop, done := make(chan struct{}), make(chan error, 1)
	ids := make([][]int, len(p.clients))
	go func() { // ends with stop
		tick := time.NewTicker(2 * numbersEvery)
		defer tick.Stop()
		for {
			for i, c := range p.clients {
				command := sdk.Command{
					ID: int(c.Ids.Add(1)), Client: c.Name, Cmd: "publish", Tenant: p.Tenant, Channel: fmt.Sprintf("of.%d", i),
					Payload: strconv.AppendInt(nil, int64(len(ids[i])), 10),
				}
				if err := c.Host.Send(command); err != nil {
					done <- err
					return
				}
				ids[i] = append(ids[i], command.ID)
			}
			select {
			case <-stop:
				done <- nil
				return
			case <-tick.C:
			}
		}
	}()
	return func() (counts []int) {
		p.T.Helper()
		close(stop)
		p.stays.Must(<-done)
		for i, c := range p.clients {
			for _, id := range ids[i] {
				if r := c.Answer(id, "publish"); r.Error != nil {
					p.T.Errorf("%s: a publish: %v", c.Kind, r.Error)
				}
			}
			counts = append(counts, len(ids[i]))
		}
		return counts
	}
}

// wantAll requires that the listener gets so many numbers of each client, each
// once, and in order.
func (p *sdkPair) wantAll(counts []int) {
	p.T.Helper()
	left := 0
	for _, n := range counts {
		left += n
	}
	next := make([]int, len(counts))
	for ; left > 0; left-- {
		_, frame, err := p.listener.Read()
		if err != nil {
			p.T.Fatalf("of %d messages of the clients came %d: %v", counts, next, err)
		}
		d, err := wire.DecodeDeliver(frame)
		if err != nil {
			p.T.Fatalf("got %q, want a message", frame)
		}
		i, _ := strconv.Atoi(string(d.Channel[len("of."):]))
		if string(d.Payload) != strconv.Itoa(next[i]) {
			p.T.Fatalf("%s: got %s, want %d of %d", p.clients[i].Kind, d.Payload, next[i], counts[i])
		}
		next[i]++
	}
	p.listener.Fence()
}
