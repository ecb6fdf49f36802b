package nats

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap/zaptest"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// serve runs a server; brokers need no JetStream.
func serve(t *testing.T) natstest.Connector {
	t.Helper()
	return natstest.Connect(natstest.Server(t, natstest.Core))
}

// await waits until something is so.
var await = natstest.Await

// hub stands in for the hub of an edge: it notes what it is told.
type hub struct {
	mu sync.Mutex
	hubState
}

type hubState struct {
	received []string // payloads
	bad      []string // messages that no client can send
	links    []bool

	unsent, missed, rejected int
	offered, last            int // for one connection; as a last resort

	refuses      bool          // takes nothing that is for one connection
	onlyLeaving  bool          // some of its subscribers were told to leave
	uninterested bool          // what Interested returns, inverted
	held         chan struct{} // Receive waits for it to be closed
	heldTenant   string        // for messages of this tenant alone; empty: of all
}

func (h *hub) set(change func(*hubState)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(&h.hubState)
}

func (h *hub) get() (s hubState) {
	h.set(func(now *hubState) { s = *now })
	return s
}

func (h *hub) Receive(m pubsub.Message) (taken int) {
	if s := h.get(); s.held != nil && (s.heldTenant == "" || s.heldTenant == string(m.Tenant)) {
		<-s.held
	}
	h.set(func(s *hubState) {
		if m.Delivery > wire.OneRandom || wire.CheckTenant(m.Tenant) != nil || wire.CheckChannel(m.Channel) != nil || !wire.IsSender(m.Sender) || m.Delivery == wire.Broadcast && !m.Remote {
			s.bad = append(s.bad, fmt.Sprintf("%v %q %q %q", m.Delivery, m.Tenant, m.Channel, m.Sender))
		}
		if m.Delivery != wire.Broadcast {
			s.offered++
			if m.LastResort {
				s.last++
			}
			switch {
			case !s.refuses:
			case s.uninterested:
				return
			case s.onlyLeaving && !m.LastResort:
				taken = pubsub.SomeLeaving
				return
			default:
				taken = pubsub.NoRoom
				return
			}
		}
		s.received, taken = append(s.received, string(m.Payload)), 1
	})
	return taken
}

func (h *hub) Interested(_, _ []byte) bool { return !h.get().uninterested }
func (h *hub) Linked(up bool)              { h.set(func(s *hubState) { s.links = append(s.links, up) }) }
func (h *hub) Unsent(n int)                { h.set(func(s *hubState) { s.unsent += n }) }
func (h *hub) Missed(n int)                { h.set(func(s *hubState) { s.missed += n }) }
func (h *hub) Rejected(n int)              { h.set(func(s *hubState) { s.rejected += n }) }

func (h *hub) payloads() []string      { return slices.Clone(h.get().received) }
func (h *hub) taken() int              { return len(h.get().received) }
func (h *hub) has(payload string) bool { return slices.Contains(h.get().received, payload) }
func (h *hub) linkHistory() string     { return fmt.Sprint(h.get().links) }
func (h *hub) hold()                   { h.set(func(s *hubState) { s.held = make(chan struct{}) }) }
func (h *hub) release()                { h.set(func(s *hubState) { close(s.held); s.held = nil }) }

// wantChangesOnce checks that the hub heard of each change of the link once, the last time that it is up.
func (h *hub) wantChangesOnce(t *testing.T) {
	t.Helper()
	links := h.get().links
	for i, up := range links {
		if up != (i%2 == 1) {
			t.Errorf("the hub heard %v of the link", links)
			return
		}
	}
	if len(links) == 0 || len(links)%2 == 1 {
		t.Errorf("the hub heard %v of the link, which was down and is up", links)
	}
}

func (h *hub) up() bool {
	links := h.get().links
	return len(links) == 0 || links[len(links)-1]
}

// await waits for a payload to be the last one that came.
func (h *hub) await(t *testing.T, payload string) {
	t.Helper()
	await(t, payload, func() bool {
		list := h.get().received
		return len(list) > 0 && list[len(list)-1] == payload
	})
}

// edge is a broker and its hub.
type edge struct {
	*Broker
	hub
}

