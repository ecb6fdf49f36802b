package load

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// hostileTenant is many connections of one tenant that want to cost as much as they can:
// each subscribes to as many patterns as it can that match one channel, and
// publishes to that without end.
type hostileTenant struct {
	URLs        []string // of edges, by turns
	Token       string
	Tenant      string
	Connections int
	Patterns    int           // that each tries
	Every       time.Duration // between the messages of a connection; 0: as fast as the edge reads

	refused, longest atomic.Int64 // subscriptions, and the most patterns of a message
	published        atomic.Int64
	delivered        atomic.Int64
}

// crowdChannel is matched by 8^8 patterns of as many shapes.
var crowdChannel = strings.TrimSuffix(strings.Repeat("aaaaaaa.", 8), ".")

func crowdPattern(i int) string {
	tokens := strings.Split(crowdChannel, ".")
	for at, token := range tokens {
		tokens[at] = token[:i%8] + "*"
		i /= 8
	}
	return strings.Join(tokens, ".")
}

// Start opens the connections, and returns when all have subscribed; stop closes
// them.
func (c *hostileTenant) Start() (stop func(), err error) {
	var conns []*websocket.Conn
	var wg sync.WaitGroup
	quit := make(chan struct{})
	stop = func() {
		close(quit)
		for _, conn := range conns {
			_ = conn.Close()
		}
		wg.Wait()
	}
	frame := wire.AppendPublish(nil, wire.Publish{Tenant: []byte(c.Tenant), Channel: []byte(crowdChannel), Payload: []byte("hostile")})
	var subscribed sync.WaitGroup
	subscribed.Add(c.Connections)
	for i := range c.Connections {
		conn, answer, err := websocket.DefaultDialer.Dial(c.URLs[i%len(c.URLs)], http.Header{"Authorization": {"Bearer " + c.Token}})
		if err != nil {
			subscribed.Add(i - c.Connections) // those that are not opened
			stop()
			return nil, err
		}
		_ = answer.Body.Close()
		conns = append(conns, conn)
		random := rand.New(rand.NewPCG(1, uint64(i)))
		wg.Go(func() { // reads until the connection is closed
			answers := 0
			for {
				kind, data, err := conn.ReadMessage()
				if err != nil {
					if answers < c.Patterns {
						subscribed.Done()
					}
					return
				}
				if kind == websocket.BinaryMessage {
					c.delivered.Add(1)
					if d, err := wire.DecodeDeliver(data); err == nil && int64(len(d.Patterns)) > c.longest.Load() {
						c.longest.Store(int64(len(d.Patterns)))
					}
					continue
				}
				if bytes.HasPrefix(data, []byte("ERR:too_many_patterns:")) {
					c.refused.Add(1)
				}
				if answers++; answers == c.Patterns {
					subscribed.Done()
				}
			}
		})
		wg.Go(func() { // publishes until the connection is closed
			for range c.Patterns {
				if conn.WriteMessage(websocket.TextMessage, []byte("SUB:"+c.Tenant+":"+crowdPattern(random.IntN(1<<24)))) != nil {
					return
				}
			}
			subscribed.Wait()
			for conn.WriteMessage(websocket.BinaryMessage, frame) == nil {
				c.published.Add(1)
				select {
				case <-time.After(c.Every):
				case <-quit:
					return
				}
			}
		})
	}
	subscribed.Wait()
	return stop, nil
}

// quietTenant is the tenant that a crowd must not affect: one client that publishes, and
// one that subscribes.
type quietTenant struct {
	t        *testing.T
	from, to *harness.Socket
	sent     int
}

