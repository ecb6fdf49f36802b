package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/caddymodule/guard"
	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/caddymodule/problem"
)

func init() { caddy.RegisterModule(new(Console)) }

// Console serves the console: a page on which operators administer this edge and those that
// it is joined with (docs/console.md). It answers over TLS, and on this machine without.
type Console struct {
	// Path of the page; its files and its API are below. Default: `/console`.
	Path string `json:"path,omitempty"`
	// Auth says who finds out who an operator is: `operators`, the console itself by
	// name and password; or `caddy`, an authentication of Caddy that stands in front, by
	// its `{http.auth.user.id}`. Default: `operators`.
	Auth string `json:"auth,omitempty"`
	// Operators may use the console, and nobody else: at least one, at most 1,000.
	Operators []Operator `json:"operators,omitempty"`
	// Tail is `on` or `off`: whether operators see messages as they come, and managers
	// publish to try and read the messages of histories. Default: `on`.
	Tail string `json:"tail,omitempty"`
	// LiveURL is where the live tail connects to, like `https://edge.example.com`.
	// Default: the origin of the page, whose site then also has the handlers
	// pubsub_websocket or pubsub_webtransport at their usual paths.
	LiveURL string `json:"live_url,omitempty"`

	app       *app.App
	log       *zap.Logger
	operators *operators
	state     *state
	api       http.Handler
}

// The values of Console.Auth.
const (
	authOperators = "operators"
	authCaddy     = "caddy"
)

// CaddyModule implements [caddy.Module].
func (*Console) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.pubsub_console", New: func() caddy.Module { return new(Console) }}
}

// Provision implements [caddy.Provisioner].
func (c *Console) Provision(ctx caddy.Context) (err error) {
	if err := c.check(); err != nil {
		return fmt.Errorf("pubsub_console: %w", err)
	}
	if err := guard.Protect(ctx); err != nil {
		return err
	}
	module, err := ctx.App("pubsub")
	if err != nil {
		return err
	}
	c.app, c.log = module.(*app.App), guest.OncePerSecond(ctx.Logger())
	c.api = c.routes()
	c.state, err = leaseState(lease{c.operators, c.revokeOrphans, ctx.Storage()}, guest.LiveLog("http.handlers.pubsub_console"))
	return err
}

// check compiles the options.
func (c *Console) check() (err error) {
	if err := args.Resolve(c); err != nil { // which repeats no hash
		return err
	}
	if c.Path == "" {
		c.Path = "/console"
	}
	if c.Auth == "" {
		c.Auth = authOperators
	}
	if c.Tail == "" {
		c.Tail = "on"
	}
	switch {
	case !strings.HasPrefix(c.Path, "/") || strings.HasSuffix(c.Path, "/") || strings.ContainsAny(c.Path, "*%\"'<>&"):
		return errors.New("path: must start with a slash and not end with one, like /console, and have no wildcard")
	case c.Auth != authOperators && c.Auth != authCaddy:
		return errors.New("auth: must be operators or caddy")
	case c.Tail != "on" && c.Tail != "off":
		return errors.New("tail: must be on or off")
	}
	if c.LiveURL != "" {
		u, err := url.Parse(c.LiveURL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || !legalHost.MatchString(u.Host) || c.LiveURL != u.Scheme+"://"+u.Host {
			return errors.New("live_url: must be an origin like https://edge.example.com")
		}
	}
	c.operators, err = newOperators(c.Operators, c.Auth)
	return err
}

// Cleanup implements [caddy.CleanerUpper].
func (c *Console) Cleanup() error {
	if c.state == nil { // Provision failed before
		return nil
	}
	return c.state.release(c.operators)
}

// ServeHTTP implements [caddyhttp.MiddlewareHandler].
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	path := r.URL.EscapedPath()
	if path != c.Path && !strings.HasPrefix(path, c.Path+"/") {
		return guard.PassOn(w, r, next)
	}
	defer guard.Own(r)()
	header := w.Header()
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	o, code, detail := originOf(r)
	if code != "" {
		problem.Write(w, http.StatusForbidden, code, detail)
		return nil
	}
	if call, ok := strings.CutPrefix(path, c.Path+"/api/"); ok {
		c.serveAPI(w, r, o, "/"+call)
		return nil
	}
	header.Set("Content-Security-Policy", policy(o, c.LiveURL))
	c.serveFile(w, r, strings.TrimPrefix(path, c.Path))
	return nil
}

var (
	_ caddy.Provisioner           = (*Console)(nil)
	_ caddy.CleanerUpper          = (*Console)(nil)
	_ caddyhttp.MiddlewareHandler = (*Console)(nil)
)
