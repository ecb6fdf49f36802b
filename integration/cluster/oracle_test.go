package cluster

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// Clients of two edges, over both transports, subscribe to random patterns, and publish at the same
// time: each message comes to all who have a pattern that matches, or to one of them, with these
// patterns, and those of a publisher to a tenant come in order. What a pattern matches is taken from
// package pattern, which compares it with a definition of its own.
func TestOracle(t *testing.T) {
	t.Parallel()
	o := &oracle{
		t: t, Rand: rand.New(rand.NewPCG(harness.Seed(t), 0)),
		heard: make(chan heard, 1000), ones: map[string]map[*oracleClient]string{},
	}
	caddyfile := strings.Replace(conformance.Unthrottled, "bandwidth {", "limits {\n\t\t\tsend_queue 64MiB\n\t\t}\n\t\tbandwidth {", 1)
	join := harness.Joining(harness.StartNATS(t, 1), "")[0]
	first := harness.StartEdge(t, caddyfile, join)
	edges := []*harness.Edge{first, harness.StartEdge(t, caddyfile, join, harness.WithMaster(first))}
	for i := range 8 {
		open := edges[i%2].Dial
		if i/2%2 == 1 {
			open = edges[i%2].DialWebTransport
		}
		o.open(i, open(edges[1-i%2].IssueAnywhere(harness.AllowAll(tenants...)).Token))
	}
	t.Cleanup(func() { // before the edges end, which WebTransport might not notice
		for _, c := range o.clients {
			if _ = c.Cut(); t.Failed() { // it may have ended
				t.Logf("edge %d has still to send %q", c.edge, c.due)
			}
		}
		o.readers.Wait()
	})
	for checks := harness.SoakCount(t, 20_000, 10_000_000); o.checked < checks; {
		for range 3 {
			for _, c := range o.clients {
				o.change(c)
			}
		}
		o.publishAll()
	}
	t.Logf("%d deliveries were right, of %d messages", o.checked, o.number)
}

// The tenants differ in ways that an encoding, a prefix or a comparison without case would confuse.
var (
	tenants  = []string{"a", "A", "a.b", "a_b", ".", "~", "U", strings.Repeat("t", 128), strings.Repeat("t", 127) + "T"}
	channels = []string{"a", "b", "ab", "A", "a.b", "a.b.a", "ab.a", "b.-.a", "~.@_.b"}
	patterns = []string{
		"a", "b", "ab", "*", "a*", "#", ">", "a#", "a>",
		"a.b", "a.*", "*.b", "*.*", "a*.a", "a.#", "a.>", "a.b.>", "*.a.#", "~.@_.*", "b.-.#",
	}
	fence = "fence" // a channel that all clients are subscribed to, in all tenants
)

// oracle is what the edges must do. The test's goroutine alone uses it.
type oracle struct {
	t *testing.T
	*rand.Rand
	clients []*oracleClient
	readers sync.WaitGroup
	heard   chan heard
	number  int                                 // of the last message
	due     int                                 // lines and deliveries that are to come
	ones    map[string]map[*oracleClient]string // messages to one: who may get them, and what; see delivery
	checked int                                 // deliveries
}

type oracleClient struct {
	*harness.Socket
	edge int
	subs map[string]bool // tenant:pattern
	// What the edge is to send, in order: lines, under "", and the deliveries of each publisher to
	// each tenant.
	due map[string][]string
}

// heard is what a client has read.
type heard struct {
	by      *oracleClient
	kind    int
	message []byte
	err     error
}

func (o *oracle) pick(list []string) string { return list[o.IntN(len(list))] }

func (o *oracle) open(i int, s *harness.Socket) {
	c := &oracleClient{Socket: s, edge: i % 2, subs: map[string]bool{}, due: map[string][]string{}}
	o.clients = append(o.clients, c)
	for _, tenant := range tenants {
		c.Subscribe(tenant, fence)
	}
	o.readers.Go(func() { // ends with the session
		for h := (heard{by: c}); h.err == nil; {
			h.kind, h.message, h.err = s.Read()
			select {
			case o.heard <- h:
			case <-o.t.Context().Done():
			}
		}
	})
}

// expect says what a client is to get next.
func (o *oracle) expect(c *oracleClient, from, text string) {
	o.due++
	c.due[from] = append(c.due[from], text)
}

