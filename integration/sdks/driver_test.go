package sdks

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/clientdriver"
)

// What a driver does wrong is said in words.
func TestDriverFaults(t *testing.T) {
	t.Parallel()
	const hello, untilEnd = `echo '{"event":"hello","transports":["websocket"]}'; `, `cat >/dev/null`
	for script, want := range map[string]string{
		"echo ready; " + untilEnd:           `line 1 of the driver's output is no report: invalid character 'r'`,
		hello + hello + untilEnd:            "line 2 of the driver's output is no report: hello is the first line",
		hello + "exit 0":                    "the driver ended before its input did",
		untilEnd:                            "the driver said nothing for 100ms, not even hello",
		"echo 'no such module' >&2; exit 3": "the driver ended with exit status 3; its stderr ends with: no such module",
		hello + `echo '{"event":"answer","client":"c","id":1}'; ` + untilEnd:      `is no report: there was no command 1`,
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
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run="+run)
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
	folder := t.TempDir()
	if err == nil {
		err = os.CopyFS(folder, os.DirFS("../examples/minimal-client"))
	}
	if err != nil {
		t.Fatal(err)
	}
	table, err := runClient(t, python+" driver.py", "", folder, harness.AtLength(append(minimalScenarios, "histories"), nil)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, table)
	}
	for _, row := range scenarios {
		want := "not supported: .*"
		if slices.Contains(minimalScenarios, row.name) {
			want = "passed"
		} else if row.name != "histories" && !harness.Soaking {
			continue
		}
		if !regexp.MustCompile(`(?m)^` + row.name + `  +` + want + ` *$`).MatchString(table) {
			t.Errorf("the table does not say of %q %s:\n%s", row.name, want, table)
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
	table, err = runClient(t, python+" driver.py", "", folder, "connect", "messages")
	want := regexp.MustCompile(`(?m)^connect  +passed *\nmessages  +FAILED *\n\n1 passed, 1 failed, 0 not supported$`)
	if err == nil || !want.MatchString(table) {
		t.Errorf("the broken one ended with %v, and its table is\n%s", err, table)
	}
	// What cannot be run is said before any scenario.
	for _, row := range [][3]string{
		{"no-such-driver", "", `"no-such-driver": the driver ended with exit status 127`},
		{python + " driver.py", "webtransport", `names "webtransport", and the client has ["websocket"]`},
	} {
		if out, err := runClient(t, row[0], row[1], folder); err == nil || !strings.Contains(out, row[2]) {
			t.Errorf("%q: %v and %s", row, err, out)
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
