package sdk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/clientdriver"
	"github.com/millrace/millrace/internal/programs"
)

// Environment variables of a run that tests one client, which scripts/conformance.sh sets.
const (
	ClientVariable           = "MILLRACE_CLIENT"            // the driver, as a command of the shell
	ClientTransportsVariable = "MILLRACE_CLIENT_TRANSPORTS" // separated by commas; empty: what hello names
	ClientFolderVariable     = "MILLRACE_CLIENT_FOLDER"     // in which the driver runs; empty: the repository's
)

// Limit bounds each wait for an event. Only something broken takes that long.
const Limit = 2 * time.Minute

// What goes over the line protocol; see package clientdriver.
type (
	Command = clientdriver.Command
	Options = clientdriver.Options
	Report  = clientdriver.Report
	Member  = clientdriver.Member
	Error   = clientdriver.Error
)

// InMS is a duration as reports have it.
func InMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Kind is where an SDK runs, and the one transport that its clients use.
type Kind struct {
	Where     string // a name in Programs, or that of a browser
	Transport string
}

func (k Kind) String() string { return k.Where + "/" + k.Transport }

// Blind says that the client is not told why an edge refuses it.
func (k Kind) Blind() bool {
	return k.Transport == "websocket" && (k.InBrowser() || slices.Contains(Runtimes, k))
}

func (k Kind) InBrowser() bool { return Programs[k.Where] == nil }

// AlsoOver says that the SDK has a transport, too.
func (k Kind) AlsoOver(transport string) bool {
	return slices.Contains(Kinds, Kind{k.Where, transport})
}

// Kinds is all clients that are tested. With MILLRACE_CLIENT it is that one over each of
// its transports.
var Kinds = []Kind{
	{"go", "webtransport"},
	{"go", "websocket"},
	{"node", "websocket"},
	{"python", "webtransport"},
	{"python", "websocket"},
	{"chromium", "webtransport"},
	{"chromium", "websocket"},
	{"firefox", "webtransport"},
	{"firefox", "websocket"},
}

// Runtimes is Deno and Bun, which run the SDK for TypeScript over their own WebSocket.
var Runtimes = []Kind{{"deno", "websocket"}, {"bun", "websocket"}}

// A Program is how to run a driver.
type Program struct {
	Command func() (*exec.Cmd, error)
	Outside bool     // MILLRACE_CLIENT names it; ours lack nothing
	Lacks   []string // what it said that it lacks
}

var Programs = map[string]*Program{
	"go": {Command: func() (*exec.Cmd, error) {
		path, err := builtDriver()
		return exec.Command(path), err
	}},
	"node": script("node", "clients/sdk_node.mjs"),
	"deno": script("clients/node_modules/.bin/deno", "run", "-A", "--node-modules-dir=manual", "clients/sdk_node.mjs"),
	"bun":  script("clients/node_modules/.bin/bun", "run", "clients/sdk_node.mjs"),
	"python": {Command: func() (*exec.Cmd, error) {
		return exec.Command("clients/.venv/bin/python", "clients/sdk_python.py"), nil
	}},
}

func script(name string, args ...string) *Program {
	return &Program{Command: func() (*exec.Cmd, error) { return exec.Command(name, args...), HasSDK() }}
}

var builtDriver = sync.OnceValues(func() (string, error) {
	return programs.Build(harness.Built, "sdkgo", "./clients/sdkgo")
})

// BuiltSDK is what scripts/npm.sh makes of the SDK for TypeScript. Node knows it
// by the name of the package.
const BuiltSDK = "clients/node_modules/@millrace/client/dist"

// HasSDK returns an error if it has not been built.
func HasSDK() error {
	if _, err := os.Stat(filepath.Join(BuiltSDK, "index.js")); err != nil {
		return fmt.Errorf("the SDK for TypeScript is not built (%w): run scripts/install-test-deps.sh", err)
	}
	return nil
}
