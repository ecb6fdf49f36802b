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

// benchRun is a short run, of which each message is delivered fan times.
type benchRun struct {
	scenario    string
	flags       []string
	connections int
	fan         int64
}

// The windows are small, so that no rate comes near the cap of a token, which
// would be an error.
var benchRuns = []benchRun{
	{"fanout", []string{"--subscribers", "20", "--window", "4", "--burst", "2", "--payload", "24", "--duration", "1s", "--warmup", "100ms"}, 21, 20},
	{"latency", []string{"--subscribers", "10", "--rate", "100", "--duration", "1s", "--warmup", "100ms"}, 11, 10},
	{"rooms", []string{"--rooms", "4", "--members", "3", "--member-rate", "20", "--duration", "1s", "--warmup", "100ms"}, 12, 3},
	{"idle", []string{"--connections", "20", "--settle", "100ms"}, 20, 0},
}

// benchTargets are the flags for an edge over each transport.
func benchTargets(e *harness.Edge) map[string][]string {
	trust := []string{"--ca", filepath.Join(e.Dir, "data/caddy/pki/authorities/local/root.crt")}
	return map[string][]string{
		"websocket":     {"--url", fmt.Sprintf("ws://localhost:%d/ws", e.HTTP)},
		"websocket tls": append([]string{"--url", fmt.Sprintf("wss://localhost:%d", e.HTTPS)}, trust...),
		"webtransport":  append([]string{"--transport", "webtransport", "--url", fmt.Sprintf("https://localhost:%d/wt", e.HTTPS)}, trust...),
	}
}

func benchArgs(e *harness.Edge, run benchRun, target string, flags ...string) []string {
	return slices.Concat([]string{"bench", run.scenario}, run.flags, []string{"--server-pid", fmt.Sprint(e.Cmd.Process.Pid)}, benchTargets(e)[target], flags)
}

// Check requires that a run of this kind lost nothing, and says all it should.
func (run benchRun) Check(t *testing.T, m harness.Measured) {
	t.Helper()
	linux := runtime.GOOS == "linux"
	if m.Scenario != run.scenario || m.Connections != run.connections || m.Handshakes <= 0 || m.Seconds <= 0 || m.GeneratorCores <= 0 || len(m.Errors) > 0 {
		t.Errorf("got %+v, want %d connections", m, run.connections)
	}
	if m.Delivered != m.Published*run.fan || m.Lost != 0 || m.Duplicates != 0 || m.Reordered != 0 {
		t.Errorf("%d published, %d delivered, %d lost, %d twice, %d late; want each delivered %d times",
			m.Published, m.Delivered, m.Lost, m.Duplicates, m.Reordered, run.fan)
	}
	if run.scenario == "idle" {
		if (m.Memory != nil) != linux {
			t.Errorf("memory of a connection: got %v", m.Memory)
		}
		return
	}
	if m.Published == 0 || m.Rate <= 0 || m.P50 <= 0 || m.P50 > m.P90 || m.P90 > m.P99 || m.P99 > m.P999 || m.P999 > m.Max || m.Memory != nil {
		t.Errorf("got %+v", m)
	}
	if run.scenario == "fanout" && (m.CPU > 0 && m.ServerCores > 0) != linux { // the others are idle too much for /proc
		t.Errorf("the edge's CPU time: got %v and %v cores", m.CPU, m.ServerCores)
	}
}

// Every scenario runs over every transport, and loses nothing.
func TestBench(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	t.Run("over", func(t *testing.T) { // ends when all have
		for name := range benchTargets(e) {
			for _, run := range benchRuns {
				t.Run(name+"/"+run.scenario, func(t *testing.T) {
					t.Parallel()
					e := e.With(t)
					var m harness.Measured
					e.Pubsub(nil, "", benchArgs(e, run, name, "--json")...).Decode(&m)
					run.Check(t, m)
				})
			}
		}
	})
	harness.AwaitConnections(e, 0)
	benchTokensRevoked(e)
}

// What is for people has its units.
func TestBenchText(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	for _, run := range benchRuns {
		t.Run(run.scenario, func(t *testing.T) {
			got := e.With(t).Pubsub(nil, "", benchArgs(e, run, "websocket")...)
			got.Want(0, run.scenario, "").Want(0, fmt.Sprintf("%d, opened at ", run.connections), "").Want(0, "cores in use", "")
			if run.scenario != "idle" {
				got.Want(0, " 0 lost", "").Want(0, "p99.9 ", "").Want(0, " ms", "").Want(0, "deliveries", "")
			} else if runtime.GOOS == "linux" {
				got.Want(0, "KiB of the edge for each connection", "")
			}
		})
	}
}

// Few subscribers could take all that the token's caps let through.
func TestBenchStaysBelowCap(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	got := e.Pubsub(nil, "", slices.Concat([]string{"bench", "fanout", "--subscribers", "5", "--cap", "20", "--duration", "2s"}, benchTargets(e)["websocket"])...)
	got.Want(0, " 0 lost", "").Want(0, "held back to", "")
}

// The user's own access token does, too, from stdin as from the environment.
func TestBenchWithAccessToken(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Limited(harness.Object{"egress_kb_per_sec": 16384, "ingress_kb_per_sec": 16384})
	args := benchArgs(e, benchRuns[0], "websocket", "--json", "--tenant", "paint.room")
	var m harness.Measured
	e.Pubsub([]string{"MILLRACE_MASTER_TOKEN="}, token+"\n", args...).Decode(&m)
	benchRuns[0].Check(t, m)
	e.Pubsub([]string{"MILLRACE_MASTER_TOKEN=", "MILLRACE_TOKEN=" + token}, "", args...).Decode(&m)
	benchRuns[0].Check(t, m)
}

