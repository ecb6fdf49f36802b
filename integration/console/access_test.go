package console

import (
	"encoding/base64"
	"fmt"
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
	if !strings.HasPrefix(c.Name, "__Host-") || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || len(c.Value) < 43 {
		t.Errorf("the cookie is %v", c)
	}
	proxied := e.ConsoleBehindProxy("203.0.113.7").Login("ada", harness.AdaPassword)
	for name, row := range map[string]struct {
		header, value string
		status        int
		code          string
	}{
		"another site":     {"Origin", "https://evil.example", 403, "cross_site"},
		"a site beside it": {"Sec-Fetch-Site", "same-site", 403, "cross_site"},
		"a form":           {"Content-Type", "text/plain", 415, "unsupported_media_type"},
	} {
		for _, u := range []*harness.ConsoleUser{u, proxied} {
			r := u.Request(http.MethodPost, "master-tokens", harness.Object{"name": "x"})
			r.Header.Set(row.header, row.value)
			if got := u.Send(r); got.Status != row.status {
				t.Errorf("%s: %d %s", name, got.Status, got.Body)
			} else {
				got.Problem(t, row.status, row.code)
			}
		}
	}
	rebound := u.Request(http.MethodGet, "tokens", nil)
	rebound.Host = "evil.example"
	u.Send(rebound).Problem(t, http.StatusForbidden, "tls_required")
	for _, path := range []string{"/console", "/console/api/session", "/console/console.js"} {
		header := u.Get(path).Header
		for name, want := range map[string]string{
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Access-Control-Allow-Origin": "",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if p := header.Get("Content-Security-Policy"); !strings.Contains(p, "default-src 'none'") || !strings.Contains(p, "frame-ancestors 'none'") || strings.Contains(p, "unsafe") {
			t.Errorf("%s: the policy is %s", path, p)
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
	for _, want := range [][]string{
		{`"operation":"login"`, `"actor":"operator:ada"`, `"status":200`},
		{`"operation":"login"`, `"code":"bad_credentials"`, `"operator":"ada"`, `"ip":"127.0.0.1"`},
		{`"operation":"master_create"`, `"actor":"operator:ada"`, made.ID},
		{`"operation":"live_tail"`, `"actor":"operator:bob"`, `"pattern":"news.#"`, "paint.room", live.TokenID},
	} {
		e.Poll(fmt.Sprintf("a line of the audit with %q", want), func() bool { return hasLine(e.Output(), want...) })
	}
	for _, secret := range []string{harness.AdaPassword, "a wrong password", c.Value, browser.SecretOf(made.Token), browser.SecretOf(live.Token)} {
		if found := harness.FindSecret(e.Output(), strings.ToLower(secret)); found != "" {
			t.Errorf("the edge wrote a secret: %s", found)
		}
	}

	// A reload keeps the sessions of the operators that it keeps, and ends the others.
	e.Reload(strings.ReplaceAll(strings.ReplaceAll(harness.ConsoleCaddyfile, harness.AdaHash, harness.BobHash), "operator bob", "tail off\n\t\toperator bob"))
	if u.SignedIn() || !bob.SignedIn() {
		t.Errorf("after another hash for ada: ada %v, bob %v", u.SignedIn(), bob.SignedIn())
	}
	var session harness.ConsoleSession
	if bob.Get("session").Decode(t, http.StatusOK, &session); session.Tail {
		t.Error("the session says that there is a tail")
	}
	replay := *bob
	bob.Call(http.MethodDelete, "session", harness.Object{})
	if bob.Cookie != nil || replay.SignedIn() {
		t.Error("the session outlives the logout")
	}
}

// With auth caddy, one of Caddy's authentications says who somebody is, and the console what
// that operator may do.
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
	as := func(name, password string) *harness.ConsoleUser {
		u := e.Console()
		u.Headers.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(name+":"+password)))
		return u
	}
	if got := e.Console().Get("session"); got.Status != http.StatusUnauthorized {
		t.Errorf("without the front's password: %d %s", got.Status, got.Body)
	}
	ada, eve := as("ada", harness.AdaPassword), as("eve", harness.BobPassword)
	ada.Get("tokens").Problem(t, http.StatusUnauthorized, "no_session")
	var session harness.ConsoleSession
	if ada.Call("POST", "session", harness.Object{}).Decode(t, http.StatusOK, &session); session.Operator != "ada" || !session.SignedIn {
		t.Errorf("the session of ada: %+v", session)
	}
	if got := ada.Call("POST", "master-tokens", harness.Object{"name": "x"}); got.Status != http.StatusOK {
		t.Errorf("ada: %d %s", got.Status, got.Body)
	}
	eve.Call("POST", "session", harness.Object{}).Problem(t, http.StatusForbidden, "not_an_operator")
	eve.Cookie = ada.Cookie // somebody else's session
	eve.Get("tokens").Problem(t, http.StatusUnauthorized, "no_session")
}
