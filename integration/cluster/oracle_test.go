package cluster

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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
	start := harness.Seed(t)
	o := startOracle(t, start)
	checks := int64(harness.SoakCount(t, 5_000, 10_000_000))
	for round := 0; o.delivered.Load()+o.refused.Load() < checks && !t.Failed(); round++ {
		if round%20 == 19 {
			i := round / 20 % len(o.clients)
			o.leave(o.clients[i])
			o.clients[i] = o.open(o.random.IntN(4), o.random.right())
		}
		o.subscribeAll()
		o.publishAll(100)
	}
	t.Logf("%d deliveries and %d refusals were right, of them %d of messages to one", o.delivered.Load(), o.refused.Load(), o.toOne.Load())
}

// oracle is what the edges must do, and have done.
type oracle struct {
	t                         *testing.T
	random                    choices
	edges                     []*harness.Edge
	clients, fences           []*oracleClient
	subs                      map[string]map[*oracleClient]map[string]pattern.Pattern // by tenant; changes between rounds of publishing
	number                    atomic.Uint64
	delivered, refused, toOne atomic.Int64

	mu   sync.Mutex
	due  int           // lines and deliveries that are to come
	idle chan struct{} // told when none is
	ones map[uint64]*toOne
}

// toOne is a message to one connection.
type toOne struct {
	tenant, channel string
	mode            wire.Delivery
	may             map[*oracleClient]string // who may get it, and what; see delivery
}

// oracleClient is a session and what it may do.
type oracleClient struct {
	o      *oracle
	edge   int
	socket *harness.Socket
	right  []grant
	random choices
	done   chan struct{} // closed when its reader has ended
	left   atomic.Bool   // its end is wanted
	lines  []string      // that the edge is to send, in order; under o.mu, as the next
	due    map[uint64]string
}

func startOracle(t *testing.T, start uint64) *oracle {
	t.Helper()
	o := &oracle{
		t: t, random: choices{rand.New(rand.NewPCG(start, 0))}, idle: make(chan struct{}, 1),
		subs: map[string]map[*oracleClient]map[string]pattern.Pattern{}, ones: map[uint64]*toOne{},
	}
	caddyfile := strings.Replace(conformance.Unthrottled, "bandwidth {", "limits {\n\t\t\tsend_queue 64MiB\n\t\t}\n\t\tbandwidth {", 1)
	join := harness.Joining(harness.StartNATS(t, 1), "")[0]
	first := harness.StartEdge(t, caddyfile, join)
	o.edges = []*harness.Edge{first, harness.StartEdge(t, caddyfile, join, harness.WithMaster(first))}
	for i := range 8 {
		o.clients = append(o.clients, o.open(i, o.random.right()))
	}
	for i := range o.edges {
		o.fences = append(o.fences, o.open(i, []grant{{tenants, []string{"fence"}, []string{"fence"}}}))
	}
	return o
}

// open opens a session with a new token, which the other edge has issued.
func (o *oracle) open(i int, right []grant) *oracleClient {
	o.t.Helper()
	c := &oracleClient{
		o: o, edge: i % 2, right: right, due: map[uint64]string{}, done: make(chan struct{}),
		random: choices{rand.New(rand.NewPCG(o.random.Uint64(), 1))},
	}
	var grants []harness.Object
	for _, g := range right {
		grants = append(grants, harness.Object{"tenant_ids": g.tenants, "allow_channels_pub": g.publish, "allow_channels_sub": g.subscribe})
	}
	token := o.edges[1-c.edge].IssueAnywhere(grants...).Token
	if i/2%2 == 0 {
		c.socket = o.edges[c.edge].Dial(token)
	} else {
		c.socket = o.edges[c.edge].DialWebTransport(token)
	}
	go c.read() // ends with the session
	o.t.Cleanup(func() {
		c.left.Store(true)
		_ = c.socket.Cut() // it may have ended
		<-c.done
	})
	return c
}

func (o *oracle) leave(c *oracleClient) {
	o.t.Helper()
	c.left.Store(true)
	o.edges[c.edge].Must(c.socket.Leave())
	<-c.done
	for _, clients := range o.subs {
		delete(clients, c)
	}
}

// expect says that something is to come.
func (o *oracle) expect(note func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.due++
	note()
}

// settled takes note of something that was to come. The caller holds o.mu.
func (o *oracle) settled() {
	if o.due--; o.due == 0 {
		select {
		case o.idle <- struct{}{}:
		default:
		}
	}
}

// settle waits until all has come that is to come.
func (o *oracle) settle() {
	o.t.Helper()
	late := time.After(2 * time.Minute)
	for {
		o.mu.Lock()
		due := o.due
		o.mu.Unlock()
		if due == 0 {
			return
		}
		select {
		case <-o.idle:
		case <-late:
			o.mu.Lock()
			defer o.mu.Unlock()
			for _, c := range slices.Concat(o.clients, o.fences) {
				if len(c.lines)+len(c.due) > 0 {
					o.t.Errorf("edge %d: the deliveries %v and the lines %q did not come", c.edge, c.due, c.lines)
				}
			}
			for number, one := range o.ones {
				if len(one.may) > 0 {
					o.t.Errorf("message %d to one (mode %d) had no taker: %s", number, one.mode, slices.Collect(maps.Values(one.may)))
				}
			}
			o.t.Fatalf("%d of what is to come did not come", o.due)
		}
	}
}

