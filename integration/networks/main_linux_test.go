package networks

import (
	"cmp"
	"encoding/json"
	"log"
	"os"
	"sync"
	"testing"

	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/netlab"
	"github.com/millrace/millrace/internal/programs"
	"github.com/millrace/millrace/internal/testcheck"
)

// hostEnv is the name of a browser in whose machine the test binary runs again, as the driver
// of clients there.
const hostEnv = "MILLRACE_NETWORKS_HOST"

func TestMain(m *testing.M) {
	if os.Getenv(hostEnv) != "" {
		os.Exit(m.Run()) // TestBrowserHost
	}
	dir, err := os.MkdirTemp("", "networks")
	for name, source := range map[string]string{"millrace": "../../cmd/millrace", "sdkgo": "../clients/sdkgo"} {
		if err == nil {
			_, err = programs.Build(dir, name, source)
		}
	}
	code, again := 0, false
	if err == nil { // in a namespace there is no network to build anything
		code, again, err = netlab.Apart(programs.Folder + "=" + cmp.Or(os.Getenv(programs.Folder), dir))
	}
	if err == nil && !again {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

// The driver of clients in a browser, which runs in their machine. Else it is no test.
func TestBrowserHost(t *testing.T) {
	name := os.Getenv(hostEnv)
	if name == "" {
		return
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
	testcheck.Must(t, err)
	_ = say(sdk.Report{Event: "hello", Transports: []string{"webtransport", "websocket"}}) // who reads may be gone
	in := json.NewDecoder(os.Stdin)
	for c := (sdk.Command{}); in.Decode(&c) == nil; c = (sdk.Command{}) {
		testcheck.Must(t, page.Send(c))
	}
}
