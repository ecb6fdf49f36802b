package cluster

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// oracleGrant is a grant as the oracle reads it.
type oracleGrant struct{ tenants, publish, subscribe []string }

// oracleClient is a session and what it may do.
type oracleClient struct {
	o      *oracle
	edge   int
	socket *harness.Socket
	right  []oracleGrant
	rng    oracleChoices
	done   chan struct{} // closed when its reader has ended
	left   atomic.Bool   // its end is wanted

	mu    sync.Mutex
	lines []string          // that the edge is to send, in order
	due   map[uint64]string // the deliveries that are to come, see delivery, by the message's number
}

// Command sends a line, and waits for what the edge is to answer.
func (c *oracleClient) Command(verb, tenant, pattern, want string) {
	c.o.t.Helper()
	c.Send(verb, tenant, pattern, want)
	c.o.Settle()
}

func (c *oracleClient) Send(verb, tenant, pattern, want string) {
	c.o.t.Helper()
	c.expectLine(want)
	c.socket.SendLine(verb + ":" + tenant + ":" + pattern)
}

// numbered is a publish frame whose payload is the message's number.
func numbered(tenant, channel string, number uint64) []byte {
	return harness.RawPublish(tenant, channel, string(binary.BigEndian.AppendUint64(nil, number)))
}

// Expect says what delivery of a message is to come.
func (c *oracleClient) Expect(number uint64, delivery string) {
	c.o.pending.Add(1)
	c.mu.Lock()
	c.due[number] = delivery
	c.mu.Unlock()
}

func (c *oracleClient) expectLine(line string) {
	c.o.pending.Add(1)
	c.mu.Lock()
	c.lines = append(c.lines, line)
	c.mu.Unlock()
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

// Publish sends a message, and says before what is to come of it.
func (c *oracleClient) Publish() error {
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
		o.expectAll(number, physical, channel)
	default:
		c.publishesToOne(number, physical, channel, mode)
	}
	frame := numbered(tenant, channel, number)
	if mode != wire.Broadcast || rng.IntN(2) == 0 {
		frame = append([]byte{0x02, byte(mode)}, frame...)
	}
	return c.socket.Write(harness.AsFrame, frame)
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

// Read compares what the edge sends with what it is to send.
func (c *oracleClient) Read() {
	defer close(c.done)
	for {
		kind, message, err := c.socket.Read()
		switch {
		case err != nil && c.left.Load():
			return
		case err != nil:
			c.o.Fail("edge %d: %v", c.edge, err)
			return
		case kind == harness.AsText:
			c.gotLine(string(message))
		default:
			if why := c.gotFrame(message); why != "" {
				c.o.Fail("edge %d delivered %q: %s", c.edge, message, why)
			}
		}
	}
}

func (c *oracleClient) gotLine(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lines) == 0 || c.lines[0] != line {
		c.o.Fail("edge %d sent the line %q, want %q", c.edge, line, c.lines[:min(1, len(c.lines))])
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
	// What waits until the edges know who could take it, and what nobody could: that
	// may be taken by somebody who has just subscribed.
	if want, may = one.may[c]; !may && (one.mode == wire.OneRandom || len(one.may) == 0) {
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
