package tokens

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/tokenstore"
)

// A backup of a running edge brings its tokens to another store: of the same kind, or
// of several edges.
func TestBackup(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	var made struct{ ID, Token string }
	e.AdminCLI("master-token", "create", "--name", "paint", "--tenant-prefix", "paint", "--json").Decode(&made)
	valid := e.IssueAs(made.Token, harness.TokenRequest(harness.AllowAll("room"))).Token
	revoked := e.IssueAs(made.Token, harness.TokenRequest(harness.AllowAll("room"))).Token
	later := e.IssueAs(made.Token, harness.TokenRequest(harness.AllowAll("room"))).Token
	e.Revoke(made.Token, revoked).Decode(t, http.StatusOK, new(harness.Object))

	file := filepath.Join(t.TempDir(), "tokens.backup")
	e.AdminCLI("backup", file).Want(0, "", "1 master tokens and 3 access tokens")
	e.AdminCLI("backup", file).Want(1, "", "already exists")
	e.AdminCLI("backup", filepath.Join(file, "x")).Want(1, "", "not a directory")
	info, err := os.Stat(file)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{made.Token, valid} {
		if strings.Contains(string(content), token[36:]) {
			t.Error("a secret is in the backup")
		}
	}
	got := e.AdminCLI("backup", "-").Want(0, "", "1 master tokens and 3 access tokens").Out
	if _, err := tokenstore.CheckBackup(strings.NewReader(got)); err != nil {
		t.Errorf("on stdout: %v", err)
	}
	e.Revoke(made.Token, later).Decode(t, http.StatusOK, new(harness.Object))
	e.AdminCLI("restore", file).Want(0, "kept as they were          4", "").Want(0, "access tokens restored     0", "")
	if _, refused := e.Open(harness.Handshake{Token: later}); refused.Status != http.StatusUnauthorized {
		t.Error("a restore revives what the store knows to be revoked")
	}

	nodes := harness.StartNATS(t, 1)
	pair := []*harness.Edge{harness.StartEdge(t, harness.DefaultCaddyfile, harness.Joining(nodes, "")[0])}
	pair[0].AdminCLI("restore", "--dry-run", file).Want(0, "access tokens restored     3", "")
	if _, refused := pair[0].Open(harness.Handshake{Token: valid}); refused.Status != http.StatusUnauthorized {
		t.Error("a dry run restores")
	}
	pair[0].AdminCLI("restore", "--masters-only", file).Want(0, "left out                   3", "")
	pair[0].AdminCLI("restore", file).Want(0, "of these valid now         2", "")
	pair[0].MustOpen(harness.Handshake{Token: valid}).Ping()
	pair[0].MustOpen(harness.Handshake{Token: later}).Ping() // it was revoked after the backup: docs/backups.md
	if _, refused := pair[0].Open(harness.Handshake{Token: revoked}); refused.Status != http.StatusUnauthorized {
		t.Error("a revoked token is restored as a valid one")
	}
	pair[0].IssueAs(made.Token, harness.TokenRequest(harness.AllowAll("room")))
	// What the page says to do about it.
	pair[0].AdminCLI("master-token", "rotate", made.ID, "--revoke-tokens").Want(0, "revoked access tokens", "")
	if _, refused := pair[0].Open(harness.Handshake{Token: later}); refused.Status != http.StatusUnauthorized {
		t.Error("a token that was revoked after the backup lives on")
	}

	for name, bad := range map[string]struct{ content, want string }{
		"cut":     {string(content[:len(content)/2]), "this is no whole backup: it ends in line"},
		"changed": {strings.Replace(string(content), "paint", "point", 1), "the file was changed"},
		"another": {"{}\n", "its first line is not that of one"},
	} {
		other := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(other, []byte(bad.content), 0o600); err != nil {
			t.Fatal(err)
		}
		e.AdminCLI("restore", other).Want(1, "", bad.want)
		e.Pubsub([]string{"CADDY_ADMIN=" + e.AdminAddress()}, bad.content, "restore", "-").Want(1, "", bad.want).Want(1, "", "400 bad_backup")
	}
	e.AdminCLI("restore", filepath.Join(t.TempDir(), "none")).Want(1, "", "no such file")
	e.AdminCall(http.MethodPost, "/pubsub/restore?masters=true", harness.Object{}).Problem(t, http.StatusBadRequest, "invalid_query")
	e.AdminCall(http.MethodPost, "/pubsub/restore", harness.Object{}).Problem(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
}
