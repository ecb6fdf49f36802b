package takeover

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// advertised tells clients of the ports in force: a map[int]string, from the
// port to the header's value, for each *caddyhttp.Server.
var advertised sync.Map

// AltSvc returns the header Alt-Svc with which a server that was taken over
// announces HTTP/3 to the client of a request over TCP; empty: none. Caddy, which
// does not know any more that the server has HTTP/3, sends none itself.
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
