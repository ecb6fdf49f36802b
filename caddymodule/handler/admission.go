package handler

import (
	"net/http"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/internal/admission"
)

// await returns what serves a handshake. It answers 503 where the app gives nothing.
func await(w http.ResponseWriter, r *http.Request, a *app.App) *app.Running {
	live := a.Await(r.Context())
	if live == nil {
		problem.CountRefusal(http.StatusServiceUnavailable, problem.CodeStarting)
		problem.Starting(w)
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
