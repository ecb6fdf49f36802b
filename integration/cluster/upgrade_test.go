package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/internal/programs"
	"github.com/millrace/millrace/internal/version"
)

// nextVersion is that of the program that replaces the one under test.
const nextVersion = "0.1.1-test"

// upgraded returns the programs of before and after an upgrade, with their versions. With
// MILLRACE_UPGRADE_FROM, the program of an earlier release, the one under test is that of
// after. Else it is that of before, and built again to name nextVersion; scripts/test.sh
// builds that, too.
func upgraded(t *testing.T) (before, after, from, to string) {
	t.Helper()
	if before = os.Getenv("MILLRACE_UPGRADE_FROM"); before == "" {
		next, err := programs.Build(harness.Built, "millrace-next", "../cmd/millrace", "-ldflags=-X "+version.Module+"/internal/version.number="+nextVersion)
		if err != nil {
			t.Fatal(err)
		}
		return harness.Program, next, version.Number(), nextVersion
	}
	out, err := exec.Command(before, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	from, _, _ = strings.Cut(strings.TrimPrefix(string(out), "Millrace "), ",")
	return before, harness.Program, from, version.Number()
}

// Three edges are replaced by those of another version, one after the other, below clients that
// subscribe and one that publishes: these lose nothing, and none loses its connection. What a
// history keeps comes once, in order. Edges of both versions are one overlay. "drain by SIGTERM"
// of TestSDKs has the clients of all SDKs, and what comes twice.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	before, after, from, to := upgraded(t)
	join := harness.Joining(harness.StartNATS(t, 1), "")[0]
	// Clients may take long to move where they share two busy cores with the edges.
	caddyfile := strings.NewReplacer("drain 7s", "drain 2m", "\tpubsub\n", "\tpubsub\n\tpubsub_ready\n").Replace(history.Caddyfile("nats"))
	options := []harness.Option{join, func(e *harness.Edge) { e.Program = before }}
	edges := []*harness.Edge{harness.StartEdge(t, caddyfile, options...)}
	for range 2 {
		edges = append(edges, harness.StartEdge(t, caddyfile, append(options, harness.WithMaster(edges[0]))...))
	}
	c := &crowd{t: t, edges: edges}
	defer c.Close() // before the edges end, which would wait for it
	n := harness.SoakCount(t, 10, 1_000)
	for range n {
		c.Subscribe()
	}
	end := c.Publish()
	c.Await(1)
	for i, e := range edges {
		began, there := time.Now(), e.Sessions()
		if i == 0 {
			asTheGuideSays(e, `"$PROGRAM" pubsub drain`, "while curl ")
		} else {
			e.DrainByAdminAPI()
		}
		e.Poll("its clients to leave", func() bool { return e.Sessions() == 0 })
		moved := time.Since(began)
		e.Stop()
		edges[i] = harness.StartEdge(t, caddyfile, sdk.Again(e), func(next *harness.Edge) { next.Program = after })
		if i == 0 {
			asTheGuideSays(edges[i], "until curl ")
		}
		edges[i].Poll("readiness", func() bool { return edges[i].Rest("GET", "/ready", "", nil).Status == http.StatusOK })
		t.Logf("edge %d: %d clients have moved after %v, the next version is ready after %v", i, there, moved, time.Since(began))
		t.Run(fmt.Sprintf("%d of version %s", i+1, to), func(t *testing.T) {
			o := &harness.Overlay{T: t}
			want := map[string]int{to: i + 1}
			if i < 2 {
				want[from] = 2 - i
			}
			for _, e := range edges {
				o.Edges = append(o.Edges, e.With(t))
				e.Poll(fmt.Sprintf("an overlay of %v", want), func() bool {
					got := map[string]int{}
					for _, other := range e.OverlayEdges() {
						if other.Answered {
							got[other.Status.Version]++
						}
					}
					return maps.Equal(got, want)
				})
			}
			works(o)
		})
	}
	total := end()
	c.Await(total)
	c.Check(total)
	if moves := int(c.moves.Load()); moves < n { // each edge was replaced, so each client has left one at least
		t.Errorf("%d clients have moved %d times", n, moves)
	}
	t.Logf("%d clients, %d numbers with a history and as many without, %d moves", n, total, c.moves.Load())
}

