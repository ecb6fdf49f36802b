package client

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// An address is an edge's origin, or the URL of a list of edges.
type address struct {
	origin string // scheme://host[:port]
	list   string // the URL of a list; empty: the origin is an edge's
}

// parseAddress accepts an origin or the URL of a list. The error repeats no more of the text than scheme, host and
// port: a token could be in the rest.
func parseAddress(text string, allowPlaintext bool) (address, error) {
	const like = "an address is the origin of an edge, like https://edge.example.com or http://localhost:8080"
	if text == "" {
		return address{}, badOption("an address is empty: %s", like)
	}
	if strings.ContainsAny(text, " \t\r\n") {
		return address{}, badOption("%s has white space in it: %s", shown(text), like)
	}
	scheme, _, hasScheme := strings.Cut(text, "://")
	if !hasScheme || strings.ContainsAny(scheme, "/?#@") {
		return address{}, badOption("%s has no scheme: %s", shown(text), like)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "" || u.Hostname() == "":
		return address{}, badOption("%s cannot be read as a URL: %s", shown(text), like)
	case u.User != nil:
		return address{}, badOption("the address of %s has a user or a password: leave them out; the token is an option", u.Host)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return address{}, badOption("the address of %s has a query or a fragment: leave it out; the token is an option", u.Host)
	}
	if port, err := strconv.Atoi(cmp.Or(u.Port(), "1")); err != nil || port < 1 || port > 65535 {
		return address{}, badOption("the port of %s is not from 1 to 65,535", u.Host)
	}
	socket, isSocket := map[string]string{"ws": "http", "wss": "https"}[u.Scheme]
	origin := cmp.Or(socket, u.Scheme) + "://" + strings.ToLower(u.Host)
	switch {
	case isSocket, (u.Scheme == "http" || u.Scheme == "https") && (u.Path == "/ws" || u.Path == "/wt"):
		return address{}, badOption("pass the origin: %s. The client finds the path of WebSocket and WebTransport by itself", origin)
	case u.Scheme != "http" && u.Scheme != "https":
		return address{}, badOption("the scheme of %s://%s is unknown: https and http are allowed%s", u.Scheme, u.Host, nearest(u.Scheme, "https", "http"))
	case u.Scheme == "http" && !allowPlaintext && !onLoopback(u.Hostname()):
		return address{}, badOption("%s is not on loopback, and http:// would show the token on the way: write https://, or set AllowPlaintext", origin)
	}
	a := address{origin: origin}
	if u.Path != "" && u.Path != "/" {
		a.list = a.origin + u.EscapedPath()
	}
	return a, nil
}

// shown is an address in an error, unless a password or a token may be in it.
func shown(text string) string {
	if len(text) > 100 || strings.ContainsAny(text, "@?#") || strings.Contains(text, accessPrefix) || strings.Contains(text, masterPrefix) {
		return "an address"
	}
	return "the address " + strconv.Quote(text)
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
