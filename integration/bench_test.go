package integration

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
)

// measured is the result of bench as JSON.
type measured struct {
	Scenario       string   `json:"scenario"`
	Published      int64    `json:"published"`
	Delivered      int64    `json:"delivered"`
	Lost           int64    `json:"lost"`
	Duplicates     int64    `json:"duplicates"`
	Reordered      int64    `json:"reordered"`
	Seconds        float64  `json:"seconds"`
	Rate           float64  `json:"deliveries_per_second"`
	CPU            float64  `json:"server_cpu_seconds_per_million"`
	ServerCores    float64  `json:"server_cores"`
	GeneratorCores float64  `json:"generator_cores"`
	P50            float64  `json:"p50_us"`
	P90            float64  `json:"p90_us"`
	P99            float64  `json:"p99_us"`
	P999           float64  `json:"p999_us"`
	Max            float64  `json:"max_us"`
	Connections    int      `json:"connections"`
	Handshakes     float64  `json:"handshakes_per_second"`
	Memory         *float64 `json:"server_bytes_per_connection"`
	Interrupted    bool     `json:"interrupted"`
	Errors         []string `json:"errors"`
}

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
func (e *edge) benchTargets() map[string][]string {
	trust := []string{"--ca", filepath.Join(e.Dir, "data/caddy/pki/authorities/local/root.crt")}
	return map[string][]string{
		"websocket":     {"--url", fmt.Sprintf("ws://localhost:%d/ws", e.HTTP)},
		"websocket tls": append([]string{"--url", fmt.Sprintf("wss://localhost:%d", e.HTTPS)}, trust...),
		"webtransport":  append([]string{"--transport", "webtransport", "--url", fmt.Sprintf("https://localhost:%d/wt", e.HTTPS)}, trust...),
	}
}

func (e *edge) benchArgs(run benchRun, target string, flags ...string) []string {
	return slices.Concat([]string{"bench", run.scenario}, run.flags, []string{"--server-pid", fmt.Sprint(e.cmd.Process.Pid)}, e.benchTargets()[target], flags)
}

// check requires that a run of this kind lost nothing, and says all it should.
func (run benchRun) check(t *testing.T, m measured) {
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
	e := startEdge(t, defaultCaddyfile)
	t.Run("over", func(t *testing.T) { // ends when all have
		for name := range e.benchTargets() {
			for _, run := range benchRuns {
				t.Run(name+"/"+run.scenario, func(t *testing.T) {
					t.Parallel()
					e := e.with(t)
					var m measured
					e.pubsub(nil, "", e.benchArgs(run, name, "--json")...).decode(&m)
					run.check(t, m)
				})
			}
		}
	})
	awaitConnections(e, 0)
	e.benchTokensRevoked()
}

// What is for people has its units.
func TestBenchText(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	for _, run := range benchRuns {
		t.Run(run.scenario, func(t *testing.T) {
			got := e.with(t).pubsub(nil, "", e.benchArgs(run, "websocket")...)
			got.want(0, run.scenario, "").want(0, fmt.Sprintf("%d, opened at ", run.connections), "").want(0, "cores in use", "")
			if run.scenario != "idle" {
				got.want(0, " 0 lost", "").want(0, "p99.9 ", "").want(0, " ms", "").want(0, "deliveries", "")
			} else if runtime.GOOS == "linux" {
				got.want(0, "KiB of the edge for each connection", "")
			}
		})
	}
}

// Few subscribers could take all that the token's caps let through.
func TestBenchStaysBelowCap(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	got := e.pubsub(nil, "", slices.Concat([]string{"bench", "fanout", "--subscribers", "5", "--cap", "20", "--duration", "2s"}, e.benchTargets()["websocket"])...)
	got.want(0, " 0 lost", "").want(0, "held back to", "")
}

// The user's own access token does, too, from stdin as from the environment.
func TestBenchWithAccessToken(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.limited(object{"egress_kb_per_sec": 16384, "ingress_kb_per_sec": 16384})
	args := e.benchArgs(benchRuns[0], "websocket", "--json", "--tenant", "paint.room")
	var m measured
	e.pubsub([]string{"MILLRACE_MASTER_TOKEN="}, token+"\n", args...).decode(&m)
	benchRuns[0].check(t, m)
	e.pubsub([]string{"MILLRACE_MASTER_TOKEN=", "MILLRACE_TOKEN=" + token}, "", args...).decode(&m)
	benchRuns[0].check(t, m)
}

