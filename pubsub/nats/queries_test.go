package nats

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// stranger is an edge that nobody runs: it answers when a test says so.
const stranger edgeID = 5

// askStranger makes a channel one that stranger was asked about.
func (b *Broker) queryStranger(m *pubsub.Message, at time.Time) *channelResponders {
	c := &channelResponders{unanswered: map[edgeID]struct{}{stranger: {}}, queriedAt: at, usedAt: at}
	b.ofTenant(string(m.Tenant), func(of *tenantResponders) { of.channels[string(m.Channel)] = c })
	b.responders.channels.Add(1)
	return c
}

// ofTenant looks at what is known of a tenant.
func (b *Broker) ofTenant(tenant string, look func(*tenantResponders)) {
	of := b.responders.lock([]byte(tenant), true)
	defer b.responders.unlock(of)
	look(of)
}

func (q *quiet) payloads() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.taken)
}

// Messages wait for an answer up to a bound, half of the queue for a tenant, and go
// out in order.
func TestMessagesWaitForResponders(t *testing.T) {
	t.Parallel()
	b, q := startQuiet(t, natstest.Connect(natstest.Server(t)))
	m := pubsub.Message{Tenant: []byte("t"), Channel: []byte("c"), Delivery: wire.OneRandom}
	b.queryStranger(&m, time.Now().Add(time.Hour)) // so that its time does not end
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
	b.queryStranger(&other, time.Now().Add(time.Hour))
	for range 2 {
		if err := b.Publish(other); err != nil {
			t.Errorf("a message of another tenant does not wait: %v", err)
		}
	}
	b.ofTenant("u", func(of *tenantResponders) {
		c := of.channels["c"]
		c.unanswered, c.waiting = nil, nil
		b.responders.waitingBytes.Add(int64(-of.waitingBytes))
		of.waitingBytes = 0
	})
	if got := q.payloads(); len(got) > 0 {
		t.Errorf("%d messages did not wait", len(got))
	}
	b.handleControl(m, kindNo, stranger)
	if got := q.payloads(); !slices.Equal(got, want) {
		t.Errorf("%d messages came, not in order or not the %d that waited", len(got), len(want))
	}
	if n := b.responders.waitingBytes.Load(); n != 0 {
		t.Errorf("%d bytes seem to wait", n)
	}
	if err := b.Publish(m); err != nil || len(q.payloads()) != len(want)+1 {
		t.Errorf("the next message: %v", err)
	}
}

// An edge that does not answer is not waited for longer than it says.
func TestSilentEdgeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	b, q := startQuiet(t, natstest.Connect(natstest.Server(t)))
	m := pubsub.Message{Tenant: []byte("t"), Channel: []byte("c"), Payload: []byte("x"), Delivery: wire.OneRandom}
	at := time.Now().Add(time.Hour)
	b.queryStranger(&m, at)
	if err := b.Publish(m); err != nil {
		t.Fatal(err)
	}
	b.expireQueries(at.Add(answerTimeout))
	if got := q.payloads(); len(got) > 0 {
		t.Error("a message did not wait as long as an answer may take")
	}
	b.expireQueries(at.Add(answerTimeout + 1))
	if got := q.payloads(); len(got) != 1 {
		t.Error("a message waits longer than an answer may take")
	}
}

// That there is another edge does not end the wait for answers of the others.
func TestNewEdgeDoesNotEndQueries(t *testing.T) {
	t.Parallel()
	b, q := startQuiet(t, natstest.Connect(natstest.Server(t)))
	m := pubsub.Message{Tenant: []byte("t"), Channel: []byte("c"), Payload: []byte("x"), Delivery: wire.OneRandom}
	at := time.Now().Add(time.Hour)
	c := b.queryStranger(&m, at)
	if err := b.Publish(m); err != nil {
		t.Fatal(err)
	}
	b.responders.requeryAll()
	b.expireQueries(at.Add(answerTimeout / 2))
	if got := q.payloads(); len(got) > 0 {
		t.Error("a message did not wait for an answer that had time")
	}
	b.handleControl(m, kindNo, stranger)

	b.peers.announced(said(stranger, "", stateHere), time.Now().Add(time.Hour))
	b.responders.requeryAll()
	if err := b.Publish(m); err != nil {
		t.Fatal(err)
	}
	b.ofTenant("t", func(*tenantResponders) {
		if _, asked := c.unanswered[stranger]; !asked {
			t.Error("an edge that is new is not asked")
		}
	})
}