// say sends a line, and says what the edge is to answer.
func (c *oracleClient) say(verb, tenant, pattern, want string) {
	c.o.t.Helper()
	c.o.expect(func() { c.lines = append(c.lines, want) })
	c.socket.SendLine(verb + ":" + tenant + ":" + pattern)
}

func (c *oracleClient) may(tenant, kind string, is func(rule string) bool) bool {
	return slices.ContainsFunc(c.right, func(g grant) bool {
		rules := g.subscribe
		if kind == "PUB" {
			rules = g.publish
		}
		return slices.Contains(g.tenants, tenant) && slices.ContainsFunc(rules, is)
	})
}

func (c *oracleClient) maySubscribe(tenant string, p pattern.Pattern) bool {
	return c.may(tenant, "SUB", func(text string) bool {
		rule, err := pattern.ParseRule(text, pattern.SubscribeRule)
		return err == nil && rule.Contains(p)
	})
}

func (c *oracleClient) mayPublish(tenant, channel string) bool {
	return c.may(tenant, "PUB", func(text string) bool {
		rule, err := pattern.ParseRule(text, pattern.PublishRule)
		return err == nil && rule.MatchString(channel)
	})
}

// delivery is all that a deliver frame says beside the message's payload.
func delivery(tenant, channel string, patterns []string) string {
	slices.Sort(patterns)
	return tenant + " " + channel + " " + strings.Join(patterns, " ")
}

// deliveries are what the subscribers of a channel are to get.
func (o *oracle) deliveries(tenant, channel string) map[*oracleClient]string {
	all := map[*oracleClient]string{}
	for c, patterns := range o.subs[tenant] {
		var matched []string
		for text, p := range patterns {
			if p.Match(channel) {
				matched = append(matched, text)
			}
		}
		if matched != nil {
			all[c] = delivery(tenant, channel, matched)
		}
	}
	return all
}

func numbered(tenant, channel string, number uint64) []byte {
	return harness.RawPublish(tenant, channel, string(binary.BigEndian.AppendUint64(nil, number)))
}

// publish sends a message, and says before what is to come of it.
func (c *oracleClient) publish() error {
	o, tenant, channel := c.o, c.random.spoken(c.right, false), c.random.channel()
	mode := wire.Delivery(max(0, c.random.IntN(12)-9)) // now and then to one
	number, physical := o.number.Add(1), tenant
	if tenant == "" {
		physical = wire.DefaultTenant
	}
	refusal := ""
	switch {
	case wire.CheckTenant(physical) != nil:
		refusal = "ERR:bad_tenant"
	case wire.CheckChannel(channel) != nil:
		refusal = "ERR:bad_channel"
	case !c.mayPublish(physical, channel):
		refusal = "ERR:permission_denied:PUB:" + physical + ":" + channel
	}
	if refusal != "" {
		o.expect(func() { c.lines = append(c.lines, refusal) })
	} else {
		o.expectDeliveries(c.edge, number, physical, channel, mode)
	}
	frame := numbered(tenant, channel, number)
	if mode != wire.Broadcast {
		frame = append([]byte{0x02, byte(mode)}, frame...)
	}
	return c.socket.Write(harness.AsFrame, frame)
}

// expectDeliveries says who is to get a message, or may get it: of the nearest, subscribers of
// the same edge go first.
func (o *oracle) expectDeliveries(from int, number uint64, tenant, channel string, mode wire.Delivery) {
	all := o.deliveries(tenant, channel)
	o.mu.Lock()
	defer o.mu.Unlock()
	if mode == wire.Broadcast {
		for c, what := range all {
			c.due[number] = what
			o.due++
		}
		return
	}
	near := func(c *oracleClient) bool { return c.edge == from }
	if mode == wire.OneNearest && slices.ContainsFunc(slices.Collect(maps.Keys(all)), near) {
		maps.DeleteFunc(all, func(c *oracleClient, _ string) bool { return !near(c) })
	}
	if o.ones[number] = (&toOne{tenant, channel, mode, all}); len(all) > 0 {
		o.due++
	}
}

// read compares what the edge sends with what it is to send.
func (c *oracleClient) read() {
	defer close(c.done)
	for {
		kind, message, err := c.socket.Read()
		if err != nil {
			if !c.left.Load() {
				c.o.t.Errorf("edge %d: %v", c.edge, err)
			}
			return
		}
		var why string
		if kind == harness.AsText {
			why = c.gotLine(string(message))
		} else {
			why = c.gotFrame(message)
		}
		if why != "" {
			c.o.t.Errorf("edge %d sent %q: %s", c.edge, message, why)
		}
	}
}

