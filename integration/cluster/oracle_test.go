package cluster

import (
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
	"github.com/millrace/millrace/wire"
)

// Tokens with random grants, patterns and names over both transports and two
// edges: what the edges deliver, to whom, with which patterns, and what they
// refuse, is what docs/protocol.md says, read a second time by [covers] and
// [contains].
func TestOracle(t *testing.T) {
	t.Parallel()
	start := harness.Seed(t)
	o := startOracle(t, start)
	checks := int64(harness.SoakCount(t, 30_000, 10_000_000))
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
		o.Leave(c)
	}
	t.Logf("%d deliveries and %d refusals were right, %d of %d messages to one had a taker, in %v; wrong: %d",
		o.delivered.Load(), o.refused.Load(), o.toOne.Load(), o.askedOne.Load(), time.Since(begin), o.wrong.Load())
}

// oracle is what the edges must do, and have done.
type oracle struct {
	t       *testing.T
	choices oracleChoices
	edges   []*harness.Edge
	clients []*oracleClient
	fences  []*oracleClient                              // one on each edge, see fence
	subs    map[string]map[*oracleClient]map[string]bool // patterns by tenant and client; changes between rounds of publishing
	nextID  atomic.Uint64

	delivered, refused, askedOne, toOne, wrong atomic.Int64
	pending                                    atomic.Int64 // answers and deliveries that are to come
	idle                                       chan struct{}

	mu   sync.Mutex
	ones map[uint64]*oracleOne // messages to one connection, by number
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
	caddyfile := strings.Replace(conformance.Unthrottled, "bandwidth {", "limits {\n\t\t\tsend_queue 64MiB\n\t\t}\n\t\tbandwidth {", 1)
	join := harness.Joining(harness.StartNATS(t, 1), "")[0]
	first := harness.StartEdge(t, caddyfile, join)
	o.edges = []*harness.Edge{first, harness.StartEdge(t, caddyfile, join, harness.WithMaster(first))}
	for i := range 8 {
		o.clients = append(o.clients, o.Client(i, o.choices.right()))
	}
	everywhere := []oracleGrant{{oracleTenants, []string{fenceChannel}, []string{fenceChannel}}}
	for i := range o.edges {
		o.fences = append(o.fences, o.Client(i, everywhere))
	}
	return o
}

// Client opens a session with a new token, which the other edge has issued.
func (o *oracle) Client(i int, right []oracleGrant) *oracleClient {
	o.t.Helper()
	c := &oracleClient{
		o: o, edge: i % 2, right: right, due: map[uint64]string{}, done: make(chan struct{}),
		rng: oracleChoices{rand.New(rand.NewPCG(o.choices.Uint64(), 1))},
	}
	var grants []harness.Object
	for _, g := range c.right {
		grants = append(grants, harness.Object{"tenant_ids": g.tenants, "allow_channels_pub": g.publish, "allow_channels_sub": g.subscribe})
	}
	token := o.edges[1-c.edge].IssueAnywhere(grants...).Token
	if i/2%2 == 0 {
		c.socket = o.edges[c.edge].Dial(token)
	} else {
		c.socket = o.edges[c.edge].DialWebTransport(token)
	}
	go c.Read() // ends with the session
	o.t.Cleanup(func() {
		c.left.Store(true)
		_ = c.socket.Cut() // it may have ended
		<-c.done
	})
	return c
}

// replace ends a client's session, and opens one with other rights.
func (o *oracle) replace(i int) {
	o.t.Helper()
	o.Leave(o.clients[i])
	o.clients[i] = o.Client(o.choices.IntN(4), o.choices.right())
}

// Leave ends a session, after all that the edge has for it.
func (o *oracle) Leave(c *oracleClient) {
	o.t.Helper()
	c.Command("UNSUB", "a", "end", "OK:UNSUB:a:end")
	o.Settle()
	c.left.Store(true)
	o.edges[c.edge].Must(c.socket.Leave())
	<-c.done
	for _, clients := range o.subs {
		delete(clients, c)
	}
}