// A channel that is not used is forgotten, and who was told no of it as well.
func TestUnusedChannelsAreForgotten(t *testing.T) {
	t.Parallel()
	b, q := startQuiet(t, natstest.Connect(natstest.Server(t)))
	m := pubsub.Message{Tenant: []byte("t"), Channel: []byte("c"), Delivery: wire.OneRandom}
	at := time.Now().Add(time.Hour)
	b.queryStranger(&m, at)
	b.handleControl(m, kindYes, stranger)
	q.mu.Lock()
	q.uninterested = true
	q.mu.Unlock()
	b.handleControl(m, kindQuery, stranger)
	channels, pending := b.responders.channels.Load(), b.responders.pendingChannels.Load()
	if channels != 1 || pending != 1 {
		t.Errorf("%d channels are known, and pending queries about %d, want 1 of each", channels, pending)
	}
	b.expireQueries(at.Add(forgetAfter + 1))
	if channels, pending := b.responders.channels.Load(), b.responders.pendingChannels.Load(); channels+pending != 0 || len(b.responders.list()) != 0 {
		t.Errorf("%d channels, and pending queries about %d, are kept", channels, pending)
	}
}

// withStranger is a broker that knows of an edge which answers nothing.
func withStranger(t *testing.T) *Broker {
	t.Helper()
	b, _ := startQuiet(t, natstest.Connect(natstest.Server(t)))
	if _, err := b.peers.heard("", []byte(`{"v":1,"id":"00000000000000ff","state":"here"}`), time.Now()); err != nil {
		t.Fatal(err)
	}
	return b
}

// marksOf counts the calls that wait for a mark to be sent, and the marks under way.
func (b *Broker) marksOf(tenant string) (waiting, underWay int) {
	b.marks.mu.Lock()
	defer b.marks.mu.Unlock()
	if t := b.marks.tenants[tenant]; t != nil {
		return len(t.wait), len(t.rounds)
	}
	return 0, 0
}

// Who asks for a mark while another one is on its way does not wait for that, and
// those who ask at the same time share one.
func TestMarksOverlap(t *testing.T) {
	t.Parallel()
	b := withStranger(t)
	ended := make(chan struct{}, 1000)
	calls := 0
	catchUp := func(n int) {
		for range n {
			b.CatchUp("t", func() { ended <- struct{}{} })
		}
		calls += n
	}
	for want := 1; want <= 3; want++ {
		catchUp(1)
		until(t, "another mark", func() bool { _, n := b.marksOf("t"); return n == want })
	}
	b.marks.mu.Lock()
	b.marks.tenants["t"].next = time.Now().Add(time.Hour)
	b.marks.mu.Unlock()
	catchUp(500)
	if n, _ := b.marksOf("t"); n != 500 {
		t.Errorf("%d wait, want 500", n)
	}
	b.marks.mu.Lock()
	b.marks.tenants["t"].next = time.Time{}
	b.marks.mu.Unlock()
	catchUp(1) // nobody is overtaken
	if waiting, underWay := b.marksOf("t"); waiting != 0 || underWay != 4 {
		t.Errorf("%d wait, and %d marks are under way, want 0 and 4", waiting, underWay)
	}
	for range calls { // that edge never answers
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			t.Fatal("in vain")
		}
	}
	until(t, "nothing to be kept", func() bool {
		b.marks.mu.Lock()
		defer b.marks.mu.Unlock()
		return len(b.marks.tenants) == 0
	})
}

// An edge that leaves is not waited for.
func TestMarksForgetEdges(t *testing.T) {
	t.Parallel()
	b := withStranger(t)
	start, ended := time.Now(), make(chan struct{})
	b.CatchUp("t", func() { close(ended) })
	b.peers.lost(0xff)
	b.forgetEdges(b.peers.otherIDs())
	<-ended
	if took := time.Since(start); took >= pubsub.CatchUpTime {
		t.Errorf("it was waited for for %v", took)
	}
}

// A link that takes no more for now is one: the mark is sent later.
func TestMarkOnFullLink(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	b, _ := startQuiet(t, natstest.Connect(s))
	other, _ := startQuiet(t, natstest.Connect(s))
	until(t, "each other", func() bool { return len(b.peers.otherIDs()) == 1 && len(other.peers.otherIDs()) == 1 })
	b.mu.Lock()
	for len(b.records.bytes) < b.config.QueueBytes { // that nobody has told the writer of
		r := append(b.records.bytes, make([]byte, recordHeader)...)
		r = append(r, "elsewhere"...)
		split := len(r)
		b.records.add(append(r, make([]byte, 1<<20)...), split, []byte("t"))
	}
	b.mu.Unlock()
	ended := make(chan struct{})
	b.CatchUp("t", func() { close(ended) })
	select {
	case <-ended:
		t.Error("it was not waited for")
	default:
	}
	if waiting, _ := b.marksOf("t"); waiting != 1 {
		t.Errorf("%d wait, want 1", waiting)
	}
	kick(b.work)
	<-ended
}