// change begins a subscription, or ends one: with too many, a client would get all there is.
func (o *oracle) change(c *oracleClient) {
	o.t.Helper()
	verb, sub := "SUB:", o.pick(tenants)+":"+o.pick(patterns)
	if len(c.subs) == 12 {
		sub = o.pick(slices.Sorted(maps.Keys(c.subs)))
	}
	if c.subs[sub] {
		verb = "UNSUB:"
		delete(c.subs, sub)
	} else {
		c.subs[sub] = true
	}
	o.expect(c, "", "OK:"+verb+sub)
	c.SendLine(verb + sub)
	o.settle() // an UNSUB does not wait for the SUB before it
}

// settle waits until all has come that is to come, and compares it.
func (o *oracle) settle() {
	o.t.Helper()
	for ; o.due > 0; o.due-- {
		o.check(natstest.Receive(o.t, "what is due", o.heard))
	}
}

func (o *oracle) check(h heard) {
	o.t.Helper()
	got, payload, from := string(h.message), "", ""
	if h.err == nil && h.kind == harness.AsFrame {
		var d wire.Deliver
		d, h.err = wire.DecodeDeliver(h.message)
		payload = string(d.Payload)
		got = delivery(payload, string(d.Tenant), string(d.Channel), d.Patterns)
		from, _, _ = strings.Cut(payload, " ")
		o.checked++
	}
	want := h.by.due[from]
	if one := o.ones[payload]; one != nil {
		want = []string{one[h.by]}
		delete(o.ones, payload)
	} else if len(want) > 0 {
		h.by.due[from] = want[1:]
	}
	if h.err != nil || len(want) == 0 || got != want[0] {
		o.t.Fatalf("edge %d sent %q, %s (%v), want %q", h.by.edge, h.message, got, h.err, want)
	}
}

// delivery is all that a deliver frame says.
func delivery(payload, tenant, channel string, patterns []string) string {
	return fmt.Sprintf("%s %s %s %q", payload, tenant, channel, slices.Sorted(slices.Values(patterns)))
}

// matched are the patterns of a client that match.
func (c *oracleClient) matched(tenant, channel string) (list []string) {
	if channel == fence {
		list = []string{fence}
	}
	for sub := range c.subs {
		of, text, _ := strings.Cut(sub, ":")
		if p, err := pattern.Parse(text); of == tenant && err == nil && p.Match(channel) {
			list = append(list, text)
		}
	}
	return list
}

// publishing returns the frame of a message, and says before what is to come of it: of the
// nearest, subscribers of the same edge go first.
func (o *oracle) publishing(from int, tenant, channel string, mode wire.Delivery) []byte {
	o.number++
	lane, all := fmt.Sprintf("%d:%s", from, tenant), map[*oracleClient]string{} // what comes in order
	payload := fmt.Sprint(lane, " ", o.number)
	for _, to := range o.clients {
		if matched := to.matched(tenant, channel); matched != nil {
			all[to] = delivery(payload, tenant, channel, matched)
		}
	}
	near := maps.Clone(all)
	maps.DeleteFunc(near, func(to *oracleClient, _ string) bool { return to.edge != from%2 })
	if mode == wire.OneNearest && len(near) > 0 {
		all = near
	}
	if len(all) == 0 { // one would wait for somebody who subscribes later
		mode = wire.Broadcast
	}
	if mode == wire.Broadcast {
		for to, text := range all {
			o.expect(to, lane, text)
		}
	} else {
		o.ones[payload] = all
		o.due++
	}
	return wire.AppendPublish(nil, wire.Publish{
		Tagged: true, Delivery: mode, Tenant: []byte(tenant), Channel: []byte(channel), Payload: []byte(payload),
	})
}

// publishAll has all clients publish, at the same time, and returns when the edges have done
// with all of it: a message that nobody should get would come before the last ones, to the fence.
func (o *oracle) publishAll() {
	o.t.Helper()
	var all sync.WaitGroup
	for from, c := range o.clients {
		var frames [][]byte
		for range 100 {
			mode := wire.Delivery(max(0, o.IntN(12)-9)) // now and then to one
			frames = append(frames, o.publishing(from, o.pick(tenants), o.pick(channels), mode))
		}
		for _, tenant := range tenants {
			frames = append(frames, o.publishing(from, tenant, fence, wire.Broadcast))
		}
		all.Go(func() {
			for _, frame := range frames {
				if err := c.Write(harness.AsFrame, frame); err != nil {
					o.t.Errorf("edge %d: %v", c.edge, err)
				}
			}
		})
	}
	o.settle()
	all.Wait()
}
