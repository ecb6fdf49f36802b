package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// crowdNoise is what the edge's memory may hold beside what is counted for each member of the
// crowd, in KiB: buffers in use, and garbage of the moment.
const crowdNoise = 64 << 10

// A crowd that never authenticates, in all ways at once. Clients that keep the rules get in
// all the while, and lose nothing.
func TestHostileCrowd(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	calm := startTraffic(t, e, e, 1, 2, 5*time.Millisecond)
	token := e.Issue(harness.AllowAll("room")).Token
	before := e.Memory()
	ctx, cancel := context.WithTimeout(context.Background(), harness.SoakFor(t, 4*time.Second, 10*time.Minute))
	defer cancel()
	var all sync.WaitGroup
	members := 0
	attacks := []*attack{
		{name: "half TLS handshakes", members: 400, act: e.HalfHandshake},
		{name: "requests a byte at a time", members: 200, act: e.SlowRequest},
		{name: "silent WebTransport sessions", members: 100, act: e.SilentSession},
		{name: "garbage QUIC packets", members: 2, act: e.GarbagePackets},
		{name: "header bombs", members: 4, act: e.HeaderBombs},
	}
	for _, a := range attacks {
		n := harness.AtLength(max(2, a.members/10), a.members)
		members += n
		for i := range n {
			all.Go(func() { a.Run(ctx, i) })
		}
	}
	var took latencies
	measure(e, "the crowd", func() {
		for served := 0; ctx.Err() == nil || served == 0; served++ {
			for _, quic := range []bool{false, true} {
				begin := time.Now()
				s := enter(e, harness.Handshake{URL: fmt.Sprintf("wss://localhost:%d/ws", e.HTTPS), Token: token}, quic)
				s.Subscribe("paint.room", "x")
				s.Publish("paint.room", "x", "hello")
				s.ExpectDeliver("paint.room", "x", "hello", "x")
				took.Add(time.Since(begin))
				s.Must(s.Leave())
				if err := s.UntilEnd(); errors.Is(err, harness.ErrWaitTimeout) {
					t.Error("a session does not end: ", err)
				}
			}
			select {
			case <-time.After(200 * time.Millisecond): // between two clients
			case <-ctx.Done():
			}
		}
	})
	e.CheckGrowth(before, members*harness.ConnectionCost+crowdNoise, "the crowd")
	all.Wait()
	for _, a := range attacks {
		t.Logf("%-30s %d times; %d errors, the last: %v", a.name, a.times.Load(), a.failed.Load(), a.last.Load())
		if a.times.Load() == 0 {
			t.Errorf("%s: none was made", a.name)
		}
	}
	t.Logf("legitimate clients connected, subscribed and got a message: %v", &took)
	if worst := took.list[len(took.list)-1]; harness.Soaking && worst > time.Second { // String has sorted it
		t.Errorf("a legitimate client took %v, want less than a second", worst)
	}
	calm.End()
}

// enter opens a session, over WebSocket or WebTransport. A QUIC handshake has 5 s, which may
// go by on a busy machine: only a soak has the machine for itself.
func enter(e *harness.Edge, h harness.Handshake, quic bool) *harness.Socket {
	if !quic {
		return e.MustOpen(h)
	}
	h.URL = ""
	for end := time.Now().Add(patience); ; {
		s, a, err := e.TryWebTransport(h)
		if s != nil {
			return s
		}
		if err == nil || harness.Soaking || time.Now().After(end) {
			e.T.Fatalf("a client is not served: %v %d %s", err, a.Status, a.Body)
		}
	}
}

// attack is those of the crowd that do the same. act does it once, until ctx ends at the
// latest, and says how often; an error is the edge's refusal.
type attack struct {
	name          string
	members       int
	act           func(ctx context.Context, member int) (int, error)
	times, failed atomic.Int64
	last          atomic.Value
}

func (a *attack) Run(ctx context.Context, member int) {
	for ctx.Err() == nil {
		n, err := a.act(ctx, member)
		a.times.Add(int64(n))
		if err != nil && ctx.Err() == nil {
			a.failed.Add(1)
			a.last.Store(err.Error())
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond): // a refusal is not asked for without end
			}
		}
	}
}

