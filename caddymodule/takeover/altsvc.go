package takeover

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// advertised holds what clients are told about the current ports: for each
// *caddyhttp.Server a map[int]string, from the port to the header's value.
var advertised sync.Map

// AltSvc returns the Alt-Svc header with which a server that was taken over
// announces HTTP/3 to the client of a request over TCP; empty: none. Caddy sends none
// itself, since it no longer knows that the server has HTTP/3.
func AltSvc(ctx context.Context, srv *caddyhttp.Server) string {
	v, ok := advertised.Load(srv)
	if !ok {
		return ""
	}
	local, ok := ctx.Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return ""
	}
	return v.(map[int]string)[local.Port]
}

func advertise(c *claim) {
	headers := map[int]string{}
	for _, a := range c.addresses {
		headers[int(a.StartPort)] = fmt.Sprintf(`h3=":%d"; ma=2592000`, a.StartPort)
	}
	advertised.Store(c.server, headers)
}

func unadvertise(c *claim) { advertised.Delete(c.server) }
