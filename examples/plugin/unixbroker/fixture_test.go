package unixbroker

import (
	"bufio"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
)

// recorder stands in for a hub. It has an interest in everything.
type recorder struct {
	answer func(pubsub.Message) int // nil: it takes all

	mu       sync.Mutex
	got      []string // payloads
	links    []bool
	unsent   int
	rejected int
}

func (r *recorder) Receive(m pubsub.Message) int {
	n := 1
	if r.answer != nil {
		n = r.answer(m)
	}
	if n > 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, string(m.Payload))
	}
	return n
}

func (r *recorder) Interested(_, _ []byte) bool { return true }

func (r *recorder) Linked(up bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.links = append(r.links, up)
}

func (r *recorder) Unsent(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unsent += n
}

func (r *recorder) Missed(int) {}

func (r *recorder) Rejected(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rejected += n
}

// see calls look, which reads what was recorded.
func (r *recorder) see(look func() bool) func() bool {
	return func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return look()
	}
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.got)
}

// edge starts an edge with changed settings, and closes it when the test ends.
func edge(t *testing.T, folder string, r *recorder, change func(*settings)) *Broker {
	t.Helper()
	s := defaults
	s.rescan = 10 * time.Millisecond
	if change != nil {
		change(&s)
	}
	b, err := newBroker(folder, zap.NewNop(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	b.Join(r)
	return b
}

// await waits until something is true, which goroutines of a broker make true.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("10 s in vain for %s", what)
		}
	}
}

// subscribe returns when all edges know of the interest of one of them.
func subscribe(t *testing.T, at *Broker, tenant, pattern string) {
	t.Helper()
	confirmed := make(chan struct{})
	at.Subscribe(tenant, pattern, func() { close(confirmed) })
	select {
	case <-confirmed:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s:%s was not confirmed", tenant, pattern)
	}
}

// connected waits until a broker has so many peers, and knows their interests.
func connected(t *testing.T, b *Broker, peers int) {
	t.Helper()
	await(t, "connections", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		known := 0
		for _, p := range b.peers {
			if p.known {
				known++
			}
		}
		return known == peers && len(b.peers) == peers
	})
}

// stranger is a peer whose frames the test writes itself.
type stranger struct {
	net.Conn
	r *bufio.Reader
}

// join connects a stranger, who has an interest in everything of tenant t.
func join(t *testing.T, b *Broker) stranger {
	t.Helper()
	conn, err := net.Dial("unix", b.path(b.id))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := stranger{conn, bufio.NewReader(conn)}
	s.send(t, appendHello(nil, 1))
	s.send(t, appendNumber(appendInterest(nil, kindSubscribe, interest{"t", "#"}), kindSync, 1))
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	var buf []byte
	for kind := byte(0); kind != kindSynced; {
		if kind, _, err = readFrame(s.r, &buf); err != nil {
			t.Fatalf("the stranger's interest: %v", err)
		}
	}
	return s
}

func (s stranger) send(t *testing.T, frame []byte) {
	t.Helper()
	if _, err := s.Write(frame); err != nil {
		t.Fatal(err)
	}
}

func message(payload string) pubsub.Message {
	return pubsub.Message{Tenant: []byte("t"), Channel: []byte("a.b"), Payload: []byte(payload)}
}
