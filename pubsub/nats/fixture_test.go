package nats_test

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap/zaptest"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/nats"
	"github.com/millrace/millrace/wire"
)

// testTimeout bounds every wait for an event.
const testTimeout = 30 * time.Second

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(testTimeout); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%v in vain for %s", testTimeout, what)
		}
	}
}

// hub stands in for the hub of an edge: it notes what it is told.
type hub struct {
	mu             sync.Mutex
	received       []string // payloads
	links          []bool
	unsent, missed int
	offered        int           // for one connection
	refuses        bool          // takes nothing that is for one connection
	onlyLeaving    bool          // some of its subscribers were told to leave
	uninterested   bool          // what Interested returns, inverted
	held           chan struct{} // Receive waits for it to be closed
}

func (h *hub) Receive(m pubsub.Message) int {
	h.mu.Lock()
	held := h.held
	h.mu.Unlock()
	if held != nil {
		<-held
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if m.Delivery != wire.Broadcast {
		h.offered++
		switch {
		case !h.refuses:
		case h.uninterested:
			return 0
		case h.onlyLeaving && !m.LastResort:
			return pubsub.SomeLeaving
		default:
			return pubsub.NoRoom
		}
	}
	h.received = append(h.received, string(m.Payload))
	return 1
}

func (h *hub) Interested(_, _ []byte) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.uninterested
}

func (h *hub) Linked(up bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.links = append(h.links, up)
}

func (h *hub) Unsent(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unsent += n
}

func (h *hub) Missed(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.missed += n
}

// counts returns how many messages were taken, could not be sent, and were missed.
func (h *hub) counts() (taken, unsent, lost int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.received), h.unsent, h.missed
}

func (h *hub) payloads() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.received...)
}

func (h *hub) has(payload string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.received) - 1; i >= 0; i-- {
		if h.received[i] == payload {
			return true
		}
	}
	return false
}

// linkHistory returns what it was told of the link.
func (h *hub) linkHistory() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprint(h.links)
}

func (h *hub) up() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.links) == 0 || h.links[len(h.links)-1]
}

// edge is a broker and its hub.
type edge struct {
	*nats.Broker
	hub
}

func newEdge(t *testing.T, connect natstest.Connector, queue int) *edge {
	t.Helper()
	b, err := nats.New(nats.Config{Connect: connect, Prefix: "p", QueueBytes: queue, Log: zaptest.NewLogger(t)})
	if err != nil {
		t.Fatal(err)
	}
	e := &edge{Broker: b}
	b.Join(&e.hub)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// startEdge waits for the link of a new one, too.
func startEdge(t *testing.T, connect natstest.Connector, queue int) *edge {
	t.Helper()
	e := newEdge(t, connect, queue)
	await(t, "the link", e.up)
	e.mu.Lock()
	e.links = nil
	e.mu.Unlock()
	return e
}

// connectThrough connects through a proxy, with little room in the kernel. The client
// itself notices nothing of a silent server for ping times two.
func connectThrough(p *natstest.Proxy, ping time.Duration) natstest.Connector {
	return p.Connect(client.PingInterval(ping), client.SetCustomDialer(narrowDialer{}))
}

// narrowDialer lets little wait in the kernel.
type narrowDialer struct{}

func (narrowDialer) Dial(network, address string) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, time.Second)
	if err != nil {
		return nil, err
	}
	return c, c.(*net.TCPConn).SetWriteBuffer(16 << 10)
}

// subscribe returns when the interest is confirmed.
func (e *edge) subscribe(t *testing.T, tenant, pattern string) {
	t.Helper()
	confirmed := make(chan struct{})
	e.Subscribe(tenant, pattern, func() { close(confirmed) })
	select {
	case <-confirmed:
	case <-time.After(testTimeout):
		t.Fatalf("%s is not confirmed", pattern)
	}
}

func (e *edge) publish(d wire.Delivery, channel, payload string) error {
	return e.Publish(pubsub.Message{Tenant: []byte("t"), Channel: []byte(channel), Payload: []byte(payload), Delivery: d})
}

// probes is the number of the last payload of reach.
var probes atomic.Int64

// reach waits until broadcasts of e arrive at another edge.
func (e *edge) reach(t *testing.T, to *edge, channel string) {
	t.Helper()
	await(t, "messages on "+channel, func() bool {
		payload := fmt.Sprintf("probe %d", probes.Add(1))
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
	})
}
