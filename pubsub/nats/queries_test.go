package nats

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// Messages wait for an answer up to a bound, half of the queue for a tenant, and go
// out in order.
func TestMessagesWaitForResponders(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	m := message(wire.OneRandom, "")
	b.queryFakePeer(&m, time.Now().Add(time.Hour)) // so that its time does not end
	var want []string
	for {
		m.Payload = []byte(fmt.Sprintf("%d %s", len(want), strings.Repeat("x", 100<<10)))
		err := b.Publish(m)
		if err != nil {
			if !errors.Is(err, pubsub.ErrLinkFull) {
				t.Error(err)
			}
			break
		}
		want = append(want, string(m.Payload))
		clear(m.Payload) // it was lent
		if len(want) > 100 {
			t.Fatal("more waits than the bound")
		}
	}
	if len(want) < 35 || len(want) > 41 {
		t.Errorf("%d messages wait, which is not half of the queue", len(want))
	}
	other := pubsub.Message{Tenant: []byte("u"), Channel: []byte("c"), Payload: make([]byte, 1<<20), Delivery: wire.OneRandom}
	b.queryFakePeer(&other, time.Now().Add(time.Hour))
	for range 2 {
		if err := b.Publish(other); err != nil {
			t.Errorf("a message of another tenant does not wait: %v", err)
		}
	}
	b.ofTenant("u", func(of *tenantResponders) {
		c := of.channels["c"]
		c.unanswered, c.waiting = nil, nil
		b.responders.removeWaiting(of, "", of.waitingBytes)
	})
	if got := q.payloads(); len(got) > 0 {
		t.Errorf("%d messages did not wait", len(got))
	}
	b.handleControl(m, kindNo, fakePeer)
	if got := q.payloads(); !slices.Equal(got, want) {
		t.Errorf("%d messages came, not in order or not the %d that waited", len(got), len(want))
	}
	equal(t, "bytes seem to wait", b.responders.waitingBytes, 0)
	if err := b.Publish(m); err != nil || len(q.payloads()) != len(want)+1 {
		t.Errorf("the next message: %v", err)
	}
}

// While what has waited for answers is handed to the hub, the tenant's lock is free, and what is published comes after it.
func TestWaitingGoesWithoutLock(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	m := message(wire.OneRandom, "")
	c := b.queryFakePeer(&m, time.Now().Add(time.Hour))
	publish := func(payload string) { must(t, b.publish(wire.OneRandom, "c", payload)) }
	publish("1")
	publish("2")
	q.hold()
	var running sync.WaitGroup
	running.Go(func() { b.handleControl(m, kindNo, fakePeer) })
	of := b.responders.list()[0]
	await(t, "a free lock while a message waits for the hub", func() bool {
		if !of.mu.TryLock() {
			return false
		}
		defer of.mu.Unlock()
		return c.flushed != nil
	})
	running.Go(q.release)
	running.Go(func() { publish("3") }) // runs first, mostly
	running.Wait()
	equal(t, "messages that came", fmt.Sprint(q.payloads()), "[1 2 3]")
}

// An issuer whose tenants all have messages that wait leaves room for those of others.
func TestIssuersShareWaiting(t *testing.T) {
	const size, limit = 10, 1000
	var r responders
	r.init()
	var all []*tenantResponders
	add := func(issuer string) bool {
		all = append(all, new(tenantResponders))
		return r.addWaiting(all[len(all)-1], issuer, size, limit)
	}
	n := 0
	for add("a") {
		n++
	}
	if n < limit/size/2-1 || n > limit/size/2 || !add("b") || !add("") {
		t.Errorf("%d messages of an issuer wait, want half of %d and room for others", n, limit/size)
	}
	for i, of := range all {
		issuer := "a"
		if i > n {
			issuer = []string{"b", ""}[i-n-1]
		}
		r.removeWaiting(of, issuer, of.waitingBytes)
	}
	equal(t, "issuers and bytes that are left", len(r.waitingOf)+r.waitingBytes, 0)
}