func TestBenchRefuses(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	target := benchTargets(e)["websocket"]
	other := e.Issue(harness.AllowAll("room")).Token
	rows := map[string]struct {
		env  string
		args []string
		code int
		want string
	}{
		"an unknown scenario":      {"", []string{"flood"}, 2, `unknown scenario "flood"; allowed: fanout, latency, rooms, idle`},
		"no window":                {"", []string{"--window", "0"}, 2, "--window: must be from 1 to"},
		"no subscribers":           {"", []string{"latency", "--subscribers", "0"}, 2, "--subscribers: must be from 1 to"},
		"another scenario's flag":  {"", []string{"idle", "--window", "3"}, 2, "--window: not for idle; it is for fanout"},
		"a small payload":          {"", []string{"--payload", "3"}, 2, "--payload: must be from 24 to"},
		"a payload over the limit": {"", []string{"--payload", "65537", "--subscribers", "2"}, 1, "over the edge's max_payload (ERR:payload_too_large"},
		"a payload far over it":    {"", []string{"--payload", "100000", "--subscribers", "2"}, 1, "far above the edge's max_payload"},
		"a cap over the limit":     {"", []string{"--cap", "16385"}, 1, "must be an integer from 1 to 16384 (400 invalid_body) (--cap sets it)"},
		"a transport":              {"", []string{"--transport", "carrier"}, 2, "--transport: must be websocket or webtransport"},
		"no process":               {"", []string{"--server-pid", "99999999"}, 2, "--server-pid: must be "},
		"a foreign tenant":         {"MILLRACE_TOKEN=" + other, []string{"--tenant", "paint.other"}, 1, `needs a grant for the tenant "paint.other" with ` + "`bench.#`"},
		"an unknown access token":  {"MILLRACE_TOKEN=AT_" + harness.UnknownID + "_" + harness.UnknownID, nil, 1, "401 unauthorized"},
		"no token":                 {"MILLRACE_TOKEN=", nil, 2, "a token is required"},
		"what is no token":         {"MILLRACE_TOKEN=secret-text", nil, 2, "does not hold a token"},
	}
	refuses := func(t *testing.T) { // ends when all have
		for name, row := range rows {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if runtime.GOOS != "linux" && name == "no process" {
					row.code, row.want = 0, "" // nothing is measured there
				}
				env := []string(nil)
				if row.env != "" {
					env = []string{"MILLRACE_MASTER_TOKEN=", row.env}
				}
				got := e.With(t).Pubsub(env, "", slices.Concat([]string{"bench"}, row.args, target)...).Want(row.code, "", row.want)
				for _, secret := range []string{e.Master[36:], other[36:], "secret-text"} {
					if strings.Contains(got.Out+got.Err, secret) {
						t.Errorf("a secret is repeated:\n%s%s", got.Out, got.Err)
					}
				}
				if got.Out != "" && strings.Contains(got.Out, "deliveries  ") {
					t.Errorf("there are figures:\n%s", got.Out)
				}
			})
		}
	}
	t.Run("refuses", refuses)
	benchTokensRevoked(e)
}

// Ctrl+C ends a run with the figures until then, and leaves nothing behind.
func TestBenchInterrupt(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	for _, run := range benchRuns {
		t.Run(run.scenario, func(t *testing.T) {
			e := e.With(t)
			args := benchArgs(e, run, "websocket tls", "--json")
			for i := range args {
				if args[i] == "--duration" || args[i] == "--settle" {
					args[i+1] = "50s"
				}
			}
			p := harness.StartBackground(t, e.Command(append([]string{"pubsub"}, args...)...))
			p.Await(p.Err, " of 50 s")
			p.Signal(syscall.SIGINT)
			if code := p.ExitCode(); code != 0 {
				t.Errorf("exit code %d; stderr:\n%s", code, p.Err)
			}
			var m harness.Measured
			if err := json.Unmarshal([]byte(p.Out.String()), &m); err != nil {
				t.Fatalf("%v: %s", err, p.Out)
			}
			run.Check(t, m)
			if !m.Interrupted || m.Seconds > 45 || !strings.Contains(p.Err.String(), "Interrupted: these are the figures until then.") {
				t.Errorf("got %+v; stderr:\n%s", m, p.Err)
			}
		})
	}
	harness.AwaitConnections(e, 0)
	benchTokensRevoked(e)
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

// benchTokensRevoked requires that no token which bench has issued is left.
func benchTokensRevoked(e *harness.Edge) {
	e.T.Helper()
	var list struct {
		Tokens []struct {
			CreatedBy string `json:"created_by"`
			Status    string
		}
	}
	e.Rest("GET", "/v1/tokens?limit=1000", e.Master, nil).Decode(e.T, http.StatusOK, &list)
	issued := 0
	for _, token := range list.Tokens {
		if token.CreatedBy != "pubsub bench" {
			continue
		}
		if issued++; token.Status != "revoked" {
			e.T.Errorf("a token of bench is %s", token.Status)
		}
	}
	if issued == 0 {
		e.T.Error("bench has issued no token")
	}
}
