package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// ran is what a command of the binary wrote, and its exit code.
type ran struct {
	t        *testing.T
	Out, Err string
	Code     int
}

// Pubsub runs a subcommand of `pubsub` that may fail, in the edge's
// environment plus env.
func (e *Edge) Pubsub(env []string, stdin string, args ...string) ran {
	e.T.Helper()
	cmd := e.Command(append([]string{"pubsub"}, args...)...)
	cmd.Env = slices.Concat(cmd.Env, env)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		e.T.Fatal(err)
	}
	return ran{e.T, out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// AdminCLI is pubsub with the edge's admin address.
func (e *Edge) AdminCLI(args ...string) ran {
	e.T.Helper()
	return e.Pubsub([]string{"CADDY_ADMIN=" + e.AdminAddress()}, "", args...)
}

// Want requires an exit code and that stdout and stderr contain these texts.
func (r ran) Want(code int, out, errs string) ran {
	r.t.Helper()
	if r.Code != code || !strings.Contains(r.Out, out) || !strings.Contains(r.Err, errs) {
		r.t.Fatalf("got exit code %d, want %d\nstdout, want %q:\n%s\nstderr, want %q:\n%s", r.Code, code, out, r.Out, errs, r.Err)
	}
	return r
}

// Lines requires that the exit code is 0, and that stdout has so many lines.
func (r ran) Lines(n int) {
	r.t.Helper()
	if got := strings.Count(r.Want(0, "", "").Out, "\n"); got != n {
		r.t.Errorf("got %d lines, want %d:\n%s", got, n, r.Out)
	}
}

// Decode reads stdout as JSON; the exit code must be 0.
func (r ran) Decode(into any) {
	r.t.Helper()
	r.Want(0, "", "")
	if err := json.Unmarshal([]byte(r.Out), into); err != nil {
		r.t.Fatalf("%v: %s", err, r.Out)
	}
}

// UnknownID is the id of no token.
const UnknownID = "0123456789abcdef0123456789abcdef"