func (o *oracle) checks() int64 { return o.delivered.Load() + o.refused.Load() }

func (o *oracle) Fail(format string, args ...any) {
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

// Settle waits until all has come that is to come.
func (o *oracle) Settle() {
	o.t.Helper()
	deadline := time.After(harness.WaitTimeout)
	for o.pending.Load() > 0 {
		select {
		case <-o.idle:
		case <-deadline:
			for _, c := range slices.Concat(o.clients, o.fences) {
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
			o.t.Fatalf("%d of what is to come did not come in %v", o.pending.Load(), harness.WaitTimeout)
		}
	}
}

const fenceChannel = "fence"

// Fence returns when all edges have done with all that the clients have sent, also
// where nothing was to come of it: a subscription of the next round would get it.
func (o *oracle) Fence() {
	o.t.Helper()
	for _, c := range o.clients {
		c.Send("UNSUB", "a", "end", "OK:UNSUB:a:end")
	}
	all := func(verb string) {
		o.t.Helper()
		for _, c := range o.fences {
			for _, tenant := range oracleTenants {
				c.Send(verb, tenant, fenceChannel, "OK:"+verb+":"+tenant+":"+fenceChannel)
			}
		}
		o.Settle()
	}
	all("SUB")
	for _, c := range o.fences {
		for _, tenant := range oracleTenants { // messages of a tenant stay in their order
			number := o.nextID.Add(1)
			o.expectAll(number, tenant, fenceChannel)
			for _, other := range o.fences {
				other.Expect(number, delivery(tenant, fenceChannel, []string{fenceChannel}))
			}
			o.edges[c.edge].Must(c.socket.Write(harness.AsFrame, numbered(tenant, fenceChannel, number)))
		}
	}
	o.Settle()
	all("UNSUB")
}

// expectAll says who is to get a broadcast.
func (o *oracle) expectAll(number uint64, tenant, channel string) {
	for c, patterns := range o.subs[tenant] {
		if matched := matching(patterns, channel); matched != nil {
			c.Expect(number, delivery(tenant, channel, matched))
		}
	}
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
				c.Command("SUB", tenant, pattern, "ERR:bad_tenant")
			case !legalPattern(pattern):
				c.Command("SUB", tenant, pattern, "ERR:bad_pattern")
			case len(mine) > 0 && o.choices.IntN(4) == 0:
				pattern = pick(o.choices, slices.Sorted(maps.Keys(mine)))
				c.Command("UNSUB", tenant, pattern, "OK:UNSUB:"+physical+":"+pattern)
				delete(mine, pattern)
			case c.maySubscribe(physical, pattern) && !mine[pattern] && c.tooManyShapes(pattern):
				c.Command("SUB", tenant, pattern, "ERR:too_many_patterns:SUB:"+physical+":"+pattern)
			case len(mine) < 10 && c.maySubscribe(physical, pattern):
				c.Command("SUB", tenant, pattern, "OK:SUB:"+physical+":"+pattern)
				if o.subs[physical] == nil {
					o.subs[physical] = map[*oracleClient]map[string]bool{}
				}
				if mine == nil {
					mine = map[string]bool{}
					o.subs[physical][c] = mine
				}
				mine[pattern] = true
			case !c.maySubscribe(physical, pattern):
				c.Command("SUB", tenant, pattern, "ERR:permission_denied:SUB:"+physical+":"+pattern)
			}
		}
	}
}

// oneKept is how many messages later one may still find a taker: some seconds.
const oneKept = 100_000

// publishAll has all clients publish, at the same time, and waits for what comes
// of it, see fence.
func (o *oracle) publishAll(each int) {
	o.t.Helper()
	var all sync.WaitGroup
	for _, c := range o.clients {
		all.Go(func() {
			for range each {
				if err := c.Publish(); err != nil {
					o.Fail("edge %d: %v", c.edge, err)
					return
				}
			}
		})
	}
	all.Wait()
	o.Settle()
	o.Fence()
	last := o.nextID.Load()
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.ones, func(number uint64, _ *oracleOne) bool { return number+oneKept < last })
}
