package console

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/caddyauth"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/operate"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
)

var page1 = origin{"https", host}

// console returns one without an edge, for calls that are refused before they reach it.
func openConsole(t *testing.T, auth string, list ...Operator) *Console {
	t.Helper()
	c := &Console{Auth: auth, Operators: list}
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	c.state = newState(time.Now)
	c.state.lease(c.operators)
	return c
}

// call makes a request as the page does, with the keys of sessions.
func call(method, path string, keys ...string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader("{}"))
	r.Header.Set("Content-Type", "application/json")
	for _, key := range keys {
		r.AddCookie(&http.Cookie{Name: page1.cookieName(), Value: key})
	}
	return r.WithContext(context.WithValue(r.Context(), visitKey{}, visit{origin: page1}))
}

func codeOf(w *httptest.ResponseRecorder) string {
	var body struct{ Code string }
	_ = json.Unmarshal(w.Body.Bytes(), &body) // no JSON has no code
	return body.Code
}

// A path that is not written as it should be is no call, and leads nowhere.
func TestUncleanPaths(t *testing.T) {
	calls := openConsole(t, authOperators, Operator{"ada", one, Viewer}).routes()
	for _, path := range []string{"//x", "//tokens", "/tokens/../tokens", "/./tokens", "/tokens/", "/", "//evil.example.com/x", "/x%2F..%2Fy"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			w := httptest.NewRecorder()
			r := call(method, "/", "")
			r.URL.Path, r.URL.RawPath = strings.ReplaceAll(path, "%2F", "/"), path
			calls.ServeHTTP(w, r)
			if w.Code != http.StatusNotFound || w.Header().Get("Location") != "" {
				t.Errorf("%s %s: %d to %q", method, path, w.Code, w.Header().Get("Location"))
			}
		}
	}
}

// Whoever is no manager changes nothing: each call that is not known to read only is refused
// before it is carried out, also those that are added later.
func TestViewersChangeNothing(t *testing.T) {
	c := openConsole(t, authOperators, Operator{"ada", one, Viewer})
	key, _, _ := c.state.open("ada", c.operators.byName["ada"], host)
	mux := c.routes()
	refused := 0
	for pattern := range operate.Calls {
		method, path, _ := strings.Cut(pattern, " ")
		path = strings.NewReplacer("{id}", "7", "{edge}", "local").Replace(path)
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, call(method, path))
		if w.Code != http.StatusUnauthorized || codeOf(w) != "no_session" {
			t.Errorf("%s without a session: %d %s", pattern, w.Code, w.Body)
		}
		if method == http.MethodGet || pattern == "POST /explain" {
			continue
		}
		refused++
		w = httptest.NewRecorder()
		mux.ServeHTTP(w, call(method, path, key))
		if w.Code != http.StatusForbidden || codeOf(w) != "not_a_manager" {
			t.Errorf("%s by a viewer: %d %s", pattern, w.Code, w.Body)
		}
	}
	if refused < 7 {
		t.Errorf("only %d calls change something", refused)
	}
}

func TestConfirmation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openConsole(t, authOperators, Operator{"ada", one, Manager})
		key, opened, _ := c.state.open("ada", c.operators.byName["ada"], host)
		ask := func(pattern string) string {
			served := false
			w := httptest.NewRecorder()
			c.visited(pattern, Manager, func(http.ResponseWriter, *http.Request, visit) { served = true }).ServeHTTP(w, call(http.MethodPost, "/", key))
			if served {
				return "served"
			}
			return codeOf(w)
		}
		dangerous := []string{"POST /master-tokens", "POST /master-tokens/{id}/rotate", "DELETE /master-tokens/{id}", "POST /histories/purge"}
		want := func(want string) {
			t.Helper()
			for _, pattern := range dangerous {
				if _, exists := operate.Calls[pattern]; !exists {
					t.Errorf("there is no call %s", pattern)
				}
				if got := ask(pattern); got != want {
					t.Errorf("%s: %s, want %s", pattern, got, want)
				}
			}
			if got := ask("PATCH /master-tokens/{id}"); got != "served" {
				t.Errorf("an edit: %s", got)
			}
		}
		want("served")
		time.Sleep(confirmTime - time.Second)
		want("served")
		time.Sleep(time.Second)
		want("confirmation_required")
		c.state.change(opened.id, func(s *session) { s.confirmed = time.Now() })
		want("served")
	})
}

// With `tail off` no call shows messages of clients, to nobody.
func TestMessagesWithoutTail(t *testing.T) {
	for tail, want := range map[string]string{"on": "invalid_body", "off": "not_found"} {
		c := openConsole(t, authOperators, Operator{"ada", one, Manager}, Operator{"bob", one, Viewer})
		c.Tail = tail
		ask := func(name string) *httptest.ResponseRecorder {
			key, _, _ := c.state.open(name, c.operators.byName[name], host)
			r := httptest.NewRequest(http.MethodPost, "/histories/read", strings.NewReader(`{"not a member": true}`))
			r.Header.Set("Content-Type", "application/json")
			r.AddCookie(&http.Cookie{Name: page1.cookieName(), Value: key})
			w := httptest.NewRecorder()
			c.routes().ServeHTTP(w, running(r))
			return w
		}
		if w := ask("ada"); codeOf(w) != want || (w.Code == http.StatusNotFound) != (tail == "off") {
			t.Errorf("tail %s: %d %s, want %s", tail, w.Code, w.Body, want)
		}
		if w := ask("bob"); w.Code != http.StatusForbidden || codeOf(w) != "not_a_manager" {
			t.Errorf("tail %s, a viewer: %d %s", tail, w.Code, w.Body)
		}
	}
}

