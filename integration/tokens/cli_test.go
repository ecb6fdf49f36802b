package tokens

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// What the commands for tokens do to an edge; package command has their usage, and package
// tokenstore what is allowed, and what a backup has.
func TestCLI(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	run := e.AdminCLI
	var made struct{ ID, Token string }
	run("master-token", "create", "--name", "paint", "--tenant-prefix", "paint", "--ip-mask", "127.0.0.1", "--json").Decode(&made)
	run("master-token", "update", made.ID, "--name", "paint-2", "--ip-mask", "192.0.2.1").Want(0, "paint-2", "")
	e.Rest("GET", "/v1/tokens", made.Token, nil).Problem(t, http.StatusForbidden, "ip_not_allowed")
	run("master-token", "update", made.ID, "--ip-mask", "").Want(0, "paint-2", "")
	run("master-token", "list").Want(0, made.ID, "").Lines(3) // one is of the Caddyfile
	byMaster := e.IssueAs(made.Token, harness.TokenRequest(harness.AllowAll("room")))
	rotated := run("master-token", "rotate", made.ID, "--revoke-tokens").Want(0, "revoked access tokens  1", "shown only once").Out
	e.Rest("GET", "/v1/tokens", made.Token, nil).Problem(t, http.StatusUnauthorized, "bad_master_token")
	e.List(harness.MasterToken.FindString(rotated), "")
	if got := e.Status(e.Master, byMaster.TokenID); got != "revoked" {
		t.Errorf("after rotate --revoke-tokens the access token is %s", got)
	}
	run("master-token", "delete", made.ID).Want(0, "deleted", "")
	run("master-token", "delete", made.ID).Want(1, "", "Error: there is no master token with this id (404 unknown_master_token)")

	var issued harness.Issued
	run("token", "issue", "--tenant", "paint.room", "--pub", "x.#", "--sub", "y.*", "--sub", "z", "--history", "z", "--expires-in", "2h",
		"--ip-mask", "127.0.0.0/8", "--origin", "https://example.com", "--protocol", "websocket", "--ingress", "16", "--subject", "ada", "--info", `{"plan":"pro"}`, "--json").Decode(&issued)
	var list harness.TokenList
	run("token", "list", "--subject", "ada", "--json").Decode(&list)
	if got, want := string(list.Tokens[0].Right), `{"tenant_grants":[{"tenant_ids":["paint.room"],"allow_channels_pub":["x.#"],"allow_channels_sub":["y.*","z"],"allow_channels_history":["z"]}],`+
		`"allow_ip_masks":["127.0.0.0/8"],"allowed_ws_origin":["https://example.com"],"allow_protocols":["websocket"],"ingress_kb_per_sec":16,"expires_at":"`+issued.ExpiresAt+`"}`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	explain := []string{"token", "explain", issued.TokenID, "--action", "publish", "--tenant", "paint.room", "--channel"}
	run(append(explain, "x.1")...).Want(0, "allowed: ", "")
	run(append(explain, "y")...).Want(3, "refused: no rule of the tenant matches the channel", "")
	run("token", "refresh", issued.TokenID, "--expires-in", "3h").Want(0, "refreshed "+issued.TokenID, "")
	env := "CADDY_ADMIN=" + e.AdminAddress() // the whole token comes by stdin
	e.Pubsub([]string{env}, issued.Token+"\n", "token", "revoke").Want(0, "revoked "+issued.TokenID, "")
	run("token", "refresh", issued.TokenID).Want(1, "", "409 token_revoked")

	subject := func(name string) *harness.Socket {
		return e.Dial(strings.TrimSpace(run("token", "issue", "--tenant", "paint.room", "--sub", "#", "--subject", name, "--quiet").Want(0, "AT_", "").Out))
	}
	eve, bob := subject("eve"), subject("bob")
	run("connections", "--subject", "bob").Want(0, "bob", "").Lines(2)
	file := filepath.Join(t.TempDir(), "tokens.backup")
	run("backup", file).Want(0, "", "4 access tokens")
	run("token", "revoke", "--subject", "eve").Want(0, "revoked 1 token\n", "")
	eve.ExpectText("ERR:token_revoked")
	eve.ExpectClose(wire.CloseForbidden)
	run("restore", file).Want(0, "access tokens restored     0", "") // it revives nothing
	run("drain").Want(0, "draining", "")
	bob.ExpectText(wire.LineReconnect)
	bob.ExpectClose(wire.CloseGoingAway)

	// The backup brings the tokens to a store of another kind.
	run("backup", file).Want(1, "", "already exists")
	content, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(content), issued.Token[36:]) {
		t.Errorf("a secret is in the backup, or %v", err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	other := harness.StartEdge(t, harness.DefaultCaddyfile, harness.Joining(harness.StartNATS(t, 1), "")[0])
	other.AdminCLI("restore", "--dry-run", file).Want(0, "access tokens restored     4", "")
	other.AdminCLI("token", "list").Lines(1)
	other.AdminCLI("restore", file).Want(0, "of these valid now         2", "") // as at the backup: docs/backups.md
	other.AdminCLI("token", "list", "--subject", "eve").Want(0, "valid", "").Lines(2)
	e.Pubsub([]string{env}, string(content[:len(content)/2]), "restore", "-").Want(1, "", "this is no whole backup").Want(1, "", "400 bad_backup")
}

// What create --static prints works in a Caddyfile, and commands find an admin endpoint that
// is a Unix socket.
func TestCLIStaticMaster(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(harness.Program, "pubsub", "master-token", "create", "--static", "--json", "--name", "the app",
		"--description", `of "paint"`, "--tenant-prefix", "paint", "--ip-mask", "127.0.0.0/8", "--ip-mask", "::1").Output()
	var made struct{ ID, Token, Caddyfile string }
	if err != nil || json.Unmarshal(out, &made) != nil {
		t.Fatal(err, string(out))
	}
	socket := strings.Replace(harness.GlobalOptions, "admin localhost:{{.Admin}}", "admin unix/{{.Dir}}/admin.sock|0200", 1)
	e := harness.StartEdge(t, "{"+socket+"\tpubsub {"+harness.PubsubStore+made.Caddyfile+"\t}\n}\n"+harness.Sites)
	e.Dial(e.IssueAs(made.Token, harness.TokenRequest(harness.AllowAll("room"))).Token).Subscribe("paint.room", "#")
	e.Pubsub(nil, "", "master-token", "list", "--address", "unix/"+e.Dir+"/admin.sock").
		Want(0, made.ID, "").Want(0, `of "paint"`, "").Want(0, "127.0.0.0/8 ::1", "")
	e.AdminCLI("connections").Want(1, "", "no admin endpoint at "+e.AdminAddress())
}
