package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// ran is what a command of the binary wrote, and its exit code.
type ran struct {
	t        *testing.T
	out, err string
	code     int
}

// pubsub runs a subcommand of `pubsub` that may fail, in the edge's
// environment plus env.
func (e *edge) pubsub(env []string, stdin string, args ...string) ran {
	e.t.Helper()
	cmd := e.command(append([]string{"pubsub"}, args...)...)
	cmd.Env = slices.Concat(cmd.Env, env)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		e.t.Fatal(err)
	}
	return ran{e.t, out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// admin is pubsub with the edge's admin address.
func (e *edge) admin(args ...string) ran {
	e.t.Helper()
	return e.pubsub([]string{"CADDY_ADMIN=" + e.adminAddress()}, "", args...)
}

// want requires an exit code and that stdout and stderr contain these texts.
func (r ran) want(code int, out, errs string) ran {
	r.t.Helper()
	if r.code != code || !strings.Contains(r.out, out) || !strings.Contains(r.err, errs) {
		r.t.Fatalf("got exit code %d, want %d\nstdout, want %q:\n%s\nstderr, want %q:\n%s", r.code, code, out, r.out, errs, r.err)
	}
	return r
}

// lines requires that the exit code is 0, and that stdout has so many lines.
func (r ran) lines(n int) {
	r.t.Helper()
	if got := strings.Count(r.want(0, "", "").out, "\n"); got != n {
		r.t.Errorf("got %d lines, want %d:\n%s", got, n, r.out)
	}
}

// decode reads stdout as JSON; the exit code must be 0.
func (r ran) decode(into any) {
	r.t.Helper()
	r.want(0, "", "")
	if err := json.Unmarshal([]byte(r.out), into); err != nil {
		r.t.Fatalf("%v: %s", err, r.out)
	}
}

// unknownID is the id of no token.
const unknownID = "0123456789abcdef0123456789abcdef"

func TestCLIMasterTokens(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	var made struct{ ID, Name, Token string }
	e.admin("master-token", "create", "--name", "paint", "--description", "of the app", "--tenant-prefix", "paint",
		"--ip-mask", "127.0.0.1", "--json").decode(&made)
	e.rest("GET", "/v1/tokens", made.Token, nil).decode(t, http.StatusOK, new(object))

	e.admin("master-token", "list").want(0, "NAME", "").want(0, made.ID, "").want(0, "paint.", "").want(0, "of the app", "").want(0, "127.0.0.1", "")
	var list struct {
		Masters []struct {
			ID           string   `json:"id"`
			Name         string   `json:"name"`
			TenantPrefix string   `json:"tenant_prefix"`
			Masks        []string `json:"allow_ip_masks"`
			Static       bool     `json:"static"`
		} `json:"master_tokens"`
	}
	e.admin("master-token", "list", "--json").decode(&list)
	if len(list.Masters) != 2 { // one is of the Caddyfile
		t.Errorf("got %d master tokens, want 2", len(list.Masters))
	}

	e.admin("master-token", "update", made.ID, "--name", "paint-2", "--ip-mask", "192.0.2.1").want(0, "paint-2", "").want(0, "192.0.2.1", "")
	e.rest("GET", "/v1/tokens", made.Token, nil).problem(t, http.StatusForbidden, "ip_not_allowed")
	updated := e.admin("master-token", "update", made.ID, "--ip-mask", "").want(0, "paint-2", "")
	if strings.Contains(updated.out, "192.0.2.1") {
		t.Errorf("--ip-mask '' left the masks: %s", updated.out)
	}
	e.rest("GET", "/v1/tokens", made.Token, nil).decode(t, http.StatusOK, new(object))

	token := e.issueAs(made.Token, tokenRequest(allowAll("room")))
	rotated := e.admin("master-token", "rotate", made.ID, "--revoke-tokens").want(0, "token ", "shown only once").want(0, "revoked access tokens  1", "")
	e.rest("GET", "/v1/tokens", made.Token, nil).problem(t, http.StatusUnauthorized, "bad_master_token")
	e.rest("GET", "/v1/tokens", masterToken.FindString(rotated.out), nil).decode(t, http.StatusOK, new(object))
	if got := e.status(e.master, token.TokenID); got != "revoked" {
		t.Errorf("after rotate --revoke-tokens the access token is %s", got)
	}

	e.admin("master-token", "delete", made.ID, "--revoke-tokens").want(0, "deleted\nrevoked access tokens  ", "")
	e.admin("master-token", "delete", made.ID).want(1, "", "Error: there is no master token with this id (404 unknown_master_token)")
	e.admin("master-token", "create", "--name", strings.Repeat("x", 65)).want(1, "", "name: must be 1 to 64 characters")
	for _, m := range list.Masters {
		if m.Static {
			e.admin("master-token", "rotate", m.ID).want(1, "", "part of the configuration")
		}
	}
}

func TestCLITokens(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	var made issued
	e.admin("token", "issue", "--tenant", "paint.a", "--tenant", "paint.b", "--pub", "x.#", "--sub", "y.*", "--sub", "z",
		"--history", "z", "--history", "y.?", "--expires-in", "2h", "--ip-mask", "127.0.0.0/8", "--region", "EU", "--origin", "https://example.com",
		"--protocol", "websocket", "--ingress", "16", "--egress", "32", "--created-by", "someone", "--description", "a test", "--json").decode(&made)

	var list struct {
		Tokens []struct {
			CreatedBy   string `json:"created_by"`
			Description string `json:"description"`
			Right       struct {
				Grants []struct {
					Tenants []string `json:"tenant_ids"`
					Pub     []string `json:"allow_channels_pub"`
					Sub     []string `json:"allow_channels_sub"`
					History []string `json:"allow_channels_history"`
				} `json:"tenant_grants"`
				Masks     []string `json:"allow_ip_masks"`
				Regions   []string `json:"allow_regions"`
				Origins   []string `json:"allowed_ws_origin"`
				Protocols []string `json:"allow_protocols"`
				Ingress   int      `json:"ingress_kb_per_sec"`
				Egress    int      `json:"egress_kb_per_sec"`
			} `json:"right"`
		} `json:"tokens"`
	}
	e.admin("token", "list", "--json").decode(&list)
	got, err := json.Marshal(list.Tokens)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"created_by":"someone","description":"a test","right":{` +
		`"tenant_grants":[{"tenant_ids":["paint.a","paint.b"],"allow_channels_pub":["x.#"],"allow_channels_sub":["y.*","z"],"allow_channels_history":["z","y.?"]}],` +
		`"allow_ip_masks":["127.0.0.0/8"],"allow_regions":["EU"],"allowed_ws_origin":["https://example.com"],` +
		`"allow_protocols":["websocket"],"ingress_kb_per_sec":16,"egress_kb_per_sec":32}}]`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	quiet := e.admin("token", "issue", "--tenant", "other", "--sub", "#", "--quiet").want(0, "AT_", "")
	token := strings.TrimSuffix(quiet.out, "\n")
	e.dial(token).subscribe("other", "#")
	id := token[3:35]
	e.admin("token", "issue", "--tenant", "other", "--expires-at", in(time.Minute)).want(0, "token id", "shown only once")
	e.admin("token", "list", "--tenant", "other").want(0, id+"  valid", "").want(0, "  cli ", "")
	e.admin("token", "list", "--tenant", "none").want(0, "TOKEN ID", "")
	e.admin("token", "list", "--limit", "1").want(0, "TOKEN ID", "More tokens follow: --cursor ")
	e.admin("token", "list", "--limit", "0").want(1, "", "limit: must be an integer from 1 to 1000")
	e.admin("token", "issue", "--tenant", "a b", "--sub", "#").want(1, "", "right.tenant_grants[0].tenant_ids[0]")

	e.admin("token", "refresh", id, "--expires-in", "3h").want(0, "refreshed "+id+" until ", "")
	e.admin("token", "refresh", unknownID).want(1, "", "404 unknown_token")
	e.admin("token", "revoke", unknownID).want(1, "", "404 unknown_token")
	e.admin("token", "revoke", "not-an-id").want(1, "", "32 lower-case hex digits")
	e.admin("token", "revoke", id).want(0, "revoked "+id, "")
	e.admin("token", "refresh", id).want(1, "", "409 token_revoked")

	// The whole token, from either source.
	env := "CADDY_ADMIN=" + e.adminAddress()
	e.pubsub([]string{env}, made.Token+"\n", "token", "revoke").want(0, "revoked "+made.TokenID, "")
	e.pubsub([]string{env, "MILLRACE_TOKEN=" + made.Token}, "", "token", "revoke", "--json").want(0, made.TokenID, "")
	e.admin("token", "revoke", made.Token).want(2, "", "must not be an argument")
}

func TestCLIExplain(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	request := tokenRequest(grant("room", []string{"news.*"}, []string{"news.#"}))
	request["right"].(object)["allow_ip_masks"] = []string{"10.0.0.0/8"}
	request["right"].(object)["allowed_ws_origin"] = []string{"https://example.com"}
	token := e.issueAs(e.master, request)
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--action", "publish", "--tenant", "paint.room", "--channel", "news.eu"}, 0, "allowed: "},
		{[]string{"--action", "publish", "--tenant", "paint.room", "--channel", "news.eu"}, 0, `rule: right.tenant_grants[0].allow_channels_pub[0] "news.*"`},
		{[]string{"--action", "publish", "--tenant", "paint.room", "--channel", "news.eu.x"}, 3, "refused: no rule of the tenant matches the channel"},
		{[]string{"--action", "publish", "--channel", "news.eu"}, 3, "no grant of the token names the tenant"},
		{[]string{"--action", "publish", "--tenant", "paint.room", "--channel", "news.eu", "--ip", "192.0.2.1"}, 3, "rule: right.allow_ip_masks"},
		{[]string{"--action", "subscribe", "--tenant", "paint.room", "--pattern", "news.>"}, 0, `allow_channels_sub[0] "news.#"`},
		{[]string{"--action", "subscribe", "--tenant", "paint.room", "--pattern", "#"}, 3, "alone contains the pattern"},
		{[]string{"--action", "history", "--tenant", "paint.room", "--pattern", "news.>"}, 3, "have no rule in allow_channels_history"},
		{[]string{"--action", "connect", "--ip", "10.1.2.3", "--origin", "https://example.com"}, 0, "allowed: "},
		{[]string{"--action", "connect", "--ip", "10.1.2.3", "--origin", "https://example.org"}, 3, "refused: the token does not allow this origin"},
		{[]string{"--action", "connect", "--ip", "10.1.2.3"}, 3, "none is known"},
		{[]string{"--action", "connect", "--ip", "10.1.2.3", "--origin", "https://example.com", "--region", "EU", "--protocol", "websocket"}, 0, "allowed: "},
		{[]string{"--action", "publish", "--tenant", "paint.room", "--channel", "news.eu", "--json"}, 0, `"allowed":true`},
		{[]string{"--action", "publish", "--tenant", "paint.room", "--channel", "other", "--json"}, 3, `"allowed":false`},
	} {
		e.admin(append([]string{"token", "explain", token.TokenID}, tt.args...)...).want(tt.code, tt.want, "")
	}
	e.admin("token", "explain", token.TokenID, "--action", "connect", "--ip", "nowhere").want(1, "", "ip: must be an IP address")
	e.admin("token", "explain", unknownID, "--action", "connect").want(3, "there is no token with this id", "")

	env := "CADDY_ADMIN=" + e.adminAddress()
	ask := []string{"token", "explain", "--action", "publish", "--tenant", "paint.room", "--channel", "news.eu"}
	e.pubsub([]string{env}, token.Token, ask...).want(0, "allowed: ", "")
	e.pubsub([]string{env, "MILLRACE_TOKEN=" + token.Token}, "", ask...).want(0, "allowed: ", "")
	wrong := token.Token[:len(token.Token)-32] + unknownID
	e.pubsub([]string{env}, wrong, ask...).want(3, "refused: ", "")
}

// What create --static prints works when pasted into a Caddyfile.
func TestCLIStaticMaster(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(millrace, "pubsub", "master-token", "create", "--static", "--json",
		"--name", "the app", "--description", `of "paint"`, "--tenant-prefix", "paint", "--ip-mask", "127.0.0.0/8", "--ip-mask", "::1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ ID, Token, Caddyfile string }
	if err := json.Unmarshal(out, &made); err != nil {
		t.Fatal(err)
	}
	e := startEdge(t, "{"+globalOptions+"\tpubsub {"+pubsubStore+made.Caddyfile+"\t}\n}\n"+sites)
	token := e.issueAs(made.Token, tokenRequest(allowAll("room")))
	e.dial(token.Token).subscribe("paint.room", "#")
	e.admin("master-token", "list").want(0, made.ID, "").want(0, "the app", "").want(0, `of "paint"`, "").want(0, "127.0.0.0/8 ::1", "")
}

func TestCLIConnectionsAndDrain(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	e.admin("connections").want(0, "TOKEN ID", "")
	token := e.issue(allowAll("room"))
	s := e.dial(token.Token)
	s.subscribe("paint.room", "a", "b")
	e.admin("connections").want(0, token.TokenID+"  -        127.0.0.1  websocket", "")
	var list struct {
		Connections []struct {
			Subscriptions int `json:"subscriptions"`
		} `json:"connections"`
	}
	e.admin("connections", "--json").decode(&list)
	if len(list.Connections) != 1 || list.Connections[0].Subscriptions != 2 {
		t.Errorf("got %+v, want one connection with 2 subscriptions", list.Connections)
	}
	e.admin("drain").want(0, "draining", "")
	s.expectText("RECONNECT")
	s.expectClose(wire.CloseGoingAway)
	_, refused := e.open(handshake{Token: token.Token})
	refused.problem(t, http.StatusServiceUnavailable, "draining")
}

func TestCLIAdminAddresses(t *testing.T) {
	t.Parallel()
	e := startEdge(t, strings.Replace(defaultCaddyfile, "admin localhost:{{.Admin}}", "admin unix/{{.Dir}}/admin.sock|0200", 1))
	for _, address := range []string{"unix/" + e.Dir + "/admin.sock", "unix/" + e.Dir + "/admin.sock|0200"} {
		e.pubsub(nil, "", "connections", "--address", address).want(0, "TOKEN ID", "")
		e.pubsub(nil, "", "token", "issue", "--tenant", "a", "--address", address).want(0, "AT_", "")
		e.pubsub([]string{"CADDY_ADMIN=" + address}, "", "master-token", "list").want(0, "ID", "")
	}
	e.admin("connections").want(1, "", "no admin endpoint at "+e.adminAddress())

	tcp := startEdge(t, defaultCaddyfile)
	tcp.pubsub(nil, "", "connections", "--address", strings.Replace(tcp.adminAddress(), "localhost", "127.0.0.1", 1)).want(0, "TOKEN ID", "")

	bare := startEdge(t, "{"+globalOptions+"}\nhttp://localhost:{{.HTTP}} {\n\trespond /ping pong\n}\n")
	bare.admin("connections").want(1, "", "no configuration with a pubsub app is running")
}
