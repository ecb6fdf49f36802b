package programs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// Each scenario runs, over one of the transports, and loses nothing; package loadgen has how it
// counts. The windows are small, so that no rate comes near the cap of a token, an error.
func TestBench(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	trust := []string{"--ca", filepath.Join(e.Dir, "data/caddy/pki/authorities/local/root.crt")}
	plain := []string{"--url", fmt.Sprintf("ws://localhost:%d/ws", e.HTTP)}
	secure := append([]string{"--url", fmt.Sprintf("wss://localhost:%d", e.HTTPS)}, trust...)
	webTransport := append([]string{"--transport", "webtransport", "--url", fmt.Sprintf("https://localhost:%d/wt", e.HTTPS)}, trust...)
	short := []string{"--duration", "200ms", "--warmup", "10ms", "--server-pid", fmt.Sprint(e.Cmd.Process.Pid), "--json"}
	for _, run := range []struct {
		scenario    string
		target      []string
		flags       []string
		connections int
		fan         int64
	}{
		{"fanout", webTransport, slices.Concat([]string{"--subscribers", "5", "--window", "2", "--burst", "2"}, short), 6, 5},
		{"latency", secure, slices.Concat([]string{"--subscribers", "5", "--rate", "100"}, short), 6, 5},
		{"rooms", plain, slices.Concat([]string{"--rooms", "2", "--members", "3", "--member-rate", "20"}, short), 6, 3},
		{"idle", secure, append([]string{"--connections", "5", "--settle", "10ms"}, short[4:]...), 5, 0},
	} {
		var m harness.Measured
		e.Pubsub(nil, "", slices.Concat([]string{"bench", run.scenario}, run.flags, run.target)...).Decode(&m)
		if m.Scenario != run.scenario || m.Connections != run.connections || m.Delivered != m.Published*run.fan || m.Lost+m.Duplicates+m.Reordered != 0 || len(m.Errors) > 0 {
			t.Errorf("got %+v", m)
		}
		if idle := run.scenario == "idle"; idle == (m.Published > 0 && m.P50 > 0 && m.P50 <= m.Max) || (m.Memory != nil) != (idle && runtime.GOOS == "linux") {
			t.Errorf("got %+v", m)
		}
	}
	// What only an edge refuses; package command has the rest.
	e.Pubsub(nil, "", slices.Concat([]string{"bench", "--payload", "65537", "--subscribers", "2"}, plain)...).Want(1, "", "over the edge's max_payload (ERR:payload_too_large")
	e.Pubsub([]string{"MILLRACE_MASTER_TOKEN=", "MILLRACE_TOKEN=" + e.Issue(harness.AllowAll("room")).Token}, "", slices.Concat([]string{"bench", "--tenant", "paint.other"}, plain)...).
		Want(1, "", `needs a grant for the tenant "paint.other" with `+"`bench.#`")

	// Ctrl+C ends a run with the figures until then, and leaves nothing behind.
	p := harness.StartBackground(t, e.Command(slices.Concat([]string{"pubsub", "bench", "idle", "--connections", "5", "--settle", "50m", "--json"}, plain)...))
	p.Await(p.Err, " of ")
	p.Signal(syscall.SIGINT)
	var m harness.Measured
	if code := p.ExitCode(); code != 0 || json.Unmarshal([]byte(p.Out.String()), &m) != nil || !m.Interrupted {
		t.Errorf("exit code %d, %s; stderr:\n%s", code, p.Out, p.Err)
	}
	harness.AwaitConnections(e, 0)
	var list struct {
		Tokens []struct {
			CreatedBy string `json:"created_by"`
			Status    string
		}
	}
	e.Rest("GET", "/v1/tokens?limit=1000", e.Master, nil).Decode(t, http.StatusOK, &list)
	issued := 0
	for _, token := range list.Tokens {
		if token.CreatedBy == "pubsub bench" {
			if issued++; token.Status != "revoked" {
				t.Errorf("a token of bench is %s", token.Status)
			}
		}
	}
	if issued < 4 {
		t.Errorf("bench has issued %d tokens", issued)
	}
}

// The commands of docs/bench.md run against `pubsub dev`, pasted as they stand:
// only the ports and the program's path are others here, and the runs are short.
func TestBenchDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/bench.md")
	if err != nil {
		t.Fatal(err)
	}
	d := harness.NewDevEdge(t)
	d.Start(t)
	d.Env = append(d.Env, fmt.Sprintf("CADDY_ADMIN=localhost:%d", d.Ports[2]))
	adapted := strings.NewReplacer(
		"go build -o millrace ./cmd/millrace\n", "set -e\n",
		"./millrace pubsub bench fanout", harness.Program+" pubsub bench fanout --duration 100ms --window 2 --subscribers 50",
		"./millrace pubsub bench idle", harness.Program+" pubsub bench idle --connections 10 --settle 10ms",
		"./millrace", harness.Program,
		"--subscribers 200", "--subscribers 10",
		"localhost:8080", fmt.Sprintf("localhost:%d", d.Ports[1]),
		"localhost:8443", fmt.Sprintf("localhost:%d", d.Ports[0]),
		"$(pgrep -nf 'millrace pubsub dev')", fmt.Sprint(d.Cmd.Process.Pid), // another may be a test's
	)
	var script strings.Builder
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	for _, b := range blocks {
		script.WriteString(adapted.Replace(b[1]))
	}
	cmd := exec.Command("bash", "-c", script.String())
	cmd.Dir, cmd.Env = d.Home, d.Env
	out, err := cmd.CombinedOutput()
	if err != nil || len(blocks) != 3 || strings.Count(string(out), " 0 lost") != 3 || !strings.Contains(string(out), `"scenario":"idle"`) {
		t.Errorf("%d blocks: %v\n%s", len(blocks), err, out)
	}
	d.Stop(t, syscall.SIGINT)
}
