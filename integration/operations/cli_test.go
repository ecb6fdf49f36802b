package operations

import (
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// The commands publish and subscribe, over each transport that --url and --transport name.
func TestCLIClient(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.Grant("room", []string{"a.#"}, []string{"a.#"}))
	env := []string{"MILLRACE_TOKEN=" + token.Token}
	wss := e.Wss()
	for transport, args := range map[string][]string{
		"webtransport": {"--ca", e.Root(), "--url", e.HttpsURL("")},
		"websocket":    {"--ca", e.Root(), "--url", e.HttpsURL("/"), "--transport", "websocket"},
		"websocket ":   {"--url", e.HttpURL("")},
	} {
		args = append(args, "--tenant", "paint.room")
		s := e.Subscriber(token.Token, append(args, "a.b")...)
		e.AdminCLI("connections", "--json").Want(0, `"transport":"`+strings.TrimSpace(transport), "")
		e.Pubsub(env, "two\nlines \x00\xff", append([]string{"publish", "a.b", "-"}, args...)...).Want(0, "", "")
		s.Await(s.Out, `a.b "two\nlines \x00\xff"`+"\n")
		s.Signal(syscall.SIGINT)
		if code := s.ExitCode(); code != 0 {
			t.Errorf("after SIGINT: exit code %d, want 0; stderr %s", code, s.Err)
		}
	}
	wss = append(wss, "--tenant", "paint.room")
	objects := e.Subscriber(token.Token, append(wss, "--json", "a.*")...)
	e.Pubsub(nil, token.Token+"\n", append([]string{"publish", "a.b", "token from stdin", "--delivery", "one-random"}, wss...)...).Want(0, "", "")
	objects.Await(objects.Out, `"payload":"token from stdin"`)
	e.Pubsub(env, "", append([]string{"publish", "b", "x"}, wss...)...).Want(1, "", "Error: ERR:permission_denied:PUB:paint.room:b")
	e.Pubsub(env, strings.Repeat("x", 200_000), append([]string{"publish", "a.b", "-"}, wss...)...).Want(1, "", "closed the connection: 1009")
	e.Pubsub(env, "", append([]string{"subscribe", "b"}, wss...)...).Want(1, "", "ERR:permission_denied:SUB:paint.room:b\nError: the edge refused a subscription")
	e.Pubsub([]string{"MILLRACE_TOKEN=AT_" + harness.UnknownID + "_" + harness.UnknownID}, "", append([]string{"publish", "a.b"}, wss...)...).Want(1, "", "401 unauthorized")
	e.Pubsub(env, "", "publish", "a.b", "--tenant", "paint.room", "--url", e.HttpsURL("")).Want(1, "", "--ca names a certificate authority")
	e.AdminCLI("token", "revoke", token.TokenID).Want(0, "revoked", "")
	if code := objects.ExitCode(); code != 1 || !strings.Contains(objects.Err.String(), "ERR:token_revoked\nError: the edge closed the connection: 4403") {
		t.Errorf("after the revocation: exit code %d, %s", code, objects.Err)
	}
}
