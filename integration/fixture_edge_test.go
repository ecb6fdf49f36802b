package integration

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"text/template"
	"time"

	"github.com/millrace/millrace/internal/capture"
	"github.com/millrace/millrace/internal/loopback"
)

// waitTimeout bounds every wait for one event; a wait takes that long only if something
// is broken.
const waitTimeout = 30 * time.Second

// Caddyfile fragments for startEdge. Tests without special needs use defaultCaddyfile: the
// namespace "paint.", plain HTTP and HTTPS on loopback.
const (
	globalOptions = `
	admin localhost:{{.Admin}}
	skip_install_trust
	auto_https disable_redirects
	http_port {{.HTTP}}
	https_port {{.HTTPS}}
	default_bind {{.Bind}}
`
	pubsubStore = `
		token_store {{.Store}}
		broker {{.Broker}}
		drain 7s
`
	defaultMaster = `
		master_token {env.MILLRACE_MASTER_TOKEN} {
			name test
			tenant_prefix paint.
			allow_ip_masks 127.0.0.0/8
		}
`
	fastBandwidth = `
		bandwidth {
			default_ingress 16384
			default_egress 16384
			max 16384
		}
`
	sites = `
http://localhost:{{.HTTP}} {
	pubsub
	respond "no such page" 404
}
https://localhost:{{.HTTPS}} {
	tls internal
	pubsub
	respond "no such page" 404
}
`
	defaultCaddyfile = "{" + globalOptions + "\tpubsub {" + pubsubStore + defaultMaster + fastBandwidth + "\t}\n}\n" + sites
)

// patientCaddyfile is for edges that clients leave while they drain: as long as a test
// waits for a client, which a busy machine may give no time, the edge waits, too. It ends
// as soon as all have left.
var patientCaddyfile = strings.Replace(defaultCaddyfile, "drain 7s", "drain 1m", 1)

// edge is one running millrace process. Its methods fail the test t instead of
// returning errors. All except output may be called only from the goroutine of t.
type edge struct {
	HTTP, HTTPS, Admin int    // loopback ports
	Dir                string // the process's home, data and configuration
	Store, Broker      string // of the Caddyfile; see joining
	Bind               string // addresses
	forBrowsers        bool

	t       *testing.T
	master  string // the token in MILLRACE_MASTER_TOKEN
	env     []string
	program string // that is run
	file    string // the Caddyfile
	given   string // what was made that file
	foreign string // suppressions of the race detector, one a line
	*process
}

// process is what an edge shares with its copies by [edge.with].
type process struct {
	cmd    *exec.Cmd
	out    capture.Output
	exited chan struct{} // closed after err is set
	err    error
	wanted bool // the test has requested the end
}

// with returns the edge for a subtest: failures are then those of the subtest.
func (e *edge) with(t *testing.T) *edge {
	sub := *e
	sub.t = t
	return &sub
}

type option func(*edge)

// withEnv adds a variable, "NAME=value", to the edge's environment.
func withEnv(variable string) option {
	return func(e *edge) { e.env = append(e.env, variable) }
}

// inDir runs the edge on the data of an earlier one.
func inDir(dir string) option {
	return func(e *edge) { e.Dir = dir }
}

// foreignRace ignores data races with this function, which is not ours, on one of their
// stacks. All others fail the test.
func foreignRace(function string) option {
	return func(e *edge) { e.foreign += "race:" + function + "\n" }
}

// caddyRace is a data race of Caddy 2.11: while its TLS app starts, it copies itself to
// emit an event about a certificate.
var caddyRace = foreignRace("caddytls.(*TLS).CaddyModule")

// startEdge runs the binary with a Caddyfile, which is a text/template over the exported
// fields of edge. It returns when GET /ping answers on the Caddyfile's sites of
// localhost and, if the Caddyfile has the usual options, on the admin API. The edge stops
// when the test ends.
func startEdge(t *testing.T, caddyfile string, opts ...option) *edge {
	t.Helper()
	if err := watchSources(); err != nil {
		t.Fatal(err)
	}
	e := &edge{
		HTTP: loopback.FreePort(t), HTTPS: loopback.FreePort(t), Admin: loopback.FreePort(t),
		Dir: t.TempDir(), t: t, master: newMasterToken(), process: &process{exited: make(chan struct{})},
	}
	e.env = []string{"MILLRACE_MASTER_TOKEN=" + e.master}
	e.Broker, e.Bind, e.program = "memory", "127.0.0.1", millrace
	caddyRace(e)
	for _, o := range opts {
		o(e)
	}
	if e.forBrowsers {
		putBrowserRoot(t, e.Dir+"/data/caddy")
	}
	if e.Store == "" {
		e.Store = "badger " + e.Dir + "/tokens"
	}
	for _, kept := range []string{"PATH", "TMPDIR"} {
		e.env = append(e.env, kept+"="+os.Getenv(kept))
	}
	const races = "races" // relative: the folder's path may contain a comma, which ends an option
	if err := os.WriteFile(filepath.Join(e.Dir, races), []byte(e.foreign), 0o600); err != nil {
		t.Fatal(err)
	}
	e.env = append(e.env,
		"HOME="+e.Dir, "XDG_DATA_HOME="+e.Dir+"/data", "XDG_CONFIG_HOME="+e.Dir+"/config",
		"GORACE=halt_on_error=0 exitcode=66 atexit_sleep_ms=50 suppressions="+races) // by default it sleeps a second
	e.file = filepath.Join(e.Dir, "Caddyfile")
	e.write(caddyfile)

	e.cmd = e.command("run", "--config", e.file, "--adapter", "caddyfile")
	e.cmd.Stdout, e.cmd.Stderr = &e.out, &e.out
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the process, which the cleanup below ends
		e.err = e.cmd.Wait()
		close(e.exited)
	}()
	t.Cleanup(e.cleanup)
	if strings.Contains(caddyfile, "http://localhost:{{.HTTP}}") {
		e.awaitPing(e.httpURL("/ping"))
	}
	if strings.Contains(caddyfile, "admin localhost:{{.Admin}}") && strings.Contains(caddyfile, "pubsub {") { // the admin API may start after the sites
		e.poll("the admin API", func() bool {
			answer, err := e.try(call{Method: "GET", URL: e.adminURL("/pubsub/connections")})
			return err == nil && answer.Status != http.StatusServiceUnavailable
		})
	}
	if strings.Contains(caddyfile, "https://localhost:{{.HTTPS}}") { // its certificate is issued a little later
		e.awaitPing(e.httpsURL("/ping"))
	}
	return e
}