func newEdge(t *testing.T, connect natstest.Connector, change ...func(*Config)) *edge {
	t.Helper()
	// On a busy machine a message may come long after it was sent.
	c := Config{Connect: connect, Prefix: "p", QueueBytes: 8 << 20, Log: zaptest.NewLogger(t), maxLateness: natstest.Limit}
	for _, f := range change {
		f(&c)
	}
	b, err := New(c)
	must(t, err)
	e := &edge{Broker: b}
	b.Join(&e.hub)
	t.Cleanup(func() { noError(t, b.Close()) })
	return e
}

// startEdge waits for the link of a new one, too.
func startEdge(t *testing.T, connect natstest.Connector, change ...func(*Config)) *edge {
	t.Helper()
	e := newEdge(t, connect, change...)
	await(t, "the link", e.up)
	e.set(func(s *hubState) { s.links = nil })
	return e
}

func startBroker(t *testing.T, connect natstest.Connector, change ...func(*Config)) (*Broker, *hub) {
	t.Helper()
	e := startEdge(t, connect, change...)
	return e.Broker, &e.hub
}

func withQueue(bytes int) func(*Config) { return func(c *Config) { c.QueueBytes = bytes } }

// impatient edges take a server for silent soon.
func impatient(c *Config) { c.serverTimeout = 1500 * time.Millisecond }

// patient edges never do.
func patient(c *Config) { c.serverTimeout = natstest.Limit }

// connectThrough connects through a proxy, with little room in the kernel. The client
// itself notices nothing of a silent server for ping times two.
func connectThrough(p *natstest.Proxy, ping time.Duration) natstest.Connector {
	return p.Connect(client.PingInterval(ping), client.SetCustomDialer(narrowDialer{}))
}

// never is a time between pings in which no test ends.
const never = time.Hour

// narrowDialer lets little wait in the kernel.
type narrowDialer struct{}

func (narrowDialer) Dial(network, address string) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, natstest.Limit)
	if err != nil {
		return nil, err
	}
	return c, c.(*net.TCPConn).SetWriteBuffer(16 << 10)
}

// subscribe returns when the interests are confirmed.
func (b *Broker) subscribe(t *testing.T, tenant string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		confirmed := make(chan struct{})
		b.Subscribe(tenant, pattern, func() { close(confirmed) })
		natstest.Receive(t, "the confirmation of "+pattern, confirmed)
	}
}

// message is one to channel c of tenant t.
func message(d wire.Delivery, payload string) pubsub.Message {
	return pubsub.Message{Tenant: []byte("t"), Channel: []byte("c"), Payload: []byte(payload), Delivery: d}
}

func (b *Broker) publish(d wire.Delivery, channel, payload string) error {
	return b.Publish(pubsub.Message{Tenant: []byte("t"), Channel: []byte(channel), Payload: []byte(payload), Delivery: d})
}

// mustPublish is publish where nothing may be in the way.
func (b *Broker) mustPublish(t *testing.T, d wire.Delivery, channel string, payload any) {
	t.Helper()
	must(t, b.publish(d, channel, fmt.Sprint(payload)))
}

// probes is the number of the last payload of reach.
var probes atomic.Int64

// reach waits until broadcasts of e arrive at another edge.
func (e *edge) reach(t *testing.T, to *edge, channel string) {
	t.Helper()
	await(t, "messages on "+channel, func() bool {
		return e.tryToReach(to, channel, fmt.Sprintf("probe %d", probes.Add(1)))
	})
}

// tryToReach publishes a message, and reports whether the other edge has it at once.
func (e *edge) tryToReach(to *edge, channel, payload string) bool {
	if e.publish(wire.Broadcast, channel, payload) != nil {
		return false
	}
	for range 20 {
		if to.has(payload) {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
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

func announcementOf(id edgeID, host, state string) []byte {
	data, err := json.Marshal(announcement{Version: version, ID: id, Host: host, State: state})
	if err != nil {
		panic(err)
	}
	return data
}

var must, noError = testcheck.Must, testcheck.NoError

// errorOf is the error of a call that returns something else, too.
func errorOf[T any](_ T, err error) error { return err }

// equal compares what a test has got with what it wants.
func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
