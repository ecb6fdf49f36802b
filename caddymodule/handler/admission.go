package handler

import (
	"math/rand/v2"
	"net/http"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/internal/admission"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore/rest"
	"github.com/millrace/millrace/wire"
)

// attempt is a request for a session.
type attempt struct {
	w      http.ResponseWriter
	r      *http.Request
	app    *app.App
	client pubsub.Client
	// inside refuses within the connection, and reports whether it has answered; nil: the answer to the
	// request says why.
	inside func(f *admission.Refusal) bool
}

// begin gives an attempt the id by which operators find it, and which each answer has.
func begin(w http.ResponseWriter, r *http.Request, a *app.App, transport string) attempt {
	client := clientOf(r, transport)
	for client.ConnectionID == 0 {
		client.ConnectionID = wire.ConnectionID(rand.Uint64())
	}
	w.Header().Set(wire.HeaderConnectionID, client.ConnectionID.String())
	return attempt{w: w, r: r, app: a, client: client}
}

// refuse answers what is no proper handshake, counts it and tells operators.
func (t attempt) refuse(status int, code, detail string) {
	refused := &admission.Refusal{Status: status, Code: code, Detail: detail}
	if live := t.app.Running(); live != nil { // otherwise there is nobody to tell
		candidate := admission.Candidate{Edge: t.app.Admission(live), Client: t.client}
		candidate.Report(t.r.Context(), refused)
	}
	t.answer(refused)
}

// refuseMethod answers a request of another method than the one that is allowed.
func (t attempt) refuseMethod(allowed string) {
	t.w.Header().Set("Allow", allowed)
	t.refuse(http.StatusMethodNotAllowed, string(rest.CodeMethodNotAllowed), "allowed: "+allowed)
}

// await returns what serves a handshake. It answers 503 where the app gives nothing.
func (t attempt) await() *app.Running {
	live := t.app.Await(t.r.Context())
	if live == nil {
		t.answer(&admission.Refusal{Status: http.StatusServiceUnavailable, Code: problem.CodeStarting, Detail: problem.DetailStarting, RetryAfter: "5"})
	}
	return live
}

// answer refuses a handshake, and counts it.
func (t attempt) answer(f *admission.Refusal) {
	countRefusal(f)
	if t.inside == nil || !t.inside(f) {
		f.Write(t.w)
	}
}

// countRefusal counts a client that is refused, but for one that is gone.
func countRefusal(f *admission.Refusal) {
	if !f.Gone() {
		problem.CountRefusal(f.Status, f.Code)
	}
}
