package adminapi

import (
	"net"
	"net/http"

	"github.com/millrace/millrace/caddymodule/remote"
)

// onLocalListener reports whether the request came in on a Unix socket, or on loopback: by both
// ends of the connection, and by the requested host. Checking the host keeps out web pages
// whose own name resolves to loopback, in case Caddy's admin endpoint listens on all
// interfaces and does not check it.
func onLocalListener(r *http.Request) bool {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && local.Network() == "unix" {
		return true
	}
	return remote.OnLoopback(r) && remote.IsLoopbackHost(r.Host)
}
