package integration

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// startSDKOverlay is n patient edges of an overlay, the first with these options.
func startSDKOverlay(t *testing.T, lab *sdkLab, n int, first ...option) (edges []*edge) {
	t.Helper()
	join := lab.joined()
	for i := range n {
		options := []option{join, forBrowsers}
		if i == 0 {
			options = append(options, first...)
		} else {
			options = append(options, withMaster(edges[0]))
		}
		edges = append(edges, startEdge(t, patientCaddyfile, options...))
	}
	return edges
}

// again runs an edge that has ended on its data and its ports.
func again(e *edge) option {
	return func(next *edge) {
		next.HTTP, next.HTTPS, next.Admin = e.HTTP, e.HTTPS, e.Admin
		next.Dir, next.Store, next.Broker = e.Dir, e.Store, e.Broker
		next.master, next.env = e.master, slices.Clone(e.env[:1])
	}
}

// hear returns when messages of a socket to the channel reach all subscriptions,
// with none of them left.
func (s *sdkStage) hear(from *socket, channel string, subs []*sdkSub) {
	s.t.Helper()
	for _, sub := range subs {
		mark := "mark " + randomHex()
		for found := false; !found; {
			from.publish(s.tenant, channel, mark)
			found = sub.heard(mark)
		}
	}
	from.publish(s.tenant, channel, "begin")
	for _, sub := range subs {
		sub.until("begin")
	}
}

// until takes messages up to this one.
func (s *sdkSub) until(payload string) {
	s.c.t.Helper()
	for string(s.next().Payload) != payload {
	}
}

// heard waits a little for a message.
func (s *sdkSub) heard(payload string) bool {
	for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for _, r := range s.messages.rest() {
			if string(r.Payload) == payload {
				return true
			}
		}
	}
	return false
}

// wantNumbers requires the numbers below n, each once, and in order.
func (s *sdkSub) wantNumbers(n int) {
	s.c.t.Helper()
	for i := range n {
		if r := s.next(); string(r.Payload) != strconv.Itoa(i) {
			s.c.t.Errorf("%s: got %s, want the number %d of %d; events: %v", s.c.kind, short(string(r.Payload)), i, n, s.c.events.rest())
			return
		}
	}
	s.c.flush()
	s.wantNone()
}

// sdkPair is clients of every kind at one edge, which know of another one; both
// are joined with a third that stays.
type sdkPair struct {
	*sdkStage
	from, to, stays *edge
	clients         []*sdkClient
	subs            []*sdkSub // to the channel n, one of each client
	publisher       *socket   // at the third edge, heard by all
	listener        *socket   // there, too, hears what clients publish to of.*
}

func startSDKPair(t *testing.T, lab *sdkLab, options sdkOptions, first ...option) *sdkPair {
	t.Helper()
	edges := startSDKOverlay(t, lab, 3, first...)
	p := &sdkPair{sdkStage: lab.stage(t, sdkKind{}, edges...)}
	p.from, p.to, p.stays = p.edges[0], p.edges[1], p.edges[2]
	options.Token = p.token()
	commands := map[sdkKind]sdkCommand{}
	for _, kind := range sdkKinds {
		commands[kind] = p.connecting(kind, options, p.addresses(p.from, p.to)...)
	}
	p.to.stop() // or some clients would begin there; a killed one the others would count on for a while
	for _, kind := range sdkKinds {
		c := p.clientOf(kind)
		c.must(commands[kind])
		if e := c.event("connected"); e.Edge != p.from.httpsURL("") || e.Transport != kind.transport {
			t.Fatalf("%s: got %v, want the edge %s", kind, e, p.from.httpsURL(""))
		}
		p.clients = append(p.clients, c)
		p.subs = append(p.subs, c.subscribe(p.tenant, "n"))
	}
	p.to = p.restart(p.to)
	p.publisher, p.listener = p.stays.dial(options.Token), p.stays.dial(options.Token)
	p.listener.subscribe(p.tenant, "of.*")
	p.hear(p.publisher, "n", p.subs)
	p.heardBy(p.listener)
	return p
}

// restart starts an edge that has ended again. Before it ends with the test, the clients
// leave: it would wait for them.
func (p *sdkPair) restart(ended *edge) *edge {
	p.t.Helper()
	e := startEdge(p.t, patientCaddyfile, forBrowsers, again(ended))
	p.t.Cleanup(func() {
		for _, c := range p.clients {
			_ = c.host.send(sdkCommand{ID: int(c.ids.Add(1)), Client: c.name, Cmd: "close"}) // else its program has ended
		}
	})
	return e
}

// heardBy returns when messages of all clients reach the listener, with none of
// them left.
func (p *sdkPair) heardBy(listener *socket) {
	p.t.Helper()
	for i, c := range p.clients {
		channel := fmt.Sprintf("of.%d", i)
		arrived := make(chan error, 1)
		go func() { // ends with the message, or the link's timeout
			for {
				_, frame, err := listener.read()
				if d, broken := wire.DecodeDeliver(frame); err != nil || broken == nil && string(d.Channel) == channel {
					arrived <- err
					return
				}
			}
		}()
		for found := false; !found; {
			c.publish(p.tenant, channel, "begin")
			select {
			case err := <-arrived:
				p.stays.must(err)
				found = true
			case <-time.After(100 * time.Millisecond):
			}
		}
		c.flush()
	}
	for _, c := range p.clients { // on the way of each, behind the rest
		c.publish(p.tenant, "of.end", "")
		c.flush()
	}
	for ends := 0; ends < len(p.clients); {
		_, frame, err := listener.read()
		p.stays.must(err)
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
				command := sdkCommand{
					ID: int(c.ids.Add(1)), Client: c.name, Cmd: "publish", Tenant: p.tenant, Channel: fmt.Sprintf("of.%d", i),
					Payload: strconv.AppendInt(nil, int64(len(ids[i])), 10),
				}
				if err := c.host.send(command); err != nil {
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
		p.t.Helper()
		close(stop)
		p.stays.must(<-done)
		for i, c := range p.clients {
			for _, id := range ids[i] {
				if r := c.answer(id, "publish"); r.Error != nil {
					p.t.Errorf("%s: a publish: %v", c.kind, r.Error)
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
	p.t.Helper()
	left := 0
	for _, n := range counts {
		left += n
	}
	next := make([]int, len(counts))
	for ; left > 0; left-- {
		_, frame, err := p.listener.read()
		if err != nil {
			p.t.Fatalf("of %d messages of the clients came %d: %v", counts, next, err)
		}
		d, err := wire.DecodeDeliver(frame)
		if err != nil {
			p.t.Fatalf("got %q, want a message", frame)
		}
		i, _ := strconv.Atoi(string(d.Channel[len("of."):]))
		if string(d.Payload) != strconv.Itoa(next[i]) {
			p.t.Fatalf("%s: got %s, want %d of %d", p.clients[i].kind, d.Payload, next[i], counts[i])
		}
		next[i]++
	}
	p.listener.fence()
}
