package integration

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace/millrace/tokenstore"
)

// A backup of a running edge brings its tokens to another store: of the same kind, or
// of several edges.
func TestBackup(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	var made struct{ ID, Token string }
	e.admin("master-token", "create", "--name", "paint", "--tenant-prefix", "paint", "--json").decode(&made)
	valid := e.issueAs(made.Token, tokenRequest(allowAll("room"))).Token
	revoked := e.issueAs(made.Token, tokenRequest(allowAll("room"))).Token
	later := e.issueAs(made.Token, tokenRequest(allowAll("room"))).Token
	e.revoke(made.Token, revoked).decode(t, http.StatusOK, new(object))

	file := filepath.Join(t.TempDir(), "tokens.backup")
	e.admin("backup", file).want(0, "", "1 master tokens and 3 access tokens")
	e.admin("backup", file).want(1, "", "already exists")
	e.admin("backup", filepath.Join(file, "x")).want(1, "", "not a directory")
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
	got := e.admin("backup", "-").want(0, "", "1 master tokens and 3 access tokens").out
	if _, err := tokenstore.CheckBackup(strings.NewReader(got)); err != nil {
		t.Errorf("on stdout: %v", err)
	}
	e.revoke(made.Token, later).decode(t, http.StatusOK, new(object))
	e.admin("restore", file).want(0, "kept as they were          4", "").want(0, "access tokens restored     0", "")
	if _, refused := e.open(handshake{Token: later}); refused.Status != http.StatusUnauthorized {
		t.Error("a restore revives what the store knows to be revoked")
	}

	nodes := startNATS(t, 1)
	pair := []*edge{startEdge(t, defaultCaddyfile, joining(nodes, "")[0])}
	pair[0].admin("restore", "--dry-run", file).want(0, "access tokens restored     3", "")
	if _, refused := pair[0].open(handshake{Token: valid}); refused.Status != http.StatusUnauthorized {
		t.Error("a dry run restores")
	}
	pair[0].admin("restore", "--masters-only", file).want(0, "left out                   3", "")
	pair[0].admin("restore", file).want(0, "of these valid now         2", "")
	pair[0].mustOpen(handshake{Token: valid}).ping()
	pair[0].mustOpen(handshake{Token: later}).ping() // it was revoked after the backup: docs/backups.md
	if _, refused := pair[0].open(handshake{Token: revoked}); refused.Status != http.StatusUnauthorized {
		t.Error("a revoked token is restored as a valid one")
	}
	pair[0].issueAs(made.Token, tokenRequest(allowAll("room")))
	// What the page says to do about it.
	pair[0].admin("master-token", "rotate", made.ID, "--revoke-tokens").want(0, "revoked access tokens", "")
	if _, refused := pair[0].open(handshake{Token: later}); refused.Status != http.StatusUnauthorized {
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
		e.admin("restore", other).want(1, "", bad.want)
		e.pubsub([]string{"CADDY_ADMIN=" + e.adminAddress()}, bad.content, "restore", "-").want(1, "", bad.want).want(1, "", "400 bad_backup")
	}
	e.admin("restore", filepath.Join(t.TempDir(), "none")).want(1, "", "no such file")
	e.adminCall(http.MethodPost, "/pubsub/restore?masters=true", object{}).problem(t, http.StatusBadRequest, "invalid_query")
	e.adminCall(http.MethodPost, "/pubsub/restore", object{}).problem(t, http.StatusUnsupportedMediaType, "unsupported_media_type")
}
