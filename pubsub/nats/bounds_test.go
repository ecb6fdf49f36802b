package nats

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/internal/natssubject"
	"github.com/millrace/millrace/wire"
)

// Clients that publish to ever new channels do not fill the memory: beyond a number of
// channels no edge is asked, and a message goes to any edge, here the only one. Nor do
// they take the share of other tenants.
func TestManyChannels(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	b.ofTenant("t", func(of *tenantResponders) {
		for i := range maxChannels / 2 {
			of.channels[fmt.Sprint(i)] = &channelResponders{usedAt: time.Now().Add(time.Hour)}
			b.responders.channels.Add(1)
		}
	})
	publish := func(tenant string, n int) {
		for i := range n {
			m := pubsub.Message{Tenant: []byte(tenant), Channel: fmt.Appendf(nil, "new%d", i), Payload: fmt.Append(nil, i), Delivery: wire.OneRandom}
			noError(t, b.Publish(m))
		}
	}
	remembered := func(tenant string) (n int) {
		b.ofTenant(tenant, func(of *tenantResponders) { n = len(of.channels) })
		return n
	}
	publish("t", 10)
	equal(t, "messages that were taken", len(q.payloads()), 10)
	equal(t, "channels of one tenant are remembered", remembered("t"), maxChannels/2)
	publish("u", 10)
	equal(t, "channels of another tenant that are remembered", remembered("u"), 10)
	publish("u", maxChannels)
	if n := int(b.responders.channels.Load()); n > maxChannels {
		t.Errorf("%d channels are remembered", n)
	}
}

// Channels that other edges ask about do not fill the memory either.
func TestManyQueries(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	q.set(func(s *hubState) { s.uninterested = true })
	for i := range maxChannels + 10 {
		b.handleControl(pubsub.Message{Tenant: fmt.Appendf(nil, "t%d", i), Channel: []byte("c")}, kindQuery, fakePeer)
	}
	if n := b.responders.pendingChannels.Load(); n != maxChannels || len(b.responders.list()) != maxChannels {
		t.Errorf("%d channels of %d tenants are remembered", n, len(b.responders.list()))
	}
	b.expireQueries(time.Now().Add(forgetAfter + time.Second))
	if n := b.responders.pendingChannels.Load(); n != 0 || len(b.responders.list()) != 0 {
		t.Errorf("%d channels of %d tenants are left", n, len(b.responders.list()))
	}
	// Nor do the edges that ask about one channel.
	for i := range maxPeers + 100 {
		b.handleControl(message(0, ""), kindQuery, fakePeer+edgeID(i))
	}
	b.ofTenant("t", func(of *tenantResponders) {
		equal(t, "edges are remembered", len(of.pending["c"]), maxPeers)
	})

	// Where edges have names, those of one take no place of others.
	b, q = startBroker(t, serve(t), named("victim"))
	q.set(func(s *hubState) { s.uninterested = true })
	for i := range edgeID(maxPeers) {
		b.handleControl(message(0, ""), kindQuery, sender("foe").makeID(i+1))
	}
	friend := sender("friend").makeID(1)
	b.handleControl(message(0, ""), kindQuery, friend)
	b.ofTenant("t", func(of *tenantResponders) {
		if _, known := of.pending["c"][friend]; !known || len(of.pending["c"]) != maxPeersOfName+1 {
			t.Errorf("%d edges are remembered, the friend: %v", len(of.pending["c"]), known)
		}
	})
}

// Headers, which edges do not send, count with all their bytes, and are not kept.
func TestHeadersCount(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t, natstest.Core)
	b, q := startBroker(t, natstest.Connect(s))
	in := make(chan *client.Msg, 1)
	conn, err := client.Connect(s.ClientURL())
	must(t, err)
	defer conn.Close()
	must(t, errorOf(conn.ChanSubscribe("x", in)))
	must(t, conn.PublishMsg(&client.Msg{Subject: "x", Data: []byte("x"), Header: client.Header{"A": {strings.Repeat("a", 100_000)}}}))
	m := <-in
	m.Subject, m.Data = b.subscribePrefix+broadcasts+"t.c"+natssubject.ChannelEnd, appendBroadcast(nil, fakePeer, 1, body{payload: []byte("x")})
	if n := messageSize(m); n < 100_000 {
		t.Errorf("a message with 100 kB of headers counts as %d bytes", n)
	}
	b.enqueueIncoming(&readState{sources: map[edgeID]*source{}}, m)
	q.await(t, "x")
	if m.Header != nil {
		t.Error("the headers are kept")
	}
}

