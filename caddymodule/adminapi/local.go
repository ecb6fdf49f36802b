package adminapi

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// onLocalListener reports whether the request came in on a Unix socket, or on loopback: by both
// ends of the connection, and by the requested host. Checking the host keeps out web pages
// whose own name resolves to loopback, in case Caddy's admin endpoint listens on all
// interfaces and does not check it.
func onLocalListener(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	if local.Network() == "unix" {
		return true
	}
	for _, addr := range []string{local.String(), r.RemoteAddr} {
		ap, err := netip.ParseAddrPort(addr)
		if err != nil || !ap.Addr().Unmap().IsLoopback() {
			return false
		}
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = strings.Trim(r.Host, "[]")
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
