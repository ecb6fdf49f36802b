package takeover

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddytls"
)

// claim is a server whose HTTP/3 this package serves.
type claim struct {
	server      *caddyhttp.Server
	addresses   []caddy.NetworkAddress // of UDP, each with one port
	gracePeriod time.Duration          // of the HTTP app; zero: none
}

// Claim takes HTTP/3 from the server whose handler ctx provisions. If it cannot, its
// error says why, and Caddy goes on serving HTTP/3, without WebTransport. It may be
// called for each of a server's handlers.
//
// Claim also takes the other servers of the HTTP app where that is possible, so that
// a token which is sent to a wrong port does not get into Caddy's logs.
func (t *Takeover) Claim(ctx caddy.Context) error {
	own, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok {
		return errors.New("the handler is not in the routes of an HTTP server")
	}
	app := httpApp(ctx)
	if app == nil {
		return errors.New("its HTTP app is not known")
	}
	err := t.claim(own, app)
	for _, other := range app.Servers {
		if other != own {
			_ = t.claim(other, app) // nobody asked for WebTransport there
		}
	}
	return err
}

func httpApp(ctx caddy.Context) *caddyhttp.App {
	for _, m := range ctx.Modules() {
		if app, ok := m.(*caddyhttp.App); ok {
			return app
		}
	}
	return nil
}

func (t *Takeover) claim(srv *caddyhttp.Server, app *caddyhttp.App) error {
	for _, c := range t.claims {
		if c.server == srv {
			return nil
		}
	}
	addresses, err := claimableAddresses(srv, app)
	if err != nil {
		return err
	}
	// The HTTP app reads these again in its Start. It serves no HTTP/3 either where no client could
	// connect by it: its log and its Alt-Svc would say otherwise.
	srv.Protocols = withoutH3(serverProtocols(srv))
	for i, p := range srv.ListenProtocols {
		if p != nil {
			srv.ListenProtocols[i] = withoutH3(p)
		}
	}
	if !slices.ContainsFunc(srv.TLSConnPolicies, hasTLS13) {
		return errors.New("its TLS ends at 1.2: HTTP/3 needs 1.3")
	}
	t.claims = append(t.claims, &claim{srv, addresses, time.Duration(app.GracePeriod)})
	return nil
}

// claimableAddresses returns the UDP addresses on which Caddy would serve HTTP/3, or
// why they cannot be taken over.
func claimableAddresses(srv *caddyhttp.Server, app *caddyhttp.App) ([]caddy.NetworkAddress, error) {
	if len(srv.TLSConnPolicies) == 0 {
		return nil, errors.New("it has no TLS: HTTP/3 needs a certificate")
	}
	if len(srv.PacketConnWrappersRaw) > 0 || wrapsPackets(srv) {
		return nil, errors.New("it has packet_conn_wrappers, which the edge's own UDP socket would bypass")
	}
	httpPort := app.HTTPPort
	if httpPort == 0 {
		httpPort = caddyhttp.DefaultHTTPPort
	}
	var addresses []caddy.NetworkAddress
	h3, streams := false, false
	for i := range srv.Listen {
		if !slices.Contains(protocols(srv, i), "h3") {
			continue
		}
		h3 = true
		text, err := caddy.NewReplacer().ReplaceOrErr(srv.Listen[i], true, true)
		if err != nil {
			return nil, err
		}
		address, err := caddy.ParseNetworkAddress(text)
		if err != nil {
			return nil, err
		}
		if address.IsUnixNetwork() { // has no HTTP/3, neither with Caddy nor with us
			continue
		}
		streams = true
		udp, ok := map[string]string{"tcp": "udp", "tcp4": "udp4", "tcp6": "udp6"}[address.Network]
		if !ok {
			return nil, fmt.Errorf("it listens on %s: only addresses of tcp, tcp4 and tcp6 can be taken over", text)
		}
		if address.StartPort == 0 {
			return nil, fmt.Errorf("it listens on %s: the port must be a fixed one, which UDP can share", text)
		}
		address.Network = udp
		for _, one := range address.Expand() {
			if int(one.StartPort) != httpPort { // which never has TLS
				addresses = append(addresses, one)
			}
		}
	}
	switch {
	case !h3:
		return nil, errors.New("h3 is not among its protocols")
	case !streams:
		return nil, errors.New("it listens only on Unix sockets")
	case len(addresses) == 0:
		return nil, fmt.Errorf("it listens only on the HTTP port %d, which has no TLS", httpPort)
	}
	if srv.Name() == "" && onlyH3(srv) {
		// Caddy has yet to provision it, and takes an empty list for the default.
		return nil, errors.New("h3 is its only protocol")
	}
	return addresses, nil
}

// protocols returns what Caddy serves on a server's i-th address, whether or not it
// has already provisioned the server.
func protocols(srv *caddyhttp.Server, i int) []string {
	if i >= len(srv.ListenProtocols) || len(srv.ListenProtocols[i]) == 0 {
		return serverProtocols(srv)
	}
	own := srv.ListenProtocols[i]
	if slices.Contains(own, "") { // stands for those of the server
		return slices.Concat(own, serverProtocols(srv))
	}
	return own
}

func serverProtocols(srv *caddyhttp.Server) []string {
	if len(srv.Protocols) == 0 && srv.Name() == "" {
		return []string{"h1", "h2", "h3"} // as Caddy is going to write it there
	}
	return srv.Protocols
}

func withoutH3(protocols []string) []string {
	return slices.DeleteFunc(slices.Clone(protocols), func(p string) bool { return p == "h3" })
}

func hasTLS13(p *caddytls.ConnectionPolicy) bool { return p.ProtocolMax != "tls1.2" }

func onlyH3(srv *caddyhttp.Server) bool {
	lists := append([][]string{serverProtocols(srv)}, srv.ListenProtocols...)
	return slices.ContainsFunc(lists, func(p []string) bool { return len(p) > 0 && len(withoutH3(p)) == 0 })
}

// wrapsPackets reports whether a provisioned server has packet conn wrappers, which
// Caddy then keeps in a private field.
func wrapsPackets(srv *caddyhttp.Server) bool {
	wrappers := reflect.ValueOf(srv).Elem().FieldByName(wrappersField)
	return wrappers.IsValid() && wrappers.Len() > 0
}

const wrappersField = "packetConnWrappers"
