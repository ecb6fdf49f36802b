package autobahn

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// recorder is a test that only notes what it is told.
type recorder struct {
	testing.TB
	errors []string
}

func (*recorder) Helper()               {}
func (*recorder) Logf(string, ...any)   {}
func (r *recorder) Fatal(values ...any) { panic(fmt.Sprint(values...)) }
func (r *recorder) Errorf(format string, values ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, values...))
}

func TestCheck(t *testing.T) {
	for report, want := range map[string]int{
		`{"a":{"1.1":{"behavior":"OK","behaviorClose":"OK"},"1.2":{"behavior":"INFORMATIONAL","behaviorClose":"INFORMATIONAL"}}}`: 0,
		`{"a":{"1.1":{"behavior":"NON-STRICT","behaviorClose":"OK"}}}`:                                                            1,
		`{"a":{"1.1":{"behavior":"OK","behaviorClose":"UNCLEAN"}},"b":{"1.1":{"behavior":"FAILED","behaviorClose":"FAILED"}}}`:    2,
		`{"a":{"1.1":{}}}`: 1,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "index.json"), []byte(report), 0o600); err != nil {
			t.Fatal(err)
		}
		r := &recorder{TB: t}
		(&Suite{t: r, report: dir}).Check()
		if len(r.errors) != want {
			t.Errorf("%s: %q, want %d errors", report, r.errors, want)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("an empty report passes")
		}
	}()
	(&Suite{t: &recorder{TB: t}, report: dir}).Check()
}

func TestCommand(t *testing.T) {
	t.Setenv("WSTEST", "wstest")
	t.Setenv("AUTOBAHN_CASES", "1.*")
	t.Setenv("AUTOBAHN_REPORT", "reports")
	cmd := New(t).Command(t.Context(), "fuzzingserver", map[string]any{"url": "ws://127.0.0.1:1"})
	text, err := os.ReadFile(cmd.Args[4])
	if err != nil {
		t.Fatal(err)
	}
	var spec struct {
		URL, Outdir string
		Cases       []string
	}
	if err := json.Unmarshal(text, &spec); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(cmd.Args[:4], spec); got != "[wstest -m fuzzingserver -s] {ws://127.0.0.1:1 reports [1.*]}" {
		t.Error(got)
	}
}