// What many connections of one tenant do to cost much, with as many overlapping patterns as
// they get, takes no message from another tenant. A soak measures the latency of that one, in
// turns without them, with them at another edge, and with them here.
func TestManyTenants(t *testing.T) {
	t.Parallel()
	for _, name := range harness.AtLength([]string{"two edges"}, []string{"one edge", "two edges"}) {
		t.Run(name, func(t *testing.T) {
			join := harness.Joining(harness.StartNATS(t, 1), "")[0]
			from := harness.StartEdge(t, harness.DefaultCaddyfile, join)
			to := from
			if name == "two edges" {
				to = harness.StartEdge(t, harness.DefaultCaddyfile, join, harness.WithMaster(from))
			}
			hostile := func(edges ...*harness.Edge) *hostileTenant {
				c := &hostileTenant{Token: edges[0].Issue(harness.AllowAll("hostile")).Token, Connections: harness.AtLength(6, 100), Every: 100 * time.Millisecond}
				for _, e := range edges {
					c.URLs = append(c.URLs, fmt.Sprintf("ws://localhost:%d/ws", e.HTTP))
				}
				return c
			}
			places := map[string]*hostileTenant{"here": hostile(from, to)}
			order := []string{"here"}
			if harness.Soaking {
				places["at another edge"] = hostile(harness.StartEdge(t, harness.DefaultCaddyfile))
				order = []string{"nowhere", "at another edge", "here"}
			}
			for range harness.SoakCount(t, 1, 5) {
				for _, where := range order {
					l := startTraffic(t, from, to, 1, 1, time.Millisecond)
					if c := places[where]; c != nil {
						p := harness.StartSubprocess(t, "TestHostileTenantProcess", c)
						p.Await("subscribed", patience)
						l.apart.Store(true)
						l.AwaitMore(harness.AtLength(300, 4000))
						p.End("crowd:")
					} else {
						l.apart.Store(true)
						l.AwaitMore(4000)
					}
					l.End()
					t.Logf("the crowd is %s: another tenant's messages %v", where, &l.meanwhile)
				}
			}
		})
	}
}

// hostileTenant is connections of one tenant: each tries as many patterns as it can that match
// one channel, and publishes to that without end.
type hostileTenant struct {
	URLs        []string // of edges, by turns
	Token       string
	Connections int
	Every       time.Duration // between the messages of a connection
}

const (
	hostilePatterns = 100
	mostShapes      = 32 // of the patterns with wildcards of a connection (docs/configuration.md)
)

// hostileChannel is matched by 8^8 patterns of as many shapes.
var hostileChannel = strings.TrimSuffix(strings.Repeat("aaaaaaa.", 8), ".")

func hostilePattern(random *rand.Rand) string {
	tokens := strings.Split(hostileChannel, ".")
	for at, token := range tokens {
		tokens[at] = token[:random.IntN(8)] + "*"
	}
	return strings.Join(tokens, ".")
}

// TestHostileTenantProcess is the process of such a tenant.
func TestHostileTenantProcess(t *testing.T) {
	t.Parallel()
	c := new(hostileTenant)
	if !harness.IsSubprocess(t, c) {
		return
	}
	var refused, longest, delivered atomic.Int64
	var ready, running sync.WaitGroup
	quit := make(chan struct{})
	frame := harness.RawPublish("paint.hostile", hostileChannel, "hostile")
	var conns []*websocket.Conn
	ready.Add(c.Connections)
	for i := range c.Connections {
		conn, answer, err := websocket.DefaultDialer.Dial(c.URLs[i%len(c.URLs)], http.Header{"Authorization": {"Bearer " + c.Token}})
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		conns = append(conns, conn)
		random := rand.New(rand.NewPCG(1, uint64(i)))
		running.Go(func() { // reads until the connection is closed
			for answers := 0; ; {
				kind, data, err := conn.ReadMessage()
				switch d, broken := wire.DecodeDeliver(data); {
				case err != nil:
					return
				case kind == websocket.BinaryMessage && broken == nil:
					delivered.Add(1)
					longest.Store(max(longest.Load(), int64(len(d.Patterns))))
				case kind == websocket.TextMessage:
					if strings.HasPrefix(string(data), "ERR:too_many_patterns:") {
						refused.Add(1)
					}
					if answers++; answers == hostilePatterns {
						ready.Done()
					}
				}
			}
		})
		running.Go(func() { // publishes until the end
			for range hostilePatterns {
				if conn.WriteMessage(websocket.TextMessage, []byte("SUB:paint.hostile:"+hostilePattern(random))) != nil {
					return
				}
			}
			ready.Wait()
			for conn.WriteMessage(websocket.BinaryMessage, frame) == nil {
				select {
				case <-time.After(c.Every):
				case <-quit:
					return
				}
			}
		})
	}
	ready.Wait()
	fmt.Println("subscribed")
	harness.AwaitParent()
	close(quit)
	for _, conn := range conns {
		_ = conn.Close()
	}
	running.Wait()
	fmt.Printf("crowd: %d deliveries, %d subscriptions refused, at most %d patterns in a message\n", delivered.Load(), refused.Load(), longest.Load())
	if delivered.Load() == 0 || longest.Load() > mostShapes || refused.Load() < int64(c.Connections*(hostilePatterns-mostShapes)) {
		t.Error("that is too little, or too much")
	}
}
