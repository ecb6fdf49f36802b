package cluster

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// Tokens with random grants, patterns and names over both transports and two edges: what the
// edges deliver, to whom, with which patterns, and what they refuse, is what docs/protocol.md
// says. What a pattern matches, a rule contains and a name may be is taken from the packages
// pattern and wire, which compare it with definitions of their own.
func TestOracle(t *testing.T) {
	t.Parallel()
	o := &oracle{
		t: t, random: choices{rand.New(rand.NewPCG(harness.Seed(t), 0))}, heard: make(chan func() string, 1000),
		ones: map[uint64]map[*oracleClient]string{},
	}
	limits := "limits {\n\t\t\tsend_queue 64MiB\n\t\t\tmax_pattern_shapes 100\n\t\t}\n\t\tbandwidth {"
	caddyfile := strings.Replace(conformance.Unthrottled, "bandwidth {", limits, 1)
	join := harness.Joining(harness.StartNATS(t, 1), "")[0]
	first := harness.StartEdge(t, caddyfile, join)
	o.edges = []*harness.Edge{first, harness.StartEdge(t, caddyfile, join, harness.WithMaster(first))}
	for i := range 8 {
		o.clients = append(o.clients, o.open(i))
	}
	checks := harness.SoakCount(t, 5_000, 10_000_000)
	for round := 0; o.delivered+o.refused < checks && !t.Failed(); round++ {
		if round%20 == 19 {
			i := round / 20 % len(o.clients)
			o.leave(o.clients[i])
			o.clients[i] = o.open(i + 2*o.random.IntN(2)) // perhaps over the other transport
		}
		o.subscribeAll()
		o.publishAll(100)
	}
	t.Logf("%d deliveries and %d refusals were right, of them %d of messages to one", o.delivered, o.refused, o.toOne)
}

// fence is a channel that all clients are subscribed to, in all tenants.
const fence = "fence"

// oracle is what the edges must do, and have done. The test's goroutine alone uses it.
type oracle struct {
	t       *testing.T
	random  choices
	edges   []*harness.Edge
	clients []*oracleClient
	number  uint64             // of the last message
	heard   chan func() string // each compares what a client got, and says what is wrong

	due                       int                                 // lines and deliveries that are to come
	ones                      map[uint64]map[*oracleClient]string // messages to one: who may get them, and what; see delivery
	delivered, refused, toOne int
}

// oracleClient is a session and what it may do.
type oracleClient struct {
	edge   int
	socket *harness.Socket
	right  right
	subs   map[string]map[string]pattern.Pattern // by tenant
	done   chan struct{}                         // closed when its reader has ended
	left   atomic.Bool                           // its end is wanted
	lines  []string                              // that the edge is to send, in order
	due    map[uint64]string
}

// open opens a session with a new token, which the other edge has issued.
func (o *oracle) open(i int) *oracleClient {
	o.t.Helper()
	c := &oracleClient{
		edge: i % 2, right: o.random.right(), subs: map[string]map[string]pattern.Pattern{}, due: map[uint64]string{}, done: make(chan struct{}),
	}
	token := o.edges[1-c.edge].IssueAnywhere(c.right.grants...).Token
	if i/2%2 == 0 {
		c.socket = o.edges[c.edge].Dial(token)
	} else {
		c.socket = o.edges[c.edge].DialWebTransport(token)
	}
	go func() { // ends with the session
		defer close(c.done)
		for {
			kind, message, err := c.socket.Read()
			if err != nil {
				if !c.left.Load() {
					o.t.Errorf("edge %d: %v", c.edge, err)
				}
				return
			}
			o.heard <- func() string {
				if kind == harness.AsText {
					return o.line(c, string(message))
				}
				return o.frame(c, message)
			}
		}
	}()
	o.t.Cleanup(func() { o.leave(c) })
	for _, tenant := range tenants {
		o.subscribe(c, tenant, fence)
	}
	o.settle()
	return c
}

func (o *oracle) leave(c *oracleClient) {
	c.left.Store(true)
	_ = c.socket.Leave() // it may have ended
	for ended := false; !ended; {
		select {
		case <-c.done:
			ended = true
		case <-o.heard: // nothing is due
		}
	}
}

// say sends a line, and says what the edge is to answer.
func (o *oracle) say(c *oracleClient, verb, tenant, pattern, want string) {
	o.t.Helper()
	o.due++
	c.lines = append(c.lines, want)
	c.socket.SendLine(verb + ":" + tenant + ":" + pattern)
}

// settle waits until all has come that is to come, and compares it.
func (o *oracle) settle() {
	o.t.Helper()
	for late := time.After(2 * time.Minute); o.due > 0; {
		select {
		case compare := <-o.heard:
			if wrong := compare(); wrong != "" {
				o.t.Fatal(wrong)
			}
			o.due--
		case <-late:
			for _, c := range o.clients {
				o.t.Errorf("edge %d: the deliveries %v and the lines %q did not come", c.edge, c.due, c.lines)
			}
			o.t.Fatalf("%d of what is to come did not come; messages to one: %v", o.due, slices.Collect(maps.Values(o.ones)))
		}
	}
}

func (o *oracle) line(c *oracleClient, line string) (wrong string) {
	if len(c.lines) == 0 || c.lines[0] != line {
		return fmt.Sprintf("edge %d sent %q, want %q", c.edge, line, c.lines)
	}
	if strings.HasPrefix(line, "ERR:") {
		o.refused++
	}
	c.lines = c.lines[1:]
	return ""
}

