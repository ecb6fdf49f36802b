package tokens

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// The commands do their work at an edge: tokens are issued, connect, are listed and revoked, and a
// backup brings them to a store of another kind. Package command has each call and what it prints
// (TestRequests), package tokenstore what is allowed, and what a backup has.
func TestCLI(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	var made struct{ ID, Token string }
	e.AdminCLI("master-token", "create", "--name", "paint", "--tenant-prefix", "paint", "--json").Decode(&made)
	byMaster := e.IssueAs(made.Token, harness.TokenRequest(harness.AllowAll("room")))
	rotated := e.AdminCLI("master-token", "rotate", made.ID, "--revoke-tokens").Want(0, "revoked access tokens  1", "").Out
	e.List(harness.MasterToken.FindString(rotated), "")
	if got := e.Status(e.Master, byMaster.TokenID); got != "revoked" {
		t.Errorf("after rotate --revoke-tokens the access token is %s", got)
	}
	issue := func(subject string) *harness.Socket {
		issued := e.AdminCLI("token", "issue", "--tenant", "paint.room", "--subject", subject, "--sub", "#", "--quiet")
		return e.Dial(strings.TrimSpace(issued.Want(0, "AT_", "").Out))
	}
	eve, _ := issue("eve"), issue("bob")
	var list harness.TokenList
	e.AdminCLI("token", "list", "--subject", "eve", "--json").Decode(&list)
	e.AdminCLI("token", "explain", list.Tokens[0].TokenID, "--action", "publish", "--tenant", "paint.room", "--channel", "y").Want(3, "refused: ", "")
	e.AdminCLI("token", "refresh", list.Tokens[0].TokenID, "--expires-in", "3h").Want(0, "refreshed ", "")
	e.AdminCLI("connections", "--subject", "bob").Want(0, "bob", "").Lines(2)
	file := filepath.Join(t.TempDir(), "tokens.backup")
	e.AdminCLI("backup", file).Want(0, "", "3 access tokens")
	e.AdminCLI("backup", file).Want(1, "", "already exists")
	e.AdminCLI("token", "revoke", "--subject", "eve").Want(0, "revoked 1 token\n", "")
	eve.ExpectText("ERR:token_revoked")
	e.AdminCLI("restore", file).Want(0, "access tokens restored     0", "") // it revives nothing

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
