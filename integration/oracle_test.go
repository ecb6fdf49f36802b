package integration

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

	"github.com/millrace/millrace/wire"
)

// Tokens with random grants, patterns and names over both transports and two
// edges: what the edges deliver, to whom, with which patterns, and what they
// refuse, is what docs/protocol.md says, read a second time by [covers] and
// [contains].
func TestOracle(t *testing.T) {
	t.Parallel()
	start := seed(t)
	o := startOracle(t, start)
	checks := int64(soakCount(t, 30_000, 10_000_000))
	begin, said := time.Now(), time.Now()
	for round := 0; o.checks() < checks && o.wrong.Load() == 0; round++ {
		if round%20 == 19 {
			o.replace(round / 20 % len(o.clients))
		}
		o.subscribeAll()
		o.publishAll(100)
		if time.Since(said) > time.Minute {
			said = time.Now()
			t.Logf("%d checks after %v", o.checks(), time.Since(begin).Round(time.Second))
		}
	}
	for _, c := range o.clients {
		o.leave(c)
	}
	t.Logf("%d deliveries and %d refusals were right, %d of %d messages to one had a taker, in %v; wrong: %d",
		o.delivered.Load(), o.refused.Load(), o.toOne.Load(), o.askedOne.Load(), time.Since(begin), o.wrong.Load())
}

// oracle is what the edges must do, and have done.
type oracle struct {
	t       *testing.T
	choices oracleChoices
	edges   []*edge
	clients []*oracleClient
	subs    map[string]map[*oracleClient]map[string]bool // patterns by tenant and client; changes between rounds of publishing
	nextID  atomic.Uint64

	delivered, refused, askedOne, toOne, wrong atomic.Int64
	pending                                    atomic.Int64 // answers and deliveries that are to come
	idle                                       chan struct{}

	mu   sync.Mutex
	ones map[uint64]*oracleOne // messages to one connection, by number
}

// oracleGrant is a grant as the oracle reads it.
type oracleGrant struct{ tenants, publish, subscribe []string }

// oracleClient is a session and what it may do.
type oracleClient struct {
	o      *oracle
	edge   int
	socket *socket
	right  []oracleGrant
	rng    oracleChoices
	done   chan struct{} // closed when its reader has ended
	left   atomic.Bool   // its end is wanted

	mu    sync.Mutex
	lines []string          // that the edge is to send, in order
	due   map[uint64]string // the deliveries that are to come, see delivery, by the message's number
}

// oracleOne is a message to one connection.
type oracleOne struct {
	tenant, channel string
	from            int // edge
	mode            wire.Delivery
	may             map[*oracleClient]string // who may get it, and what; see delivery
}

func startOracle(t *testing.T, start uint64) *oracle {
	t.Helper()
	o := &oracle{
		t: t, choices: oracleChoices{rand.New(rand.NewPCG(start, 0))}, idle: make(chan struct{}, 1),
		subs: map[string]map[*oracleClient]map[string]bool{}, ones: map[uint64]*oracleOne{},
	}
	caddyfile := strings.Replace(unthrottled, "bandwidth {", "limits {\n\t\t\tsend_queue 64MiB\n\t\t}\n\t\tbandwidth {", 1)
	join := joining(startNATS(t, 1), "")[0]
	first := startEdge(t, caddyfile, join)
	o.edges = []*edge{first, startEdge(t, caddyfile, join, withMaster(first))}
	for i := range 8 {
		o.clients = append(o.clients, o.client(i))
	}
	return o
}

