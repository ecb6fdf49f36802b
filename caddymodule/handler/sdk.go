package handler

import (
	"net/http"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/encode"

	"github.com/millrace/millrace/caddymodule/guard"
	"github.com/millrace/millrace/caddymodule/sdk"
)

func init() { caddy.RegisterModule(new(SDK)) }

// SDK serves the SDK for JavaScript, from embedded files, to any page: `/sdk/millrace.js` for a
// script tag, with the global `millrace`, and `/sdk/millrace.mjs` as an ES module.
type SDK struct{}

// CaddyModule implements [caddy.Module].
func (*SDK) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.pubsub_sdk", New: func() caddy.Module { return new(SDK) }}
}

// Provision implements [caddy.Provisioner].
func (*SDK) Provision(ctx caddy.Context) error { return guard.Protect(ctx) }

// ServeHTTP implements [caddyhttp.MiddlewareHandler].
func (*SDK) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	file := sdk.At(r.URL.EscapedPath())
	if file == nil {
		return guard.PassOn(w, r, next)
	}
	defer guard.Own(r)()
	file.Serve(w, r, slices.Contains(encode.AcceptedEncodings(r, []string{"gzip"}), "gzip"))
	return nil
}

var (
	_ caddy.Provisioner           = (*SDK)(nil)
	_ caddyhttp.MiddlewareHandler = (*SDK)(nil)
)
