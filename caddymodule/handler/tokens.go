package handler

import (
	"errors"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/guard"
	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/caddymodule/remote"
	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
)

func init() { caddy.RegisterModule(new(Tokens)) }

// Tokens serves the token administration API (docs/protocol.md, REST).
type Tokens struct {
	// Path under which the calls are, so that `/v1` gives `/v1/get-token`.
	// Default: `/v1`.
	Path string `json:"path,omitempty"`

	app   *app.App
	calls http.Handler
}

// CaddyModule implements [caddy.Module].
func (*Tokens) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.pubsub_tokens", New: func() caddy.Module { return new(Tokens) }}
}

// Provision implements [caddy.Provisioner].
func (h *Tokens) Provision(ctx caddy.Context) (err error) {
	if h.app, err = provisionApp(ctx, h, &h.Path, "/v1"); err != nil {
		return err
	}
	if h.Path == "/" {
		return errors.New("path: the calls need one above them, like /v1")
	}
	h.calls = rest.NewHandler(rest.Options{
		Service:      func() *tokenstore.Service { return h.app.Running().Service },
		Authenticate: h.app.AuthenticateMaster,
		ClientIP:     remote.ClientIP,
		Secure:       func(r *http.Request) bool { return secure(r, h.app) },
		Observe:      h.observe,
		Log:          guest.OncePerSecond(ctx.Logger()),
	})
	return nil
}

// observe tells the hooks of a call.
func (h *Tokens) observe(o rest.Operation) {
	h.app.Running().Hub.Operated(hook.Operation{
		Name: o.Name, Actor: o.Master, IP: o.IP, Status: o.Status, Code: string(o.Code),
		TokenID: o.TokenID, Tenants: o.Tenants, ExpiresAt: o.ExpiresAt, Subject: o.Subject, Revoked: o.Revoked,
	})
}

// ServeHTTP implements [caddyhttp.MiddlewareHandler].
func (h *Tokens) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	path := r.URL.Path
	if len(path) < len(h.Path) || !strings.EqualFold(path[:len(h.Path)], h.Path) ||
		len(path) > len(h.Path) && path[len(h.Path)] != '/' {
		return guard.PassOn(w, r, next)
	}
	defer guard.Own(r)()
	if h.app.Await(r.Context()) == nil {
		problem.Starting(w)
		return nil
	}
	if h.Path != "/v1" {
		moved := r.Clone(r.Context())
		moved.URL.Path = "/v1" + strings.TrimPrefix(path, h.Path)
		if raw := moved.URL.RawPath; raw != "" {
			moved.URL.RawPath = "/v1" + strings.TrimPrefix(raw, h.Path)
		}
		r = moved
	}
	answer := caddyhttp.NewResponseRecorder(w, nil, nil)
	h.calls.ServeHTTP(answer, r)
	app.CountTokenCall(rest.OperationOf(r.Method, r.URL.EscapedPath()), answer.Status())
	return nil
}

var (
	_ caddy.Provisioner           = (*Tokens)(nil)
	_ caddyhttp.MiddlewareHandler = (*Tokens)(nil)
)
