package console

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// A session has a cookie that no script and no other site gets, and ends with the logout.
func TestConsoleSession(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.ConsoleCaddyfile)
	u := e.Console()
	if u.SignedIn() {
		t.Error("there is a session before the login")
	}
	u.TryLogin("ada", "wrong").Problem(t, http.StatusUnauthorized, "bad_credentials")
	u.TryLogin("nobody", "wrong").Problem(t, http.StatusUnauthorized, "bad_credentials")
	u.TryLogin("ada", harness.AdaPassword+strings.Repeat("x", 2000)).Problem(t, http.StatusUnauthorized, "bad_credentials")
	u.Get("tokens").Problem(t, http.StatusUnauthorized, "no_session")

	u.Login("ada", harness.AdaPassword)
	c := u.Cookie
	if !strings.HasPrefix(c.Name, "__Host-") || !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || len(c.Value) < 43 {
		t.Errorf("the cookie is %v", c)
	}
	harness.CheckNoStore(t, u.Get("master-tokens"))
	replay := *u
	old := *u.Cookie
	replay.Cookie = &old
	if !replay.SignedIn() {
		t.Error("no session")
	}
	u.Call(http.MethodDelete, "session", harness.Object{})
	if u.Cookie != nil || u.SignedIn() {
		t.Error("the session outlives the logout")
	}
	replay.Get("tokens").Problem(t, http.StatusUnauthorized, "no_session")

	// A session that an attacker knows before the login is not the one after it.
	fixed := *e.Console().Login("bob", harness.BobPassword).Cookie
	victim := e.Console()
	victim.Cookie = &fixed
	victim.Login("ada", harness.AdaPassword)
	if victim.Cookie.Value == fixed.Value {
		t.Error("the login keeps the key that the browser brought")
	}
	attacker := e.Console()
	attacker.Cookie = &fixed
	if attacker.SignedIn() {
		t.Error("the session that the browser brought goes on")
	}
	made := &http.Cookie{Name: old.Name, Value: strings.Repeat("A", 43)}
	attacker.Cookie = made
	attacker.Get("tokens").Problem(t, http.StatusUnauthorized, "no_session")
	attacker.Login("ada", harness.AdaPassword)
	if attacker.Cookie.Value == made.Value {
		t.Error("a made-up key becomes a session")
	}
}

// Only the page itself changes something, and what comes from elsewhere is not answered.
func TestConsoleOrigins(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.ConsoleCaddyfile)
	u := e.Console().Login("ada", harness.AdaPassword)
	create := func(change func(*http.Request)) harness.Answer {
		t.Helper()
		r := u.Request(http.MethodPost, "master-tokens", harness.Object{"name": "x"})
		change(r)
		return u.Send(r)
	}
	for name, c := range map[string]struct {
		change func(*http.Request)
		status int
		code   string
	}{
		"a form of another site": {func(r *http.Request) {
			r.Header.Set("Origin", "https://evil.example")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}, 403, "cross_site"},
		"a form with the page's origin":    {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415, "unsupported_media_type"},
		"a fetch of another site":          {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403, "cross_site"},
		"a fetch of a site beside it":      {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403, "cross_site"},
		"a fetch of another port":          {func(r *http.Request) { r.Header.Set("Origin", "http://localhost:1") }, 403, "cross_site"},
		"a sandboxed frame":                {func(r *http.Request) { r.Header.Set("Origin", "null") }, 403, "cross_site"},
		"no Origin":                        {func(r *http.Request) { r.Header.Del("Origin") }, 403, "cross_site"},
		"a name that leads here (rebound)": {func(r *http.Request) { r.Host, r.Header["Origin"] = "evil.example", []string{"http://evil.example"} }, 403, "tls_required"},
		"another name of this machine":     {func(r *http.Request) { otherHost(u, r, "127.0.0.1") }, 401, "no_session"},
		"no JSON":                          {func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("{")), 1 }, 400, "invalid_body"},
		"a member that is unknown":         {func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader(`{"x":1}`)), 7 }, 400, "invalid_body"},
		"a large body": {func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(make([]byte, 65<<10))), 65<<10
		}, 413, "body_too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			create(c.change).Problem(t, c.status, c.code)
		})
	}
	if got := create(func(*http.Request) {}); got.Status != http.StatusOK {
		t.Errorf("the page itself: %d %s", got.Status, got.Body)
	}
	read := u.Request(http.MethodGet, "tokens", nil)
	read.Header.Set("Sec-Fetch-Site", "cross-site")
	u.Send(read).Problem(t, http.StatusForbidden, "cross_site")
	for _, path := range []string{"/console", "/console/api/session", "/console/console.js", "/console/none"} {
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
}

// otherHost addresses a request to another name of the same console.
func otherHost(u *harness.ConsoleUser, r *http.Request, host string) {
	_, port, _ := net.SplitHostPort(r.Host)
	r.Host = net.JoinHostPort(host, port)
	r.Header.Set("Origin", "http://"+r.Host)
}

