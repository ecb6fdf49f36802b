package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"
	"go.uber.org/goleak"

	"github.com/millrace/millrace/internal/loopback"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testAccess = "AT_00000000000000000000000000000001_00000000000000000000000000000002"
	testMaster = "MT_00000000000000000000000000000001_00000000000000000000000000000002"
	testID     = "00000000000000000000000000000001"
)

// No test here may reach an edge: nothing listens on this address.
const nobody = "unix//nonexistent/socket"

func TestSecretsAreNoArguments(t *testing.T) {
	t.Setenv(tokenVariable, "")
	for _, args := range [][]string{
		{testAccess},
		{"token", testAccess},
		{"token", "revoke", testAccess},
		{"token", "revoke", "at." + testAccess},
		{"token", "revoke", strings.ToLower(testAccess)},
		{"token", "refresh", testAccess},
		{"token", "explain", testAccess, "--action", "connect"},
		{"token", "explain", "--action", testAccess},
		{"token", "list", "--limit", testAccess},
		{"token", "list", "--cursor=" + testAccess},
		{"token", "list", "--" + testAccess},
		{"token", "issue", "--tenant", testMaster},
		{"token", "issue", "--expires-in", testAccess},
		{"master-token", "rotate", testMaster},
		{"master-token", "delete", testMaster},
		{"master-token", "update", testMaster, "--name", "x"},
		{"master-token", "create", "--name", testMaster, "--static"},
		{"subscribe", testAccess},
		{"subscribe", "--url", "wss://localhost/ws?token=" + testAccess, "#"},
		{"publish", "a", testAccess},
		{"connections", "--address", testAccess},
		{"presence", "--tenant", testAccess},
		{"presence", "--tenant", "demo", "--subject", testAccess},
		{"presence", "--tenant", "demo", testAccess},
		{"dev", "--dir", testMaster},
		{"dev", "--http-port", testMaster},
	} {
		got := run(t.Context(), "", args...)
		if got.code != 2 || !strings.Contains(got.err, "must not be an argument") || !strings.Contains(got.err, "stdin") {
			t.Errorf("%q: got exit code %d and %q, want 2 and the hint at stdin", args, got.code, got.err)
		}
		if text := strings.ToLower(got.out + got.err); strings.Contains(text, strings.ToLower(testAccess[3:])) {
			t.Errorf("%q: the secret is repeated: %s", args, text)
		}
	}
}

