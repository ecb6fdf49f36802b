package handler

import (
	"net"
	"net/http"
	"net/netip"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/pubsub"
)

// clientIP is the caller's address as Caddy determines it (`trusted_proxies`
// respected); false, and no address, when it is not known.
func clientIP(r *http.Request) (netip.Addr, bool) {
	text, _ := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
	ip, err := netip.ParseAddr(text)
	if err != nil || isClientsClaim(r, ip) {
		return netip.Addr{}, false
	}
	return ip.Unmap().WithZone(""), true
}

// isClientsClaim reports whether an address may be the client's own claim: without strict
// parsing Caddy takes the left-most value that a trusted proxy passes on.
func isClientsClaim(r *http.Request, ip netip.Addr) bool {
	srv, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool); !ok || !trusted || srv.TrustedProxiesStrict > 0 {
		return false
	}
	for _, name := range srv.ClientIPHeaders {
		if len(r.Header.Values(name)) > 0 {
			return true
		}
	}
	// A handler before ours may have taken the header away.
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err != nil || peer.Addr().WithZone("") != ip
}

// clientOf describes the caller to the hub.
func clientOf(r *http.Request, transport string) pubsub.Client {
	c := pubsub.Client{Transport: transport}
	c.IP, _ = clientIP(r)
	if trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool); trusted {
		// A proxy that does not say whom it speaks for speaks for many.
		proxy, err := netip.ParseAddrPort(r.RemoteAddr)
		c.SharedIP = err == nil && proxy.Addr().Unmap().WithZone("") == c.IP
	}
	return c
}

// secure reports whether a token may be looked at on this connection: TLS, or
// plain HTTP from loopback, a trusted proxy, or a Unix socket.
func secure(r *http.Request, a *app.App) bool {
	if r.TLS != nil || a.AllowPlaintext {
		return true
	}
	if trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool); trusted {
		return true
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil { // a Unix socket
		return r.RemoteAddr == "" || r.RemoteAddr == "@"
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
