package tokens

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

func TestCLIMasterTokens(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	var made struct{ ID, Name, Token string }
	e.AdminCLI("master-token", "create", "--name", "paint", "--description", "of the app", "--tenant-prefix", "paint",
		"--ip-mask", "127.0.0.1", "--json").Decode(&made)
	e.Rest("GET", "/v1/tokens", made.Token, nil).Decode(t, http.StatusOK, new(harness.Object))

	e.AdminCLI("master-token", "list").Want(0, "NAME", "").Want(0, made.ID, "").Want(0, "paint.", "").Want(0, "of the app", "").Want(0, "127.0.0.1", "")
	var list struct {
		Masters []struct {
			ID           string   `json:"id"`
			Name         string   `json:"name"`
			TenantPrefix string   `json:"tenant_prefix"`
			Masks        []string `json:"allow_ip_masks"`
			Static       bool     `json:"static"`
		} `json:"master_tokens"`
	}
	e.AdminCLI("master-token", "list", "--json").Decode(&list)
	if len(list.Masters) != 2 { // one is of the Caddyfile
		t.Errorf("got %d master tokens, want 2", len(list.Masters))
	}

	e.AdminCLI("master-token", "update", made.ID, "--name", "paint-2", "--ip-mask", "192.0.2.1").Want(0, "paint-2", "").Want(0, "192.0.2.1", "")
	e.Rest("GET", "/v1/tokens", made.Token, nil).Problem(t, http.StatusForbidden, "ip_not_allowed")
	updated := e.AdminCLI("master-token", "update", made.ID, "--ip-mask", "").Want(0, "paint-2", "")
	if strings.Contains(updated.Out, "192.0.2.1") {
		t.Errorf("--ip-mask '' left the masks: %s", updated.Out)
	}
	e.Rest("GET", "/v1/tokens", made.Token, nil).Decode(t, http.StatusOK, new(harness.Object))

	token := e.IssueAs(made.Token, harness.TokenRequest(harness.AllowAll("room")))
	rotated := e.AdminCLI("master-token", "rotate", made.ID, "--revoke-tokens").Want(0, "token ", "shown only once").Want(0, "revoked access tokens  1", "")
	e.Rest("GET", "/v1/tokens", made.Token, nil).Problem(t, http.StatusUnauthorized, "bad_master_token")
	e.Rest("GET", "/v1/tokens", harness.MasterToken.FindString(rotated.Out), nil).Decode(t, http.StatusOK, new(harness.Object))
	if got := e.Status(e.Master, token.TokenID); got != "revoked" {
		t.Errorf("after rotate --revoke-tokens the access token is %s", got)
	}

	e.AdminCLI("master-token", "delete", made.ID, "--revoke-tokens").Want(0, "deleted\nrevoked access tokens  ", "")
	e.AdminCLI("master-token", "delete", made.ID).Want(1, "", "Error: there is no master token with this id (404 unknown_master_token)")
	e.AdminCLI("master-token", "create", "--name", strings.Repeat("x", 65)).Want(1, "", "name: must be 1 to 64 characters")
	for _, m := range list.Masters {
		if m.Static {
			e.AdminCLI("master-token", "rotate", m.ID).Want(1, "", "part of the configuration")
		}
	}
}

func TestCLITokens(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	var made harness.Issued
	e.AdminCLI("token", "issue", "--tenant", "paint.a", "--tenant", "paint.b", "--pub", "x.#", "--sub", "y.*", "--sub", "z",
		"--history", "z", "--history", "y.?", "--expires-in", "2h", "--ip-mask", "127.0.0.0/8", "--region", "EU", "--origin", "https://example.com",
		"--protocol", "websocket", "--ingress", "16", "--egress", "32", "--created-by", "someone", "--description", "a test", "--json").Decode(&made)

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
	e.AdminCLI("token", "list", "--json").Decode(&list)
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

	quiet := e.AdminCLI("token", "issue", "--tenant", "other", "--sub", "#", "--quiet").Want(0, "AT_", "")
	token := strings.TrimSuffix(quiet.Out, "\n")
	e.Dial(token).Subscribe("other", "#")
	id := token[3:35]
	e.AdminCLI("token", "issue", "--tenant", "other", "--expires-at", harness.In(time.Minute)).Want(0, "token id", "shown only once")
	e.AdminCLI("token", "list", "--tenant", "other").Want(0, id+"  valid", "").Want(0, "  cli ", "")
	e.AdminCLI("token", "list", "--tenant", "none").Want(0, "TOKEN ID", "")
	e.AdminCLI("token", "list", "--limit", "1").Want(0, "TOKEN ID", "More tokens follow: --cursor ")
	e.AdminCLI("token", "list", "--limit", "0").Want(1, "", "limit: must be an integer from 1 to 1000")
	e.AdminCLI("token", "issue", "--tenant", "a b", "--sub", "#").Want(1, "", "right.tenant_grants[0].tenant_ids[0]")

	e.AdminCLI("token", "refresh", id, "--expires-in", "3h").Want(0, "refreshed "+id+" until ", "")
	e.AdminCLI("token", "refresh", harness.UnknownID).Want(1, "", "404 unknown_token")
	e.AdminCLI("token", "revoke", harness.UnknownID).Want(1, "", "404 unknown_token")
	e.AdminCLI("token", "revoke", "not-an-id").Want(1, "", "32 lower-case hex digits")
	e.AdminCLI("token", "revoke", id).Want(0, "revoked "+id, "")
	e.AdminCLI("token", "refresh", id).Want(1, "", "409 token_revoked")

	// The whole token, from either source.
	env := "CADDY_ADMIN=" + e.AdminAddress()
	e.Pubsub([]string{env}, made.Token+"\n", "token", "revoke").Want(0, "revoked "+made.TokenID, "")
	e.Pubsub([]string{env, "MILLRACE_TOKEN=" + made.Token}, "", "token", "revoke", "--json").Want(0, made.TokenID, "")
	e.AdminCLI("token", "revoke", made.Token).Want(2, "", "must not be an argument")
}