func openQuiet(t *testing.T, from, to *harness.Edge) *quietTenant {
	t.Helper()
	token := from.Issue(harness.AllowAll("good")).Token
	q := &quietTenant{t: t, from: from.Dial(token), to: to.Dial(token)}
	q.to.Subscribe("paint.good", "room")
	arrived := make(chan error, 1)
	go func() { // ends with the first message
		_, _, err := q.to.Read()
		arrived <- err
	}()
	for { // until the edges know of it
		q.from.Publish("paint.good", "room", "-1 0")
		select {
		case err := <-arrived:
			if err != nil {
				t.Fatal(err)
			}
			return q
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Send publishes n messages at this interval, and returns how long each took to
// arrive; nil: not all have.
func (q *quietTenant) Send(n int, every time.Duration) []time.Duration {
	q.t.Helper()
	first := q.sent
	q.sent += n
	took := make(chan []time.Duration, 1)
	go func() { // ends with the last message, or when that is late
		var list []time.Duration
		for len(list) < n {
			_, frame, err := q.to.Read()
			if err != nil {
				break
			}
			d, err := wire.DecodeDeliver(frame)
			if err != nil {
				continue
			}
			var number int
			var at int64
			if _, err := fmt.Sscan(string(d.Payload), &number, &at); err != nil || number < first {
				continue
			}
			if number != first+len(list) {
				break
			}
			list = append(list, time.Duration(time.Now().UnixNano()-at))
		}
		took <- list
	}()
	for i, next := 0, time.Now(); i < n; i++ {
		time.Sleep(time.Until(next))
		q.from.Publish("paint.good", "room", fmt.Sprint(first+i, " ", time.Now().UnixNano()))
		next = next.Add(every)
	}
	select {
	case list := <-took:
		if len(list) == n {
			return list
		}
		q.t.Logf("message %d of %d did not come", len(list), n)
	case <-time.After(harness.WaitTimeout):
		q.t.Logf("not all of %d messages came", n)
	}
	return nil
}

func webSocketURL(e *harness.Edge) string { return fmt.Sprintf("ws://localhost:%d/ws", e.HTTP) }

// tenantEdges are one edge, and two that NATS connects.
func tenantEdges(t *testing.T, run func(t *testing.T, from, to *harness.Edge)) {
	t.Run("one edge", func(t *testing.T) {
		e := harness.StartEdge(t, harness.DefaultCaddyfile)
		run(t, e, e)
	})
	t.Run("two edges", func(t *testing.T) {
		join := harness.Joining(harness.StartNATS(t, 1), "")[0]
		from := harness.StartEdge(t, harness.DefaultCaddyfile, join)
		run(t, from, harness.StartEdge(t, harness.DefaultCaddyfile, join, harness.WithMaster(from)))
	})
}

// What clients of one tenant do to cost much is bounded, and takes nothing from
// another one.
func TestManyTenants(t *testing.T) {
	t.Parallel()
	tenantEdges(t, func(t *testing.T, from, to *harness.Edge) {
		c := &hostileTenant{
			URLs: []string{webSocketURL(from), webSocketURL(to)}, Token: from.Issue(harness.AllowAll("hostile")).Token,
			Tenant: "paint.hostile", Connections: 12, Patterns: 100, Every: 5 * time.Millisecond,
		}
		q := openQuiet(t, from, to)
		stop, err := c.Start()
		if err != nil {
			t.Fatal(err)
		}
		if q.Send(300, 2*time.Millisecond) == nil {
			t.Error("messages of another tenant were lost")
		}
		stop()
		if c.delivered.Load() == 0 {
			t.Error("the crowd got no message: the test shows nothing")
		}
		if n := c.longest.Load(); n > 33 {
			t.Errorf("a message came with %d patterns", n)
		}
		if want := int64(12 * (100 - 32)); c.refused.Load() < want {
			t.Errorf("%d subscriptions were refused, want %d at least", c.refused.Load(), want)
		}
	})
}

// TestManyTenantsP99 measures what 100 hostile connections of one tenant do to the
// latency of another one, by turns with what they do to it from an edge of their
// own, where only the machine is shared, and with their absence. It runs with
// MILLRACE_TENANTS, how many rounds: scripts/soak.sh tenants.
func TestManyTenantsP99(t *testing.T) {
	t.Parallel()
	rounds, _ := strconv.Atoi(os.Getenv("MILLRACE_TENANTS"))
	if rounds == 0 {
		t.Log("measured with MILLRACE_TENANTS")
		return
	}
	for _, every := range []time.Duration{100 * time.Millisecond, 0} {
		what := "at their egress"
		if every == 0 {
			what = "as fast as they can"
		}
		tenantEdges(t, func(t *testing.T, from, to *harness.Edge) {
			crowd := func(edges ...*harness.Edge) *hostileTenant {
				c := &hostileTenant{
					Token: edges[0].Issue(harness.AllowAll("hostile")).Token, Tenant: "paint.hostile",
					Connections: 100, Patterns: 1024, Every: every,
				}
				for _, e := range edges {
					c.URLs = append(c.URLs, webSocketURL(e))
				}
				return c
			}
			own := harness.StartEdge(t, harness.DefaultCaddyfile)
			crowds := []*hostileTenant{nil, crowd(own), crowd(from, to)}
			q := openQuiet(t, from, to)
			var apart, together []float64
			for range rounds {
				var p99, p50 [3]time.Duration
				for i, c := range crowds {
					p50[i], p99[i] = q.beside(c)
				}
				if slices.Contains(p99[:], 0) {
					t.Error("messages were lost")
					continue
				}
				apart = append(apart, float64(p99[1])/float64(p99[0]))
				together = append(together, float64(p99[2])/float64(p99[0]))
				t.Logf("crowd %s: nowhere, at another edge, here: p99 %v; p50 %v", what, p99, p50)
			}
			for i, ratios := range [][]float64{apart, together} {
				slices.Sort(ratios)
				if len(ratios) > 0 {
					t.Logf("crowd %s, p99 against no crowd, %s: median ratio %.2f (%.2f to %.2f)", what,
						[]string{"crowd at another edge", "crowd here"}[i], ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
				}
			}
		})
	}
}

// beside measures 1,000 messages a second beside a crowd: 0, 0 if some were lost.
func (q *quietTenant) beside(c *hostileTenant) (p50, p99 time.Duration) {
	q.t.Helper()
	if c != nil {
		defer startCrowd(q.t, c)()
	}
	q.Send(1000, time.Millisecond) // what the crowd before leaves behind is over
	list := q.Send(4000, time.Millisecond)
	if list == nil {
		return 0, 0
	}
	slices.Sort(list)
	return list[len(list)/2], list[len(list)*99/100]
}

// startCrowd runs a crowd in a process of its own.
func startCrowd(t *testing.T, c *hostileTenant) (stop func()) {
	t.Helper()
	a := harness.StartSubprocess(t, "TestCrowdProcess", c)
	a.Await("ready", 2*harness.WaitTimeout)
	return func() { a.End("crowd:") }
}

// TestCrowdProcess is the process of a crowd, until its input ends.
func TestCrowdProcess(t *testing.T) {
	t.Parallel()
	var c hostileTenant
	if !harness.IsSubprocess(t, &c) {
		return
	}
	stop, err := c.Start()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("ready")
	begin := time.Now()
	harness.AwaitParent()
	seconds := time.Since(begin).Seconds()
	fmt.Printf("crowd: %.0f messages/s published, %.0f deliveries/s, %d subscriptions refused, at most %d patterns in a message\n",
		float64(c.published.Load())/seconds, float64(c.delivered.Load())/seconds, c.refused.Load(), c.longest.Load())
	stop()
}
