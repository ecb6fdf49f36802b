package sdks

import (
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
)

// What a driver does wrong is said in words.
func TestDriverFaults(t *testing.T) {
	t.Parallel()
	const hello = `echo '{"event":"hello","transports":["websocket"]}'; `
	const untilEnd = `cat >/dev/null`
	tests := []struct{ name, script, want string }{
		{"none", hello + untilEnd, ""},
		{"no report", "echo ready; " + untilEnd, `line 1 of the driver's output is no report: invalid character 'r'`},
		{"no hello", `echo '{"event":"connected","client":"c"}'; ` + untilEnd, "line 1 of the driver's output is no report: hello is the first line"},
		{"a second hello", hello + hello + untilEnd, "line 2 of the driver's output is no report: hello is the first line"},
		{"an unknown client", hello + `echo '{"event":"connected","client":"none"}'; ` + untilEnd, `line 2 of the driver's output is no report: there is no client "none"`},
		{"an answer to nothing", hello + `echo '{"event":"answer","client":"c","id":1}'; ` + untilEnd, `is no report: there was no command 1`},
		{"an unknown subscription", hello + `echo '{"event":"message","client":"c","sub":"s9"}'; ` + untilEnd, `is no report: there is no subscription "s9"`},
		{"nothing", untilEnd, "the driver said nothing for 100ms, not even hello"},
		{"an end at once", "echo 'no such module' >&2; exit 3", "the driver ended with exit status 3; its stderr ends with: no such module"},
		{"an end after hello", hello + "exit 0", "the driver ended before its input did"},
		{"a bad status", hello + untilEnd + "; exit 4", "the driver ended with exit status 4"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			router := sdk.Router{}
			c := &sdk.Client{T: t, Name: "c", Kind: sdk.Kind{Where: "sh", Transport: "websocket"}, Answers: sdk.NewMailbox(), Events: sdk.NewMailbox()}
			router.Add(c)
			helloTimeout := harness.WaitTimeout
			if test.script == untilEnd {
				helloTimeout = 100 * time.Millisecond
			}
			failed := make(chan struct{})
			d, _, err := sdk.StartDriver(exec.Command("sh", "-c", test.script), os.DevNull, helloTimeout, router.Route, func(err error) {
				router.Fail("sh", err)
				close(failed)
			})
			if d != nil {
				if test.want != "" && test.name != "a bad status" {
					<-failed // before its input ends
				}
				err = d.End()
			}
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			if d == nil {
				return
			}
			if _, ok := c.Events.Take(func(sdk.Report) bool { return true }); ok || !strings.Contains(c.Events.Why(), test.want) {
				t.Errorf("who waits for an event is told %s", c.Events.Why())
			}
			if err := d.Send(sdk.Command{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("who gives a command is told %v", err)
			}
		})
	}
}

// The example of docs/writing-a-client.md, tested as the document says; and with a fault in it.
func TestMinimalClient(t *testing.T) {
	t.Parallel()
	t.Run("as it is", func(t *testing.T) {
		t.Parallel()
		// The slowest of its scenarios only in a soak.
		run := harness.AtLength([]string{"connect", "messages", "payloads", "deliver to one", "forbidden channels", "bad token", "revocation", "plaintext", "histories"}, nil)
		table, err := sdk.RunMinimalClient(t, "../examples/minimal-client", run...)
		if err != nil {
			t.Fatalf("%v\n%s", err, table)
		}
		for _, name := range clientScenarios() {
			want := "not supported: .*"
			switch {
			case run != nil && !slices.Contains(run, name):
				continue
			case slices.Contains(sdk.MinimalScenarios, name):
				want = "passed"
			}
			if !regexp.MustCompile(`(?m)^` + name + `  +` + want + ` *$`).MatchString(table) {
				t.Errorf("the table does not say of %q %s:\n%s", name, want, table)
			}
		}
	})
	t.Run("broken", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		for _, name := range []string{"client.py", "driver.py"} {
			text, err := os.ReadFile(filepath.Join("../examples/minimal-client", name))
			if err != nil {
				t.Fatal(err)
			}
			broken := strings.Replace(string(text), `"payload": payload,`, `"payload": payload.rstrip(b"\x00"),`, 1)
			if (broken != string(text)) != (name == "client.py") {
				t.Fatalf("%s is not as this test knows it", name)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(broken), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		table, err := sdk.RunMinimalClient(t, dir, "messages", "payloads")
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("it ended with %v, want 1", err)
		}
		for _, line := range []string{`messages  +passed`, `payloads  +FAILED`, `1 passed, 1 failed, 0 not supported`} {
			if !regexp.MustCompile(`(?m)^` + line + ` *$`).MatchString(table) {
				t.Errorf("the output lacks %q:\n%s", line, table)
			}
		}
	})
}

// What cannot be run is said before any scenario.
func TestNoClient(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ client, transports, want string }{
		{"no-such-driver", "", `MILLRACE_CLIENT "no-such-driver": the driver ended with exit status 127`},
		{"true", "", `MILLRACE_CLIENT "true": the driver ended before its input did`},
		{`sh -c 'echo "{\"event\":\"hello\",\"transports\":[\"websocket\"]}"; cat'`, "webtransport", `MILLRACE_CLIENT_TRANSPORTS names "webtransport", and the client has ["websocket"]`},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSDKs$")
		cmd.Env = append(os.Environ(), sdk.ClientVariable+"="+row.client, sdk.ClientTransportsVariable+"="+row.transports)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), row.want) {
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
	for _, name := range clientScenarios() {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/writing-a-client.md does not name the scenario %s", name)
		}
	}
	used := map[string]bool{}
	for _, row := range sdkScenarios {
		for _, feature := range row.needs {
			used[feature] = true
		}
	}
	for _, row := range slices.Concat(sdkMoves, sdkSuspicions) {
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

// clientScenarios is the names of all scenarios, in their order.
func clientScenarios() (names []string) {
	for _, row := range sdkScenarios {
		names = append(names, row.name)
	}
	for _, row := range slices.Concat(sdkMoves, sdkSuspicions) {
		names = append(names, row.name)
	}
	return names
}
