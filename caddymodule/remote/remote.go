// Package remote tells who is at the other end of a request: the client's address, and
// whether both ends are on this machine.
package remote

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// ClientIP is the caller's address as Caddy determines it (`trusted_proxies`
// respected); false, and no address, when it is not known.
func ClientIP(r *http.Request) (netip.Addr, bool) {
	text, _ := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
	ip, err := netip.ParseAddr(text)
	if err != nil || isClientsClaim(r, ip) {
		return netip.Addr{}, false
	}
	return ip.Unmap().WithZone(""), true
}

// ViaTrustedProxy reports whether the request came from a proxy that Caddy trusts.
func ViaTrustedProxy(r *http.Request) bool {
	trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	return trusted
}

// isClientsClaim reports whether an address may be the client's own claim: without strict
// parsing Caddy takes the left-most value that a trusted proxy passes on.
func isClientsClaim(r *http.Request, ip netip.Addr) bool {
	srv, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || !ViaTrustedProxy(r) || srv.TrustedProxiesStrict > 0 {
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

// OnLoopback checks both ends of the connection: other machines reach a listener on all
// interfaces, and a proxy reaches one on loopback.
func OnLoopback(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	for _, end := range []string{local.String(), r.RemoteAddr} {
		address, err := netip.ParseAddrPort(end)
		if err != nil || !address.Addr().Unmap().IsLoopback() {
			return false
		}
	}
	return true
}

// IsLocalName reports whether a host, with or without port, is localhost, 127.0.0.1 or
// [::1]. Without this check, a page with another name that resolves to loopback would be
// of the same origin.
func IsLocalName(host string) bool {
	host = withoutPort(host)
	return strings.EqualFold(host, "localhost") || host == "127.0.0.1" || host == "::1"
}

// IsLoopbackHost reports whether a host, with or without port, is localhost or any address
// of loopback.
func IsLoopbackHost(host string) bool {
	ip, err := netip.ParseAddr(withoutPort(host))
	return IsLocalName(host) || err == nil && ip.Unmap().IsLoopback()
}

func withoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}
