package handler

import (
	"net"
	"net/http"
	"net/netip"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/remote"
	"github.com/millrace/millrace/pubsub"
)

// clientOf describes the caller to the hub.
func clientOf(r *http.Request, transport string) pubsub.Client {
	c := pubsub.Client{Transport: transport, Cost: app.ConnectionCost(transport, r.TLS != nil)}
	c.IP, _ = remote.ClientIP(r)
	if remote.ViaTrustedProxy(r) {
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
	if remote.ViaTrustedProxy(r) {
		return true
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil { // a Unix socket
		return r.RemoteAddr == "" || r.RemoteAddr == "@"
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
