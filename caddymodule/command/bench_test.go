package command

import (
	"strings"
	"testing"
)

// What makes no sense is refused before the token is asked for, and a token
// before it is sent anywhere.
func TestBenchUsage(t *testing.T) {
	t.Setenv(tokenVariable, "")
	t.Setenv(masterVariable, "")
	for _, tt := range []struct {
		stdin string
		args  []string
		want  string
	}{
		{"", []string{"flood"}, `unknown scenario "flood"; allowed: fanout, latency, rooms, idle`},
		{"", []string{"fanout", "idle"}, "wrong number of arguments"},
		{"", []string{"--window", "0"}, "--window: must be from 1 to"},
		{"", []string{"--burst", "0"}, "--burst: must be from 1 to"},
		{"", []string{"rooms", "--subscribers", "3"}, "--subscribers: not for rooms; it is for fanout, latency"},
		{"", []string{"idle", "--payload", "100"}, "--payload: not for idle; it is for fanout, latency, rooms"},
		{"", []string{"latency", "--rate", "-1"}, "--rate: must be above 0"},
		{"", []string{"--duration", "2h"}, "--duration: must be above 0 and at most 1h"},
		{"", []string{"--cap", "0"}, "--cap: must be at least 1 KB/s"},
		{"", []string{"--transport", "tcp"}, "--transport: must be websocket or webtransport"},
		{"", []string{"--transport", "webtransport", "--url", "wss://localhost"}, "--url: must be https:// for WebTransport"},
		{"", []string{"--url", "wss://192.0.2.1", "--insecure"}, "--insecure: must be left out for hosts that are not on loopback"},
		{"", []string{"--tenant", "a b"}, "--tenant: must be a legal name"},
		{"", nil, "a token is required: a master token in $MILLRACE_MASTER_TOKEN"},
		{"secret-text", nil, "does not hold a token"},
		{testMaster, []string{"--url", "ws://192.0.2.1/ws"}, "a master token is sent to other machines only over TLS"},
		{"", []string{testMaster}, "must not be an argument"},
		{"", []string{"--tenant", testAccess}, "must not be an argument"},
	} {
		got := run(t.Context(), tt.stdin, append([]string{"bench"}, tt.args...)...)
		if got.code != 2 || !strings.Contains(got.err, tt.want) || got.out != "" {
			t.Errorf("%q: got exit code %d, stdout %q and %q, want 2, nothing and %q", tt.args, got.code, got.out, got.err, tt.want)
		}
		if strings.Contains(got.err, testMaster[36:]) || strings.Contains(got.err, "secret-text") {
			t.Errorf("%q: the secret is repeated: %s", tt.args, got.err)
		}
	}
}

// A master token goes first: its runs have caps that do not limit them.
func TestBenchTokenSources(t *testing.T) {
	for name, tt := range map[string]struct {
		master, access, stdin string
		want                  string
		isMaster              bool
	}{
		"master":               {testMaster, "", "", testMaster, true},
		"access":               {"", testAccess, "", testAccess, false},
		"both":                 {testMaster, testAccess, "", testMaster, true},
		"master from stdin":    {"", "", testMaster + "\nmore\n", testMaster, true},
		"access from stdin":    {"", "", " " + testAccess, testAccess, false},
		"environment wins":     {"", testAccess, testMaster, testAccess, false},
		"swapped in variables": {testAccess, "", "", testAccess, false},
	} {
		t.Setenv(masterVariable, tt.master)
		t.Setenv(tokenVariable, tt.access)
		cmd := benchCommand()
		cmd.SetIn(strings.NewReader(tt.stdin))
		token, isMaster, err := readBenchToken(cmd)
		if token != tt.want || isMaster != tt.isMaster || err != nil {
			t.Errorf("%s: got %q, %v, %v", name, token, isMaster, err)
		}
	}
}
