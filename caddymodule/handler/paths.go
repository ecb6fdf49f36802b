package handler

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/caddymodule/guard"
	"github.com/millrace/millrace/caddymodule/problem"
)

// provisionPath does what all our handlers need: a guard, options without placeholders, and a path.
func provisionPath(ctx caddy.Context, module any, path *string, byDefault string) error {
	if err := args.Resolve(module); err != nil {
		return err
	}
	if *path == "" {
		*path = byDefault
	}
	if !strings.HasPrefix(*path, "/") || TrailingSlash(*path) {
		return fmt.Errorf("path: must start with a slash and, unless it is all of it, not end with one, like %s", byDefault)
	}
	return guard.Protect(ctx)
}

// provisionApp is provisionPath for handlers that look at tokens: they need the
// app and the caller's address, too.
func provisionApp(ctx caddy.Context, module any, path *string, byDefault string) (*app.App, error) {
	if err := provisionPath(ctx, module, path, byDefault); err != nil {
		return nil, err
	}
	warnUnknownIP(ctx)
	edge, err := ctx.App("pubsub")
	if err != nil {
		return nil, err
	}
	return edge.(*app.App), nil
}

// warnUnknownIP warns of proxies that are trusted with whatever X-Forwarded-For they
// pass on: its left-most value is the client's own claim, so that the address counts
// as unknown. Caddy keeps the proxies in a private field by now, so this looks
// whether that is set.
func warnUnknownIP(ctx caddy.Context) {
	srv, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || srv.TrustedProxiesStrict > 0 {
		return
	}
	proxies := reflect.ValueOf(srv).Elem().FieldByName("trustedProxies")
	if proxies.IsValid() && !proxies.IsNil() {
		ctx.Logger().Warn("trusted_proxies without trusted_proxies_strict: a client can forge the address "+
			"that Caddy finds, so it counts as unknown, and tokens with allow_ip_masks are refused behind these proxies", zap.String("server", srv.Name()))
	}
}

// passThrough serves the requests that are not for this path: the next handler
// does, but for a mistake in case or a trailing slash, which is answered 404.
func passThrough(w http.ResponseWriter, r *http.Request, path string, next caddyhttp.Handler) (served bool, err error) {
	switch got := r.URL.EscapedPath(); { // /%70ing is another path
	case got == path:
		return false, nil
	case strings.EqualFold(strings.TrimRight(got, "/"), path):
		problem.NotFound(w)
		return true, nil
	}
	return true, guard.PassOn(w, r, next)
}

// TrailingSlash reports whether a path ends with a slash that is not all of it.
func TrailingSlash(path string) bool { return path != "/" && strings.HasSuffix(path, "/") }