func TestCLIExplain(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	request := harness.TokenRequest(harness.Grant("room", []string{"news.*"}, []string{"news.#"}))
	request["right"].(harness.Object)["allow_ip_masks"] = []string{"10.0.0.0/8"}
	request["right"].(harness.Object)["allowed_ws_origin"] = []string{"https://example.com"}
	token := e.IssueAs(e.Master, request)
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
		e.AdminCLI(append([]string{"token", "explain", token.TokenID}, tt.args...)...).Want(tt.code, tt.want, "")
	}
	e.AdminCLI("token", "explain", token.TokenID, "--action", "connect", "--ip", "nowhere").Want(1, "", "ip: must be an IP address")
	e.AdminCLI("token", "explain", harness.UnknownID, "--action", "connect").Want(3, "there is no token with this id", "")

	env := "CADDY_ADMIN=" + e.AdminAddress()
	ask := []string{"token", "explain", "--action", "publish", "--tenant", "paint.room", "--channel", "news.eu"}
	e.Pubsub([]string{env}, token.Token, ask...).Want(0, "allowed: ", "")
	e.Pubsub([]string{env, "MILLRACE_TOKEN=" + token.Token}, "", ask...).Want(0, "allowed: ", "")
	wrong := token.Token[:len(token.Token)-32] + harness.UnknownID
	e.Pubsub([]string{env}, wrong, ask...).Want(3, "refused: ", "")
}

// What create --static prints works when pasted into a Caddyfile.
func TestCLIStaticMaster(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(harness.Program, "pubsub", "master-token", "create", "--static", "--json",
		"--name", "the app", "--description", `of "paint"`, "--tenant-prefix", "paint", "--ip-mask", "127.0.0.0/8", "--ip-mask", "::1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ ID, Token, Caddyfile string }
	if err := json.Unmarshal(out, &made); err != nil {
		t.Fatal(err)
	}
	e := harness.StartEdge(t, "{"+harness.GlobalOptions+"\tpubsub {"+harness.PubsubStore+made.Caddyfile+"\t}\n}\n"+harness.Sites)
	token := e.IssueAs(made.Token, harness.TokenRequest(harness.AllowAll("room")))
	e.Dial(token.Token).Subscribe("paint.room", "#")
	e.AdminCLI("master-token", "list").Want(0, made.ID, "").Want(0, "the app", "").Want(0, `of "paint"`, "").Want(0, "127.0.0.0/8 ::1", "")
}

func TestCLIConnectionsAndDrain(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	e.AdminCLI("connections").Want(0, "TOKEN ID", "")
	token := e.Issue(harness.AllowAll("room"))
	s := e.Dial(token.Token)
	s.Subscribe("paint.room", "a", "b")
	e.AdminCLI("connections").Want(0, token.TokenID+"  -        127.0.0.1  websocket", "")
	var list struct {
		Connections []struct {
			Subscriptions int `json:"subscriptions"`
		} `json:"connections"`
	}
	e.AdminCLI("connections", "--json").Decode(&list)
	if len(list.Connections) != 1 || list.Connections[0].Subscriptions != 2 {
		t.Errorf("got %+v, want one connection with 2 subscriptions", list.Connections)
	}
	e.AdminCLI("drain").Want(0, "draining", "")
	s.ExpectText("RECONNECT")
	s.ExpectClose(wire.CloseGoingAway)
	_, refused := e.Open(harness.Handshake{Token: token.Token})
	refused.Problem(t, http.StatusServiceUnavailable, "draining")
}

func TestCLIAdminAddresses(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, strings.Replace(harness.DefaultCaddyfile, "admin localhost:{{.Admin}}", "admin unix/{{.Dir}}/admin.sock|0200", 1))
	for _, address := range []string{"unix/" + e.Dir + "/admin.sock", "unix/" + e.Dir + "/admin.sock|0200"} {
		e.Pubsub(nil, "", "connections", "--address", address).Want(0, "TOKEN ID", "")
		e.Pubsub(nil, "", "token", "issue", "--tenant", "a", "--address", address).Want(0, "AT_", "")
		e.Pubsub([]string{"CADDY_ADMIN=" + address}, "", "master-token", "list").Want(0, "ID", "")
	}
	e.AdminCLI("connections").Want(1, "", "no admin endpoint at "+e.AdminAddress())

	tcp := harness.StartEdge(t, harness.DefaultCaddyfile)
	tcp.Pubsub(nil, "", "connections", "--address", strings.Replace(tcp.AdminAddress(), "localhost", "127.0.0.1", 1)).Want(0, "TOKEN ID", "")

	bare := harness.StartEdge(t, "{"+harness.GlobalOptions+"}\nhttp://localhost:{{.HTTP}} {\n\trespond /ping pong\n}\n")
	bare.AdminCLI("connections").Want(1, "", "no configuration with a pubsub app is running")
}