func TestUsageErrors(t *testing.T) {
	t.Setenv(tokenVariable, testAccess)
	free, another := fmt.Sprint(loopback.FreePort(t)), fmt.Sprint(loopback.FreePort(t))
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "allowed: dev, caddyfile, sdk, master-token, token, backup, restore, edges, connections, refused, disconnect, drain, undrain, ready, history, presence, subscribe, publish"},
		{[]string{"tokens"}, `unknown command "tokens"; allowed: dev`},
		{[]string{"token"}, "allowed: issue, list, revoke, refresh, explain"},
		{[]string{"master-token", "make"}, "allowed: create, list, update, rotate, delete"},
		{[]string{"token", "list", "--page", "2"}, "unknown flag: --page"},
		{[]string{"token", "list", "all"}, "wrong number of arguments; allowed: millrace pubsub token list"},
		{[]string{"token", "list", "--address", "localhost"}, "--address: must be one address"},
		{[]string{"token", "list", "--address", "localhost:1-9"}, "--address: must be one address"},
		{[]string{"token", "issue"}, "--tenant is required"},
		{[]string{"token", "issue", "--tenant", "a", "--expires-in", "0.9s"}, "--expires-in: must be at least 1s"},
		{[]string{"token", "issue", "--tenant", "a", "--expires-in", "1h", "--expires-at", "2030-01-01T00:00:00Z"}, "cannot be combined"},
		{[]string{"token", "issue", "--tenant", "a", "--quiet", "--json"}, "cannot be combined"},
		{[]string{"token", "issue", "--tenant", "a", "--subject", ""}, "--subject: is empty; omit it instead"},
		{[]string{"token", "list", "--subject", ""}, "--subject: is empty"},
		{[]string{"master-token", "create", "--name", "a", "--tenant-prefix", ""}, "--tenant-prefix: is empty"},
		{[]string{"history", "purge", "a", "--tenant", "a", "--channel", ""}, "--channel: is empty"},
		{[]string{"token", "refresh"}, "wrong number of arguments"},
		{[]string{"token", "explain"}, "--action: must be publish, subscribe, history, presence or connect"},
		{[]string{"token", "explain", "--action", "publish"}, "needs --channel"},
		{[]string{"token", "explain", "--action", "publish", "--channel", "a", "--pattern", "a"}, "takes no --pattern"},
		{[]string{"token", "explain", "--action", "subscribe", "--channel", "a"}, "needs --pattern"},
		{[]string{"token", "explain", "--action", "presence", "--channel", "a"}, "--action presence needs --pattern, and takes no --channel"},
		{[]string{"token", "explain", "--action", "history", "--pattern", "a", "--channel", "a"}, "--action history needs --pattern, and takes no --channel"},
		{[]string{"token", "explain", "--action", "connect", "--channel", "a"}, "takes no --tenant, --channel or --pattern"},
		{[]string{"master-token", "create"}, "--name is required"},
		{[]string{"master-token", "update", testID}, "nothing to change; allowed: --name"},
		{[]string{"master-token", "rotate"}, "wrong number of arguments"},
		{[]string{"master-token", "rotate", testID, "--quiet", "--json"}, "cannot be combined"},
		{[]string{"token", "explain", "a", "b"}, "--action publish|subscribe|history|presence|connect"},
		{[]string{"presence", "room.#"}, "a pattern and --subject need --tenant"},
		{[]string{"presence", "--subject", "ann"}, "a pattern and --subject need --tenant"},
		{[]string{"presence", "--tenant", "demo", "a", "b"}, "wrong number of arguments"},
		{[]string{"subscribe"}, "wrong number of arguments"},
		{[]string{"subscribe", "a..b"}, `pattern "a..b"`},
		{[]string{"subscribe", "--from", "first", "a"}, "--from: must be now, last, last.<n> with n up to 100000, or a position"},
		{[]string{"subscribe", "--from", "x:now", "a"}, "--from: must be"},
		{[]string{"subscribe", "--from", "last.3", "a", "b.*"}, `"b.*" has a wildcard`},
		{[]string{"publish", "--key", "k", "a"}, "--key needs --confirm"},
		{[]string{"publish", "--confirm", "--key", "", "a"}, "--key: is empty; omit it instead"},
		{[]string{"subscribe", "--tenant", "a:b", "a"}, "--tenant: "},
		{[]string{"subscribe", "--url", "ftp://localhost/ws", "a"}, "--url: must begin with wss://"},
		{[]string{"subscribe", "--url", "wss://localhost/ws", "--transport", "webtransport", "a"}, "--transport: webtransport needs a URL with https://"},
		{[]string{"subscribe", "--url", "wss://localhost/ws?a=b", "a"}, "--url: must be like wss://"},
		{[]string{"subscribe", "--proxy", "http://user:secret@proxy.test", "a"}, "--proxy: must have no user and password"},
		{[]string{"subscribe", "--insecure", "--ca", "x", "a"}, "cannot be combined"},
		{[]string{"publish", "a.*"}, "channel: "},
		{[]string{"publish", "a", "b", "c"}, "wrong number of arguments"},
		{[]string{"publish", "--delivery", "all", "a"}, "--delivery: must be broadcast, one-nearest or one-random"},
		{[]string{"dev", "--https-port", "0"}, "--https-port: must be from 1 to 65535"},
		{[]string{"dev", "--https-port", free, "--http-port", another, "--admin", "0.0.0.0:2019"}, "--admin: must be a port on localhost"},
		{[]string{"dev", "--dir", "a{b}"}, "--dir: "},
		{[]string{"dev", "--port", "8080"}, "--port: must be 0"},
		{[]string{"dev", "--token"}, "--token goes with --json"},
		{[]string{"dev", "--port", "0", "--admin", "unix//" + strings.Repeat("x", 103)}, "--admin: the path of its socket has 104 bytes, allowed: 103"},
		{[]string{"dev", "here"}, "wrong number of arguments"},
		{[]string{"caddyfile"}, "wrong number of arguments; allowed: millrace pubsub caddyfile <host>"},
		{[]string{"caddyfile", "https://edge.example.com/ws"}, `"https://edge.example.com/ws": must be a host name like edge.example.com`},
		{[]string{"sdk", "edge.example.com"}, `"edge.example.com": must be the origin of an edge`},
		{[]string{"sdk", "https://edge.example.com/sdk"}, "must be the origin of an edge"},
		{[]string{"caddyfile", ":443"}, "must be a host name"},
		{[]string{"caddyfile", "{$HOST}"}, "must be a host name"},
	} {
		args := tt.args
		if len(args) > 0 && args[0] == "dev" {
			args = append([]string{"dev", "--dir", t.TempDir()}, args[1:]...)
		}
		got := run(t.Context(), "", args...)
		if got.code != 2 || !strings.Contains(got.err, tt.want) || got.out != "" {
			t.Errorf("%q: got exit code %d, stdout %q and %q, want 2, nothing and %q", tt.args, got.code, got.out, got.err, tt.want)
		}
	}
}

