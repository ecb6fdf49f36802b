// Package adminapi has the routes with which an operator administers a running edge, on
// Caddy's admin endpoint.
package adminapi

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
)

func init() { caddy.RegisterModule(new(Admin)) }

// Admin is the API for the operator of a running edge, on Caddy's admin endpoint below
// `/pubsub/`; the command `pubsub` calls it. It has the rights of the whole overlay, so
// it answers only on loopback and Unix sockets.
//
//	GET    /pubsub/master-tokens              the master tokens
//	POST   /pubsub/master-tokens              creates one: {name, description, tenant_prefix, allow_ip_masks,
//	                                          max_tokens, max_bytes, calls_per_second}
//	PATCH  /pubsub/master-tokens/{id}         changes those of these fields that are given
//	POST   /pubsub/master-tokens/{id}/rotate  gives it a new secret: {revoke_tokens}
//	DELETE /pubsub/master-tokens/{id}         {revoke_tokens}
//	GET    /pubsub/tokens                     access tokens: ?limit&cursor&tenant
//	POST   /pubsub/tokens                     issues one: the body of get-token
//	PUT    /pubsub/tokens/{id}                refreshes it: {expires_at}
//	DELETE /pubsub/tokens/{id}                revokes it
//	POST   /pubsub/explain                    {token_id or token, action, tenant, channel, ip, origin, protocol, region}
//	GET    /pubsub/backup                     all stored tokens, as lines of JSON
//	POST   /pubsub/restore                    adds those of a backup: ?masters_only&dry_run
//	GET    /pubsub/connections                the open connections
//	POST   /pubsub/drain                      drains this edge; only a restart ends the drain
type Admin struct{}

// CaddyModule implements [caddy.Module].
func (*Admin) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "admin.api.pubsub", New: func() caddy.Module { return new(Admin) }}
}

// Provision implements [caddy.Provisioner].
func (*Admin) Provision(ctx caddy.Context) error { return app.RegisterMetrics(ctx) }

// Routes implements [caddy.AdminRouter].
func (*Admin) Routes() []caddy.AdminRoute {
	mux := http.NewServeMux()
	for pattern, c := range calls {
		mux.Handle(pattern, handler(c.answer))
	}
	mux.Handle("GET /pubsub/backup", handler(backup))
	mux.Handle("POST /pubsub/restore", handler(restore))
	mux.HandleFunc("/pubsub/", func(w http.ResponseWriter, _ *http.Request) { problem.NotFound(w) })
	return []caddy.AdminRoute{{
		Pattern: "/pubsub/",
		Handler: caddy.AdminHandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
			mux.ServeHTTP(w, r)
			return nil
		}),
	}}
}

// handler checks that a call of the admin API comes from this machine, waits until the app
// runs, and answers with answer.
func handler(answer func(w http.ResponseWriter, r *http.Request, a *app.App, live *app.Running)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !onLocalListener(r) {
			problem.Write(w, http.StatusForbidden, "local_only", "this part of the admin API answers only on loopback and Unix sockets")
			return
		}
		a := app.InForce()
		if a == nil {
			problem.Unavailable(w, "no configuration with a pubsub app is running", "not_running")
			return
		}
		live := a.Await(r.Context())
		if live == nil {
			problem.Starting(w)
			return
		}
		answer(w, r, a, live)
	})
}

// writeAnswer answers with JSON, or with a problem body for err, and concludes the call.
func writeAnswer(w http.ResponseWriter, r *http.Request, a *app.App, live *app.Running, answer any, err error) {
	if err != nil {
		p := problemFor(a, err)
		conclude(r, live, p.Status, p.Code, nil)
		rest.WriteProblem(w, p)
		return
	}
	conclude(r, live, http.StatusOK, "", answer)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(answer) // if this fails, the caller is gone
}

func problemFor(a *app.App, err error) rest.Problem {
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

var (
	_ caddy.Provisioner = (*Admin)(nil)
	_ caddy.AdminRouter = (*Admin)(nil)
)
