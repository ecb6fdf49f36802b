package harness

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/template"
	"time"

	"github.com/millrace/millrace/internal/loopback"
)

// WaitTimeout bounds every wait for one event; a wait takes that long only if something
// is broken.
const WaitTimeout = 2 * time.Minute

// Caddyfile fragments for StartEdge. Tests without special needs use DefaultCaddyfile: the
// namespace "paint.", plain HTTP and HTTPS on loopback.
const (
	GlobalOptions = `
	admin localhost:{{.Admin}}
	skip_install_trust
	auto_https disable_redirects
	http_port {{.HTTP}}
	https_port {{.HTTPS}}
	default_bind {{.Bind}}
`
	PubsubStore = `
		token_store {{.Store}}
		broker {{.Broker}}
		drain 7s
`
	DefaultMaster = `
		master_token {env.MILLRACE_MASTER_TOKEN} {
			name test
			tenant_prefix paint.
			allow_ip_masks 127.0.0.0/8
		}
`
	FastBandwidth = `
		bandwidth {
			default_ingress 16384
			default_egress 16384
			max 16384
		}
`
	Sites = `
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
	DefaultCaddyfile = "{" + GlobalOptions + "\tpubsub {" + PubsubStore + DefaultMaster + FastBandwidth + "\t}\n}\n" + Sites
)

// PatientCaddyfile is for edges that clients leave while they drain: as long as a test
// waits for a client, which a busy machine may give no time, the edge waits, too. It ends
// as soon as all have left.
var PatientCaddyfile = strings.Replace(DefaultCaddyfile, "drain 7s", "drain 10m", 1)

// Edge is one running millrace process. Its methods fail the test t instead of
// returning errors. All except output may be called only from the goroutine of t.
type Edge struct {
	HTTP, HTTPS, Admin int    // loopback ports
	Dir                string // the process's home, data and configuration
	Store, Broker      string // of the Caddyfile; see joining
	Bind               string // addresses
	forBrowsers        bool

	T       *testing.T
	Master  string // the token in MILLRACE_MASTER_TOKEN
	Env     []string
	Program string // that is run
	File    string // the Caddyfile
	Given   string // what was made that file
	*process
}

// process is what an edge shares with its copies by [Edge.With].
type process struct {
	*Background
	wanted bool // the test has requested the end
}

// With returns the edge for a subtest: failures are then those of the subtest.
func (e *Edge) With(t *testing.T) *Edge {
	sub := *e
	sub.T = t
	return &sub
}

type Option func(*Edge)

// WithEnv adds a variable, "NAME=value", to the edge's environment.
func WithEnv(variable string) Option {
	return func(e *Edge) { e.Env = append(e.Env, variable) }
}

// InDir runs the edge on the data of an earlier one.
func InDir(dir string) Option {
	return func(e *Edge) { e.Dir = dir }
}

// StartEdge runs the binary with a Caddyfile, which is a text/template over the exported
// fields of edge. It returns when the Caddyfile's sites of localhost, the app and,
// if the Caddyfile has the usual options, the admin API answer. The edge stops when the test ends.
func StartEdge(t *testing.T, caddyfile string, opts ...Option) *Edge {
	t.Helper()
	must(t, WatchSources())
	e := &Edge{
		HTTP: loopback.FreePort(t), HTTPS: loopback.FreePort(t), Admin: loopback.FreePort(t),
		Dir: t.TempDir(), T: t, Master: NewMasterToken(), process: &process{},
		Broker: "memory", Bind: "127.0.0.1", Program: Program,
	}
	e.Env = []string{"MILLRACE_MASTER_TOKEN=" + e.Master}
	for _, o := range opts {
		o(e)
	}
	if e.forBrowsers {
		PutBrowserRoot(t, e.Dir+"/data/caddy")
	}
	if e.Store == "" {
		e.Store = "badger " + e.Dir + "/tokens"
	}
	e.Env = append(e.Env, "PATH="+os.Getenv("PATH"), "TMPDIR="+os.Getenv("TMPDIR"),
		"HOME="+e.Dir, "XDG_DATA_HOME="+e.Dir+"/data", "XDG_CONFIG_HOME="+e.Dir+"/config")
	e.File = filepath.Join(e.Dir, "Caddyfile")
	e.Write(caddyfile)

	e.Background = StartBackground(t, e.Command("run", "--config", e.File, "--adapter", "caddyfile"))
	t.Cleanup(e.cleanup)
	admin := "/config/"
	if strings.Contains(caddyfile, "pubsub {") {
		admin = "/pubsub/connections"
	}
	for _, part := range [][2]string{ // of the Caddyfile, and what answers: the app may start after the sites
		{"http://localhost:{{.HTTP}}", e.HttpURL("/v1/")}, {"admin localhost:{{.Admin}}", e.AdminURL(admin)},
		{"https://localhost:{{.HTTPS}}", e.HttpsURL("/v1/")},
	} {
		if strings.Contains(caddyfile, part[0]) {
			e.AwaitAnswer(part[1])
		}
	}
	return e
}

// Output returns everything that the process has written so far, stdout and stderr.
func (e *Edge) Output() string { return e.Out.String() + e.Err.String() }

// Reload makes the edge run another Caddyfile, on the same ports.
func (e *Edge) Reload(caddyfile string) {
	e.T.Helper()
	if out, err := e.TryReload(caddyfile); err != nil {
		e.T.Fatalf("reload: %v\n%s\nthe edge wrote:\n%s", err, out, e.Output())
	}
}

// TryReload is reload for a Caddyfile that may be refused.
func (e *Edge) TryReload(caddyfile string) (output string, err error) {
	e.T.Helper()
	e.Write(caddyfile)
	cmd := e.Command("reload", "--config", e.File, "--adapter", "caddyfile", "--address", e.AdminAddress())
	out, err := cmd.CombinedOutput()
	e.Poll("Caddy to close the sockets of the other configuration", e.listensOnce)
	return string(out), err
}

// listensOnce says that each port has one listening socket. During a reload it has two, and
// Linux resets the connections that wait in the one that is closed: operations.md says so.
func (e *Edge) listensOnce() bool {
	listening := map[string]bool{}
	for _, table := range []string{"tcp", "tcp6"} {
		sockets, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", e.Cmd.Process.Pid, table))
		if err != nil {
			return true // not Linux, or the edge has ended
		}
		for line := range strings.Lines(string(sockets)) {
			f := strings.Fields(line) // number, local address, remote one, state
			ours := slices.ContainsFunc([]int{e.HTTP, e.HTTPS, e.Admin}, func(port int) bool {
				return strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port))
			})
			if !ours || f[3] != "0A" {
				continue
			}
			if listening[f[1]] {
				return false
			}
			listening[f[1]] = true
		}
	}
	return true
}

// Stop sends SIGTERM and returns when the process has ended, with exit code 0.
func (e *Edge) Stop() {
	e.T.Helper()
	if !e.wanted {
		e.Terminate()
	}
	if code := e.ExitCode(); code != 0 {
		e.T.Errorf("the edge did not stop cleanly: exit code %d\nit wrote:\n%s", code, e.Output())
	}
}

// Terminate sends SIGTERM and does not wait; Stop, called later, does.
func (e *Edge) Terminate() {
	e.T.Helper()
	e.wanted = true
	e.Background.Signal(syscall.SIGTERM)
}

// Kill sends SIGKILL and returns when the process has ended.
func (e *Edge) Kill() {
	e.T.Helper()
	e.wanted = true
	e.Background.Signal(syscall.SIGKILL)
	e.ExitCode()
}

// cleanup stops an edge that its test has not stopped, and reports crashes.
func (e *Edge) cleanup() {
	select {
	case <-e.Exited:
		if !e.wanted {
			e.T.Errorf("the edge ended by itself: %v\nit wrote:\n%s", e.Cmd.ProcessState, e.Output())
			return
		}
	default:
		e.Stop()
	}
	for _, sign := range []string{"panic:", "http: panic serving"} {
		if out := e.Output(); strings.Contains(out, sign) {
			e.T.Errorf("the edge wrote %q:\n%s", sign, out)
		}
	}
}

func (e *Edge) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(e.Program, args...)
	cmd.Dir, cmd.Env = e.Dir, e.Env
	return cmd
}

func (e *Edge) Write(caddyfile string) {
	e.T.Helper()
	e.Given = caddyfile
	var text bytes.Buffer
	e.Must(value(template.New("Caddyfile").Parse(caddyfile))(e.T).Execute(&text, e))
	e.Must(os.WriteFile(e.File, text.Bytes(), 0o600))
}

// AwaitAnswer returns when a GET is answered, by something that is ready.
func (e *Edge) AwaitAnswer(url string) {
	e.T.Helper()
	e.Poll("GET "+url, func() bool {
		answer, err := e.Try(Call{Method: "GET", URL: url})
		return err == nil && answer.Status != http.StatusServiceUnavailable
	})
}

// AwaitLine returns when the edge has written a line with all of these parts.
func (e *Edge) AwaitLine(parts ...string) {
	e.T.Helper()
	e.Poll(fmt.Sprintf("a line with %q", parts), func() bool {
		return slices.ContainsFunc(strings.Split(e.Output(), "\n"), func(line string) bool {
			return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) })
		})
	})
}

// Poll calls ready until it returns true; it is for what sends no event. It fails the test
// when the process ends or WaitTimeout has passed.
func (e *Edge) Poll(what string, ready func() bool) {
	e.T.Helper()
	if err := e.poll(WaitTimeout, ready); err != nil {
		e.T.Fatalf("the test waited in vain for %s: %v; the edge wrote:\n%s", what, err, e.Output())
	}
}

func NewMasterToken() string { return "MT_" + RandomHex() + "_" + RandomHex() }

// RandomHex returns 128 random bits as 32 lower-case digits.
func RandomHex() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
