package guard

import (
	"bufio"
	"net"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/millrace/millrace/caddymodule/problem"
)

// Caddy answers what no handler has answered with an empty 200: a client with a wrong path, and a
// health check that asks by an address in place of a name, would see success. So a server with our
// handlers answers it with a problem body:
//
//   - 404, in a site with our handlers, by [PassOn];
//   - 404, or 421 if none of the server's sites has the host, where no site has taken it, by routesEnd.
//
// A route of others that has only set or removed a header keeps its 200, and so do sites that have
// none of our handlers.

// These are in the variables of a request.
const (
	headersVar = "pubsub.headers" // how many headers the answer had before the routes of the server
	passedVar  = "pubsub.passed"  // PassOn looks after the request

	// unhandledVar is Caddy's: its last handler was reached, which answers nothing.
	unhandledVar = "unhandled"
)

// PassOn has the next handlers answer a request that is not for ours, and answers 404 if they do not.
// All our handlers use it; the first one that a request passes looks after it.
func PassOn(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	ctx := r.Context()
	if caddyhttp.GetVar(ctx, passedVar) != nil {
		return next.ServeHTTP(w, r)
	}
	caddyhttp.SetVar(ctx, passedVar, true)
	before := len(w.Header())
	watched := &answerWriter{ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}}
	err := next.ServeHTTP(watched, r)
	if err == nil && !watched.answered && len(w.Header()) == before && caddyhttp.GetVar(ctx, unhandledVar) == true {
		defer Own(r)()
		problem.NotFound(w)
	}
	return err
}

// routesEnd is behind the last route of a server.
type routesEnd struct {
	routes caddyhttp.RouteList
	next   caddyhttp.Handler // Caddy's, which answers nothing
}

// ServeHTTP implements [caddyhttp.Handler].
func (e routesEnd) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if caddyhttp.GetVar(ctx, passedVar) != nil || caddyhttp.GetVar(ctx, headersVar) != len(w.Header()) {
		return e.next.ServeHTTP(w, r)
	}
	defer Own(r)()
	if e.isMisdirected(r) {
		problem.Write(w, http.StatusMisdirectedRequest, "misdirected_request", "there is no site of this name here")
		return nil
	}
	problem.NotFound(w)
	return nil
}

// isMisdirected reports whether each route is for some hosts, and none for that of the request.
func (e routesEnd) isMisdirected(r *http.Request) bool {
	for _, route := range e.routes {
		if len(route.MatcherSets) == 0 {
			return false
		}
		for _, set := range route.MatcherSets {
			hosts, ok := hostsOf(set)
			if !ok || hosts.Match(r) {
				return false
			}
		}
	}
	return true
}

func hostsOf(set caddyhttp.MatcherSet) (caddyhttp.MatchHost, bool) {
	for _, matcher := range set {
		switch m := matcher.(type) {
		case caddyhttp.MatchHost:
			return m, true
		case *caddyhttp.MatchHost:
			return *m, true
		}
	}
	return nil, false
}

// answerWriter notes whether anything was answered. Handlers of others find in it what they find
// without it.
type answerWriter struct {
	caddyhttp.ResponseWriterWrapper
	answered bool
}

func (w *answerWriter) WriteHeader(status int) {
	w.answered = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *answerWriter) Write(b []byte) (int, error) {
	w.answered = true
	return w.ResponseWriter.Write(b)
}

// Flush implements [http.Flusher].
func (w *answerWriter) Flush() {
	w.answered = true
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack implements [http.Hijacker].
func (w *answerWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.answered = true
	return http.NewResponseController(w.ResponseWriter).Hijack()
}
