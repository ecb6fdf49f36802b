package nats

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// recordingHub is a hub that notes what it receives.
type recordingHub struct {
	mu       sync.Mutex
	received []string
	bad      []string
	up       bool

	rejected int
	missed   int
	unsent   int

	uninterested bool
	full         bool // for messages to one
}

func (q *recordingHub) Receive(m pubsub.Message) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if m.Delivery > wire.OneRandom || wire.CheckTenant(m.Tenant) != nil || wire.CheckChannel(m.Channel) != nil || !wire.IsSender(m.Sender) {
		q.bad = append(q.bad, fmt.Sprintf("%v %q %q %q", m.Delivery, m.Tenant, m.Channel, m.Sender))
	}
	if q.full && m.Delivery != wire.Broadcast {
		return pubsub.NoRoom
	}
	q.received = append(q.received, string(m.Payload))
	return 1
}

func (q *recordingHub) Interested(_, _ []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.uninterested
}

func (q *recordingHub) Rejected(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.rejected += n
}

func (q *recordingHub) Unsent(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.unsent += n
}

func (q *recordingHub) Missed(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.missed += n
}

func (q *recordingHub) Linked(up bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.up = up
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain for %s", what)
		}
	}
}

func startBroker(t *testing.T, connect natstest.Connector, change ...func(*Config)) (*Broker, *recordingHub) {
	t.Helper()
	c := Config{Connect: connect, Prefix: "p", QueueBytes: 8 << 20, Log: zaptest.NewLogger(t)}
	for _, f := range change {
		f(&c)
	}
	b, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	q := &recordingHub{up: true}
	b.Join(q)
	t.Cleanup(func() { _ = b.Close() })
	await(t, "the link", func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.up
	})
	return b, q
}

// subscribeConfirmed subscribes, and returns when that is confirmed.
func (b *Broker) subscribeConfirmed(tenant string, patterns ...string) {
	for _, pattern := range patterns {
		done := make(chan struct{})
		b.Subscribe(tenant, pattern, func() { close(done) })
		<-done
	}
}

func (q *recordingHub) await(t *testing.T, payload string) {
	t.Helper()
	await(t, payload, func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return len(q.received) > 0 && q.received[len(q.received)-1] == payload
	})
}

// fakePeer is an edge that nobody runs: it answers when a test says so.
const fakePeer edgeID = 5

// queryFakePeer makes a channel one that fakePeer was asked about.
func (b *Broker) queryFakePeer(m *pubsub.Message, at time.Time) *channelResponders {
	c := &channelResponders{unanswered: map[edgeID]struct{}{fakePeer: {}}, queriedAt: at, usedAt: at}
	b.ofTenant(string(m.Tenant), func(t *tenantResponders) { t.channels[string(m.Channel)] = c })
	b.responders.channels.Add(1)
	return c
}

// ofTenant looks at what is known of a tenant.
func (b *Broker) ofTenant(tenant string, look func(*tenantResponders)) {
	of := b.responders.lock([]byte(tenant), true)
	defer b.responders.unlock(of)
	look(of)
}

func (q *recordingHub) payloads() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.received)
}

func announcementOf(id edgeID, host, state string) []byte {
	data, err := json.Marshal(announcement{Version: version, ID: id, Host: host, State: state})
	if err != nil {
		panic(err)
	}
	return data
}