// client opens a session with a new token, which the other edge has issued.
func (o *oracle) client(i int) *oracleClient {
	o.t.Helper()
	c := &oracleClient{
		o: o, edge: i % 2, right: o.choices.right(), due: map[uint64]string{}, done: make(chan struct{}),
		rng: oracleChoices{rand.New(rand.NewPCG(o.choices.Uint64(), 1))},
	}
	var grants []object
	for _, g := range c.right {
		grants = append(grants, object{"tenant_ids": g.tenants, "allow_channels_pub": g.publish, "allow_channels_sub": g.subscribe})
	}
	token := o.edges[1-c.edge].issueAnywhere(grants...).Token
	if i/2%2 == 0 {
		c.socket = o.edges[c.edge].dial(token)
	} else {
		c.socket = o.edges[c.edge].dialWebTransport(token)
	}
	go c.read() // ends with the session
	o.t.Cleanup(func() {
		c.left.Store(true)
		_ = c.socket.cut() // it may have ended
		<-c.done
	})
	return c
}

// replace ends a client's session, and opens one with other rights.
func (o *oracle) replace(i int) {
	o.t.Helper()
	o.leave(o.clients[i])
	o.clients[i] = o.client(o.choices.IntN(4))
}

// leave ends a session, after all that the edge has for it.
func (o *oracle) leave(c *oracleClient) {
	o.t.Helper()
	c.command("UNSUB", "a", "end", "OK:UNSUB:a:end")
	o.settle()
	c.left.Store(true)
	o.edges[c.edge].must(c.socket.leave())
	<-c.done
	for _, clients := range o.subs {
		delete(clients, c)
	}
}

func (o *oracle) checks() int64 { return o.delivered.Load() + o.refused.Load() }

func (o *oracle) fail(format string, args ...any) {
	o.t.Helper()
	o.wrong.Add(1)
	o.t.Errorf(format, args...)
}

// settled takes note of something that was to come.
func (o *oracle) settled() {
	if o.pending.Add(-1) == 0 {
		select {
		case o.idle <- struct{}{}:
		default:
		}
	}
}

// settle waits until all has come that is to come.
func (o *oracle) settle() {
	o.t.Helper()
	deadline := time.After(patience)
	for o.pending.Load() > 0 {
		select {
		case <-o.idle:
		case <-deadline:
			for _, c := range o.clients {
				c.mu.Lock()
				if len(c.lines)+len(c.due) > 0 {
					o.t.Errorf("edge %d: %d deliveries and the lines %q did not come", c.edge, len(c.due), c.lines)
				}
				c.mu.Unlock()
			}
			o.mu.Lock()
			for number, one := range o.ones {
				if len(one.may) > 0 {
					o.t.Errorf("message %d from edge %d to one (mode %d) had no taker: %s", number, one.from, one.mode, slices.Collect(maps.Values(one.may)))
				}
			}
			o.mu.Unlock()
			o.t.Fatalf("%d of what is to come did not come in %v", o.pending.Load(), patience)
		}
	}
}

// command sends a line, for which the edge is to answer this.
func (c *oracleClient) command(verb, tenant, pattern, want string) {
	c.o.t.Helper()
	c.expectLine(want)
	c.socket.sendLine(verb + ":" + tenant + ":" + pattern)
	c.o.settle()
}

func (c *oracleClient) expectLine(line string) {
	c.o.pending.Add(1)
	c.mu.Lock()
	c.lines = append(c.lines, line)
	c.mu.Unlock()
}

// subscribeAll changes what each client is subscribed to.
func (o *oracle) subscribeAll() {
	o.t.Helper()
	for _, c := range o.clients {
		for range 3 {
			tenant, pattern := o.choices.spokenTenant(c.right, true), o.choices.pattern()
			physical := tenant
			if tenant == "" {
				physical = "~"
			}
			mine := o.subs[physical][c]
			switch {
			case !legalTenant(physical):
				c.command("SUB", tenant, pattern, "ERR:bad_tenant")
			case !legalPattern(pattern):
				c.command("SUB", tenant, pattern, "ERR:bad_pattern")
			case len(mine) > 0 && o.choices.IntN(4) == 0:
				pattern = pick(o.choices, slices.Sorted(maps.Keys(mine)))
				c.command("UNSUB", tenant, pattern, "OK:UNSUB:"+physical+":"+pattern)
				delete(mine, pattern)
			case c.maySubscribe(physical, pattern) && !mine[pattern] && c.tooManyShapes(pattern):
				c.command("SUB", tenant, pattern, "ERR:too_many_patterns:SUB:"+physical+":"+pattern)
			case len(mine) < 10 && c.maySubscribe(physical, pattern):
				c.command("SUB", tenant, pattern, "OK:SUB:"+physical+":"+pattern)
				if o.subs[physical] == nil {
					o.subs[physical] = map[*oracleClient]map[string]bool{}
				}
				if mine == nil {
					mine = map[string]bool{}
					o.subs[physical][c] = mine
				}
				mine[pattern] = true
			case !c.maySubscribe(physical, pattern):
				c.command("SUB", tenant, pattern, "ERR:permission_denied:SUB:"+physical+":"+pattern)
			}
		}
	}
}

