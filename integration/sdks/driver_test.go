package sdks

import (
	"context"
	"errors"
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
	"github.com/millrace/millrace/internal/programs"
)

// What a driver does wrong is said in words.
func TestDriverFaults(t *testing.T) {
	t.Parallel()
	const hello, untilEnd = `echo '{"event":"hello","transports":["websocket"]}'; `, `cat >/dev/null`
	for script, want := range map[string]string{
		hello + untilEnd:                    "",
		"echo ready; " + untilEnd:           `line 1 of the driver's output is no report: invalid character 'r'`,
		hello + hello + untilEnd:            "line 2 of the driver's output is no report: hello is the first line",
		hello + "exit 0":                    "the driver ended before its input did",
		hello + untilEnd + "; exit 4":       "the driver ended with exit status 4",
		untilEnd:                            "the driver said nothing for 100ms, not even hello",
		"echo 'no such module' >&2; exit 3": "the driver ended with exit status 3; its stderr ends with: no such module",
		hello + `echo '{"event":"answer","client":"c","id":1}'; ` + untilEnd:      `is no report: there was no command 1`,
		hello + `echo '{"event":"message","client":"c","sub":"s9"}'; ` + untilEnd: `is no report: there is no subscription or presence "s9"`,
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			c := sdk.NewClient(t, "c", sdk.Kind{Where: "sh", Transport: "websocket"}, nil)
			within := sdk.Limit
			if script == untilEnd {
				within = 100 * time.Millisecond
			}
			failed := make(chan struct{})
			d, _, err := sdk.StartDriver(exec.Command("sh", "-c", script), os.DevNull, within, c.Accept, func(err error) {
				c.Fail(err)
				close(failed)
			})
			if d != nil {
				if want != "" && !strings.HasSuffix(script, "exit 4") {
					<-failed // before its input ends
				}
				err = d.End()
			}
			if want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(c.Events.Why(), want) {
				t.Errorf("got %v, and who waits is told %s; want %q", err, c.Events.Why(), want)
			}
			if d != nil {
				if err := d.Send(sdk.Command{}); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("who gives a command is told %v", err)
				}
			}
		})
	}
}

// minimalScenarios is what the client in examples/minimal-client passes; it says itself that it
// does not support the rest.
var minimalScenarios = []string{
	"connect", "messages", "payloads", "deliver to one", "slow consumer", "forbidden channels", "bad token", "revocation", "expiry",
	"hooks", "plaintext", "forced transport",
}

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
	if os.Getenv(programs.Folder) == "" { // else the edge would be built once more
		dir := t.TempDir()
		for _, flags := range []string{".", "race"} {
			path := filepath.Join(dir, flags, "millrace")
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(harness.Program, path)); err != nil {
				t.Fatal(err)
			}
		}
		cmd.Env = append(cmd.Env, programs.Folder+"="+dir)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// minimalClient is the driver of the example in a folder of its own, with a change.
func minimalClient(t *testing.T, old, replacement string) (driver, folder string) {
	t.Helper()
	python, err := filepath.Abs("clients/.venv/bin/python")
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	for _, name := range []string{"client.py", "driver.py"} {
		text, err := os.ReadFile(filepath.Join("../examples/minimal-client", name))
		if err != nil {
			t.Fatal(err)
		}
		changed := string(text)
		if name == "client.py" {
			if changed = strings.Replace(changed, old, replacement, 1); changed == string(text) && old != replacement {
				t.Fatalf("%s is not as this test knows it", name)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return python + " driver.py", folder
}

// The example of docs/writing-a-client.md, tested as the document says, and with a fault in it.
// The slowest of its scenarios, and those that it lacks, only in a soak.
func TestMinimalClient(t *testing.T) {
	t.Parallel()
	driver, folder := minimalClient(t, "", "")
	table, err := runClient(t, driver, "", folder, harness.AtLength([]string{"messages", "forbidden channels", "bad token", "revocation", "plaintext", "histories"}, nil)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, table)
	}
	for _, row := range scenarios {
		want := "not supported: .*"
		if slices.Contains(minimalScenarios, row.name) {
			want = "passed"
		}
		if got := regexp.MustCompile(`(?m)^` + row.name + `  +(.*?) *$`).FindStringSubmatch(table); got == nil && harness.Soaking || got != nil && !regexp.MustCompile("^"+want+"$").MatchString(got[1]) {
			t.Errorf("the table says of %q %q, want %s:\n%s", row.name, got, want, table)
		}
	}
	driver, folder = minimalClient(t, `"payload": payload,`, `"payload": payload.rstrip(b"\x00"),`)
	table, err = runClient(t, driver, "", folder, "connect", "payloads")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("the broken one ended with %v, want 1", err)
	}
	for _, line := range []string{`connect  +passed`, `payloads  +FAILED`, `1 passed, 1 failed, 0 not supported`} {
		if !regexp.MustCompile(`(?m)^` + line + ` *$`).MatchString(table) {
			t.Errorf("the output lacks %q:\n%s", line, table)
		}
	}
}

// What cannot be run is said before any scenario.
func TestNoClient(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ client, transports, want string }{
		{"no-such-driver", "", `MILLRACE_CLIENT "no-such-driver": the driver ended with exit status 127`},
		{`sh -c 'echo "{\"event\":\"hello\",\"transports\":[\"websocket\"]}"; cat'`, "webtransport", `MILLRACE_CLIENT_TRANSPORTS names "webtransport", and the client has ["websocket"]`},
	} {
		if out, err := runClient(t, row.client, row.transports, ""); err == nil || !strings.Contains(out, row.want) {
			t.Errorf("%s: ended with %v and %s, want %s", row.client, err, out, row.want)
		}
	}
}

// The document for authors of clients names all scenarios, and each feature is that of one.
func TestClientScenarios(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/writing-a-client.md")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, row := range scenarios {
		if !strings.Contains(string(text), "`"+row.name+"`") {
			t.Errorf("docs/writing-a-client.md does not name the scenario %s", row.name)
		}
		for _, feature := range row.needs {
			used[feature] = true
		}
	}
	for _, feature := range clientdriver.Features {
		if !used[feature] {
			t.Errorf("no scenario needs the feature %s", feature)
		}
		delete(used, feature)
	}
	if len(used) > 0 {
		t.Errorf("scenarios need what is no feature: %v", used)
	}
}
