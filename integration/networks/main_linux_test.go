package networks

import (
	"fmt"
	"os"
	"testing"

	"github.com/millrace/millrace/internal/netlab"
	"github.com/millrace/millrace/internal/programs"
)

var (
	millrace string // the program
	whyNot   error  // there can be no network namespaces here; nil: there can
)

// soaking says that this is a run of `make soak`.
var soaking = os.Getenv("MILLRACE_SOAK") != ""

// hostEnv is set where the test binary is the process of a client, and names its kind.
const hostEnv = "MILLRACE_NETWORKS_HOST"

func TestMain(m *testing.M) {
	if kind := os.Getenv(hostEnv); kind != "" {
		if err := runHost(kind); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "networks")
	if err == nil {
		defer os.RemoveAll(dir)
		whyNot = netlab.Possible()
		millrace, err = build(dir)
	}
	if err == nil {
		var code int
		var again bool
		if code, again, err = netlab.Apart(builtEnv + "=" + millrace); again && err == nil {
			return code
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// builtEnv is the program's path, where it has been built: there is no network then.
const builtEnv = "MILLRACE_NETWORKS_PROGRAM"

func build(dir string) (string, error) {
	if built := os.Getenv(builtEnv); built != "" {
		return built, nil
	}
	return programs.Build(dir, "millrace", "../../cmd/millrace")
}