func (c *oracleClient) maySubscribe(tenant, pattern string) bool {
	return slices.ContainsFunc(c.right, func(g oracleGrant) bool {
		return slices.Contains(g.tenants, tenant) &&
			slices.ContainsFunc(g.subscribe, func(rule string) bool { return contains(rule, pattern) })
	})
}

// tooManyShapes reports whether a client would have patterns of more than 32
// shapes.
func (c *oracleClient) tooManyShapes(pattern string) bool {
	shapes := map[string]bool{}
	for _, clients := range c.o.subs {
		for p := range clients[c] {
			shapes[shapeOf(p)] = true
		}
	}
	delete(shapes, "")
	shape := shapeOf(pattern)
	return shape != "" && !shapes[shape] && len(shapes) >= 32
}

func (c *oracleClient) mayPublish(tenant, channel string) bool {
	return slices.ContainsFunc(c.right, func(g oracleGrant) bool {
		return slices.Contains(g.tenants, tenant) &&
			slices.ContainsFunc(g.publish, func(rule string) bool { return covers(rule, channel) })
	})
}

// oneKept is how many messages later one may still find a taker: some seconds.
const oneKept = 100_000

// publishAll has all clients publish, at the same time, and waits for what comes
// of it.
func (o *oracle) publishAll(each int) {
	o.t.Helper()
	var all sync.WaitGroup
	for _, c := range o.clients {
		all.Go(func() {
			for range each {
				if err := c.publish(); err != nil {
					o.fail("edge %d: %v", c.edge, err)
					return
				}
			}
		})
	}
	all.Wait()
	o.settle()
	last := o.nextID.Load()
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.ones, func(number uint64, _ *oracleOne) bool { return number+oneKept < last })
}

// publish sends a message, and says before what is to come of it.
func (c *oracleClient) publish() error {
	o, rng := c.o, c.rng
	tenant, channel := rng.spokenTenant(c.right, false), rng.channel()
	mode := wire.Delivery(max(0, rng.IntN(12)-9)) // now and then to one
	number := o.nextID.Add(1)
	physical := tenant
	if tenant == "" {
		physical = "~"
	}
	switch {
	case !legalTenant(physical):
		c.expectLine("ERR:bad_tenant")
	case !legalChannel(channel):
		c.expectLine("ERR:bad_channel")
	case !c.mayPublish(physical, channel):
		c.expectLine("ERR:permission_denied:PUB:" + physical + ":" + channel)
	case mode == wire.Broadcast:
		for other, patterns := range o.subs[physical] {
			if matched := matching(patterns, channel); matched != nil {
				o.pending.Add(1)
				other.mu.Lock()
				other.due[number] = delivery(physical, channel, matched)
				other.mu.Unlock()
			}
		}
	default:
		c.publishesToOne(number, physical, channel, mode)
	}
	frame := rawPublish(tenant, channel, string(binary.BigEndian.AppendUint64(nil, number)))
	if mode != wire.Broadcast || rng.IntN(2) == 0 {
		frame = append([]byte{0x02, byte(mode)}, frame...)
	}
	return c.socket.write(asFrame, frame)
}

