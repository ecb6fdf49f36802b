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
}

// begin gives an attempt the id by which operators find it, and which each answer has.
func begin(w http.ResponseWriter, r *http.Request, a *app.App, transport string) attempt {
	client := clientOf(r, transport)
	for client.ConnectionID == 0 {
		client.ConnectionID = wire.ConnectionID(rand.Uint64())
	}
	w.Header().Set(wire.HeaderConnectionID, client.ConnectionID.String())
	return attempt{w, r, a, client}
}

// refuse answers what is no proper handshake, counts it and tells operators.
func (t attempt) refuse(status int, code, detail string) {
	if live := t.app.Running(); live != nil { // otherwise there is nobody to tell
		candidate := admission.Candidate{Edge: t.app.Admission(live), Client: t.client}
		candidate.Report(t.r.Context(), &admission.Refusal{Status: status, Code: code, Detail: detail})
	}
	problem.Refuse(t.w, status, code, detail)
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
		problem.CountRefusal(http.StatusServiceUnavailable, problem.CodeStarting)
		problem.Starting(t.w)
	}
	return live
}

// refuse answers a handshake, and counts it.
func refuse(w http.ResponseWriter, f *admission.Refusal) {
	countRefusal(f)
	f.Write(w)
}

// countRefusal counts a client that is refused, but for one that is gone.
func countRefusal(f *admission.Refusal) {
	if !f.Gone() {
		problem.CountRefusal(f.Status, f.Code)
	}
}
