package tokens

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// The commands do their work at an edge: tokens are issued, connect, are listed and revoked, and a
// backup brings them to a store of another kind. Package command has each call and what it prints
// (TestRequests), package tokenstore what is allowed, and what a backup has.
func TestCLI(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	run := e.AdminCLI
	var made struct{ ID, Token string }
	run("master-token", "create", "--name", "paint", "--tenant-prefix", "paint", "--json").Decode(&made)
	byMaster := e.IssueAs(made.Token, harness.TokenRequest(harness.AllowAll("room")))
	rotated := run("master-token", "rotate", made.ID, "--revoke-tokens").Want(0, "revoked access tokens  1", "").Out
	e.List(harness.MasterToken.FindString(rotated), "")
	if got := e.Status(e.Master, byMaster.TokenID); got != "revoked" {
		t.Errorf("after rotate --revoke-tokens the access token is %s", got)
	}
	run("master-token", "delete", made.ID).Want(0, "deleted", "")
	run("master-token", "delete", made.ID).Want(1, "", "Error: there is no master token with this id (404 unknown_master_token)")

	issue := func(subject string, rights ...string) *harness.Socket {
		issued := run(append([]string{"token", "issue", "--tenant", "paint.room", "--subject", subject, "--quiet"}, rights...)...)
		return e.Dial(strings.TrimSpace(issued.Want(0, "AT_", "").Out))
	}
	eve, bob := issue("eve", "--pub", "x.#", "--sub", "#"), issue("bob", "--sub", "#")
	var list harness.TokenList
	run("token", "list", "--subject", "eve", "--json").Decode(&list)
	id := list.Tokens[0].TokenID
	explain := []string{"token", "explain", id, "--action", "publish", "--tenant", "paint.room", "--channel"}
	run(append(explain, "x.1")...).Want(0, "allowed: ", "")
	run(append(explain, "y")...).Want(3, "refused: no rule of the tenant matches the channel", "")
	run("token", "refresh", id, "--expires-in", "3h").Want(0, "refreshed "+id, "")
	run("connections", "--subject", "bob").Want(0, "bob", "").Lines(2)
	file := filepath.Join(t.TempDir(), "tokens.backup")
	run("backup", file).Want(0, "", "3 access tokens")
	run("backup", file).Want(1, "", "already exists")
	run("token", "revoke", "--subject", "eve").Want(0, "revoked 1 token\n", "")
	eve.ExpectText("ERR:token_revoked")
	eve.ExpectClose(wire.CloseForbidden)
	run("restore", file).Want(0, "access tokens restored     0", "") // it revives nothing
	run("drain").Want(0, "draining", "")
	bob.ExpectText(wire.LineReconnect)
	bob.ExpectClose(wire.CloseGoingAway)

	content, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(content), byMaster.Token[36:]) {
		t.Errorf("a secret is in the backup, or %v", err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	other := harness.StartEdge(t, harness.DefaultCaddyfile, harness.Joining(harness.StartNATS(t, 1), "")[0])
	other.AdminCLI("restore", "--dry-run", file).Want(0, "access tokens restored     3", "")
	other.AdminCLI("token", "list").Lines(1)
	other.AdminCLI("restore", file).Want(0, "of these valid now         2", "") // as at the backup: docs/backups.md
	other.AdminCLI("token", "list", "--subject", "eve").Want(0, "valid", "").Lines(2)
	half := string(content[:len(content)/2])
	e.Pubsub([]string{"CADDY_ADMIN=" + e.AdminAddress()}, half, "restore", "-").Want(1, "", "400 bad_backup")
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
