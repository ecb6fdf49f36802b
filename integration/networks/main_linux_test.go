package networks

import (
	"bufio"
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/netlab"
	"github.com/millrace/millrace/internal/programs"
)

// hostEnv is the name of a browser in whose machine the test binary runs again, as the driver
// of clients there.
const hostEnv = "MILLRACE_NETWORKS_HOST"

var (
	built  string // the folder with millrace and sdkgo
	whyNot error  // there can be no network namespaces here; nil: there can
)

func TestMain(m *testing.M) {
	if os.Getenv(hostEnv) != "" {
		os.Exit(m.Run()) // TestBrowserHost
	}
	code, err := run(m)
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "networks")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	for name, source := range map[string]string{"millrace": "../../cmd/millrace", "sdkgo": "../clients/sdkgo"} {
		path, err := programs.Build(dir, name, source)
		if err != nil {
			return 0, err
		}
		built = filepath.Dir(path)
	}
	whyNot = netlab.Possible()
	// In a namespace there is no network to build anything.
	if code, again, err := netlab.Apart(programs.Folder + "=" + built); again || err != nil {
		return code, err
	}
	return m.Run(), nil
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
	for lines := bufio.NewScanner(os.Stdin); err == nil && lines.Scan(); {
		var c sdk.Command
		if err = json.Unmarshal(lines.Bytes(), &c); err == nil {
			err = page.Send(c)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
