package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/capture"
)

// background is a command that runs beside the test. It is killed when the test
// ends, if it has not ended by then.
type background struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err *capture.Output
	exited   chan struct{}
}

func startBackground(t *testing.T, cmd *exec.Cmd) *background {
	t.Helper()
	p := &background{t: t, cmd: cmd, out: &capture.Output{}, err: &capture.Output{}, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.out, p.err
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the process, which the cleanup ends
		_ = cmd.Wait() // exitCode tells
		close(p.exited)
	}()
	t.Cleanup(func() {
		select {
		case <-p.exited:
		default:
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
			<-p.exited
		}
	})
	return p
}

// await returns when the process has written text.
func (p *background) await(o *capture.Output, text string) {
	p.t.Helper()
	p.awaitMatch(o, regexp.MustCompile(regexp.QuoteMeta(text)))
}

// awaitMatch returns the match, and its groups, when the process has written one.
func (p *background) awaitMatch(o *capture.Output, expression *regexp.Regexp) []string {
	p.t.Helper()
	return p.awaitMatchFor(waitTimeout, o, expression)
}

func (p *background) awaitMatchFor(limit time.Duration, o *capture.Output, expression *regexp.Regexp) []string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if found := expression.FindStringSubmatch(o.String()); found != nil {
			return found
		}
		select {
		case <-tick.C:
			continue
		case <-p.exited:
			if found := expression.FindStringSubmatch(o.String()); found != nil {
				return found
			}
		case <-ctx.Done():
		}
		p.t.Fatalf("%q did not write %q\nstdout:\n%s\nstderr:\n%s", p.cmd.Args, expression, p.out, p.err)
	}
}

func (p *background) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// exitCode waits for the process to end by itself.
func (p *background) exitCode() int {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(waitTimeout):
		p.t.Fatalf("%q did not end\nstdout:\n%s\nstderr:\n%s", p.cmd.Args, p.out, p.err)
	}
	return p.cmd.ProcessState.ExitCode()
}

func (e *edge) root() string {
	return filepath.Join(e.Dir, "data/caddy/pki/authorities/local/root.crt")
}

func (e *edge) wss() []string {
	return []string{"--url", fmt.Sprintf("wss://localhost:%d/ws", e.HTTPS), "--ca", e.root()}
}

// subscriber starts `pubsub subscribe` and returns when it has subscribed.
func (e *edge) subscriber(token string, args ...string) *background {
	e.t.Helper()
	cmd := e.command(append([]string{"pubsub", "subscribe"}, args...)...)
	cmd.Env = slices.Concat(cmd.Env, []string{"MILLRACE_TOKEN=" + token})
	p := startBackground(e.t, cmd)
	p.await(p.err, "OK:SUB:")
	return p
}

