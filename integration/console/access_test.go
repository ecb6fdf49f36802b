package console

import (
	"net/http"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// What operators do is in the audit, and so is what was refused. Package console has the rules
// of access, TestNoSecretLeaves what is never written.
func TestConsoleAccess(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.ConsoleCaddyfile)
	ada, bob := e.Console(), e.Console().Login("bob", harness.BobPassword)
	ada.TryLogin("ada", "a wrong password").Problem(t, http.StatusUnauthorized, "bad_credentials")
	e.AwaitLine(`"operation":"login"`, `"code":"bad_credentials"`, `"operator":"ada"`, `"ip":"127.0.0.1"`)
	ada.Login("ada", harness.AdaPassword)
	e.AwaitLine(`"operation":"login"`, `"actor":"operator:ada"`, `"status":200`)
	var made struct{ ID string }
	ada.Call("POST", "master-tokens", harness.Object{"name": "made here", "tenant_prefix": "paint"}).Decode(t, http.StatusOK, &made)
	e.AwaitLine(`"operation":"master_create"`, `"actor":"operator:ada"`, made.ID)
	tail := harness.Object{"tenant": "paint.room", "pattern": "news.#", "publish": true}
	bob.Call("POST", "live-token", tail).Problem(t, http.StatusForbidden, "not_a_manager")
	tail["publish"] = false
	var live harness.Issued
	bob.Call("POST", "live-token", tail).Decode(t, http.StatusOK, &live)
	e.AwaitLine(`"operation":"live_tail"`, `"actor":"operator:bob"`, `"pattern":"news.#"`, "paint.room", live.TokenID)

	// A reload keeps the sessions of the operators that it keeps, and ends the others, with their
	// live tails.
	var ended harness.Issued
	ada.Call("POST", "live-token", tail).Decode(t, http.StatusOK, &ended)
	watching := e.MustOpen(harness.Handshake{Token: ended.Token, Header: http.Header{"Origin": {e.HttpURL("")}}})
	e.Reload(strings.ReplaceAll(harness.ConsoleCaddyfile, harness.AdaHash, harness.BobHash))
	if ada.SignedIn() || !bob.SignedIn() {
		t.Errorf("after another hash for ada: ada %v, bob %v", ada.SignedIn(), bob.SignedIn())
	}
	watching.ExpectText("ERR:token_revoked")
}
