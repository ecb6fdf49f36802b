package console

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// Cookies, origins and headers by the real handler: package console has all the rules.
func TestConsoleAccess(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.ConsoleCaddyfile)
	u := e.Console()
	u.TryLogin("ada", "a wrong password").Problem(t, http.StatusUnauthorized, "bad_credentials")
	u.Get("tokens").Problem(t, http.StatusUnauthorized, "no_session")
	u.Login("ada", harness.AdaPassword)
	c := *u.Cookie
	if !strings.HasPrefix(c.Name, "__Host-") || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || len(c.Value) < 43 {
		t.Errorf("the cookie is %v", c)
	}
	for _, u := range []*harness.ConsoleUser{u, e.ConsoleBehindProxy("203.0.113.7").Login("ada", harness.AdaPassword)} {
		r := u.Request(http.MethodPost, "master-tokens", harness.Object{"name": "x"})
		r.Header.Set("Origin", "https://evil.example")
		u.Send(r).Problem(t, http.StatusForbidden, "cross_site")
	}
	rebound := u.Request(http.MethodPost, "session", harness.Object{"name": "ada", "password": harness.AdaPassword})
	rebound.Host = "evil.example"
	u.Send(rebound).Problem(t, http.StatusForbidden, "tls_required")
	for _, path := range []string{"/console", "/console/api/session", "/console/console.js"} {
		header := u.Get(path).Header
		policy := header.Get("Content-Security-Policy")
		if header.Get("X-Frame-Options") != "DENY" || header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") ||
			strings.Contains(policy, "unsafe") {
			t.Errorf("%s has the headers %v", path, header)
		}
	}
	harness.CheckNoStore(t, u.Get("master-tokens"))

	bob := e.Console().Login("bob", harness.BobPassword)
	bob.Call("POST", "live-token", harness.Object{"tenant": "paint.room", "pattern": "#", "publish": true}).Problem(t, http.StatusForbidden, "not_a_manager")
	var live harness.Issued
	bob.Call("POST", "live-token", harness.Object{"tenant": "paint.room", "pattern": "news.#", "publish": false}).Decode(t, http.StatusOK, &live)
	var made struct{ ID, Token string }
	u.Call("POST", "master-tokens", harness.Object{"name": "made here", "tenant_prefix": "paint"}).Decode(t, http.StatusOK, &made)
	// What operators do is in the audit, and so is what was refused; no secret is.
	wantLine(e, `"operation":"login"`, `"actor":"operator:ada"`, `"status":200`)
	wantLine(e, `"operation":"login"`, `"code":"bad_credentials"`, `"operator":"ada"`, `"ip":"127.0.0.1"`)
	wantLine(e, `"operation":"master_create"`, `"actor":"operator:ada"`, made.ID)
	wantLine(e, `"operation":"live_tail"`, `"actor":"operator:bob"`, `"pattern":"news.#"`, "paint.room", live.TokenID)
	for _, secret := range []string{harness.AdaPassword, "a wrong password", c.Value, browser.SecretOf(made.Token), browser.SecretOf(live.Token)} {
		if found := harness.FindSecret(e.Output(), strings.ToLower(secret)); found != "" {
			t.Errorf("the edge wrote a secret: %s", found)
		}
	}

	// A reload keeps the sessions of the operators that it keeps, and ends the others.
	e.Reload(strings.ReplaceAll(harness.ConsoleCaddyfile, harness.AdaHash, harness.BobHash))
	if u.SignedIn() || !bob.SignedIn() {
		t.Errorf("after another hash for ada: ada %v, bob %v", u.SignedIn(), bob.SignedIn())
	}
	replay := *bob
	bob.Call(http.MethodDelete, "session", harness.Object{})
	if bob.Cookie != nil || replay.SignedIn() {
		t.Error("the session outlives the logout")
	}
}

// With auth caddy, one of Caddy's authentications says who somebody is. TestCaddyUser has the
// sessions.
func TestConsoleBehindCaddysAuthentication(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, strings.ReplaceAll(harness.ConsoleCaddyfile, harness.ConsoleOperators, `
	basic_auth /console* argon2id {
		ada `+harness.AdaHash+`
		eve `+harness.BobHash+`
	}
	pubsub_console {
		auth caddy
		operator ada manager
	}
`))
	ada, eve := e.Console(), e.Console()
	ada.Headers.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("ada:"+harness.AdaPassword)))
	eve.Headers.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("eve:"+harness.BobPassword)))
	ada.Call("POST", "session", harness.Object{}).Decode(t, http.StatusOK, new(harness.ConsoleSession))
	ada.Call("POST", "master-tokens", harness.Object{"name": "x"}).Decode(t, http.StatusOK, new(harness.Object))
	eve.Call("POST", "session", harness.Object{}).Problem(t, http.StatusForbidden, "not_an_operator")
}
