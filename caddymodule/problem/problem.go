// Package problem answers requests with problem bodies (docs/protocol.md, REST), and counts
// refused handshakes.
package problem

import (
	"net/http"

	"github.com/millrace/millrace/tokenstore/rest"
	"github.com/millrace/millrace/wire"
)

// Refuse answers a request whose handshake no handler has seen, and counts it.
func Refuse(w http.ResponseWriter, status int, code, detail string) {
	CountRefusal(status, code)
	Write(w, status, code, detail)
}

// Write answers any request with a problem body (docs/protocol.md, REST).
func Write(w http.ResponseWriter, status int, code, detail string) {
	rest.WriteProblem(w, rest.Problem{Status: status, Code: code, Detail: detail, ConnectionID: w.Header().Get(wire.HeaderConnectionID)})
}

// NotFound answers a request for a path that belongs neither to us nor to anybody else: it may differ from
// one of ours in case, or by a trailing slash.
func NotFound(w http.ResponseWriter) {
	Write(w, http.StatusNotFound, string(rest.CodeNotFound), "there is nothing at this path; paths are exact: no other case, no trailing slash")
}

// Unavailable answers 503: trying again, on this edge or another one, can help.
func Unavailable(w http.ResponseWriter, detail, code string) {
	w.Header().Set("Retry-After", "5")
	Write(w, http.StatusServiceUnavailable, code, detail)
}

// Starting answers 503 before the edge has started.
func Starting(w http.ResponseWriter) { Unavailable(w, DetailStarting, CodeStarting) }

// The code and the detail of [Starting].
const (
	CodeStarting   = "starting"
	DetailStarting = "the edge is starting"
)
