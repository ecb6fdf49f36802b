package load

import (
	"crypto/tls"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/loadgen"
)

// When one of two edges dies, or all its clients suspect it at once, as it is frozen, the other
// one bears that: it refuses none of them, and those that were there before miss nothing. In the
// end each client has one connection, and messages come.
func TestStorms(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{"killed": 10_000, "frozen": 2_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atEdge, dies := harness.SoakCount(t, 50, most), name == "killed" // there are more at the other one
			join := harness.Joining(harness.StartNATS(t, 1), "")[0]
			fails := harness.StartEdge(t, unlimited(harness.DefaultCaddyfile), join)
			stays := harness.StartEdge(t, unlimited(harness.DefaultCaddyfile), join, harness.WithMaster(fails))
			c := &crowd{t: t, fails: fails, dies: dies}
			for there := 0; there < atEdge; {
				if len(c.clients) > 4*atEdge+1000 {
					t.Fatalf("of %d clients, %d are at %s", len(c.clients), there, fails.HttpsURL(""))
				}
				there += c.grow(fails.HttpsURL(""), stays.HttpsURL(""))
			}
			const bystanders = 10
			calm := startTraffic(stays, loadgen.WebSocket, loadgen.Options{
				Scenario: loadgen.Latency, Subscribers: bystanders, Rate: harness.AtLength(20.0, 2),
			})
			gets := func(each int64) {
				want := c.got.Load() + each*int64(len(c.clients))
				stays.Poll("messages to all", func() bool { return c.got.Load() >= want })
			}
			gets(20) // they know how often messages come
			begin := time.Now()
			if dies {
				fails.Kill()
			} else {
				c.recovered.Store(0)
				t.Cleanup(func() { fails.Signal(syscall.SIGCONT) }) // where the test ends before
				fails.Signal(syscall.SIGSTOP)
				stays.Poll("all clients to go on by another connection", func() bool { return int(c.recovered.Load()) >= atEdge })
				fails.Signal(syscall.SIGCONT)
			}
			stays.Poll("one connection of each client", func() bool {
				sessions := stays.Sessions() - bystanders - 1
				if !dies {
					sessions += fails.Sessions()
				}
				return sessions == len(c.clients)
			})
			t.Logf("each of %d clients has one connection after %v", len(c.clients), time.Since(begin))
			gets(2)
			for series, value := range stays.Metrics() {
				if strings.HasPrefix(series, "millrace_handshakes_refused_total{") && value > 0 {
					t.Errorf("the edge that stays: %s is %v, want none", series, value)
				}
			}
			calm.end()
		})
	}
}

// crowd is clients of the Go SDK, in the process of the test.
type crowd struct {
	t              *testing.T
	fails          *harness.Edge
	dies           bool
	clients        []*client.Client
	got, recovered atomic.Int64
}

// grow connects 50 clients at the same time, with one token, and returns how many of them are
// at the first edge: a client takes the edge that answers first.
func (c *crowd) grow(edges ...string) (atFirst int) {
	c.t.Helper()
	o := client.Options{ // the process has many clients, and little time for each
		Token: c.fails.Issue(harness.AllowAll("room")).Token, Transports: []client.Transport{client.WebSocket},
		TLS: &tls.Config{InsecureSkipVerify: true}, PongTimeout: time.Minute, ConnectTimeout: time.Minute, OnEvent: c.event,
	}
	var batch [50]*client.Client
	var opening sync.WaitGroup
	for i := range batch {
		opening.Go(func() {
			one, err := client.Connect(c.t.Context(), edges, o)
			if err == nil {
				c.t.Cleanup(func() { _ = one.Close() })
				_, err = one.SubscribeFunc(c.t.Context(), tenant, "#", func(client.Message) { c.got.Add(1) })
			}
			if err != nil {
				c.t.Error(err)
			}
			batch[i] = one
		})
	}
	opening.Wait()
	if c.t.Failed() {
		c.t.FailNow()
	}
	for _, one := range batch {
		if one.Edge() == edges[0] {
			atFirst++
		}
	}
	c.clients = append(c.clients, batch[:]...)
	return atFirst
}

func (c *crowd) event(e client.Event) {
	switch e := e.(type) {
	case client.Disconnected:
		if !c.dies || e.Edge != c.fails.HttpsURL("") {
			c.t.Errorf("a client has lost %s, which did not die: %v", e.Edge, e.Err)
		}
	case client.Recovered:
		if e.Away > 0 { // by another connection
			c.recovered.Add(1)
		}
	}
}

// The configuration is loaded again and again below many connections with traffic: none is
// lost, and no message.
func TestReloadsUnderLoad(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, unlimited(conformance.American))
	rooms := loadgen.Options{Scenario: loadgen.Rooms, Members: 100, MemberRate: 0.1}
	rooms.Rooms = harness.SoakCount(t, 200, 10_000) / rooms.Members
	many := startTraffic(e, loadgen.WebSocket, rooms)
	rooms.Rooms, rooms.Members, rooms.MemberRate = 1, harness.AtLength(3, 100), 1
	some := startTraffic(e, loadgen.WebTransport, rooms)
	for n := range harness.AtLength(6, 100) {
		e.Reload([]string{conformance.European, conformance.American}[n%2])
	}
	many.end()
	some.end()
}
