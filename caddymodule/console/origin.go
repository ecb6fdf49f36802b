package console

import (
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"

	"github.com/millrace/millrace/caddymodule/remote"
)

// origin is where a request of the page goes to, as a browser sees it.
type origin struct{ scheme, host string } // host with its port

func (o origin) String() string { return o.scheme + "://" + o.host }

// legalHost is what may stand in a Content-Security-Policy.
var legalHost = regexp.MustCompile(`^([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)

// Refusals of [originOf].
const (
	detailPlain = "the console answers over TLS, or on this machine at localhost, 127.0.0.1 or [::1]"
	detailHost  = "the Host of the request is no host name or address"
)

// originOf returns the origin of a request, or why the console does not answer it; empty:
// it does. Plain HTTP must be between two ends on this machine, by one of its own names:
// a page elsewhere whose name leads to loopback is another origin, and a proxy on this
// machine must say whom it speaks for. A proxy that Caddy trusts says itself how the browser
// came.
func originOf(r *http.Request) (o origin, code, detail string) {
	o = origin{"https", r.Host}
	trusted := remote.ViaTrustedProxy(r)
	if host := r.Header.Get("X-Forwarded-Host"); trusted && host != "" {
		o.host = host
	}
	if !legalHost.MatchString(o.host) {
		return o, "bad_host", detailHost
	}
	o.host = strings.ToLower(o.host)
	switch {
	case trusted && r.Header.Get("X-Forwarded-Proto") != "":
		if r.Header.Get("X-Forwarded-Proto") != "https" {
			return o, "tls_required", detailPlain
		}
	case r.TLS != nil:
	case !remote.OnLoopback(r) || !remote.IsLocalName(o.host) || forwarded(r):
		return o, "tls_required", detailPlain
	default:
		o.scheme = "http"
	}
	return o, "", ""
}

// forwarded reports whether a proxy passed the request on.
func forwarded(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"} {
		if len(r.Header.Values(name)) > 0 {
			return true
		}
	}
	return false
}

// fromPage reports whether a request comes from the console's own page. Browsers send
// Origin with each request that changes something, and scripts cannot set it; those that
// also send Sec-Fetch-Site must say the same there. What reads only must not come from
// another site.
func fromPage(r *http.Request, o origin) bool {
	if site := r.Header.Values("Sec-Fetch-Site"); len(site) > 1 || len(site) == 1 && site[0] != "same-origin" {
		return false
	}
	switch from := r.Header.Values("Origin"); len(from) {
	case 0:
		return r.Method == http.MethodGet || r.Method == http.MethodHead
	case 1:
		return strings.EqualFold(from[0], o.String())
	}
	return false
}

// policy is the Content-Security-Policy of the page at an origin: its own files, its own
// API, and the sockets of the edge that the live tail connects to. Not every browser counts
// sockets to 'self'.
func policy(o origin, live string) string {
	connect := fmt.Sprintf("'self' %s://%s", socketScheme(o.scheme), o.host)
	if scheme, host, ok := strings.Cut(live, "://"); ok {
		connect += fmt.Sprintf(" %s %s://%s", live, socketScheme(scheme), host)
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src " + connect +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}

func socketScheme(scheme string) string {
	if scheme == "http" {
		return "ws"
	}
	return "wss"
}

// cookieName has the port: browsers send cookies to all ports of a host, and another
// console there has sessions of its own. The prefix makes browsers refuse a cookie of this
// name that is not of exactly this host, over TLS or on this machine.
func (o origin) cookieName() string {
	name := "__Host-millrace-console"
	if _, port, err := net.SplitHostPort(o.host); err == nil {
		name += "-" + port
	}
	return name
}