// The wait for an edge that does not answer ends after answerTimeout.
func TestSilentEdgeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	m := message(wire.OneRandom, "x")
	at := time.Now().Add(time.Hour)
	b.queryFakePeer(&m, at)
	must(t, b.Publish(m))
	b.expireQueries(at.Add(answerTimeout))
	if got := q.payloads(); len(got) > 0 {
		t.Error("a message did not wait as long as an answer may take")
	}
	b.expireQueries(at.Add(answerTimeout + 1))
	equal(t, "messages after the time of an answer", len(q.payloads()), 1)
}

// A new edge does not end the wait for answers of the others.
func TestNewEdgeDoesNotEndQueries(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	m := message(wire.OneRandom, "x")
	at := time.Now().Add(time.Hour)
	c := b.queryFakePeer(&m, at)
	must(t, b.Publish(m))
	b.responders.requeryAll()
	b.expireQueries(at.Add(answerTimeout / 2))
	if got := q.payloads(); len(got) > 0 {
		t.Error("a message did not wait for an answer that had time")
	}
	b.handleControl(m, kindNo, fakePeer)

	b.peers.handle(announcementOf(fakePeer, "", stateHere), time.Now().Add(time.Hour))
	b.responders.requeryAll()
	must(t, b.Publish(m))
	b.ofTenant("t", func(*tenantResponders) {
		if _, asked := c.unanswered[fakePeer]; !asked {
			t.Error("an edge that is new is not asked")
		}
	})
}

// A channel that is not used is forgotten, and so are pending queries about it.
func TestUnusedChannelsAreForgotten(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	m := message(wire.OneRandom, "")
	at := time.Now().Add(time.Hour)
	b.queryFakePeer(&m, at)
	b.handleControl(m, kindYes, fakePeer)
	q.set(func(s *hubState) { s.uninterested = true })
	b.handleControl(m, kindQuery, fakePeer)
	channels, pending := b.responders.channels.Load(), b.responders.pendingChannels.Load()
	if channels != 1 || pending != 1 {
		t.Errorf("%d channels are known, and pending queries about %d, want 1 of each", channels, pending)
	}
	b.expireQueries(at.Add(forgetAfter + 1))
	if channels, pending := b.responders.channels.Load(), b.responders.pendingChannels.Load(); channels+pending != 0 || len(b.responders.list()) != 0 {
		t.Errorf("%d channels, and pending queries about %d, are kept", channels, pending)
	}
}

// startWithSilentPeer starts a broker that knows of an edge that answers nothing.
func startWithSilentPeer(t *testing.T) *Broker {
	t.Helper()
	b, _ := startBroker(t, serve(t))
	b.peers.handle(announcementOf(fakePeer, "", stateHere), time.Now().Add(time.Hour))
	return b
}

// changeCatchUps changes what is known of the calls for a tenant.
func (b *Broker) changeCatchUps(tenant string, change func(*tenantCatchUps)) {
	b.catchUps.mu.Lock()
	defer b.catchUps.mu.Unlock()
	if t := b.catchUps.tenants[tenant]; t != nil {
		change(t)
	}
}

// giveUpNever has the calls so far wait for answers as long as these take.
func (b *Broker) giveUpNever(tenant string) {
	b.changeCatchUps(tenant, func(t *tenantCatchUps) {
		for i := range t.waiting {
			t.waiting[i].since = time.Now().Add(time.Hour)
		}
		for _, r := range t.rounds {
			for i := range r.calls {
				r.calls[i].since = time.Now().Add(time.Hour)
			}
		}
	})
}

// catchUpsOf counts the calls that wait for a round to begin, and the rounds under way.
func (b *Broker) catchUpsOf(tenant string) (waiting, underWay int) {
	b.changeCatchUps(tenant, func(t *tenantCatchUps) { waiting, underWay = len(t.waiting), len(t.rounds) })
	return waiting, underWay
}