func (c *oracleClient) gotLine(line string) (why string) {
	c.o.mu.Lock()
	defer c.o.mu.Unlock()
	if len(c.lines) == 0 || c.lines[0] != line {
		return fmt.Sprintf("want %q", c.lines)
	}
	c.lines = c.lines[1:]
	if strings.HasPrefix(line, "ERR:") {
		c.o.refused.Add(1)
	}
	c.o.settled()
	return ""
}

func (c *oracleClient) gotFrame(frame []byte) (why string) {
	d, err := wire.DecodeDeliver(frame)
	if err != nil || len(d.Payload) != 8 {
		return fmt.Sprintf("that is no frame of ours (%v)", err)
	}
	number, got := binary.BigEndian.Uint64(d.Payload), delivery(string(d.Tenant), string(d.Channel), d.Patterns)
	o := c.o
	o.mu.Lock()
	defer o.mu.Unlock()
	want, due := c.due[number]
	delete(c.due, number)
	if one := o.ones[number]; !due && one != nil {
		want, due = one.may[c]
		// What waits until the edges know who could take it, and what nobody could: that may be
		// taken by somebody who has just subscribed.
		if !due && (one.mode == wire.OneRandom || len(one.may) == 0) {
			due = !slices.ContainsFunc(d.Patterns, func(text string) bool {
				p, err := pattern.Parse(text)
				return err != nil || !c.maySubscribe(one.tenant, p) || !p.Match(one.channel)
			})
			want = delivery(one.tenant, one.channel, slices.Clone(d.Patterns))
		}
		if due {
			delete(o.ones, number)
			o.toOne.Add(1)
			if len(one.may) == 0 { // nobody waits for it
				o.due++
			}
		}
	}
	if !due || want != got {
		return fmt.Sprintf("message %d is to come here: %v; due is %s", number, due, want)
	}
	o.delivered.Add(1)
	o.settled()
	return ""
}

// subscribeAll changes what each client is subscribed to.
func (o *oracle) subscribeAll() {
	o.t.Helper()
	for _, c := range o.clients {
		for range 3 {
			tenant, text := o.random.spoken(c.right, true), o.random.pattern()
			physical := tenant
			if tenant == "" {
				physical = wire.DefaultTenant
			}
			p, err := pattern.Parse(text)
			mine := o.subs[physical][c]
			answer := "OK:SUB:" + physical + ":" + text
			switch {
			case wire.CheckTenant(physical) != nil:
				answer = "ERR:bad_tenant"
			case err != nil:
				answer = "ERR:bad_pattern"
			case len(mine) > 0 && o.random.IntN(4) == 0:
				text = pick(o.random, slices.Sorted(maps.Keys(mine)))
				delete(mine, text)
				c.say("UNSUB", tenant, text, "OK:UNSUB:"+physical+":"+text)
				o.settle()
				continue
			case !c.maySubscribe(physical, p):
				answer = "ERR:permission_denied:SUB:" + physical + ":" + text
			case len(mine) >= 2: // below the limit of shapes, with all tenants
				continue
			default:
				if o.subs[physical] == nil {
					o.subs[physical] = map[*oracleClient]map[string]pattern.Pattern{}
				}
				if mine == nil {
					mine = map[string]pattern.Pattern{}
					o.subs[physical][c] = mine
				}
				mine[text] = p
			}
			c.say("SUB", tenant, text, answer)
			o.settle()
		}
	}
}

// oneKept is how many messages later one may still find a taker: some seconds.
const oneKept = 100_000

// publishAll has all clients publish, at the same time, and returns when the edges have done
// with all of it, also where nothing was to come of it: a subscription of the next round would
// get it.
func (o *oracle) publishAll(each int) {
	o.t.Helper()
	var all sync.WaitGroup
	for _, c := range o.clients {
		all.Go(func() {
			for range each {
				if err := c.publish(); err != nil {
					o.t.Errorf("edge %d: %v", c.edge, err)
					return
				}
			}
		})
	}
	all.Wait()
	o.settle()
	for _, c := range o.clients {
		c.say("UNSUB", "a", "end", "OK:UNSUB:a:end")
	}
	for _, verb := range []string{"SUB", "", "UNSUB"} {
		for _, c := range o.fences {
			for _, tenant := range tenants { // messages of a tenant stay in their order
				if verb != "" {
					c.say(verb, tenant, "fence", "OK:"+verb+":"+tenant+":fence")
					continue
				}
				number := o.number.Add(1)
				o.expectDeliveries(c.edge, number, tenant, "fence", wire.Broadcast)
				for _, other := range o.fences {
					o.expect(func() { other.due[number] = delivery(tenant, "fence", []string{"fence"}) })
				}
				o.edges[c.edge].Must(c.socket.Write(harness.AsFrame, numbered(tenant, "fence", number)))
			}
		}
		o.settle()
	}
	last := o.number.Load()
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.ones, func(number uint64, _ *toOne) bool { return number+oneKept < last })
}
