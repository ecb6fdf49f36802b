package adminapi

import (
	"net/http"
	"net/netip"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
)

// operations are the names of the calls in metrics.
var operations = map[string]string{
	"POST /pubsub/tokens":                    "issue",
	"PUT /pubsub/tokens/{id}":                "refresh",
	"DELETE /pubsub/tokens/{id}":             "revoke",
	"GET /pubsub/tokens":                     "list",
	"POST /pubsub/master-tokens":             "master_create",
	"GET /pubsub/master-tokens":              "master_list",
	"PATCH /pubsub/master-tokens/{id}":       "master_update",
	"POST /pubsub/master-tokens/{id}/rotate": "master_rotate",
	"DELETE /pubsub/master-tokens/{id}":      "master_delete",
	"GET /pubsub/backup":                     "backup",
	"POST /pubsub/restore":                   "restore",
}

// conclude counts an operation on tokens, and tells the hooks of it; answer is what is
// answered where it succeeded.
func conclude(r *http.Request, live *app.Running, status int, code string, answer any) {
	name := operations[r.Pattern]
	if name == "" {
		return
	}
	app.CountTokenCall(name, status)
	o := hook.Operation{Name: name, Actor: "admin", Status: status, Code: code}
	if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil { // a Unix socket has none
		o.IP = peer.Addr().Unmap()
	}
	switch a := answer.(type) {
	case rest.IssueAnswer:
		o.TokenID, o.Tenants, o.ExpiresAt = a.TokenID, a.Tenants, a.ExpiresAt
	case withSecret:
		o.TokenID = a.ID
	case refreshed:
		o.ExpiresAt = a.NewExpiresAt
	}
	if id := r.PathValue("id"); tokenstore.IsID(id) { // anything else may be a secret
		o.TokenID = id
	}
	live.Hub.Operated(o)
}
