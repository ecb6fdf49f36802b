package networks

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/netlab"
	"github.com/millrace/millrace/internal/programs"
)

// Where the test binary is run again, without a network.
const (
	hostEnv  = "MILLRACE_NETWORKS_HOST"    // it is the process of a client: latency, or the name of a browser
	builtEnv = "MILLRACE_NETWORKS_PROGRAM" // the folder of the programs that are built already
)

var (
	built  string // the folder with millrace and sdkgo
	whyNot error  // there can be no network namespaces here; nil: there can
)

func TestMain(m *testing.M) {
	switch os.Getenv(hostEnv) {
	case "":
		os.Exit(run(m))
	case "latency":
		if err := runLatency(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		os.Exit(m.Run()) // TestBrowserHost
	}
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "networks")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if built = os.Getenv(builtEnv); built == "" {
		built = dir
		for name, source := range map[string]string{"millrace": "../../cmd/millrace", "sdkgo": "../clients/sdkgo"} {
			path, failed := programs.Build(dir, name, source)
			if link := filepath.Join(dir, name); failed == nil && path != link {
				failed = os.Symlink(path, link)
			}
			if failed != nil {
				fmt.Fprintln(os.Stderr, failed)
				return 1
			}
		}
	}
	if whyNot = netlab.Possible(); whyNot != nil {
		return m.Run()
	}
	code, again, err := netlab.Apart(builtEnv + "=" + built)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if again {
		return code
	}
	return m.Run()
}

// startNetwork is machines without faults, which end with the test.
func startNetwork(t *testing.T, machines int) *netlab.Network {
	t.Helper()
	if whyNot != nil {
		t.Skipf("no network namespaces here: %v", whyNot)
	}
	n, err := netlab.New(machines)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// The driver of clients in a browser, which runs in their machine.
func TestBrowserHost(t *testing.T) {
	name := os.Getenv(hostEnv)
	if name == "" {
		return // it is no test
	}
	out := json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr // for what package testing says
	var mu sync.Mutex
	say := func(r sdk.Report) error {
		mu.Lock()
		defer mu.Unlock()
		return out.Encode(r)
	}
	page, err := sdk.StartPage(t, name, say)
	if err != nil {
		t.Fatal(err)
	}
	_ = say(sdk.Report{Event: "hello", Transports: []string{"webtransport", "websocket"}}) // who reads may be gone
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var c sdk.Command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if err := page.Send(c); err != nil {
			t.Fatal(err)
		}
	}
}

// limit bounds every wait for what is not measured.
const limit = sdk.Limit

var soaking = harness.Soaking