// Messages that wait for an answer when the link breaks go to subscribers of this edge,
// in order.
func TestWaitingWithoutLink(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	m := message(wire.OneRandom, "")
	c := b.queryFakePeer(&m, time.Now().Add(time.Hour))
	b.ofTenant("t", func(*tenantResponders) {
		c.edges = []edgeID{fakePeer, fakePeer, fakePeer} // one that is likely to be drawn
	})
	for i := range 20 {
		if i == 10 {
			b.setLinkDown(linkDisconnected, true)
		}
		m.Payload = fmt.Append(nil, i)
		noError(t, b.Publish(m))
	}
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprint(i))
	}
	if got := q.payloads(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// Messages that then find no subscriber with room are lost, and counted.
func TestWaitingWithoutRoom(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	m := message(wire.OneRandom, "x")
	b.queryFakePeer(&m, time.Now().Add(time.Hour))
	for range 10 {
		noError(t, b.Publish(m))
	}
	q.set(func(s *hubState) { s.refuses = true })
	b.setLinkDown(linkDisconnected, true)
	if err := b.Publish(m); err == nil {
		t.Error("a message that nobody can take is taken")
	}
	if q := q.get(); q.unsent != 10 || len(q.received) != 0 {
		t.Errorf("%d were counted as lost, %q taken", q.unsent, q.received)
	}
}

// Without a link no edge is asked, and nothing is remembered of a channel: when the link
// is back, a message waits for answers, and does not count as one that nobody wants.
func TestChannelOfAnOutage(t *testing.T) {
	t.Parallel()
	b, _ := startBroker(t, serve(t))
	b.peers.handle(announcementOf(fakePeer, "", stateHere), time.Now().Add(time.Hour))
	m := message(wire.OneRandom, "x")
	b.setLinkDown(linkDisconnected, true)
	noError(t, b.Publish(m))
	equal(t, "channels are remembered", b.responders.channels.Load(), 0)
	b.setLinkDown(linkDisconnected, false)
	noError(t, b.Publish(m))
	b.ofTenant("t", func(of *tenantResponders) {
		if c := of.channels["c"]; c == nil || c.complete || len(c.waiting) != 1 {
			t.Errorf("a message does not wait: %+v", c)
		}
	})
}

// An edge that says that it is gone gets nothing more.
func TestGoneEdgeTakesNothing(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	m := message(wire.OneRandom, "x")
	b.peers.handle(announcementOf(fakePeer, "", stateHere), time.Now().Add(time.Hour))
	b.queryFakePeer(&m, time.Now().Add(time.Hour))
	b.handleControl(m, kindYes, fakePeer)
	b.handle(&worker{}, &client.Msg{Subject: b.publishPrefix + announcements, Data: announcementOf(fakePeer, "", stateGone)})
	for range 20 {
		noError(t, b.Publish(m))
	}
	equal(t, "messages that were taken here", len(q.payloads()), 20)
}

// What is kept of messages that were sent is bounded, in bytes and in time; a
// message that was dropped and comes back from NATS is counted as lost.
func TestInFlightIsBounded(t *testing.T) {
	var f inFlight
	now := time.Now()
	m := pubsub.Message{Tenant: []byte("t"), Channel: []byte("c"), Payload: make([]byte, 10_000), Delivery: wire.OneRandom}
	for range 1000 {
		f.add(m, []edgeID{1}, now)
	}
	most := maxInFlightBytes / 10_000
	if n := len(f.messages); n > most || n < most/2 || f.bytes > maxInFlightBytes {
		t.Errorf("%d messages of 10 kB are kept, %d bytes", n, f.bytes)
	}
	if f.take(1) != nil {
		t.Error("the first one is still there")
	}
	last := f.take(1000)
	if last == nil || len(last.message.Payload) != 10_000 || string(last.message.Tenant) != "t" || string(last.message.Channel) != "c" {
		t.Errorf("the last one is %+v", last)
	}
	if f.take(1000) != nil {
		t.Error("one is taken twice")
	}
	f.add(m, nil, now.Add(2*inFlightTime))
	if n := len(f.messages); n != 1 || f.bytes > 11_000 {
		t.Errorf("%d messages are kept after %v, %d bytes", n, 2*inFlightTime, f.bytes)
	}
	f = inFlight{}
	m.Payload = make([]byte, maxInFlightBytes/2-inFlightOverhead-len("tc"))
	f.add(m, nil, now)
	f.add(m, nil, now.Add(inFlightTime))
	equal(t, "messages that just fit, in bytes and in time", len(f.messages), 2)
}

// A message to the nearest edge that no other edge has an interest in goes, as a last
// resort, to a subscriber of this edge that was told to leave.
func TestNearestAsLastResort(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	m := message(wire.OneNearest, "")
	for i, wanted := range []bool{false, true, true} {
		m.HasSubscribers, m.Payload = wanted, fmt.Append(nil, i)
		noError(t, b.Publish(m))
	}
	q.await(t, "2")
	if got := q.payloads(); len(got) != 2 || got[0] != "1" {
		t.Errorf("as a last resort came %q", got)
	}
	b.inFlight.mu.Lock()
	defer b.inFlight.mu.Unlock()
	if len(b.inFlight.messages) > 0 {
		t.Errorf("%d messages are kept", len(b.inFlight.messages))
	}
}

// testSource is an edge whose clock is behind ours. Its methods take seconds of our clock.
type testSource struct {
	source
	behind float64
}

func micros(seconds float64) uint64 { return uint64((1e6 + seconds) * 1e6) }

func (h *testSource) announce(sent, came float64) {
	h.observeClock(micros(sent-h.behind), micros(came))
}

func (h *testSource) lateAt(sent, came float64) bool {
	return h.source.isLate(micros(sent-h.behind), micros(came), defaultMaxLateness)
}

// A broadcast is late when it was held back for long, whatever the clocks show.
func TestLate(t *testing.T) {
	for _, behind := range []float64{3600, 0, -3600} {
		t.Run(fmt.Sprint(behind), func(t *testing.T) {
			h := testSource{behind: behind}
			if h.lateAt(0, 100) {
				t.Error("late, before the edge has shown a clock")
			}
			h.announce(0, 0.3) // a slow one
			h.announce(2, 2.001)
			h.announce(4, 4.001)
			for _, late := range []float64{0, 1, 4.9} {
				if h.lateAt(5, 5+late) {
					t.Errorf("what came %v s after it was sent is late", late)
				}
			}
			if !h.lateAt(5, 10.1) {
				t.Error("what came 5.1 s after it was sent is not late")
			}

			for sent := 6.0; sent < 30; sent += 2 { // all that was held back comes at once
				h.announce(sent, 30)
				if want := sent < 24.9; h.lateAt(sent, 30) != want {
					t.Errorf("what was sent at %v and came at 30: late %v", sent, !want)
				}
			}
			h.announce(30, 30.001)
			if h.lateAt(30, 31) || !h.lateAt(30, 36) {
				t.Error("afterwards it is as before")
			}

			// Its machine stands still for 30 s, and its clock with it.
			h.behind += 30
			h.announce(62, 62.001)
			h.announce(64, 64.001)
			if h.lateAt(65, 65.1) || !h.lateAt(65, 71) {
				t.Error("what an edge sends is late after its clock has stood still")
			}
		})
	}
}

// What was held back is dropped and counted, unless its edge shows no clock, as those
// of earlier versions.
func TestLateIsDropped(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t), func(c *Config) { c.maxLateness = 0 })
	r := readState{sources: map[edgeID]*source{}}
	admitted := func(from edgeID, number uint64) bool {
		_, ok := b.admit(&r, &client.Msg{Subject: b.subscribePrefix + broadcasts + "t.c" + natssubject.ChannelEnd, Data: appendBroadcast(nil, from, number, body{payload: []byte("x")})})
		return ok
	}
	announce := func(from edgeID, clock uint64) {
		data := fmt.Appendf(nil, `{"v":1,"id":"%v","state":"here","clock":%d}`, from, clock)
		if _, ok := b.admit(&r, &client.Msg{Subject: b.subscribePrefix + announcements, Data: data}); !ok {
			t.Error("an announcement is dropped")
		}
	}
	const hour = uint64(time.Hour / time.Microsecond)
	now := b.clock.now() - hour
	announce(fakePeer, now)
	if admitted(fakePeer, now-6e6) {
		t.Error("what was sent 6 s ago is delivered")
	}
	if !admitted(fakePeer, now-1e6) || admitted(fakePeer, now-1e6) {
		t.Error("what was sent a second ago is not delivered once")
	}
	equal(t, "messages are counted", q.get().missed, 1)
	announce(fakePeer+1, 0)
	if !admitted(fakePeer+1, 1) || !admitted(fakePeer+1, 2) {
		t.Error("an edge without a clock is not heard")
	}
	if _, ok := b.admit(&r, &client.Msg{Subject: b.subscribePrefix + "z.t.c"}); ok {
		t.Error("what only a later version knows takes room")
	}
}
