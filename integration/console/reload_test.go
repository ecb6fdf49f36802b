package console

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// A reload keeps the sessions of the operators that it keeps, and ends the others for good.
func TestConsoleReload(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.ConsoleCaddyfile)
	ada, bob := e.Console().Login("ada", harness.AdaPassword), e.Console().Login("bob", harness.BobPassword)
	e.Reload(strings.ReplaceAll(harness.ConsoleCaddyfile, "drain 7s", "drain 8s"))
	if !ada.SignedIn() || !bob.SignedIn() {
		t.Error("a reload that changes no operator ends sessions")
	}
	if out, err := e.TryReload(strings.ReplaceAll(harness.ConsoleCaddyfile, "operator ada", "operator ada nonsense")); err == nil {
		t.Errorf("a broken Caddyfile is taken: %s", out)
	}
	if !ada.SignedIn() {
		t.Error("a reload that fails ends sessions")
	}
	e.Reload(strings.ReplaceAll(harness.ConsoleCaddyfile, "operator ada "+harness.AdaHash+" manager", "operator ada "+harness.AdaHash+" viewer"))
	ada.Call("POST", "master-tokens", harness.Object{"name": "x"}).Problem(t, http.StatusForbidden, "not_a_manager")

	e.Reload(strings.ReplaceAll(harness.ConsoleCaddyfile, harness.AdaHash, harness.BobHash)) // ada has another password
	if ada.SignedIn() || !bob.SignedIn() {
		t.Errorf("after another hash for ada: ada %v, bob %v", ada.SignedIn(), bob.SignedIn())
	}
	e.Reload(strings.ReplaceAll(harness.ConsoleCaddyfile, "operator bob", "operator rob")) // and bob is gone
	e.Reload(harness.ConsoleCaddyfile)
	if ada.SignedIn() || bob.SignedIn() {
		t.Error("a session is back with its operator")
	}
	ada.Login("ada", harness.AdaPassword)
}

// With auth caddy, one of Caddy's authentications says who somebody is, and the console what
// that operator may do.
func TestConsoleBehindCaddysAuthentication(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, strings.ReplaceAll(harness.ConsoleCaddyfile, harness.ConsoleOperators, `
	basic_auth /console* argon2id {
		ada `+harness.AdaHash+`
		bob `+harness.BobHash+`
		eve `+harness.BobHash+`
	}
	pubsub_console {
		auth caddy
		operator ada manager
		operator bob viewer
	}
`))
	as := func(name, password string) *harness.ConsoleUser {
		u := e.Console()
		u.Headers.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(name+":"+password)))
		return u
	}
	if got := e.Console().Get("session"); got.Status != http.StatusUnauthorized {
		t.Errorf("without the front's password: %d %s", got.Status, got.Body)
	}
	ada, bob := as("ada", harness.AdaPassword), as("bob", harness.BobPassword)
	ada.Get("tokens").Problem(t, http.StatusUnauthorized, "no_session")
	for name, u := range map[string]*harness.ConsoleUser{"ada": ada, "bob": bob} {
		var session harness.ConsoleSession
		u.Get("session").Decode(t, http.StatusOK, &session)
		if session.User != name || session.SignedIn {
			t.Errorf("before the session of %s: %+v", name, session)
		}
		u.Call("POST", "session", harness.Object{}).Decode(t, http.StatusOK, &session)
		if session.Operator != name || !session.SignedIn {
			t.Errorf("the session of %s: %+v", name, session)
		}
	}
	if got := ada.Call("POST", "master-tokens", harness.Object{"name": "x"}); got.Status != http.StatusOK {
		t.Errorf("ada: %d %s", got.Status, got.Body)
	}
	bob.Call("POST", "master-tokens", harness.Object{"name": "x"}).Problem(t, http.StatusForbidden, "not_a_manager")
	eve := as("eve", harness.BobPassword)
	eve.Call("POST", "session", harness.Object{}).Problem(t, http.StatusForbidden, "not_an_operator")
	eve.Cookie = ada.Cookie // somebody else's session
	eve.Get("tokens").Problem(t, http.StatusUnauthorized, "no_session")
}