// asTheGuideSays runs those lines of docs/upgrading.md that begin so, at this edge.
func asTheGuideSays(e *harness.Edge, beginnings ...string) {
	e.T.Helper()
	text, err := os.ReadFile("../docs/upgrading.md")
	e.Must(err)
	_, block, _ := strings.Cut(string(text), "```sh\nNEW=")
	block, _, _ = strings.Cut(block, "```")
	script := "set -eu\n"
	for _, beginning := range beginnings {
		_, line, found := strings.Cut(block, "\n"+beginning)
		if !found {
			e.T.Fatalf("the guide has no line that begins with %s in\n%s", beginning, block)
		}
		line, _, _ = strings.Cut(line, "\n")
		script += beginning + line + "\n"
	}
	ctx, cancel := context.WithTimeout(e.T.Context(), 4*harness.WaitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Env = e.Dir, append(slices.Clone(e.Env),
		"PROGRAM="+e.Program, "CADDY_ADMIN="+e.AdminAddress(), "METRICS="+e.AdminURL("/metrics"), "READY="+e.HttpURL("/ready"))
	if out, err := cmd.CombinedOutput(); err != nil {
		e.T.Fatalf("%s%v\n%s", script, err, out)
	}
}

// crowd is Go clients of edges that are replaced.
type crowd struct {
	t       *testing.T
	edges   []*harness.Edge
	clients []*client.Client
	list    []*numbers // of subscribers
	moves   atomic.Int64
}

// connect connects a client. Some use WebTransport.
func (c *crowd) connect() *client.Client {
	c.t.Helper()
	var addresses []string
	roots := x509.NewCertPool()
	for _, e := range c.edges {
		root, err := os.ReadFile(e.RootFile())
		e.Must(err)
		roots.AppendCertsFromPEM(root)
		addresses = append(addresses, e.HttpsURL(""))
	}
	transport := client.WebSocket
	if len(c.clients)%5 == 0 {
		transport = client.WebTransport
	}
	opened, err := client.Connect(c.t.Context(), addresses, client.Options{ // there are very many clients, and little time for each
		Token: c.edges[0].Issue(history.AllowHistory("room")).Token, Transports: []client.Transport{transport},
		TLS: &tls.Config{RootCAs: roots}, PongTimeout: time.Minute, ConnectTimeout: time.Minute,
		OnEvent: func(e client.Event) {
			switch e := e.(type) {
			case client.Moved:
				c.moves.Add(1)
			case client.Disconnected, client.PublishError, client.SlowConsumer, client.QueueFull, client.Gap:
				c.t.Errorf("something was lost: %T %+v", e, e)
			case client.Closed:
				if e.Err != nil {
					c.t.Errorf("a client has ended: %v", e.Err)
				}
			}
		},
	})
	c.edges[0].Must(err)
	c.clients = append(c.clients, opened)
	return opened
}

func (c *crowd) Close() {
	for _, opened := range c.clients {
		_ = opened.Close() // its event says how it has ended
	}
}

// The channels of numbers: of a history, and of none.
const (
	keptNumbers  = "chat.n"
	plainNumbers = "plain.n"
)

// numbers are what a subscriber has.
type numbers struct {
	mu     sync.Mutex
	kept   int          // how many, all in order from 0 on
	plain  map[int]bool // an edge hears of a subscription at another one a moment later
	last   int          // of the plain ones
	faults []string
}

// Subscribe connects a client that hears all numbers.
func (c *crowd) Subscribe() {
	c.t.Helper()
	s, opened := &numbers{plain: map[int]bool{}, last: -1}, c.connect()
	_, err := opened.SubscribeFunc(c.t.Context(), "paint.room", plainNumbers, func(m client.Message) {
		n, _ := strconv.Atoi(string(m.Payload))
		s.mu.Lock()
		defer s.mu.Unlock()
		if n < s.last && !m.Late && !s.plain[n] {
			s.faults = append(s.faults, fmt.Sprintf("%d came after %d", n, s.last))
		}
		s.plain[n], s.last = true, max(s.last, n)
	})
	c.edges[0].Must(err)
	_, err = opened.SubscribeFunc(c.t.Context(), "paint.room", keptNumbers, func(m client.Message) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if string(m.Payload) != strconv.Itoa(s.kept) {
			s.faults = append(s.faults, fmt.Sprintf("%s of the history came as number %d", m.Payload, s.kept))
		}
		s.kept++
	}, client.WithHistory(client.Now))
	c.edges[0].Must(err)
	c.list = append(c.list, s)
}

// Await waits until all subscribers have so many numbers of the history, and others up to them.
func (c *crowd) Await(n int) {
	c.t.Helper()
	for i, s := range c.list {
		natstest.Await(c.t, fmt.Sprintf("client %d to have %d numbers", i, n), func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.kept >= n && s.last >= n-1
		})
	}
}

// Check requires all of so many numbers, plain ones from the first that came on.
func (c *crowd) Check(total int) {
	c.t.Helper()
	for i, s := range c.list {
		s.mu.Lock()
		first := slices.Min(slices.Collect(maps.Keys(s.plain)))
		if len(s.plain) != total-first || s.kept != total || len(s.faults) > 0 {
			c.t.Errorf("client %d got %d of %d numbers from %d on, and %d of the history; faults: %.5q",
				i, len(s.plain), total, first, s.kept, s.faults)
		}
		s.mu.Unlock()
	}
}

// Publish publishes numbers until end is called, which returns how many. Each third is published
// to the history again with its key, whichever edge gets that, and is there once.
func (c *crowd) Publish() (end func() (total int)) {
	c.t.Helper()
	p, stop, total := c.connect(), make(chan struct{}), make(chan int, 1)
	go func() { // ends with stop, at the latest with the client
		n, err := 0, error(nil)
		defer func() { total <- n }()
		for ; err == nil; n++ {
			select {
			case <-time.After(harness.AtLength(100*time.Millisecond, 500*time.Millisecond)): // a load, not a wait
			case <-stop:
				return
			}
			text := []byte(strconv.Itoa(n))
			err = p.Publish(c.t.Context(), "paint.room", plainNumbers, text)
			for at, try := "", 0; err == nil && try < 1+n%3/2; try++ {
				before := at
				if at, err = p.PublishConfirmed(c.t.Context(), "paint.room", keptNumbers, text, client.WithKey(string(text))); try > 0 && at != before {
					c.t.Errorf("%s was published again, and is at %s and %s", text, before, at)
				}
			}
		}
		c.t.Errorf("message %d: %v", n, err)
	}()
	return func() int { close(stop); return <-total }
}
