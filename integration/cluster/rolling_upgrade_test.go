package cluster

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/programs"
	"github.com/millrace/millrace/internal/version"
)

// nextVersion is that of the program that replaces the one under test.
const nextVersion = "0.1.1-test"

// nextProgram returns the path of the program under test, built to name nextVersion.
// scripts/check.sh builds it, too.
var nextProgram = sync.OnceValues(func() (string, error) {
	flags := "-ldflags=-X " + version.Module + "/internal/version.number=" + nextVersion
	return programs.Build(harness.Built, "millrace-next", "../cmd/millrace", flags)
})

// upgraded returns the programs of before and after an upgrade, with their versions. With
// MILLRACE_UPGRADE_FROM, the program of an earlier release, the one under test is that of after.
func upgraded(t *testing.T) (before, after, from, to string) {
	t.Helper()
	if before = os.Getenv("MILLRACE_UPGRADE_FROM"); before == "" {
		next, err := nextProgram()
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

// Three edges are replaced by those of another version, one after the other, below clients
// that publish and subscribe: these lose nothing, get nothing twice and all in order, and
// none loses its connection. What a history keeps is there once, in order and at the position
// that was confirmed, for clients of both SDKs. Tokens are issued, refreshed and revoked all the time, at
// edges of both versions.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	before, after, from, to := upgraded(t)
	join := harness.Joining(harness.StartNATS(t, 1), "")[0]
	// Clients may take long to move where they share two busy cores with the edges.
	caddyfile := strings.NewReplacer("drain 7s", "drain 2m", "\tpubsub\n", "\tpubsub\n\tpubsub_ready\n").Replace(history.Caddyfile("nats"))
	edges := make([]*harness.Edge, 3)
	crowd := &rollingCrowd{
		N: harness.SoakCount(t, 30, 1_000), Publishers: 3, Every: harness.AtLength(100*time.Millisecond, 500*time.Millisecond),
	}
	for i := range edges {
		options := []harness.Option{join, func(e *harness.Edge) { e.Program = before }}
		if i > 0 {
			options = append(options, harness.WithMaster(edges[0]))
		}
		edges[i] = harness.StartEdge(t, caddyfile, options...)
		root, err := os.ReadFile(edges[i].RootFile())
		if err != nil {
			t.Fatal(err)
		}
		crowd.Roots = append(crowd.Roots, root...)
		crowd.Edges = append(crowd.Edges, edges[i].HttpsURL(""))
	}
	crowd.Master = edges[0].Master
	for range (crowd.N+crowd.Publishers)/rollingTogether + 1 {
		crowd.Tokens = append(crowd.Tokens, edges[0].Issue(harness.AllowAll("room")).Token)
	}
	clients := harness.StartSubprocessBy(t, "TestRollingUpgradeProcess", crowd) // which yields to nobody: clients that get no time seem lost
	kept := startKeptClients(t, edges)
	clients.Await("ready", 5*time.Minute)

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
		for _, asked := range edges {
			want := map[string]int{to: i + 1}
			if i < 2 {
				want[from] = 2 - i
			}
			asked.Poll(fmt.Sprintf("an overlay of %v", want), func() bool {
				got := map[string]int{}
				for _, other := range asked.OverlayEdges() {
					if other.Answered {
						got[other.Status.Version]++
					}
				}
				return fmt.Sprint(got) == fmt.Sprint(want)
			})
		}
	}
	kept.Check()
	clients.End("upgrade:")
}

// asTheGuideSays runs those lines of docs/upgrading.md that begin so, at this edge.
func asTheGuideSays(e *harness.Edge, beginnings ...string) {
	e.T.Helper()
	text, err := os.ReadFile("../docs/upgrading.md")
	if err != nil {
		e.T.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```sh\nNEW=")
	block, _, _ = strings.Cut(block, "```")
	ctx, cancel := context.WithTimeout(e.T.Context(), 4*harness.WaitTimeout)
	defer cancel()
	script := "set -eu\n"
	for _, beginning := range beginnings {
		at := strings.Index(block, "\n"+beginning)
		if at < 0 {
			e.T.Fatalf("the guide has no line that begins with %s in\n%s", beginning, block)
		}
		line, _, _ := strings.Cut(block[at+1:], "\n")
		script += line + "\n"
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Env = e.Dir, append(slices.Clone(e.Env),
		"PROGRAM="+e.Program, "CADDY_ADMIN="+e.AdminAddress(), "METRICS="+e.AdminURL("/metrics"), "READY="+e.HttpURL("/ready"))
	if out, err := cmd.CombinedOutput(); err != nil {
		e.T.Fatalf("%s%v\n%s", script, err, out)
	}
}