// output returns everything that the process has written so far, stdout and stderr.
func (e *edge) output() string { return e.out.String() }

// reload makes the edge run another Caddyfile, on the same ports.
func (e *edge) reload(caddyfile string) {
	e.t.Helper()
	if out, err := e.tryReload(caddyfile); err != nil {
		e.t.Fatalf("reload: %v\n%s\nthe edge wrote:\n%s", err, out, e.output())
	}
}

// tryReload is reload for a Caddyfile that may be refused.
func (e *edge) tryReload(caddyfile string) (output string, err error) {
	e.t.Helper()
	e.write(caddyfile)
	cmd := e.command("reload", "--config", e.file, "--adapter", "caddyfile", "--address", e.adminAddress())
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// cli runs another command of the binary in the edge's environment and returns
// what it wrote to stdout. The command must succeed. stdin may be empty.
func (e *edge) cli(stdin string, args ...string) string {
	e.t.Helper()
	cmd := e.command(args...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		e.t.Fatalf("millrace %q: %v\n%s%s", args, err, out, stderr.String())
	}
	return string(out)
}

// stop sends SIGTERM and returns when the process has ended, with exit code 0.
func (e *edge) stop() {
	e.t.Helper()
	if !e.wanted {
		e.terminate()
	}
	e.awaitExit("SIGTERM")
	if e.err != nil {
		e.t.Errorf("the edge did not stop cleanly: %v\nit wrote:\n%s", e.err, e.output())
	}
}

// terminate sends SIGTERM and does not wait; stop, called later, does.
func (e *edge) terminate() {
	e.t.Helper()
	e.wanted = true
	if err := e.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		e.t.Fatal(err)
	}
}

// kill sends SIGKILL and returns when the process has ended.
func (e *edge) kill() {
	e.t.Helper()
	e.wanted = true
	if err := e.cmd.Process.Kill(); err != nil {
		e.t.Fatal(err)
	}
	e.awaitExit("SIGKILL")
}

func (e *edge) adminAddress() string { return fmt.Sprintf("localhost:%d", e.Admin) }

// cleanup stops an edge that its test has not stopped, and reports crashes and data races.
func (e *edge) cleanup() {
	select {
	case <-e.exited:
		if !e.wanted {
			e.t.Errorf("the edge ended by itself: %v\nit wrote:\n%s", e.err, e.output())
			return
		}
	default:
		e.stop()
	}
	for _, sign := range []string{"WARNING: DATA RACE", "panic:", "http: panic serving"} {
		if out := e.output(); strings.Contains(out, sign) {
			e.t.Errorf("the edge wrote %q:\n%s", sign, out)
		}
	}
}

// awaitExit waits for the end of the process. If it does not end, SIGABRT makes it write
// its goroutines to its log and end; if that fails, too, it is killed.
func (e *edge) awaitExit(signal string) {
	e.t.Helper()
	select {
	case <-e.exited:
		return
	case <-time.After(waitTimeout):
	}
	if err := e.cmd.Process.Signal(syscall.SIGABRT); err != nil {
		e.t.Error(err)
	}
	select {
	case <-e.exited:
	case <-time.After(waitTimeout):
		if err := e.cmd.Process.Kill(); err != nil {
			e.t.Error(err)
		}
		<-e.exited
	}
	e.t.Errorf("the edge still ran %v after %s; it wrote:\n%s", waitTimeout, signal, e.output())
}

func (e *edge) command(args ...string) *exec.Cmd {
	cmd := exec.Command(e.program, args...)
	cmd.Dir, cmd.Env = e.Dir, e.env
	return cmd
}

func (e *edge) write(caddyfile string) {
	e.t.Helper()
	e.given = caddyfile
	tmpl, err := template.New("Caddyfile").Parse(caddyfile)
	if err != nil {
		e.t.Fatal(err)
	}
	var text bytes.Buffer
	if err := tmpl.Execute(&text, e); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(e.file, text.Bytes(), 0o600); err != nil {
		e.t.Fatal(err)
	}
}

func (e *edge) awaitPing(url string) {
	e.t.Helper()
	e.poll("GET "+url, func() bool {
		answer, err := e.try(call{Method: "GET", URL: url})
		return err == nil && answer.Status == 200
	})
}

// poll calls ready until it returns true; it is for what sends no event. It fails the test
// when the process ends or waitTimeout has passed.
func (e *edge) poll(what string, ready func() bool) {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ready() {
		select {
		case <-tick.C:
		case <-e.exited:
			e.wanted = true // reported here
			e.t.Fatalf("the edge ended (%v) while the test waited for %s; it wrote:\n%s", e.err, what, e.output())
		case <-ctx.Done():
			e.t.Fatalf("the test waited %v in vain for %s; the edge wrote:\n%s", waitTimeout, what, e.output())
		}
	}
}

func newMasterToken() string { return "MT_" + randomHex() + "_" + randomHex() }

// randomHex returns 128 random bits as 32 lower-case digits.
func randomHex() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
