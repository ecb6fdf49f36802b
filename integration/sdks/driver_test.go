package sdks

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/clientdriver"
	"github.com/millrace/millrace/internal/testcheck"
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
	accept := sdk.NewClient(nil, "", sdk.Kind{}, nil).Accept
	d, hello, err := sdk.StartDriver(cmd, os.DevNull, sdk.Limit, accept, func(error) {})
	if err == nil {
		err = d.End()
	}
	if err != nil {
		return fmt.Errorf("%s %q: %w", sdk.ClientVariable, command, err)
	}
	p.Lacks = hello.Lacks
	sdk.Programs[history.ClientName], sdk.Kinds = p, nil
	transports := cmp.Or(os.Getenv(sdk.ClientTransportsVariable), strings.Join(hello.Transports, ","))
	for transport := range strings.SplitSeq(transports, ",") {
		sdk.Kinds = append(sdk.Kinds, sdk.Kind{Where: history.ClientName, Transport: transport})
	}
	return nil
}

// conformance is what scripts/conformance.sh does with a driver, in the folder of the minimal client.
func conformance(t *testing.T, driver, transports, scenarios string) (said string, err error) {
	t.Helper()
	run := "-test.run=^TestSDKs$/^(" + scenarios + ")$"
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.timeout=10m", run)
	cmd.Dir = "sdks"
	cmd.Env = append(os.Environ(), sdk.ClientVariable+"="+driver, sdk.ClientTransportsVariable+"="+transports,
		sdk.ClientFolderVariable+"=../examples/minimal-client", "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

const minimalDriver = "../../integration/clients/.venv/bin/python driver.py"

// The example of docs/writing-a-client.md, tested as the document says. It says itself that it
// lacks the other scenarios, which play in a soak only.
func TestMinimalClient(t *testing.T) {
	t.Parallel()
	const short = "connect|messages|forbidden_channels|bad_token|revocation|histories"
	said, err := conformance(t, minimalDriver, "", harness.AtLength(short, ".*"))
	for _, want := range []string{
		"PASS: TestSDKs/connect ", "PASS: TestSDKs/messages ", "PASS: TestSDKs/forbidden_channels ",
		"PASS: TestSDKs/bad_token ", "PASS: TestSDKs/revocation ", "SKIP: TestSDKs/histories ",
	} {
		if err != nil || !strings.Contains(said, want) {
			t.Errorf("it ended with %v, and does not say %q:\n%s", err, want, said)
		}
	}
}

// What a driver does wrong is said in words.
func TestDriverFaults(t *testing.T) {
	t.Parallel()
	const hello = `echo '{"event":"hello","transports":["webtransport"]}'; `
	for script, want := range map[string]string{
		"echo ready":                        `line 1 of the driver's output is no report: invalid character 'r'`,
		hello + hello:                       "line 2 of the driver's output is no report: hello is the first line",
		"echo 'no such module' >&2; exit 3": "the driver ended with exit status 3; its stderr ends with: no such module",
		hello + `echo '{"event":"answer","client":"c","id":1}'`:      `is no report: there was no command 1`,
		hello + `echo '{"event":"message","client":"c","sub":"s9"}'`: `is no report: there is no subscription or presence "s9"`,
		hello + "read command; true":                                 "the driver ended before its input did", // who waits is told
		minimalDriver:                                                `its driver has the transports ["websocket"]`,
	} {
		said, err := conformance(t, `sh -c "`+strings.ReplaceAll(script, `"`, `\"`)+`"`, "webtransport", "connect")
		if err == nil || !strings.Contains(said, want) {
			t.Errorf("%s: got %v, and it does not say %q:\n%s", script, err, want, said)
		}
	}
}

// The document for authors of clients names all scenarios, and they need features.
func TestClientScenarios(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/writing-a-client.md")
	testcheck.Must(t, err)
	for _, row := range scenarios {
		known := func(need string) bool { return slices.Contains(clientdriver.Features, need) }
		unknown := slices.DeleteFunc(strings.Fields(row.needs), known)
		if len(unknown) > 0 || !strings.Contains(string(text), "`"+row.name+"`") {
			t.Errorf("docs/writing-a-client.md does not name the scenario %s, or it needs %q", row.name, unknown)
		}
	}
}
