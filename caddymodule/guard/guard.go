// Package guard keeps credentials out of logs, and configurations out of the memory of
// connections that outlive them.
package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"
	"weak"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/credentials"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/caddymodule/takeover"
)

func init() { caddy.RegisterModule(new(Guard)) }

// Guard keeps tokens out of Caddy's logs. Caddy itself redacts `Authorization`,
// but not the subprotocol list in which a browser sends its token, nor the
// request's target.
//
// It needs no configuration: each of our handlers puts a guard in front of every
// server of its HTTP app. The guard is the server's outermost handler, so that
// Caddy never sees the token, whatever the request's path, host or method:
// docs/decisions/0002-guard.md says how and why. Where Caddy serves HTTP/3
// itself, without WebTransport, no handler can be in front of Caddy's: then this
// handler is the first one of the server's routes, keeps the request out of Caddy's
// access and error logs, and writes a record of its own.
type Guard struct {
	log         *zap.Logger
	routes      caddyhttp.RouteList // those that this guard is in front of; nil: it calls next
	compileOnce sync.Once
	compiled    caddyhttp.Handler // routes, compiled
}

// CaddyModule implements [caddy.Module].
func (*Guard) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.pubsub_guard", New: func() caddy.Module { return new(Guard) }}
}

// Provision implements [caddy.Provisioner].
func (g *Guard) Provision(ctx caddy.Context) error {
	g.log = ctx.Logger()
	return protectServers(ctx, g.log)
}

// Protect puts guards in front of all servers of the HTTP app that ctx
// provisions a handler of.
func Protect(ctx caddy.Context) error {
	if err := protectServers(ctx, ctx.Logger()); err != nil {
		return err
	}
	srv, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok {
		return errors.New("this handler works only in the routes of an HTTP server")
	}
	if len(srv.Routes) == 1 && len(srv.Routes[0].Handlers) == 1 {
		if g, ok := srv.Routes[0].Handlers[0].(*Guard); ok && g.routes != nil {
			return nil
		}
	}
	// The routes are still being provisioned, one by one in place: they can be wrapped
	// now, but compiled only when a request comes.
	route := caddyhttp.Route{HandlersRaw: []json.RawMessage{caddyconfig.JSONModuleObject(new(Guard), "handler", "pubsub_guard", nil)}}
	if err := route.ProvisionHandlers(ctx, nil); err != nil {
		return err
	}
	route.Handlers[0].(*Guard).routes = srv.Routes
	srv.Routes = caddyhttp.RouteList{route}
	return nil
}

// protectServers makes the guard the outermost handler of every server of the HTTP app,
// including those that redirect to HTTPS.
func protectServers(ctx caddy.Context, log *zap.Logger) error {
	for _, m := range ctx.Modules() {
		app, ok := m.(*caddyhttp.App)
		if !ok {
			continue
		}
		for name, srv := range app.Servers {
			if srv.Logs != nil && srv.Logs.ShouldLogCredentials {
				return fmt.Errorf("server %s: log_credentials would write tokens to the log: "+
					"it cannot be used together with pubsub handlers", name)
			}
			key := weak.Make(srv)
			h := new(handshakes)
			if _, known := guardedServers.LoadOrStore(key, weak.Make(h)); known {
				continue
			}
			stop := &stopper{bounded: app.GracePeriod > 0}
			srv.RegisterConnState(takeover.CountTCP)
			srv.RegisterConnState(stop.connState)
			srv.RegisterOnShutdown(stop.shutdown)
			runtime.AddCleanup(srv, func(key weak.Pointer[caddyhttp.Server]) { guardedServers.Delete(key) }, key)
			// Caddy sets the handler of the http.Server in its Start, and offers no hook
			// after that. But each connection is announced with its http.Server before
			// its first request is read: once makes sure that Handler is set before
			// every read of it, and h that Caddy's TLS configurations are detached before
			// every handshake.
			var once sync.Once
			srv.RegisterConnContext(func(ctx context.Context, conn net.Conn) context.Context {
				h.detach(srv.TLSConnPolicies)
				once.Do(func() {
					if server, ok := ctx.Value(http.ServerContextKey).(*http.Server); ok {
						server.Handler = outermost{next: server.Handler, server: srv, log: log}
					}
				})
				return stop.connContext(ctx, conn)
			})
		}
	}
	return nil
}

