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
	if got := q.payloads(); len(got) != 10 {
		t.Errorf("%d of 10 messages were taken", len(got))
	}
	if n := remembered("t"); n != maxChannels/2 {
		t.Errorf("%d channels of one tenant are remembered", n)
	}
	publish("u", 10)
	if n := remembered("u"); n != 10 {
		t.Errorf("%d of 10 channels of another tenant are remembered", n)
	}
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
}

// Nor are more edges remembered that asked about a channel than there may be.
func TestManyPendingQueries(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	q.set(func(s *hubState) { s.uninterested = true })
	m := message(0, "")
	for i := range maxPeers + 100 {
		b.handleControl(m, kindQuery, fakePeer+edgeID(i))
	}
	b.ofTenant("t", func(t1 *tenantResponders) {
		if n := len(t1.pending["c"]); n != maxPeers {
			t.Errorf("%d edges are remembered, want %d", n, maxPeers)
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

// The last number of an edge that has left is not remembered for ever.
func TestDepartedSourcesAreBounded(t *testing.T) {
	t.Parallel()
	b, _ := startBroker(t, serve(t))
	b.peers.handle(announcementOf(fakePeer, "", stateHere), time.Now().Add(time.Hour))
	r := readState{sources: map[edgeID]*source{fakePeer: {lastNumber: 7}}}
	for i := range edgeID(maxDepartedSources) {
		r.sources[1000+i] = new(source)
	}
	r.forgetSources(b.peers.otherIDs())
	if len(r.sources) != maxDepartedSources+1 {
		t.Errorf("%d edges are remembered", len(r.sources))
	}
	r.sources[1] = new(source)
	r.forgetSources(b.peers.otherIDs())
	if len(r.sources) != 1 || r.sources[fakePeer].lastNumber != 7 {
		t.Errorf("%v are remembered", r.sources)
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
	if n := b.responders.channels.Load(); n != 0 {
		t.Errorf("%d channels are remembered", n)
	}
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
	if got := q.payloads(); len(got) != 20 {
		t.Errorf("%d of 20 messages were taken here", len(got))
	}
}
