package handler

import (
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/millrace/millrace/caddymodule/guard"
	"github.com/millrace/millrace/caddymodule/openapi"
)

func init() { caddy.RegisterModule(new(OpenAPI)) }

// OpenAPI serves the description of the token API at `/api-docs/openapi.json`
// and a page to read and try it at `/swagger-ui`, from embedded files.
type OpenAPI struct {
	files http.Handler
}

// CaddyModule implements [caddy.Module].
func (*OpenAPI) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.pubsub_openapi", New: func() caddy.Module { return new(OpenAPI) }}
}

// Provision implements [caddy.Provisioner].
func (h *OpenAPI) Provision(ctx caddy.Context) error {
	h.files = openapi.Handler()
	return guard.Protect(ctx)
}

// ServeHTTP implements [caddyhttp.MiddlewareHandler].
func (h *OpenAPI) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	path := strings.ToLower(r.URL.Path)
	if !strings.HasPrefix(path, "/api-docs/openapi.json") && path != "/swagger-ui" && !strings.HasPrefix(path, "/swagger-ui/") {
		return guard.PassOn(w, r, next)
	}
	defer guard.Own(r)()
	h.files.ServeHTTP(w, r)
	return nil
}

var (
	_ caddy.Provisioner           = (*OpenAPI)(nil)
	_ caddyhttp.MiddlewareHandler = (*OpenAPI)(nil)
)
