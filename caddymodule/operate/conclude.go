package operate

import (
	"net/http"
	"slices"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
)

// aimed returns what an answer says of its target, which counts also where the call failed;
// nil: nothing.
func aimed(answer any) any {
	switch answer.(type) {
	case disconnected, drained, memberRemoved, historyRead, historyPurged, rest.SubjectRevoked:
		return answer
	}
	return nil
}

// Conclude counts an operation on tokens, and tells the hooks of any operation; answer is
// what is answered where it succeeded.
func (c Caller) Conclude(r *http.Request, operation string, status int, code string, answer any) {
	if operation == "" {
		return
	}
	if slices.Contains(app.TokenOperations, operation) {
		app.CountTokenCall(operation, status)
	}
	o := hook.Operation{Name: operation, Actor: c.Actor, IP: c.IP, Status: status, Code: code}
	switch a := answer.(type) {
	case rest.IssueAnswer:
		o.TokenID, o.Tenants, o.ExpiresAt = a.TokenID, a.Tenants, a.ExpiresAt
		o.Subject = a.Subject
	case rest.SubjectRevoked:
		o.Subject, o.Revoked = a.Subject, a.Revoked
	case withSecret:
		o.TokenID = a.ID
	case refreshed:
		o.ExpiresAt = a.NewExpiresAt
	case disconnected:
		o.Edge, o.Connection, o.TokenID = a.target.Edge, a.target.ID, a.target.TokenID
	case drained:
		o.Edge = a.Edge
	case memberRemoved:
		o.Edge = a.Member
	case historyRead:
		a.aim.describe(&o)
	case historyPurged:
		a.aim.describe(&o)
	}
	if id := r.PathValue("id"); tokenstore.IsID(id) { // anything else may be a secret
		o.TokenID = id
	}
	c.Running.Hub.Operated(o)
}

func (a historyAim) describe(o *hook.Operation) {
	o.History, o.Pattern = a.history, a.pattern
	if a.tenant != "" {
		o.Tenants = []string{a.tenant}
	}
}
