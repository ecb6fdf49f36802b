package app

import (
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
)

// ClaimHTTP3 takes HTTP/3 from the server that ctx provisions a handler of, or
// warns, once for each server, that it cannot. With the option `webtransport off` it
// does nothing.
func (a *App) ClaimHTTP3(ctx caddy.Context) {
	srv, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || a.WebTransport == "off" {
		return
	}
	why := a.takeover.Claim(ctx)
	if why == nil || slices.Contains(a.unclaimed, srv) {
		return
	}
	a.unclaimed = append(a.unclaimed, srv)
	a.log.Warn("no WebTransport on this server, the rest of it works; the option `webtransport off` silences this",
		zap.String("server", srv.Name()), zap.Strings("listen", srv.Listen), zap.String("reason", why.Error()))
}
