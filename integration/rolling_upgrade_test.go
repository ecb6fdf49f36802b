package integration

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

	"github.com/millrace/millrace/internal/programs"
	"github.com/millrace/millrace/internal/version"
)

// nextVersion is that of the program that replaces the one under test.
const nextVersion = "0.1.1-test"

// nextProgram returns the path of the program under test, built to name nextVersion.
// scripts/test.sh builds it, too.
var nextProgram = sync.OnceValues(func() (string, error) {
	flags := append(slices.Clone(buildFlags), "-ldflags=-X "+version.Module+"/internal/version.number="+nextVersion)
	return programs.Build(built, "millrace-next", "../cmd/millrace", flags...)
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
		return millrace, next, version.Number(), nextVersion
	}
	out, err := exec.Command(before, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	from, _, _ = strings.Cut(strings.TrimPrefix(string(out), "Millrace "), ",")
	return before, millrace, from, version.Number()
}

// Three edges are replaced by those of another version, one after the other, below clients
// that publish and subscribe: these lose nothing, get nothing twice and all in order, and
// none loses its connection. What a history keeps is there once, in order and at the position
// that was confirmed, for clients of both SDKs. Tokens are issued, refreshed and revoked all the time, at
// edges of both versions.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	before, after, from, to := upgraded(t)
	join := joining(startNATS(t, 1), "")[0]
	// Clients may take long to move where they share two busy cores with the edges.
	caddyfile := strings.NewReplacer("drain 7s", "drain 2m", "\tpubsub\n", "\tpubsub\n\tpubsub_ready\n").Replace(historyCaddyfile("nats"))
	edges := make([]*edge, 3)
	crowd := &rollingCrowd{
		N: soakCount(t, 30, 1_000), Publishers: 3, Every: atLength(100*time.Millisecond, 500*time.Millisecond),
	}
	for i := range edges {
		options := []option{join, func(e *edge) { e.program = before }}
		if i > 0 {
			options = append(options, withMaster(edges[0]))
		}
		edges[i] = startEdge(t, caddyfile, options...)
		root, err := os.ReadFile(edges[i].rootFile())
		if err != nil {
			t.Fatal(err)
		}
		crowd.Roots = append(crowd.Roots, root...)
		crowd.Edges = append(crowd.Edges, edges[i].httpsURL(""))
	}
	crowd.Master = edges[0].master
	for range (crowd.N+crowd.Publishers)/rollingTogether + 1 {
		crowd.Tokens = append(crowd.Tokens, edges[0].issue(allowAll("room")).Token)
	}
	clients := startSubprocessBy(t, "TestRollingUpgradeProcess", crowd) // which yields to nobody: clients that get no time seem lost
	kept := startKeptClients(t, edges)
	clients.await("ready", 5*time.Minute)

	for i, e := range edges {
		began, there := time.Now(), e.sessions()
		if i == 0 {
			e.asTheGuideSays(`"$PROGRAM" pubsub drain`, "while curl ")
		} else {
			e.drainByAdminAPI()
		}
		e.poll("its clients to leave", func() bool { return e.sessions() == 0 })
		moved := time.Since(began)
		e.stop()
		edges[i] = startEdge(t, caddyfile, again(e), func(next *edge) { next.program = after })
		if i == 0 {
			edges[i].asTheGuideSays("until curl ")
		}
		edges[i].poll("readiness", func() bool { return edges[i].rest("GET", "/ready", "", nil).Status == http.StatusOK })
		t.Logf("edge %d: %d clients have moved after %v, the next version is ready after %v", i, there, moved, time.Since(began))
		for _, asked := range edges {
			want := map[string]int{to: i + 1}
			if i < 2 {
				want[from] = 2 - i
			}
			asked.poll(fmt.Sprintf("an overlay of %v", want), func() bool {
				got := map[string]int{}
				for _, other := range asked.overlayEdges() {
					if other.Answered {
						got[other.Status.Version]++
					}
				}
				return fmt.Sprint(got) == fmt.Sprint(want)
			})
		}
	}
	kept.check()
	clients.end("upgrade:")
}

// asTheGuideSays runs those lines of docs/upgrading.md that begin so, at this edge.
func (e *edge) asTheGuideSays(beginnings ...string) {
	e.t.Helper()
	text, err := os.ReadFile("../docs/upgrading.md")
	if err != nil {
		e.t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```sh\nNEW=")
	block, _, _ = strings.Cut(block, "```")
	ctx, cancel := context.WithTimeout(e.t.Context(), 4*waitTimeout)
	defer cancel()
	script := "set -eu\n"
	for _, beginning := range beginnings {
		at := strings.Index(block, "\n"+beginning)
		if at < 0 {
			e.t.Fatalf("the guide has no line that begins with %s in\n%s", beginning, block)
		}
		line, _, _ := strings.Cut(block[at+1:], "\n")
		script += line + "\n"
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Env = e.Dir, append(slices.Clone(e.env),
		"PROGRAM="+e.program, "CADDY_ADMIN="+e.adminAddress(), "METRICS="+e.adminURL("/metrics"), "READY="+e.httpURL("/ready"))
	if out, err := cmd.CombinedOutput(); err != nil {
		e.t.Fatalf("%s%v\n%s", script, err, out)
	}
}