// guardedServers holds the servers with a guard by weak pointers: a strong one would keep
// the server's whole configuration in memory after a reload.
var guardedServers sync.Map // of weak.Pointer[caddyhttp.Server] to weak.Pointer[handshakes], which the server holds

// outermost is the guard in front of Caddy's own handler, over TCP and, where HTTP/3 is
// taken over, over UDP.
type outermost struct {
	next   http.Handler
	server *caddyhttp.Server
	log    *zap.Logger
}

// Outermost returns a guard in front of next, for connections of a server that Caddy does
// not serve itself. It is called when the TLS policies of the server are complete.
func Outermost(next http.Handler, server *caddyhttp.Server, log *zap.Logger) http.Handler {
	detachHandshakes(server)
	return outermost{next: next, server: server, log: log}
}

func (o outermost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor < 3 {
		defer serve(r)()
		// Before Caddy's handlers, so that a site can remove it.
		if h3 := takeover.AltSvc(r.Context(), o.server); h3 != "" {
			w.Header().Set("Alt-Svc", h3)
		}
	}
	var in credentials.Inspection
	if in.TokenInTarget(r) {
		start := time.Now()
		refuseTarget(w)
		logRequest(&in, o.log, r, http.StatusBadRequest, time.Since(start), nil)
		return
	}
	r, _ = in.TakeTokens(r)
	if r.ProtoMajor == 1 && r.Header["Upgrade"] != nil {
		w = &upgradeWriter{ResponseWriter: w}
	}
	o.next.ServeHTTP(w, r)
}

// ServeHTTP implements [caddyhttp.MiddlewareHandler].
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if g.routes != nil {
		g.compileOnce.Do(func() { g.compiled = g.routes.Compile(routesEnd{g.routes, next}) })
		next = g.compiled
		caddyhttp.SetVar(r.Context(), headersVar, len(w.Header()))
	}
	if credentials.Inspected(r) {
		return next.ServeHTTP(w, r)
	}
	var in credentials.Inspection
	inTarget := in.TokenInTarget(r)
	clean, taken := in.TakeTokens(r)
	if !inTarget && !taken {
		return next.ServeHTTP(w, clean)
	}
	caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true)
	start := time.Now()
	rec := caddyhttp.NewResponseRecorder(w, nil, nil)
	var err error
	if inTarget {
		refuseTarget(rec)
	} else if err = next.ServeHTTP(rec, clean); err != nil {
		// Caddy's error log would write the request as it came.
		status := http.StatusInternalServerError
		var he caddyhttp.HandlerError
		if errors.As(err, &he) {
			status = he.StatusCode
		}
		if rec.Status() == 0 {
			rec.WriteHeader(status)
		}
	}
	logRequest(&in, g.log, clean, rec.Status(), time.Since(start), err)
	return nil
}

func refuseTarget(w http.ResponseWriter) {
	w.Header().Set("Referrer-Policy", "no-referrer") // or a browser repeats the URL
	problem.Refuse(w, http.StatusBadRequest, "token_in_url",
		"a token must never be part of a URL, which is logged and shared: revoke this one")
}

// logRequest writes our access record of a request that Caddy must not log.
func logRequest(in *credentials.Inspection, log *zap.Logger, r *http.Request, status int, took time.Duration, err error) {
	c := log.Check(zap.InfoLevel, "handled request with a token")
	if c == nil {
		return
	}
	fields := []zap.Field{
		zap.String("remote_addr", r.RemoteAddr), zap.String("proto", in.Redact(r.Proto)), zap.String("method", in.Redact(r.Method)),
		zap.String("host", in.Redact(r.Host)), zap.String("uri", in.Redact(r.RequestURI)),
		zap.Int("status", status), zap.Duration("duration", took),
	}
	if err != nil {
		fields = append(fields, zap.Error(err))
	}
	c.Write(fields...)
}

// UnmarshalCaddyfile sets up the guard from Caddyfile tokens. Syntax:
//
//	pubsub_guard
func (*Guard) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the directive
	if d.NextArg() || d.NextBlock(0) {
		return d.Errf("pubsub_guard takes no arguments and no block")
	}
	return nil
}

var (
	_ caddy.Provisioner           = (*Guard)(nil)
	_ caddyhttp.MiddlewareHandler = (*Guard)(nil)
	_ caddyfile.Unmarshaler       = (*Guard)(nil)
)