// Viewers see, and change nothing; package console has the test of every call.
func TestConsoleRoles(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.ConsoleCaddyfile)
	token := e.Issue(harness.AllowAll("room"))
	bob := e.Console().Login("bob", harness.BobPassword)
	for _, path := range []string{"master-tokens", "tokens"} {
		if got := bob.Get(path); got.Status != http.StatusOK {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
	for _, c := range []struct{ method, path string }{
		{"POST", "master-tokens"}, {"PATCH", "master-tokens/" + token.TokenID}, {"DELETE", "master-tokens/" + token.TokenID},
		{"POST", "master-tokens/" + token.TokenID + "/rotate"}, {"POST", "tokens"}, {"PUT", "tokens/" + token.TokenID}, {"DELETE", "tokens/" + token.TokenID},
	} {
		bob.Call(c.method, c.path, harness.Object{}).Problem(t, http.StatusForbidden, "not_a_manager")
	}
	bob.Call("POST", "live-token", harness.Object{"tenant": "paint.room", "pattern": "#", "publish": true}).Problem(t, http.StatusForbidden, "not_a_manager")
	var explained struct{ Allowed bool }
	bob.Call("POST", "explain", harness.Object{"token_id": token.TokenID, "action": "publish", "tenant": "paint.room", "channel": "a"}).Decode(t, http.StatusOK, &explained)
	if !explained.Allowed {
		t.Error("explain says that the token does not allow what it does")
	}

	// What managers do is in the audit, and so is what was refused; no secret is.
	ada := e.Console().Login("ada", harness.AdaPassword)
	var made struct{ ID, Token string }
	ada.Call("POST", "master-tokens", harness.Object{"name": "made here", "tenant_prefix": "paint"}).Decode(t, http.StatusOK, &made)
	if got := e.Rest("POST", "/v1/get-token", made.Token, harness.TokenRequest(harness.AllowAll("x"))); got.Status != http.StatusOK {
		t.Errorf("the new master token: %d %s", got.Status, got.Body)
	}
	e.Console().TryLogin("ada", "a wrong password")
	e.Console().TryLogin("a password in the wrong field", "x")
	var live harness.Issued
	bob.Call("POST", "live-token", harness.Object{"tenant": "paint.room", "pattern": "news.#", "publish": false}).Decode(t, http.StatusOK, &live)
	for _, want := range [][]string{
		{`"operation":"login"`, `"actor":"operator:ada"`, `"status":200`},
		{`"operation":"master_create"`, `"actor":"operator:ada"`, made.ID},
		{`"operation":"login"`, `"code":"bad_credentials"`, `"operator":"ada"`, `"ip":"127.0.0.1"`},
		{`"operation":"live_tail"`, `"actor":"operator:bob"`, `"pattern":"news.#"`, "paint.room", live.TokenID},
	} {
		e.Poll(fmt.Sprintf("a line of the audit with %q", want), func() bool { return hasLine(e.Output(), want...) })
	}
	for _, secret := range []string{harness.AdaPassword, harness.BobPassword, "a wrong password", "wrong field", ada.Cookie.Value, bob.Cookie.Value, browser.SecretOf(made.Token), browser.SecretOf(live.Token)} {
		if found := harness.FindSecret(e.Output(), strings.ToLower(secret)); found != "" {
			t.Errorf("the edge wrote a secret: %s", found)
		}
	}
}

// hasLine reports whether a line of a text has all of these.
func hasLine(text string, all ...string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		n := 0
		for _, part := range all {
			if strings.Contains(line, part) {
				n++
			}
		}
		if n == len(all) {
			return true
		}
	}
	return false
}

// A thousand wrong passwords, from one address and from many, keep nobody out for good.
func TestConsoleGuesses(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.ConsoleCaddyfile)
	home := e.ConsoleBehindProxy("203.0.113.7").Login("ada", harness.AdaPassword)
	counts, start := map[string]int{}, time.Now()
	guess := func(ip, name, password string) string {
		got := e.ConsoleBehindProxy(ip).TryLogin(name, password)
		code := "in"
		if got.Status != http.StatusOK {
			code = got.Problem(t, got.Status, "").Code
			if retry := got.Header.Get("Retry-After"); (retry != "") != (code == "too_many_attempts") {
				t.Errorf("%s with Retry-After %q", code, retry)
			}
		}
		counts[code]++
		return code
	}
	for i := range 500 {
		guess("198.51.100.1", "ada", fmt.Sprint("wrong ", i))
	}
	for i := range 500 {
		guess(fmt.Sprintf("10.0.%d.%d", i/250, i%250), "ada", fmt.Sprint("wrong ", i))
	}
	took := time.Since(start)
	checked := 10 + 50 + int(took/(6*time.Second)+took/(2*time.Second)) + 2 // of the address and of the name, and what has come to these
	if n := counts["bad_credentials"]; n == 0 || n > checked || counts["too_many_attempts"] != 1000-n {
		t.Errorf("of 1,000 wrong passwords in %v: %v, want at most %d checked", took, counts, checked)
	}
	if got := guess("203.0.113.7", "ada", harness.AdaPassword); got != "in" {
		t.Errorf("from where ada has logged in before: %s", got)
	}
	if !home.SignedIn() {
		t.Error("the session from before has ended")
	}
	e.Console().Login("ada", harness.AdaPassword) // from this machine
	// From elsewhere, it may have to wait for the time that the answer names, and no longer.
	e.Poll("ada to get in from elsewhere", func() bool { return guess("192.0.2.200", "ada", harness.AdaPassword) == "in" })
}
