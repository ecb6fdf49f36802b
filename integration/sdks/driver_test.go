package sdks

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	unasked := func(sdk.Report) error { return errors.New("nobody has asked for it") }
	d, hello, err := sdk.StartDriver(cmd, os.DevNull, sdk.Limit, unasked, func(error) {})
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

// What a driver does wrong is said in words.
func TestDriverFaults(t *testing.T) {
	t.Parallel()
	const hello, untilEnd = `echo '{"event":"hello","transports":["websocket"]}'; `, `cat >/dev/null`
	for script, want := range map[string]string{
		"echo ready; " + untilEnd:           `line 1 of the driver's output is no report: invalid character 'r'`,
		hello + hello + untilEnd:            "line 2 of the driver's output is no report: hello is the first line",
		hello + "exit 0":                    "the driver ended before its input did",
		"echo 'no such module' >&2; exit 3": "the driver ended with exit status 3; its stderr ends with: no such module",
		hello + `echo '{"event":"answer","client":"c","id":1}'; ` + untilEnd:      `is no report: there was no command 1`,
		hello + `echo '{"event":"message","client":"c","sub":"s9"}'; ` + untilEnd: `is no report: there is no subscription or presence "s9"`,
	} {
		c := sdk.NewClient(t, "c", sdk.Kind{Where: "sh", Transport: "websocket"}, nil)
		d, _, err := sdk.StartDriver(exec.Command("sh", "-c", script), os.DevNull, sdk.Limit, c.Accept, c.Fail)
		if d != nil {
			_, _ = c.Events.Next() // it fails before its input ends
			err = d.End()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(c.Events.Why(), want) {
			t.Errorf("got %v, and who waits is told %s; want %q", err, c.Events.Why(), want)
		}
	}
}

// The example of docs/writing-a-client.md, tested as the document says. It says itself that it
// lacks the other scenarios, which play in a soak only. What cannot be run is said, too.
func TestMinimalClient(t *testing.T) {
	t.Parallel()
	python, err := filepath.Abs("clients/.venv/bin/python")
	testcheck.Must(t, err)
	passing := []string{"connect", "messages", "forbidden_channels", "bad_token", "revocation"}
	said := []string{"--- SKIP: TestSDKs/histories "}
	for _, name := range passing {
		said = append(said, "--- PASS: TestSDKs/"+name+" ")
	}
	for _, row := range []struct {
		driver, transports, run string
		fails                   bool
		said                    []string
	}{
		{python + " driver.py", "", harness.AtLength("/^("+strings.Join(passing, "|")+"|histories)$", ""), false, said},
		{python + " driver.py", "webtransport", "/^connect$", true, []string{`its driver has the transports ["websocket"]`}},
		{"no-such-driver", "", "", true, []string{`"no-such-driver": the driver ended with exit status 127`}},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.timeout=10m", "-test.run=^TestSDKs$"+row.run)
		cmd.Dir = "sdks"
		cmd.Env = append(os.Environ(), sdk.ClientVariable+"="+row.driver, sdk.ClientTransportsVariable+"="+row.transports,
			sdk.ClientFolderVariable+"=../examples/minimal-client", "PYTHONDONTWRITEBYTECODE=1")
		out, err := cmd.CombinedOutput()
		missing := slices.DeleteFunc(row.said, func(text string) bool { return strings.Contains(string(out), text) })
		if len(missing) > 0 || (err != nil) != row.fails {
			t.Errorf("%q for %q ended with %v, and does not say %q:\n%s", row.driver, row.transports, err, missing, out)
		}
	}
}

// The document for authors of clients names all scenarios, and they need features.
func TestClientScenarios(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/writing-a-client.md")
	testcheck.Must(t, err)
	for _, row := range scenarios {
		known := !slices.ContainsFunc(strings.Fields(row.needs), func(need string) bool { return !slices.Contains(clientdriver.Features, need) })
		if !known || !strings.Contains(string(text), "`"+row.name+"`") {
			t.Errorf("docs/writing-a-client.md does not name the scenario %s, or %q are not all features", row.name, row.needs)
		}
	}
}