// A call during a round does not wait for its end, but begins one of its own, and calls at
// the same time share one. They end after CatchUpTime if an edge does not answer.
func TestRoundsOverlap(t *testing.T) {
	t.Parallel()
	b := startWithSilentPeer(t)
	ended := make(chan struct{}, 1000)
	catchUp := func(n int) {
		for range n {
			b.CatchUp("t", func() { ended <- struct{}{} })
			b.giveUpNever("t")
		}
	}
	for want := 1; want <= 3; want++ {
		catchUp(1)
		await(t, "another round", func() bool { _, n := b.catchUpsOf("t"); return n == want })
	}
	b.changeCatchUps("t", func(t *tenantCatchUps) { t.nextRound = time.Now().Add(time.Hour) })
	catchUp(500)
	if n, _ := b.catchUpsOf("t"); n != 500 {
		t.Errorf("%d wait, want 500", n)
	}
	b.changeCatchUps("t", func(t *tenantCatchUps) { t.nextRound = time.Time{} })
	catchUp(1) // which begins a round for all of them
	if waiting, underWay := b.catchUpsOf("t"); waiting != 0 || underWay != 4 {
		t.Errorf("%d wait, and %d rounds are under way, want 0 and 4", waiting, underWay)
	}
	begun := time.Now().Add(2 * time.Hour)
	b.changeCatchUps("t", func(t *tenantCatchUps) {
		for _, r := range t.rounds {
			r.calls[0].since = begun
		}
	})
	if b.updateRounds(begun.Add(pubsub.CatchUpTime - 1)); len(ended) > 0 {
		t.Errorf("%d calls have not waited for CatchUpTime", len(ended))
	}
	if b.updateRounds(begun.Add(pubsub.CatchUpTime)); len(ended) != 504 {
		t.Errorf("after CatchUpTime %d of 504 calls have ended", len(ended))
	}
	b.catchUps.mu.Lock()
	defer b.catchUps.mu.Unlock()
	if n := len(b.catchUps.tenants); n > 0 {
		t.Errorf("%d tenants are kept", n)
	}
}

// A round waits for no edge that leaves, nor for any without a link, or alone.
func TestRoundsWithoutEdges(t *testing.T) {
	t.Parallel()
	b := startWithSilentPeer(t)
	ended := make(chan struct{}, 1)
	catchUp := func(tenant string) { b.CatchUp(tenant, func() { ended <- struct{}{} }) }
	catchUp("t")
	b.giveUpNever("t")
	b.peers.remove(fakePeer)
	b.retainEdges(b.peers.otherIDs())
	natstest.Receive(t, "the end of a round", ended)
	if catchUp("u"); len(ended) != 1 {
		t.Error("an edge alone waits")
	}
	<-ended
	b.peers.handle(announcementOf(fakePeer, "", stateHere), time.Now().Add(time.Hour))
	b.setLinkDown(linkDisconnected, true)
	if catchUp("v"); len(ended) != 1 {
		t.Error("an edge without a link waits")
	}
}

// A link that has no room for now is still a link: the marker is sent later.
func TestRoundOnFullLink(t *testing.T) {
	t.Parallel()
	connect := serve(t)
	b, _ := startBroker(t, connect)
	other, _ := startBroker(t, connect)
	await(t, "each other", func() bool { return len(b.peers.otherIDs()) == 1 && len(other.peers.otherIDs()) == 1 })
	b.mu.Lock()
	for len(b.records.bytes) < b.config.QueueBytes { // that nobody has told the writer of
		r := append(b.records.bytes, make([]byte, recordHeader)...)
		r = append(r, "elsewhere"...)
		split := len(r)
		b.records.add(append(r, make([]byte, 1<<20)...), split, []byte("t"), "")
	}
	b.mu.Unlock()
	ended := make(chan struct{})
	b.CatchUp("t", func() { close(ended) })
	b.giveUpNever("t")
	select {
	case <-ended:
		t.Error("it was not waited for")
	default:
	}
	signal(b.wakeWriter)
	natstest.Receive(t, "the end of the round", ended)
}
