package operations

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// The commands publish and subscribe, over each transport that --url and --transport name.
// Package command has what else they print, and their errors.
func TestCLIClient(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.Grant("room", []string{"a.#"}, []string{"a.#"})).Token
	env := []string{"MILLRACE_TOKEN=" + token}
	for transport, args := range map[string][]string{
		"webtransport": {"--ca", e.RootFile(), "--url", e.HttpsURL("")},
		"websocket":    {"--ca", e.RootFile(), "--url", e.HttpsURL("/"), "--transport", "websocket"},
		"websocket ":   {"--url", e.HttpURL("")},
	} {
		args = append(args, "--tenant", "paint.room")
		subscribe := e.Command(slices.Concat([]string{"pubsub", "subscribe", "a.b"}, args)...)
		subscribe.Env = slices.Concat(subscribe.Env, env)
		s := harness.StartBackground(t, subscribe)
		s.Await(s.Err, "OK:SUB:")
		e.AdminCLI("connections", "--json").Want(0, `"transport":"`+strings.TrimSpace(transport), "")
		e.Pubsub(env, "two\nlines \x00\xff", slices.Concat([]string{"publish", "a.b", "-"}, args)...).Want(0, "", "")
		s.Await(s.Out, `a.b "two\nlines \x00\xff"`+"\n")
		s.Signal(syscall.SIGINT)
		if code := s.ExitCode(); code != 0 {
			t.Errorf("after SIGINT: exit code %d, want 0; stderr %s", code, s.Err)
		}
		e.Pubsub(env, "", slices.Concat([]string{"publish", "b", "x"}, args)...).Want(1, "", "Error: ERR:permission_denied:PUB:paint.room:b")
	}
	e.Pubsub(env, "", "publish", "a.b", "--tenant", "paint.room", "--url", e.HttpsURL("")).Want(1, "", "--ca names a certificate authority")
}