// With auth caddy, who signs in is who stands in front at each request.
func TestCaddyUser(t *testing.T) {
	c := openConsole(t, authCaddy, Operator{"ada", "", Manager}, Operator{"bob", "", Viewer})
	for user, want := range map[front]struct {
		entered bool
		login   string
	}{"ada": {true, ""}, "bob": {false, ""}, "eve": {false, "not_an_operator"}, "": {false, "not_an_operator"}} {
		key, _, _ := c.state.open("ada", c.operators.byName["ada"], host)
		r := running(call(http.MethodPost, "/session", key))
		r = r.WithContext(context.WithValue(r.Context(), caddy.ReplacerCtxKey, caddy.NewReplacer()))
		w := httptest.NewRecorder()
		behind := caddyauth.Authentication{Providers: map[string]caddyauth.Authenticator{"front": user}}
		err := behind.ServeHTTP(w, r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
			v := visitOf(r)
			if got := c.enter(r, &v); got != want.entered {
				t.Errorf("the front found %q: entered %v", user, got)
			}
			c.routes().ServeHTTP(w, r)
			return nil
		}))
		if err != nil || codeOf(w) != want.login || (w.Code == http.StatusOK) != (want.login == "") {
			t.Errorf("the front found %q: %v, %d %s, want %q", user, err, w.Code, w.Body, want.login)
		}
	}
}

// A login gives a cookie that no page can read and that other sites do not cause to be sent; a
// logout ends its session, and takes it away.
func TestCookie(t *testing.T) {
	c := openConsole(t, authOperators, Operator{"ada", one, Manager})
	ask := func(method, body string, keys ...string) *http.Cookie {
		t.Helper()
		r := running(call(method, "/session", keys...))
		r.Body = io.NopCloser(strings.NewReader(body))
		w := httptest.NewRecorder()
		c.routes().ServeHTTP(w, r)
		cookies := w.Result().Cookies()
		if w.Code != http.StatusOK || len(cookies) != 1 {
			t.Fatalf("%s: %d %s, %v", method, w.Code, w.Body, cookies)
		}
		return cookies[0]
	}
	got := ask(http.MethodPost, `{"name":"ada","password":"one"}`)
	if got.Name != page1.cookieName() || got.Path != "/" || !got.HttpOnly || !got.Secure || got.SameSite != http.SameSiteStrictMode || len(got.Value) < 43 {
		t.Errorf("the cookie is %v", got)
	}
	if _, open := c.state.find(got.Value, host, c.operators, true); !open {
		t.Error("the cookie opens no session")
	}
	if gone := ask(http.MethodDelete, "{}", got.Value); gone.Name != got.Name || gone.Value != "" || gone.MaxAge >= 0 {
		t.Errorf("a logout leaves the cookie %v", gone)
	}
	if _, open := c.state.find(got.Value, host, c.operators, true); open {
		t.Error("the session outlives the logout")
	}
}

// running is the request at an edge that runs.
func running(r *http.Request) *http.Request {
	hub := pubsub.NewHub(memory.New(), pubsub.Limits{}, zap.NewNop())
	v := visit{Caller: operate.Caller{App: new(app.App), Running: &app.Running{Hub: hub}}, origin: page1}
	return r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
}

// A front is one of Caddy's authentications that finds somebody.
type front string

func (f front) Authenticate(http.ResponseWriter, *http.Request) (caddyauth.User, bool, error) {
	return caddyauth.User{ID: string(f)}, true, nil
}

// A session is found by one cookie of the right name, and what no operator caused does not
// prolong it.
func TestEnter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openConsole(t, authOperators, Operator{"ada", one, Manager})
		key, _, _ := c.state.open("ada", c.operators.byName["ada"], host)
		enter := func(r *http.Request) bool {
			v := visitOf(r)
			return c.enter(r, &v)
		}
		if !enter(call(http.MethodGet, "/", key)) {
			t.Error("no session")
		}
		if enter(call(http.MethodGet, "/", key, "another")) || enter(call(http.MethodGet, "/", "another", key)) {
			t.Error("a second cookie of the name is overlooked")
		}
		plain := call(http.MethodGet, "/")
		plain.AddCookie(&http.Cookie{Name: strings.TrimPrefix(page1.cookieName(), "__Host-"), Value: key})
		if enter(plain) {
			t.Error("a cookie without the prefix is a session")
		}
		time.Sleep(idleTime / 2)
		timer := call(http.MethodGet, "/", key)
		timer.Header.Set(backgroundHeader, "1")
		if !enter(timer) {
			t.Error("no session for a timer")
		}
		time.Sleep(idleTime / 2)
		if enter(call(http.MethodGet, "/", key)) {
			t.Error("a timer prolongs a session")
		}
	})
}
