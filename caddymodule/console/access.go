package console

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/millrace/millrace/caddymodule/operate"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/caddymodule/remote"
	"github.com/millrace/millrace/tokenstore/rest"
)

// visit is a request of the API by an operator.
type visit struct {
	operate.Caller
	session session
	role    Role
	origin  origin
}

// backgroundHeader marks requests that no operator caused, such as those of a timer: they do
// not prolong a session.
const backgroundHeader = "Console-Background"

// The calls of the shared API that read only, though they are no GET.
var readingCalls = map[string]bool{"POST /explain": true}

// The calls that show messages of clients: with `tail off` there are none.
var messageCalls = map[string]bool{"POST /histories/read": true}

// The calls for which a password must have been typed a moment ago.
var confirmedCalls = map[string]bool{
	"POST /master-tokens": true, "POST /master-tokens/{id}/rotate": true, "DELETE /master-tokens/{id}": true,
	"POST /histories/purge": true, "POST /members/{member}/remove": true,
}

// routes are the calls of the API, below its path.
func (c *Console) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /session", c.showSession)
	mux.HandleFunc("POST /session", c.login)
	mux.Handle("POST /session/confirm", c.visited("POST /session/confirm", Viewer, c.confirm))
	mux.Handle("DELETE /session", c.visited("DELETE /session", Viewer, c.logout))
	mux.Handle("POST /live-token", c.visited("POST /live-token", Viewer, c.issueLiveToken))
	for pattern, call := range operate.Calls {
		needs := Manager
		if strings.HasPrefix(pattern, "GET ") || readingCalls[pattern] {
			needs = Viewer
		}
		mux.Handle(pattern, c.visited(pattern, needs, func(w http.ResponseWriter, r *http.Request, v visit) {
			if messageCalls[pattern] && c.Tail != "on" {
				problem.Write(w, http.StatusNotFound, string(rest.CodeNotFound), "reading messages is switched off, `tail off`")
				return
			}
			call.Serve(w, r, v.Caller)
		}))
	}
	unknown := func(w http.ResponseWriter, _ *http.Request) {
		problem.Write(w, http.StatusNotFound, string(rest.CodeNotFound), "the console has no such call")
	}
	mux.HandleFunc("/", unknown)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := r.URL.EscapedPath(); path.Clean(p) != p { // the mux would redirect, whoever asks
			unknown(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// serveAPI answers a call at a path below the API's, which is escaped.
func (c *Console) serveAPI(w http.ResponseWriter, r *http.Request, o origin, escaped string) {
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case rest.TooEarly(r): // it can be replayed
		problem.Write(w, http.StatusTooEarly, string(rest.CodeTooEarly), "not in TLS early data; try again")
		return
	case !fromPage(r, o):
		problem.Write(w, http.StatusForbidden, "cross_site", "only the console's own page may call this, in a browser that sends Origin")
		return
	}
	running := c.app.Await(r.Context())
	if running == nil {
		problem.Starting(w)
		return
	}
	call := r.Clone(context.WithValue(r.Context(), visitKey{}, visit{Caller: operate.Caller{App: c.app, Running: running}, origin: o}))
	var err error
	if call.URL.Path, err = url.PathUnescape(escaped); err != nil { // Go's server has read it before
		problem.Write(w, http.StatusBadRequest, string(rest.CodeNotFound), "the path is not well-formed")
		return
	}
	call.URL.RawPath = escaped
	c.api.ServeHTTP(w, call)
}

// visitKey is where a request's context has what serveAPI knows of it.
type visitKey struct{}

// visitOf returns what is known of a request before its session is looked at.
func visitOf(r *http.Request) visit {
	v := r.Context().Value(visitKey{}).(visit)
	v.IP, _ = remote.ClientIP(r)
	return v
}

// visited serves a call of operators that have a session and at least a role.
func (c *Console) visited(pattern string, needs Role, serve func(http.ResponseWriter, *http.Request, visit)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := visitOf(r)
		if !c.enter(r, &v) {
			problem.Write(w, http.StatusUnauthorized, "no_session", "sign in: there is no session, or it has ended")
			return
		}
		if needs == Manager && v.role != Manager {
			problem.Write(w, http.StatusForbidden, "not_a_manager", "your role is viewer; only managers may change this")
			return
		}
		if confirmedCalls[pattern] && c.Auth == authOperators && !c.state.now().Before(v.session.confirmedUntil()) {
			problem.Write(w, http.StatusForbidden, "confirmation_required", "type your password again: it was last typed more than 10 minutes ago")
			return
		}
		end, ok := c.state.begin(v.session.operator)
		if !ok {
			w.Header().Set("Retry-After", "1")
			problem.Write(w, http.StatusTooManyRequests, string(rest.CodeTooManyRequests), "too many of your calls are under way")
			return
		}
		defer end()
		serve(w, r, v)
	})
}

// enter finds the session of a request, and who its operator is now.
func (c *Console) enter(r *http.Request, v *visit) bool {
	cookies := r.CookiesNamed(v.origin.cookieName())
	if len(cookies) != 1 { // two: somebody has put one of their own beside it
		return false
	}
	found, ok := c.state.find(cookies[0].Value, v.origin.host, c.operators, r.Header.Get(backgroundHeader) == "")
	if !ok || c.Auth == authCaddy && caddyUser(r) != found.operator {
		return false
	}
	v.session, v.role = found, c.operators.byName[found.operator].role
	v.Actor = "operator:" + found.operator
	return true
}

// caddyUser is whom Caddy's authentication found; empty: nobody.
func caddyUser(r *http.Request) string {
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return ""
	}
	user, _ := repl.GetString("http.auth.user.id")
	return user
}
