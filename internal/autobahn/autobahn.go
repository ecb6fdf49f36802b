// Package autobahn runs the command of the Autobahn test suite, which
// scripts/soak-rfc6455.sh installs, for the tests of both ends of a WebSocket.
package autobahn

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Suite is a run of the suite. WSTEST is the command, AUTOBAHN_CASES narrows the
// cases, AUTOBAHN_REPORT keeps the report.
type Suite struct {
	t      testing.TB
	report string // its folder
}

// New returns a run for a test.
func New(t testing.TB) *Suite {
	t.Helper()
	s := &Suite{t: t, report: os.Getenv("AUTOBAHN_REPORT")}
	if s.report == "" {
		s.report = t.TempDir()
	}
	return s
}

// Command returns the command in a mode, "fuzzingserver" or "fuzzingclient". spec adds to
// its specification, beside cases and report. The command ends with ctx.
func (s *Suite) Command(ctx context.Context, mode string, spec map[string]any) *exec.Cmd {
	s.t.Helper()
	all := map[string]any{
		"outdir": s.report, "cases": cases(), "exclude-cases": []string{}, "exclude-agent-cases": map[string]any{},
	}
	maps.Copy(all, spec)
	text, err := json.Marshal(all)
	if err != nil {
		s.t.Fatal(err)
	}
	file := filepath.Join(s.t.TempDir(), "spec.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return exec.CommandContext(ctx, os.Getenv("WSTEST"), "-m", mode, "-s", file)
}

func cases() []string {
	if c := os.Getenv("AUTOBAHN_CASES"); c != "" {
		return []string{c}
	}
	return []string{"1.*", "2.*", "3.*", "4.*", "5.*", "6.*", "7.*", "9.*", "10.*"}
}

// Check fails the test for every case that did not pass in every respect. Cases that are
// only informational count as passed.
func (s *Suite) Check() {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.report, "index.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var report map[string]map[string]struct{ Behavior, BehaviorClose string }
	if err := json.Unmarshal(b, &report); err != nil {
		s.t.Fatal(err)
	}
	if len(report) == 0 {
		s.t.Fatal("the report is empty")
	}
	for agent, results := range report {
		count := map[string]int{}
		for id, r := range results {
			count[r.Behavior]++
			if !passed(r.Behavior) || !passed(r.BehaviorClose) {
				s.t.Errorf("%s: case %s: %s, close %s", agent, id, r.Behavior, r.BehaviorClose)
			}
		}
		s.t.Logf("%s: %d cases: %v", agent, len(results), count)
	}
}

func passed(behavior string) bool { return behavior == "OK" || behavior == "INFORMATIONAL" }
