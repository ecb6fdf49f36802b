package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/programs"
	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/internal/version"
)

// nextVersion is that of the program that replaces the one under test.
const nextVersion = "0.1.1-test"

// upgraded returns the programs of before and after an upgrade, and the version of that. With
// MILLRACE_UPGRADE_FROM, the program of an earlier release, the one under test is that of
// after. Else it is that of before, and built again to name nextVersion; scripts/test.sh
// builds that, too.
func upgraded(t *testing.T) (before, after, to string) {
	t.Helper()
	if before = os.Getenv("MILLRACE_UPGRADE_FROM"); before == "" {
		next, err := programs.Build(harness.Built, "millrace-next", "../cmd/millrace", "-ldflags=-X "+version.Module+"/internal/version.number="+nextVersion)
		testcheck.Must(t, err)
		return harness.Program, next, nextVersion
	}
	return before, harness.Program, version.Number()
}

// Three edges are replaced by those of another version, one after the other, below clients that
// subscribe, and one that publishes while they move: these lose nothing, and none loses its
// connection. What a history keeps comes once, in order. Edges of both versions are one overlay. "drain by SIGTERM"
// of TestSDKs has the clients of all SDKs, and what comes twice.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	before, after, to := upgraded(t)
	join := harness.Joining(harness.StartNATS(t, 1), "")[0]
	// Clients may take long to move where they share two busy cores with the edges.
	caddyfile := strings.NewReplacer("drain 7s", "drain 2m", "\tpubsub\n", "\tpubsub\n\tpubsub_ready\n").Replace(history.Caddyfile("nats"))
	options := []harness.Option{join, func(e *harness.Edge) { e.Program = before }}
	edges := []*harness.Edge{harness.StartEdge(t, caddyfile, options...)}
	for range 2 {
		edges = append(edges, harness.StartEdge(t, caddyfile, append(options, harness.WithMaster(edges[0]))...))
	}
	c := startCrowd(t, edges, harness.SoakCount(t, 10, 1_000))
	for i, e := range edges {
		drained := make(chan error, 1)
		go func() { drained <- asTheGuideSays(e, `"$PROGRAM" pubsub drain`) }() // ends with the commands
		last := time.Time{}
		e.Poll("its clients to leave", func() bool {
			if time.Since(last) > harness.AtLength(0, 500*time.Millisecond) { // a load for very many clients
				last = time.Now()
				c.Publish()
			}
			return len(drained) > 0
		})
		e.Must(<-drained)
		e.Stop()
		edges[i] = harness.StartEdge(t, caddyfile, sdk.Again(e), func(next *harness.Edge) { next.Program = after })
		e.Must(asTheGuideSays(edges[i], `until "$PROGRAM" pubsub ready`))
		t.Run(fmt.Sprintf("%d of version %s", i+1, to), func(t *testing.T) {
			o := &harness.Overlay{T: t}
			for _, e := range edges {
				o.Edges = append(o.Edges, e.With(t))
				e.Poll("all edges, so many of the next version", func() bool {
					all := fmt.Sprint(e.OverlayEdges()) // [{name answered {version}} ...]
					return strings.Count(all, " true {") == 3 && strings.Count(all, " true {"+to+"}") == i+1
				})
			}
			works(o)
		})
	}
	c.End()
}

// asTheGuideSays runs those lines of docs/upgrading.md that begin so, at this edge.
func asTheGuideSays(e *harness.Edge, beginnings ...string) error {
	text, err := os.ReadFile("../docs/upgrading.md")
	script := "set -eu\n"
	for _, beginning := range beginnings {
		line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(beginning) + `.*\n`).Find(text)
		if line == nil {
			return fmt.Errorf("the guide has no line that begins with %s (%v)", beginning, err)
		}
		script += string(line)
	}
	ctx, cancel := context.WithTimeout(e.T.Context(), 4*harness.WaitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Env = e.Dir, append(slices.Clone(e.Env),
		"PROGRAM="+e.Program, "CADDY_ADMIN="+e.AdminAddress(), "READY="+e.HttpURL("/ready"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s%w\n%s", script, err, out)
	}
	return nil
}

// crowd is Go clients of edges that are replaced, in a process of their own: a publisher of
// numbers, and subscribers that get them with a history and without.
type crowd struct {
	*sdk.Stage
	publisher   *sdk.Client
	subscribers []*sdk.Client
	kept, plain []*sdk.Sub // of the subscribers
	positions   []string   // of the numbers
}

// startCrowd connects n subscribers. Some use WebTransport.
func startCrowd(t *testing.T, edges []*harness.Edge, n int) *crowd {
	t.Helper()
	lab := &sdk.Lab{}
	c := &crowd{Stage: lab.Stage(t, sdk.Kind{Where: "go", Transport: "websocket"}, edges...)}
	options := sdk.Options{ // there are very many clients, and little time for each
		Token: edges[0].Issue(history.AllowHistory(c.Room)).Token, PongTimeout: 60_000, ConnectTimeout: 60_000,
	}
	c.publisher = c.Connect(options)
	for i := range n {
		options.Transports = []string{"websocket"}
		if i%5 == 0 {
			options.Transports = []string{"webtransport"}
		}
		s := c.Connect(options)
		c.subscribers = append(c.subscribers, s)
		c.kept = append(c.kept, s.SubscribeAs("iterate", c.Tenant, "chat.n", &sdk.Options{History: "now"}))
		c.plain = append(c.plain, s.Subscribe(c.Tenant, "plain.n"))
	}
	return c
}

// Publish publishes the next number.
func (c *crowd) Publish() {
	c.T.Helper()
	text := strconv.Itoa(len(c.positions))
	c.publisher.Publish(c.Tenant, "plain.n", text)
	c.positions = append(c.positions, c.publisher.Confirm(c.Tenant, "chat.n", text, text))
}

// End requires that each subscriber has all numbers, and has moved, and closes the clients before
// their edges end.
func (c *crowd) End() {
	c.T.Helper()
	c.Publish() // behind all moves
	total, moves := len(c.positions), 0
	for i, s := range c.subscribers {
		c.kept[i].WantStored(0, c.positions...)
		seen := map[string]bool{}
		for !seen[strconv.Itoa(total-1)] {
			seen[string(c.plain[i].Next().Payload)] = true
		}
		if len(seen) != total {
			c.T.Errorf("a client got %d of %d numbers", len(seen), total)
		}
		s.Never("disconnected", "reconnecting", "publishError", "edgeError", "queueFull", "gap", "slowConsumer")
		moves += s.Count("moved")
		s.Close()
	}
	c.publisher.Never("disconnected", "reconnecting", "publishError", "edgeError")
	c.publisher.Close()
	if moves < len(c.subscribers) { // each edge was replaced, so each client has left one at least
		c.T.Errorf("%d clients have moved %d times", len(c.subscribers), moves)
	}
	c.T.Logf("%d clients, %d numbers with a history and as many without, %d moves", len(c.subscribers), total, moves)
}
