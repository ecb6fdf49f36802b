// Package operate is what an operator can do with the tokens, the connections and the edges
// of an overlay: calls that take JSON and answer with JSON. The admin API and the console serve them, each to those
// whom it lets in; the calls themselves check no rights.
package operate

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/netip"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
)

// Caller is who makes a call, and the edge that is called.
type Caller struct {
	App     *app.App
	Running *app.Running
	Actor   string     // as in [hook.Operation]
	IP      netip.Addr // not valid: not known
}

// MaxBody is how many bytes the body of a call may have.
const MaxBody = rest.MaxBody

// Call is one thing that an operator can do.
type Call struct {
	// Operation is its name for hooks, and for metrics where it is one of
	// [app.TokenOperations]; empty: neither is told.
	Operation string

	do func(live *app.Running, r *http.Request, body []byte) (any, error) // body is nil for a GET
}

// Serve carries out the call and answers with JSON, or with a problem body.
func (c Call) Serve(w http.ResponseWriter, r *http.Request, caller Caller) {
	body, ok := ReadBody(w, r)
	if !ok {
		return
	}
	answer, err := c.do(caller.Running, r, body)
	caller.Answer(w, r, c.Operation, answer, err)
	if a, ok := answer.(rest.SubjectRevoked); ok {
		_ = http.NewResponseController(w).Flush() // one that cannot has sent it
		a.Reopen()
	}
}

// ReadBody returns the body of a call, nil for a GET. It answers a body that is no JSON or
// too large, and returns false then.
func ReadBody(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	if r.Method == http.MethodGet {
		return nil, true
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		problem.Write(w, http.StatusUnsupportedMediaType, string(rest.CodeUnsupportedMediaType), "Content-Type must be application/json")
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err != nil {
		problem.Write(w, http.StatusRequestEntityTooLarge, string(rest.CodeBodyTooLarge), "at most 64 KiB")
		return nil, false
	}
	if len(body) == 0 {
		body = []byte("{}")
	}
	return body, true
}

// Answer answers a call with JSON, or with a problem body for err, and concludes it.
func (c Caller) Answer(w http.ResponseWriter, r *http.Request, operation string, answer any, err error) {
	if err != nil {
		p := ProblemFor(c.App, err)
		c.Conclude(r, operation, p.Status, p.Code, aimed(answer))
		rest.WriteProblem(w, p)
		return
	}
	c.Conclude(r, operation, http.StatusOK, "", answer)
	WriteJSON(w, answer)
}

// WriteJSON answers 200 with JSON that no cache keeps.
func WriteJSON(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if page, ok := answer.(rest.TokenPage); ok {
		page.Stream(w)
		return
	}
	_ = json.NewEncoder(w).Encode(answer) // if this fails, the caller is gone
}

// ProblemFor is the answer for an error of a call; faults are logged.
func ProblemFor(a *app.App, err error) rest.Problem {
	if p, ok := overlayProblem(err); ok {
		return p
	}
	if p, ok := historyProblem(err); ok {
		return p
	}
	if p, ok := presenceProblem(err); ok {
		return p
	}
	if p, ok := memberProblem(err); ok {
		return p
	}
	switch {
	case errors.Is(err, tokenstore.ErrBadBackup):
		return rest.Problem{Status: http.StatusBadRequest, Code: "bad_backup", Detail: err.Error()}
	case errors.Is(err, tokenstore.ErrUnknownMaster):
		return rest.Problem{Status: http.StatusNotFound, Code: "unknown_master_token", Detail: err.Error()}
	case errors.Is(err, tokenstore.ErrStaticMaster):
		return rest.Problem{Status: http.StatusConflict, Code: "static_master_token", Detail: err.Error()}
	}
	return rest.ProblemFor(err, a.Faults())
}
