package handler

import (
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/millrace/millrace/caddymodule/guard"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/tokenstore/rest"
)

func init() { caddy.RegisterModule(new(Ping)) }

// Ping answers latency probes, by which clients choose an edge.
type Ping struct {
	// Path that is answered. Default: `/ping`.
	Path string `json:"path,omitempty"`
}

// CaddyModule implements [caddy.Module].
func (*Ping) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.pubsub_ping", New: func() caddy.Module { return new(Ping) }}
}

// Provision implements [caddy.Provisioner].
func (h *Ping) Provision(ctx caddy.Context) error { return provisionPath(ctx, h, &h.Path, "/ping") }

// ServeHTTP implements [caddyhttp.MiddlewareHandler].
func (h *Ping) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if served, err := passThrough(w, r, h.Path, next); served {
		return err
	}
	defer guard.Own(r)()
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Timing-Allow-Origin", "*")
	header.Set("Cache-Control", "no-store")
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		header.Set("Content-Type", "text/plain; charset=utf-8")
		header.Set("Content-Length", "4")
		w.WriteHeader(http.StatusOK)
		_, err := io.WriteString(w, "pong")
		return err
	case http.MethodOptions:
		header.Set("Access-Control-Allow-Methods", pingMethods)
		header.Set("Allow", pingMethods)
		w.WriteHeader(http.StatusNoContent)
	default:
		header.Set("Allow", pingMethods)
		problem.Write(w, http.StatusMethodNotAllowed, string(rest.CodeMethodNotAllowed), "allowed: "+pingMethods)
	}
	return nil
}

const pingMethods = "GET, HEAD, OPTIONS"

var (
	_ caddy.Provisioner           = (*Ping)(nil)
	_ caddyhttp.MiddlewareHandler = (*Ping)(nil)
)
