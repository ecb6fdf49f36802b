package integration

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

// A reload keeps the sessions of the operators that it keeps, and ends the others for good.
func TestConsoleReload(t *testing.T) {
	t.Parallel()
	e := startEdge(t, consoleCaddyfile)
	ada, bob := e.console().login("ada", adaPassword), e.console().login("bob", bobPassword)
	e.reload(strings.ReplaceAll(consoleCaddyfile, "drain 7s", "drain 8s"))
	if !ada.signedIn() || !bob.signedIn() {
		t.Error("a reload that changes no operator ends sessions")
	}
	if out, err := e.tryReload(strings.ReplaceAll(consoleCaddyfile, "operator ada", "operator ada nonsense")); err == nil {
		t.Errorf("a broken Caddyfile is taken: %s", out)
	}
	if !ada.signedIn() {
		t.Error("a reload that fails ends sessions")
	}
	e.reload(strings.ReplaceAll(consoleCaddyfile, "operator ada "+adaHash+" manager", "operator ada "+adaHash+" viewer"))
	ada.call("POST", "master-tokens", object{"name": "x"}).problem(t, http.StatusForbidden, "not_a_manager")

	e.reload(strings.ReplaceAll(consoleCaddyfile, adaHash, bobHash)) // ada has another password
	if ada.signedIn() || !bob.signedIn() {
		t.Errorf("after another hash for ada: ada %v, bob %v", ada.signedIn(), bob.signedIn())
	}
	e.reload(strings.ReplaceAll(consoleCaddyfile, "operator bob", "operator rob")) // and bob is gone
	e.reload(consoleCaddyfile)
	if ada.signedIn() || bob.signedIn() {
		t.Error("a session is back with its operator")
	}
	ada.login("ada", adaPassword)
}

// With auth caddy, one of Caddy's authentications says who somebody is, and the console what
// that operator may do.
func TestConsoleBehindCaddysAuthentication(t *testing.T) {
	t.Parallel()
	e := startEdge(t, strings.ReplaceAll(consoleCaddyfile, consoleOperators, `
	basic_auth /console* argon2id {
		ada `+adaHash+`
		bob `+bobHash+`
		eve `+bobHash+`
	}
	pubsub_console {
		auth caddy
		operator ada manager
		operator bob viewer
	}
`))
	as := func(name, password string) *consoleUser {
		u := e.console()
		u.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(name+":"+password)))
		return u
	}
	if got := e.console().get("session"); got.Status != http.StatusUnauthorized {
		t.Errorf("without the front's password: %d %s", got.Status, got.Body)
	}
	ada, bob := as("ada", adaPassword), as("bob", bobPassword)
	ada.get("tokens").problem(t, http.StatusUnauthorized, "no_session")
	for name, u := range map[string]*consoleUser{"ada": ada, "bob": bob} {
		var session consoleSession
		u.get("session").decode(t, http.StatusOK, &session)
		if session.User != name || session.SignedIn {
			t.Errorf("before the session of %s: %+v", name, session)
		}
		u.call("POST", "session", object{}).decode(t, http.StatusOK, &session)
		if session.Operator != name || !session.SignedIn {
			t.Errorf("the session of %s: %+v", name, session)
		}
	}
	if got := ada.call("POST", "master-tokens", object{"name": "x"}); got.Status != http.StatusOK {
		t.Errorf("ada: %d %s", got.Status, got.Body)
	}
	bob.call("POST", "master-tokens", object{"name": "x"}).problem(t, http.StatusForbidden, "not_a_manager")
	eve := as("eve", bobPassword)
	eve.call("POST", "session", object{}).problem(t, http.StatusForbidden, "not_an_operator")
	eve.cookie = ada.cookie // somebody else's session
	eve.get("tokens").problem(t, http.StatusUnauthorized, "no_session")
}