func (o *oracle) frame(c *oracleClient, frame []byte) (wrong string) {
	d, err := wire.DecodeDeliver(frame)
	number, _ := strconv.ParseUint(string(d.Payload), 10, 64)
	want := c.due[number]
	delete(c.due, number)
	if one := o.ones[number]; one != nil {
		want = one[c]
		delete(o.ones, number)
		o.toOne++
	}
	o.delivered++
	if got := delivery(string(d.Tenant), string(d.Channel), d.Patterns); err != nil || want != got {
		return fmt.Sprintf("edge %d sent %q, %s; of message %d is due: %s", c.edge, frame, got, number, want)
	}
	return ""
}

// delivery is all that a deliver frame says beside the message's payload.
func delivery(tenant, channel string, patterns []string) string {
	slices.Sort(patterns)
	return tenant + " " + channel + " " + strings.Join(patterns, " ")
}

func physical(tenant string) string {
	if tenant == "" {
		return wire.DefaultTenant
	}
	return tenant
}

// subscribe sends a SUB, and says what the edge is to answer.
func (o *oracle) subscribe(c *oracleClient, spoken, text string) {
	o.t.Helper()
	tenant := physical(spoken)
	p, err := pattern.Parse(text)
	answer := "OK:SUB:" + tenant + ":" + text
	switch {
	case wire.CheckTenant(tenant) != nil:
		answer = "ERR:bad_tenant"
	case err != nil:
		answer = "ERR:bad_pattern"
	case !slices.ContainsFunc(c.right.subscribe[tenant], func(r pattern.Rule) bool { return r.Contains(p) }):
		answer = "ERR:permission_denied:SUB:" + tenant + ":" + text
	default:
		if c.subs[tenant] == nil {
			c.subs[tenant] = map[string]pattern.Pattern{}
		}
		c.subs[tenant][text] = p
	}
	o.say(c, "SUB", spoken, text, answer)
}

// subscribeAll changes what each client is subscribed to.
func (o *oracle) subscribeAll() {
	o.t.Helper()
	for _, c := range o.clients {
		for range 3 {
			tenant, text := o.random.spoken(c.right), o.random.odd(o.random.pattern())
			mine := c.subs[physical(tenant)]
			some := pick(o.random, append(slices.Sorted(maps.Keys(mine)), fence))
			switch {
			case some != fence && o.random.IntN(3) == 0:
				delete(mine, some)
				o.say(c, "UNSUB", tenant, some, "OK:UNSUB:"+physical(tenant)+":"+some)
			case len(mine) < 3: // else the patterns would soon match everything
				o.subscribe(c, tenant, text)
			}
			o.settle()
		}
	}
}

// publishing returns the frame of a message, and says before what is to come of it.
func (o *oracle) publishing(c *oracleClient, spoken, channel string, mode wire.Delivery) []byte {
	o.number++
	frame := harness.RawPublish(spoken, channel, fmt.Sprint(o.number))
	tenant, refusal := physical(spoken), ""
	switch {
	case wire.CheckTenant(tenant) != nil:
		refusal = "ERR:bad_tenant"
	case wire.CheckChannel(channel) != nil:
		refusal = "ERR:bad_channel"
	case !slices.ContainsFunc(c.right.publish[tenant], func(r pattern.Rule) bool { return r.MatchString(channel) }):
		refusal = "ERR:permission_denied:PUB:" + tenant + ":" + channel
	}
	if refusal != "" {
		o.due++
		c.lines = append(c.lines, refusal)
	} else if !o.expect(c.edge, tenant, channel, mode) {
		mode = wire.Broadcast
	}
	if mode != wire.Broadcast {
		frame = append([]byte{0x02, byte(mode)}, frame...)
	}
	return frame
}

// expect says who is to get the last message, or may get it: of the nearest, subscribers of the
// same edge go first. A message to one for which there is nobody would wait for somebody who
// subscribes later: then expect reports false.
func (o *oracle) expect(from int, tenant, channel string, mode wire.Delivery) bool {
	all, near := map[*oracleClient]string{}, map[*oracleClient]string{}
	for _, c := range o.clients {
		var matched []string
		for text, p := range c.subs[tenant] {
			if p.Match(channel) {
				matched = append(matched, text)
			}
		}
		if matched == nil {
			continue
		}
		if all[c] = delivery(tenant, channel, matched); c.edge == from {
			near[c] = all[c]
		}
		if mode == wire.Broadcast {
			c.due[o.number] = all[c]
			o.due++
		}
	}
	if mode == wire.Broadcast || len(all) == 0 {
		return mode == wire.Broadcast
	}
	if mode == wire.OneNearest && len(near) > 0 {
		all = near
	}
	o.ones[o.number] = all
	o.due++
	return true
}

// publishAll has all clients publish, at the same time, and returns when the edges have done
// with all of it, also where nothing was to come of it: a subscription of the next round would
// get it. Messages of a tenant stay in their order, so all have come when those to the fence have.
func (o *oracle) publishAll(each int) {
	o.t.Helper()
	var all sync.WaitGroup
	for _, c := range o.clients {
		var frames [][]byte
		for range each {
			mode := wire.Delivery(max(0, o.random.IntN(12)-9)) // now and then to one
			frames = append(frames, o.publishing(c, o.random.spoken(c.right), o.random.odd(strings.Join(o.random.tokens(), ".")), mode))
		}
		all.Go(func() {
			for _, frame := range frames {
				if err := c.socket.Write(harness.AsFrame, frame); err != nil {
					o.t.Errorf("edge %d: %v", c.edge, err)
				}
			}
		})
	}
	o.settle()
	all.Wait()
	for _, c := range o.clients {
		o.say(c, "UNSUB", "a", "end", "OK:UNSUB:a:end")
	}
	o.settle()
	for _, c := range o.clients[:2] { // one of each edge
		for _, tenant := range tenants {
			c.socket.SendFrame(o.publishing(c, tenant, fence, wire.Broadcast))
		}
	}
	o.settle()
}
