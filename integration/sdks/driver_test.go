package sdks

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/clientdriver"
)

// useClient makes the client of MILLRACE_CLIENT the only one that is tested. Without the
// variable it does nothing.
func useClient() error {
	command := os.Getenv(sdk.ClientVariable)
	if command == "" {
		return nil
	}
	p := &sdk.Program{Outside: true, Command: func() (*exec.Cmd, error) {
		cmd := exec.Command("sh", "-c", "exec "+command)
		cmd.Dir = cmp.Or(os.Getenv(sdk.ClientFolderVariable), "..")
		return cmd, nil
	}}
	cmd, _ := p.Command()
	d, hello, err := sdk.StartDriver(cmd, os.DevNull, sdk.Limit, nil, func(error) {}) // which says nothing more
	if err == nil {
		err = d.End()
	}
	if err != nil {
		return fmt.Errorf("%s %q: %w", sdk.ClientVariable, command, err)
	}
	p.Lacks = hello.Lacks
	sdk.Programs[history.ClientName] = p
	transports := hello.Transports
	if named := os.Getenv(sdk.ClientTransportsVariable); named != "" {
		transports = strings.Split(named, ",")
	}
	sdk.Kinds = nil
	for _, transport := range transports {
		if !slices.Contains(hello.Transports, transport) {
			return fmt.Errorf("%s names %q, and the client has %q", sdk.ClientTransportsVariable, transport, hello.Transports)
		}
		sdk.Kinds = append(sdk.Kinds, sdk.Kind{Where: history.ClientName, Transport: transport})
	}
	return nil
}

// What a driver does wrong is said in words.
func TestDriverFaults(t *testing.T) {
	t.Parallel()
	const hello, untilEnd = `echo '{"event":"hello","transports":["websocket"]}'; `, `cat >/dev/null`
	for script, want := range map[string]string{
		hello + hello + untilEnd:            "line 2 of the driver's output is no report: hello is the first line",
		hello + "exit 0":                    "the driver ended before its input did",
		untilEnd:                            "the driver said nothing for 100ms, not even hello",
		"echo 'no such module' >&2; exit 3": "the driver ended with exit status 3; its stderr ends with: no such module",
		hello + `echo '{"event":"message","client":"c","sub":"s9"}'; ` + untilEnd: `is no report: there is no subscription or presence "s9"`,
	} {
		c := sdk.NewClient(t, "c", sdk.Kind{Where: "sh", Transport: "websocket"}, nil)
		within := sdk.Limit
		if script == untilEnd {
			within = 100 * time.Millisecond
		}
		d, _, err := sdk.StartDriver(exec.Command("sh", "-c", script), os.DevNull, within, c.Accept, c.Fail)
		if d != nil {
			_, _ = c.Events.Next() // it fails before its input ends
			err = d.End()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(c.Events.Why(), want) {
			t.Errorf("got %v, and who waits is told %s; want %q", err, c.Events.Why(), want)
		}
	}
}

// minimalScenarios is what the client in examples/minimal-client passes; it says itself that it
// does not support the rest.
var minimalScenarios = []string{"connect", "messages", "forbidden channels", "bad token", "revocation", "expiry"}

// runClient is what scripts/conformance.sh does with a driver; no scenarios means all.
func runClient(t *testing.T, driver, transports, folder string, scenarios ...string) (output string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // for one that hangs
	defer cancel()
	run := "^TestSDKs$"
	if len(scenarios) > 0 {
		run += "/^(" + strings.ReplaceAll(strings.Join(scenarios, "|"), " ", "_") + ")$"
	}
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.v", "-test.run="+run)
	cmd.Dir = "sdks"
	cmd.Env = append(os.Environ(), sdk.ClientVariable+"="+driver, sdk.ClientTransportsVariable+"="+transports, sdk.ClientFolderVariable+"="+folder)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The example of docs/writing-a-client.md, tested as the document says, and with a fault in it.
// Those of its scenarios that it lacks, only in a soak.
func TestMinimalClient(t *testing.T) {
	t.Parallel()
	python, err := filepath.Abs("clients/.venv/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	driver, folder := python+" driver.py", t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("../examples/minimal-client")); err != nil {
		t.Fatal(err)
	}
	said, err := runClient(t, driver, "", folder, harness.AtLength(append(minimalScenarios, "histories"), nil)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, row := range scenarios {
		want := "--- SKIP: TestSDKs/"
		if slices.Contains(minimalScenarios, row.name) {
			want = "--- PASS: TestSDKs/"
		} else if row.name != "histories" && !harness.Soaking || row.only == "webtransport" {
			continue
		}
		if want += strings.ReplaceAll(row.name, " ", "_") + " "; !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	client := filepath.Join(folder, "client.py")
	text, err := os.ReadFile(client)
	if err == nil {
		broken := harness.Replaced(t, string(text), `"payload": payload,`, `"payload": payload.rstrip(b"\x00"),`)
		err = os.WriteFile(client, []byte(broken), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ driver, transports, want string }{
		{driver, "", "--- FAIL: TestSDKs/messages/client/websocket "},
		// What cannot be run is said before any scenario.
		{"no-such-driver", "", `"no-such-driver": the driver ended with exit status 127`},
		{driver, "webtransport", `names "webtransport", and the client has ["websocket"]`},
	} {
		said, err := runClient(t, row.driver, row.transports, folder, "connect", "messages")
		if err == nil || !strings.Contains(said, row.want) || strings.Contains(said, "FAIL: TestSDKs/connect") {
			t.Errorf("%q: %v and %s", row, err, said)
		}
	}
}

// The document for authors of clients names all scenarios, and they need features.
func TestClientScenarios(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/writing-a-client.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range scenarios {
		if !strings.Contains(string(text), "`"+row.name+"`") {
			t.Errorf("docs/writing-a-client.md does not name the scenario %s", row.name)
		}
		for _, feature := range row.needs {
			if !slices.Contains(clientdriver.Features, feature) {
				t.Errorf("the scenario %s needs %s, which is no feature", row.name, feature)
			}
		}
	}
}