func TestBenchRefuses(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	target := e.benchTargets()["websocket"]
	other := e.issue(allowAll("room")).Token
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
		"an unknown access token":  {"MILLRACE_TOKEN=AT_" + unknownID + "_" + unknownID, nil, 1, "401 unauthorized"},
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
				got := e.with(t).pubsub(env, "", slices.Concat([]string{"bench"}, row.args, target)...).want(row.code, "", row.want)
				for _, secret := range []string{e.master[36:], other[36:], "secret-text"} {
					if strings.Contains(got.out+got.err, secret) {
						t.Errorf("a secret is repeated:\n%s%s", got.out, got.err)
					}
				}
				if got.out != "" && strings.Contains(got.out, "deliveries  ") {
					t.Errorf("there are figures:\n%s", got.out)
				}
			})
		}
	}
	t.Run("refuses", refuses)
	e.benchTokensRevoked()
}

// Ctrl+C ends a run with the figures until then, and leaves nothing behind.
func TestBenchInterrupt(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	for _, run := range benchRuns {
		t.Run(run.scenario, func(t *testing.T) {
			e := e.with(t)
			args := e.benchArgs(run, "websocket tls", "--json")
			for i := range args {
				if args[i] == "--duration" || args[i] == "--settle" {
					args[i+1] = "50s"
				}
			}
			p := startBackground(t, e.command(append([]string{"pubsub"}, args...)...))
			p.await(p.err, " of 50 s")
			p.signal(syscall.SIGINT)
			if code := p.exitCode(); code != 0 {
				t.Errorf("exit code %d; stderr:\n%s", code, p.err)
			}
			var m measured
			if err := json.Unmarshal([]byte(p.out.String()), &m); err != nil {
				t.Fatalf("%v: %s", err, p.out)
			}
			run.check(t, m)
			if !m.Interrupted || m.Seconds > 45 || !strings.Contains(p.err.String(), "Interrupted: these are the figures until then.") {
				t.Errorf("got %+v; stderr:\n%s", m, p.err)
			}
		})
	}
	awaitConnections(e, 0)
	e.benchTokensRevoked()
}

// The commands of docs/bench.md run against `pubsub dev`, pasted as they stand:
// only the ports and the program's path are others here, and the runs are short.
func TestBenchDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/bench.md")
	if err != nil {
		t.Fatal(err)
	}
	d := newDevEdge(t)
	d.start(t)
	d.env = append(d.env, fmt.Sprintf("CADDY_ADMIN=localhost:%d", d.ports[2]))
	adapted := strings.NewReplacer(
		"go build -o millrace ./cmd/millrace\n", "set -e\n",
		"./millrace pubsub bench fanout", millrace+" pubsub bench fanout --duration 100ms --window 2 --subscribers 50",
		"./millrace pubsub bench idle", millrace+" pubsub bench idle --connections 10 --settle 10ms",
		"./millrace", millrace,
		"--subscribers 200", "--subscribers 10",
		"localhost:8080", fmt.Sprintf("localhost:%d", d.ports[1]),
		"localhost:8443", fmt.Sprintf("localhost:%d", d.ports[0]),
		"$(pgrep -nf 'millrace pubsub dev')", fmt.Sprint(d.cmd.Process.Pid), // another may be a test's
	)
	var script strings.Builder
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	for _, b := range blocks {
		script.WriteString(adapted.Replace(b[1]))
	}
	cmd := exec.Command("bash", "-c", script.String())
	cmd.Dir, cmd.Env = d.home, d.env
	out, err := cmd.CombinedOutput()
	if err != nil || len(blocks) != 3 || strings.Count(string(out), " 0 lost") != 3 || !strings.Contains(string(out), `"scenario":"idle"`) {
		t.Errorf("%d blocks: %v\n%s", len(blocks), err, out)
	}
	d.stop(t, syscall.SIGINT)
}

// benchTokensRevoked requires that no token which bench has issued is left.
func (e *edge) benchTokensRevoked() {
	e.t.Helper()
	var list struct {
		Tokens []struct {
			CreatedBy string `json:"created_by"`
			Status    string
		}
	}
	e.rest("GET", "/v1/tokens?limit=1000", e.master, nil).decode(e.t, http.StatusOK, &list)
	issued := 0
	for _, token := range list.Tokens {
		if token.CreatedBy != "pubsub bench" {
			continue
		}
		if issued++; token.Status != "revoked" {
			e.t.Errorf("a token of bench is %s", token.Status)
		}
	}
	if issued == 0 {
		e.t.Error("bench has issued no token")
	}
}
