package caddymodule

import (
	"net/http"

	"github.com/millrace/millrace/tokenstore/rest"
)

// refuse answers a handshake with a problem body (docs/protocol.md, WebSocket and
// WebTransport), and counts it.
func refuse(w http.ResponseWriter, status int, code, detail string) {
	countRefusal(status, code)
	problem(w, status, code, detail)
}

// problem answers any request with a problem body (docs/protocol.md, REST).
func problem(w http.ResponseWriter, status int, code, detail string) {
	rest.WriteProblem(w, rest.Problem{Status: status, Code: code, Detail: detail})
}

func notFound(w http.ResponseWriter) {
	problem(w, http.StatusNotFound, string(rest.CodeNotFound), "paths are exact: no other case, no trailing slash")
}

// methodNotAllowed refuses a handshake.
func methodNotAllowed(w http.ResponseWriter, allowed string) {
	w.Header().Set("Allow", allowed)
	refuse(w, http.StatusMethodNotAllowed, string(rest.CodeMethodNotAllowed), "allowed: "+allowed)
}

// unavailable answers 503: trying again, here or elsewhere, can help.
func unavailable(w http.ResponseWriter, detail, code string) {
	w.Header().Set("Retry-After", "5")
	problem(w, http.StatusServiceUnavailable, code, detail)
}

func starting(w http.ResponseWriter) { unavailable(w, "the edge is starting", codeStarting) }

const codeStarting = "starting"