func TestCLIPublishAndSubscribe(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room"))
	env := []string{"MILLRACE_TOKEN=" + token.Token}
	tenant := append(e.wss(), "--tenant", "paint.room")
	with := func(args ...string) []string { return append(args, tenant...) }

	lines := e.subscriber(token.Token, append(tenant, "#")...)
	objects := e.subscriber(token.Token, append(tenant, "a.*", "--json")...)
	e.pubsub(env, "", with("publish", "a.b", "hello")...).want(0, "", "")
	e.pubsub(nil, token.Token+"\n", with("publish", "a.b", "from stdin")...).want(0, "", "")
	e.pubsub(env, "two\nlines \x00\xff", with("publish", "a.b", "-")...).want(0, "", "")
	e.pubsub(env, "", with("publish", "c")...).want(0, "", "")
	lines.await(lines.out, "c \n")
	if got, want := lines.out.String(), "a.b hello\na.b from stdin\na.b \"two\\nlines \\x00\\xff\"\nc \n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	objects.await(objects.out, "base64")
	var first object
	if err := json.Unmarshal(bytes.Split([]byte(objects.out.String()), []byte("\n"))[0], &first); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(first), `map[channel:a.b patterns:[a.*] payload:hello tenant:paint.room]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	// One of the two gets each: how many there are tells that none came twice.
	for _, delivery := range []string{"one-nearest", "one-random"} {
		e.pubsub(env, "", with("publish", "a.one", delivery, "--delivery", delivery)...).want(0, "", "")
	}
	e.pubsub(env, "", with("publish", "a.end", "end")...).want(0, "", "")
	lines.await(lines.out, "a.end")
	objects.await(objects.out, "a.end")
	if got := strings.Count(lines.out.String()+objects.out.String(), "a.one"); got != 2 {
		t.Errorf("two deliveries to one each reached %d subscribers", got)
	}

	lines.signal(syscall.SIGINT)
	if code := lines.exitCode(); code != 0 {
		t.Errorf("after SIGINT: exit code %d, want 0; stderr %s", code, lines.err)
	}
	e.admin("token", "revoke", token.TokenID).want(0, "revoked", "")
	if code := objects.exitCode(); code != 1 {
		t.Errorf("after the revocation: exit code %d, want 1", code)
	}
	if got := objects.err.String(); !strings.Contains(got, "ERR:token_revoked\nError: the edge closed the connection: 4403") {
		t.Errorf("after the revocation stderr is %s", got)
	}
}

func TestCLIClientRefusals(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(grant("room", []string{"a"}, []string{"a"}))
	env := []string{"MILLRACE_TOKEN=" + token.Token}
	tenant := append(e.wss(), "--tenant", "paint.room")
	with := func(args ...string) []string { return append(args, tenant...) }

	e.pubsub(env, "", with("publish", "a", "x")...).want(0, "", "")
	e.pubsub(env, "", with("publish", "b", "x")...).want(1, "", "Error: ERR:permission_denied:PUB:paint.room:b")
	e.pubsub(env, strings.Repeat("x", 65537), with("publish", "a", "-")...).want(1, "", "ERR:payload_too_large")
	e.pubsub(env, strings.Repeat("x", 200_000), with("publish", "a", "-")...).want(1, "", "closed the connection: 1009")
	e.pubsub(env, "", with("subscribe", "a", "b")...).want(1, "", "ERR:permission_denied:SUB:paint.room:b\nError: the edge refused a subscription")

	other := "MILLRACE_TOKEN=AT_" + unknownID + "_" + unknownID
	for _, command := range []string{"publish", "subscribe"} {
		e.pubsub([]string{other}, "", with(command, "a")...).want(1, "", "the edge refused the connection: ").want(1, "", "401 unauthorized")
		e.pubsub(nil, "", with(command, "a")...).want(2, "", "an access token is required")
		e.pubsub(env, "", command, "--url", fmt.Sprintf("wss://localhost:%d", e.HTTPS), "--tenant", "paint.room", "a").want(1, "", "--ca names a certificate authority")
	}
	e.pubsub(env, "", "publish", "--insecure", "--url", fmt.Sprintf("wss://localhost:%d", e.HTTPS), "--tenant", "paint.room", "a").want(0, "", "")
	e.pubsub(env, "", "publish", "--url", fmt.Sprintf("ws://localhost:%d", e.HTTP), "--tenant", "paint.room", "a").want(0, "", "")

	s := e.subscriber(token.Token, append(tenant, "a")...)
	e.stop()
	s.await(s.err, "closed the connection: 1001")
	if got := s.err.String(); !strings.Contains(got, "RECONNECT") || !strings.Contains(got, "; reconnecting\n") {
		t.Errorf("after the edge's end stderr is %s", got)
	}
	s.signal(syscall.SIGINT)
	if code := s.exitCode(); code != 0 {
		t.Errorf("after SIGINT while it reconnects: exit code %d, want 0; stderr %s", code, s.err)
	}
	e.pubsub(env, "", with("subscribe", "a")...).want(1, "", "Error: ")
}

// Over each transport that --url and --transport name.
func TestCLITransports(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room"))
	env := []string{"MILLRACE_TOKEN=" + token.Token}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--url", e.httpsURL(""), "--transport", "webtransport"}, "webtransport"},
		{[]string{"--url", e.httpsURL("/"), "--transport", "websocket"}, "websocket"},
		{[]string{"--url", e.httpsURL("")}, "webtransport"},
		{[]string{"--url", e.httpURL("")}, "websocket"},
	} {
		args := append([]string{"--ca", e.root(), "--tenant", "paint.room"}, test.args...)
		s := e.subscriber(token.Token, append(args, "#")...)
		e.admin("connections", "--json").want(0, `"transport":"`+test.want, "")
		e.pubsub(env, "", append([]string{"publish", "a", "hello"}, args...)...).want(0, "", "")
		s.await(s.out, "a hello\n")
		s.signal(syscall.SIGINT)
		if code := s.exitCode(); code != 0 {
			t.Errorf("%q: exit code %d, want 0; stderr %s", test.args, code, s.err)
		}
	}
}