// publishesToOne says who may get a message: of the nearest, subscribers of the
// same edge go first.
func (c *oracleClient) publishesToOne(number uint64, tenant, channel string, mode wire.Delivery) {
	o := c.o
	one := &oracleOne{tenant: tenant, channel: channel, from: c.edge, mode: mode, may: map[*oracleClient]string{}}
	near := false
	for other, patterns := range o.subs[tenant] {
		if matched := matching(patterns, channel); matched != nil {
			one.may[other] = delivery(tenant, channel, matched)
			near = near || other.edge == c.edge
		}
	}
	o.askedOne.Add(1)
	if near && mode == wire.OneNearest {
		for other := range one.may {
			if other.edge != c.edge {
				delete(one.may, other)
			}
		}
	}
	if len(one.may) > 0 {
		o.pending.Add(1)
	}
	o.mu.Lock()
	o.ones[number] = one
	o.mu.Unlock()
}

// delivery is all that a deliver frame says beside the message's payload.
func delivery(tenant, channel string, patterns []string) string {
	return tenant + " " + channel + " " + strings.Join(patterns, " ")
}

// matching lists the patterns that a channel matches, sorted.
func matching(patterns map[string]bool, channel string) (list []string) {
	for p := range patterns {
		if covers(p, channel) {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list
}

// read compares what the edge sends with what it is to send.
func (c *oracleClient) read() {
	defer close(c.done)
	for {
		kind, message, err := c.socket.read()
		switch {
		case err != nil && c.left.Load():
			return
		case err != nil:
			c.o.fail("edge %d: %v", c.edge, err)
			return
		case kind == asText:
			c.gotLine(string(message))
		default:
			if why := c.gotFrame(message); why != "" {
				c.o.fail("edge %d delivered %q: %s", c.edge, message, why)
			}
		}
	}
}

func (c *oracleClient) gotLine(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lines) == 0 || c.lines[0] != line {
		c.o.fail("edge %d sent the line %q, want %q", c.edge, line, c.lines[:min(1, len(c.lines))])
		return
	}
	c.lines = c.lines[1:]
	if strings.HasPrefix(line, "ERR:") {
		c.o.refused.Add(1)
	}
	c.o.settled()
}

// takeOne is the delivery of a message to one connection, if this may be the one.
func (c *oracleClient) takeOne(number uint64, patterns []string) (want string, may bool) {
	o := c.o
	o.mu.Lock()
	defer o.mu.Unlock()
	one := o.ones[number]
	if one == nil {
		return "", false
	}
	if want, may = one.may[c]; !may && one.mode == wire.OneRandom { // it waits until the edges know who could take it: somebody may who has just subscribed
		may = !slices.ContainsFunc(patterns, func(p string) bool { return !c.maySubscribe(one.tenant, p) || !covers(p, one.channel) })
		want = delivery(one.tenant, one.channel, patterns)
	}
	if may {
		delete(o.ones, number)
		o.toOne.Add(1)
		if len(one.may) == 0 { // nobody waits for it
			o.pending.Add(1)
		}
	}
	return want, may
}

// gotFrame says what is wrong with a deliver frame; empty: nothing.
func (c *oracleClient) gotFrame(frame []byte) string {
	d, err := wire.DecodeDeliver(frame)
	if err != nil || len(d.Payload) != 8 {
		return fmt.Sprintf("that is no frame of ours (%v)", err)
	}
	number := binary.BigEndian.Uint64(d.Payload)
	got := slices.Clone(d.Patterns)
	slices.Sort(got)
	c.mu.Lock()
	want, due := c.due[number]
	delete(c.due, number)
	c.mu.Unlock()
	if !due {
		want, due = c.takeOne(number, got)
	}
	if !due {
		return fmt.Sprintf("message %d is not to come here, or not twice", number)
	}
	if want != delivery(string(d.Tenant), string(d.Channel), got) {
		return fmt.Sprintf("due is %s", want)
	}
	c.o.delivered.Add(1)
	c.o.settled()
	return ""
}
