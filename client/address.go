package client

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// An address is an edge's origin, or the URL of a list of edges.
type address struct {
	origin string // scheme://host[:port]
	list   string // the URL of a list; empty: the origin is an edge's
}

// parseAddress accepts an origin or the URL of a list. The error does not repeat
// the text: a token could be in it.
func parseAddress(text string, allowPlaintext bool) (address, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Opaque != "" || u.Hostname() == "" {
		return address{}, badOption("an address is like https://edge.example.com")
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return address{}, badOption("an address has no user, query or fragment")
	}
	switch {
	case u.Scheme == "https":
	case u.Scheme != "http":
		return address{}, badOption("an address begins with https://")
	case !allowPlaintext && !onLoopback(u.Hostname()):
		return address{}, badOption("an address begins with https:// unless it is on loopback or AllowPlaintext is set: the token could be read on the way")
	}
	a := address{origin: u.Scheme + "://" + strings.ToLower(u.Host)}
	if u.Path != "" && u.Path != "/" {
		a.list = a.origin + u.EscapedPath()
	}
	return a, nil
}

func onLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	host = strings.ToLower(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.IsLoopback()
}

// hostPort is where the server of an origin listens.
func hostPort(origin string) string {
	scheme, host, _ := strings.Cut(origin, "://")
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	port := "443"
	if scheme == "http" {
		port = "80"
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

// hostName is the host of an origin, without port, for certificates.
func hostName(origin string) string {
	host, _, _ := net.SplitHostPort(hostPort(origin))
	return host
}

func secure(origin string) bool { return strings.HasPrefix(origin, "https://") }
