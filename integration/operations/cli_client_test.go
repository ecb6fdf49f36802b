package operations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

func TestCLIPublishAndSubscribe(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room"))
	env := []string{"MILLRACE_TOKEN=" + token.Token}
	tenant := append(e.Wss(), "--tenant", "paint.room")
	with := func(args ...string) []string { return append(args, tenant...) }

	lines := e.Subscriber(token.Token, append(tenant, "#")...)
	objects := e.Subscriber(token.Token, append(tenant, "a.*", "--json")...)
	e.Pubsub(env, "", with("publish", "a.b", "hello")...).Want(0, "", "")
	e.Pubsub(nil, token.Token+"\n", with("publish", "a.b", "from stdin")...).Want(0, "", "")
	e.Pubsub(env, "two\nlines \x00\xff", with("publish", "a.b", "-")...).Want(0, "", "")
	e.Pubsub(env, "", with("publish", "c")...).Want(0, "", "")
	lines.Await(lines.Out, "c \n")
	if got, want := lines.Out.String(), "a.b hello\na.b from stdin\na.b \"two\\nlines \\x00\\xff\"\nc \n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	objects.Await(objects.Out, "base64")
	var first harness.Object
	if err := json.Unmarshal(bytes.Split([]byte(objects.Out.String()), []byte("\n"))[0], &first); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(first), `map[channel:a.b patterns:[a.*] payload:hello tenant:paint.room]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	// One of the two gets each: how many there are tells that none came twice.
	for _, delivery := range []string{"one-nearest", "one-random"} {
		e.Pubsub(env, "", with("publish", "a.one", delivery, "--delivery", delivery)...).Want(0, "", "")
	}
	e.Pubsub(env, "", with("publish", "a.end", "end")...).Want(0, "", "")
	lines.Await(lines.Out, "a.end")
	objects.Await(objects.Out, "a.end")
	if got := strings.Count(lines.Out.String()+objects.Out.String(), "a.one"); got != 2 {
		t.Errorf("two deliveries to one each reached %d subscribers", got)
	}

	lines.Signal(syscall.SIGINT)
	if code := lines.ExitCode(); code != 0 {
		t.Errorf("after SIGINT: exit code %d, want 0; stderr %s", code, lines.Err)
	}
	e.AdminCLI("token", "revoke", token.TokenID).Want(0, "revoked", "")
	if code := objects.ExitCode(); code != 1 {
		t.Errorf("after the revocation: exit code %d, want 1", code)
	}
	if got := objects.Err.String(); !strings.Contains(got, "ERR:token_revoked\nError: the edge closed the connection: 4403") {
		t.Errorf("after the revocation stderr is %s", got)
	}
}

func TestCLIClientRefusals(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.Grant("room", []string{"a"}, []string{"a"}))
	env := []string{"MILLRACE_TOKEN=" + token.Token}
	tenant := append(e.Wss(), "--tenant", "paint.room")
	with := func(args ...string) []string { return append(args, tenant...) }

	e.Pubsub(env, "", with("publish", "a", "x")...).Want(0, "", "")
	e.Pubsub(env, "", with("publish", "b", "x")...).Want(1, "", "Error: ERR:permission_denied:PUB:paint.room:b")
	e.Pubsub(env, strings.Repeat("x", 65537), with("publish", "a", "-")...).Want(1, "", "ERR:payload_too_large")
	e.Pubsub(env, strings.Repeat("x", 200_000), with("publish", "a", "-")...).Want(1, "", "closed the connection: 1009")
	e.Pubsub(env, "", with("subscribe", "a", "b")...).Want(1, "", "ERR:permission_denied:SUB:paint.room:b\nError: the edge refused a subscription")

	other := "MILLRACE_TOKEN=AT_" + harness.UnknownID + "_" + harness.UnknownID
	for _, command := range []string{"publish", "subscribe"} {
		e.Pubsub([]string{other}, "", with(command, "a")...).Want(1, "", "the edge refused the connection: ").Want(1, "", "401 unauthorized")
		e.Pubsub(nil, "", with(command, "a")...).Want(2, "", "an access token is required")
		e.Pubsub(env, "", command, "--url", fmt.Sprintf("wss://localhost:%d", e.HTTPS), "--tenant", "paint.room", "a").Want(1, "", "--ca names a certificate authority")
	}
	e.Pubsub(env, "", "publish", "--insecure", "--url", fmt.Sprintf("wss://localhost:%d", e.HTTPS), "--tenant", "paint.room", "a").Want(0, "", "")
	e.Pubsub(env, "", "publish", "--url", fmt.Sprintf("ws://localhost:%d", e.HTTP), "--tenant", "paint.room", "a").Want(0, "", "")

	s := e.Subscriber(token.Token, append(tenant, "a")...)
	e.Stop()
	s.Await(s.Err, "closed the connection: 1001")
	if got := s.Err.String(); !strings.Contains(got, "RECONNECT") || !strings.Contains(got, "; reconnecting\n") {
		t.Errorf("after the edge's end stderr is %s", got)
	}
	s.Signal(syscall.SIGINT)
	if code := s.ExitCode(); code != 0 {
		t.Errorf("after SIGINT while it reconnects: exit code %d, want 0; stderr %s", code, s.Err)
	}
	e.Pubsub(env, "", with("subscribe", "a")...).Want(1, "", "Error: ")
}

// Over each transport that --url and --transport name.
func TestCLITransports(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room"))
	env := []string{"MILLRACE_TOKEN=" + token.Token}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--url", e.HttpsURL(""), "--transport", "webtransport"}, "webtransport"},
		{[]string{"--url", e.HttpsURL("/"), "--transport", "websocket"}, "websocket"},
		{[]string{"--url", e.HttpsURL("")}, "webtransport"},
		{[]string{"--url", e.HttpURL("")}, "websocket"},
	} {
		args := append([]string{"--ca", e.Root(), "--tenant", "paint.room"}, test.args...)
		s := e.Subscriber(token.Token, append(args, "#")...)
		e.AdminCLI("connections", "--json").Want(0, `"transport":"`+test.want, "")
		e.Pubsub(env, "", append([]string{"publish", "a", "hello"}, args...)...).Want(0, "", "")
		s.Await(s.Out, "a hello\n")
		s.Signal(syscall.SIGINT)
		if code := s.ExitCode(); code != 0 {
			t.Errorf("%q: exit code %d, want 0; stderr %s", test.args, code, s.Err)
		}
	}
}