func TestEveryCommandHasHelp(t *testing.T) {
	pubsub := &cobra.Command{}
	setUp(pubsub)
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd != pubsub && (cmd.Short == "" || strings.HasSuffix(cmd.Short, ".")) {
			t.Errorf("%s: short help is %q", cmd.CommandPath(), cmd.Short)
		}
		for line := range strings.Lines(cmd.Example) { // it can be pasted
			n := strings.Count(line, caddy.CustomBinaryName+" pubsub ")
			if n == 0 || n != strings.Count(line, "pubsub ") {
				t.Errorf("%s: the example %q lacks the program's name", cmd.CommandPath(), line)
			}
		}
		var help bytes.Buffer
		cmd.SetOut(&help)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		page, ok := strings.CutPrefix(help.String()[strings.LastIndex(help.String(), "\n\n")+2:], "Full documentation is available at:\n"+repository)
		if _, err := os.Stat("../../" + strings.TrimSuffix(page, "\n")); !ok || page == "\n" || err != nil {
			t.Errorf("%s: the help ends with the page %q: %v", cmd.CommandPath(), page, err)
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(pubsub)
	if got := run(t.Context(), "", "token", "issue", "--help"); got.code != 0 || !strings.Contains(got.out, "--expires-in") {
		t.Errorf("--help: got exit code %d and %q", got.code, got.out)
	}
}

func TestTokenSources(t *testing.T) {
	for name, tt := range map[string]struct {
		env, stdin string
		code       int
		want       string
	}{
		"environment":        {testAccess, "", 1, "no admin endpoint"},
		"stdin":              {"", testAccess + "\nmore\n", 1, "no admin endpoint"},
		"stdin, no newline":  {"", testAccess, 1, "no admin endpoint"},
		"environment wins":   {testAccess, "nonsense", 1, "no admin endpoint"},
		"none":               {"", "", 2, "an access token is required"},
		"an empty line":      {"", "\n" + testAccess, 2, "an access token is required"},
		"a master token":     {testMaster, "", 2, "does not hold an access token"},
		"upper case":         {strings.ToUpper(testAccess[:10]) + "ABCDEF", "", 2, "does not hold an access token"},
		"an endless line":    {"", strings.Repeat("x", 1<<20), 2, "does not hold an access token"},
		"spaces around it":   {" " + testAccess + "\r\n", "", 1, "no admin endpoint"},
		"two tokens in line": {"", testAccess + " " + testAccess, 2, "does not hold an access token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(tokenVariable, tt.env)
			got := run(t.Context(), tt.stdin, "token", "revoke", "--address", nobody)
			if got.code != tt.code || !strings.Contains(got.err, tt.want) {
				t.Errorf("got exit code %d and %q, want %d and %q", got.code, got.err, tt.code, tt.want)
			}
			if strings.Contains(got.err, testAccess[36:]) {
				t.Errorf("the secret is repeated: %s", got.err)
			}
		})
	}
}

// The payload cannot come from where the token is to come from.
func TestPublishFromStdinNeedsTheEnvironment(t *testing.T) {
	t.Setenv(tokenVariable, "")
	if got := run(t.Context(), testAccess, "publish", "a", "-"); got.code != 2 || !strings.Contains(got.err, "$"+tokenVariable) {
		t.Errorf("got exit code %d and %q", got.code, got.err)
	}
}

// Of two tokens, the wrong one might be revoked.
func TestTokenInAFileBesideTheEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token.txt")
	if err := os.WriteFile(file, []byte(testAccess), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var cmd cobra.Command
	cmd.SetIn(in)
	t.Setenv(tokenVariable, testAccess)
	if _, err := readSubject(&cmd); err == nil || !strings.Contains(err.Error(), "stdin is a file") {
		t.Errorf("got %v", err)
	}
	t.Setenv(tokenVariable, "")
	if token, err := readSubject(&cmd); token != testAccess {
		t.Errorf("from the file alone: %v", err)
	}
}

// The commands of pages that no test runs as they stand exist, with their flags, and so do the values
// of the chart. The soak kubernetes installs the chart.
func TestPagesOnProduction(t *testing.T) {
	for name, count := range map[string]int{"production": 6, "kubernetes": 3} {
		page, err := os.ReadFile("../../docs/how-to/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		commands := regexp.MustCompile(`(?m)(?:^|[\x60 (])millrace (pubsub [^\x60<>\n)]*)`).FindAllSubmatch(page, -1)
		if len(commands) < count {
			t.Errorf("%s has %d commands", name, len(commands))
		}
		for _, m := range commands {
			words := strings.Fields(strings.ReplaceAll(string(m[1]), "'", ""))[1:]
			if got := run(t.Context(), "", append(words, "--help")...); got.code != 0 || !strings.Contains(got.out, "Usage:\n") {
				t.Errorf("%s: exit code %d, %s%s", m[1], got.code, got.out, got.err)
			}
		}
		for _, m := range regexp.MustCompile(`deploy/chart/millrace/\S+|\.\./\.\./deploy/[^)]*`).FindAllSubmatch(page, -1) {
			if _, err := os.Stat("../../" + strings.TrimPrefix(string(m[0]), "../../")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, m := range regexp.MustCompile(`--set ([\w.=,@-]*\w)`).FindAllSubmatch(page, -1) {
			for _, value := range strings.Split(string(m[1]), ",") {
				wantValue(t, strings.Split(strings.Split(value, "=")[0], "."))
			}
		}
	}
}

// wantValue wants the chart to have a value.
func wantValue(t *testing.T, path []string) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/chart/millrace/values.schema.json")
	var schema struct{ Properties map[string]json.RawMessage }
	for _, name := range path {
		if err == nil {
			schema.Properties = nil
			err = json.Unmarshal(text, &schema)
			text = schema.Properties[name]
		}
	}
	if err != nil || text == nil {
		t.Errorf("the chart has no value %q: %v", path, err)
	}
}
