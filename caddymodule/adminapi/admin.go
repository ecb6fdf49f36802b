// Package adminapi has the routes with which an operator administers a running edge, on
// Caddy's admin endpoint.
package adminapi

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/operate"
	"github.com/millrace/millrace/caddymodule/problem"
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
//	GET    /pubsub/tokens                     access tokens: ?limit&cursor&tenant&subject&id&created_by&status
//	POST   /pubsub/tokens                     issues one: the body of get-token
//	PUT    /pubsub/tokens/{id}                refreshes it: {expires_at}
//	DELETE /pubsub/tokens/{id}                revokes it
//	DELETE /pubsub/tokens                     revokes all of a subject: ?subject
//	POST   /pubsub/explain                    {token_id or token, action, tenant, channel, ip, origin, protocol, region}
//	GET    /pubsub/backup                     all stored tokens, as lines of JSON
//	POST   /pubsub/restore                    adds those of a backup: ?masters_only&dry_run
//	GET    /pubsub/connections                the open connections of this edge; with all=true or another
//	                                          parameter those of all edges: ?edge&connection_id&token_id&subject&tenant&ip&transport&limit&cursor
//	GET    /pubsub/refused                    what was refused last, at all edges, newest first:
//	                                          ?edge&connection_id&token_id&subject&ip&limit&cursor
//	GET    /pubsub/connections/{edge}/{id}    one of them, with its subscriptions
//	POST   /pubsub/connections/disconnect     closes one, {edge, id}, or all of a token, {token_id, edge}
//	POST   /pubsub/drain                      drains this edge
//	GET    /pubsub/edges                      the edges of the overlay, and how they are
//	GET    /pubsub/overview                   the same with their last 15 minutes
//	POST   /pubsub/edges/{edge}/drain         drains one of them; local is this one
//	DELETE /pubsub/edges/{edge}/drain         takes that back
//	POST   /pubsub/members/{member}/remove    removes a member of the cluster of the NATS servers inside edges: {running, lost}
//	GET    /pubsub/histories                  what is kept on this edge, by history and tenant; ?history=…, ?tenant=…, ?limit=…, ?cursor=…
//	POST   /pubsub/histories/read             a page of messages: {history, tenant, pattern, after, limit}
//	POST   /pubsub/histories/purge            deletes messages: {history, tenant, channel}, or {history, all}
//	GET    /pubsub/presences                  how many are present, on all edges, by presence and tenant: ?presence&tenant&limit&cursor
//	GET    /pubsub/presences/members          who is present in a tenant: ?tenant&pattern&subject&limit&cursor
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
	for pattern, c := range operate.Calls {
		method, path, _ := strings.Cut(pattern, " ")
		if pattern != "GET /connections" { // see connections
			mux.Handle(method+" /pubsub"+path, handler(c.Serve))
		}
	}
	mux.Handle("GET /pubsub/backup", handler(backup))
	mux.Handle("POST /pubsub/restore", handler(restore))
	mux.Handle("GET /pubsub/connections", handler(connections))
	mux.Handle("POST /pubsub/drain", handler(drain))
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
func handler(answer func(http.ResponseWriter, *http.Request, operate.Caller)) http.Handler {
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
		caller := operate.Caller{App: a, Running: live, Actor: "admin"}
		if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil { // a Unix socket has none
			caller.IP = peer.Addr().Unmap()
		}
		answer(w, r, caller)
	})
}

var (
	_ caddy.Provisioner = (*Admin)(nil)
	_ caddy.AdminRouter = (*Admin)(nil)
)
