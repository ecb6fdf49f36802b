package handler

import (
	"errors"
	"net"
	"net/netip"
	"strings"

	"github.com/millrace/millrace/caddymodule/guest"
)

// anyLabel begins a host that stands for all names with one label in its place, as
// in certificates (RFC 9525, section 6.3).
const anyLabel = "*."

// checkAllowedHost wants what [guest.CheckHost] does, or a name that begins with anyLabel.
func checkAllowedHost(text string) error {
	name, wildcard := strings.CutPrefix(text, anyLabel)
	host, _, err := net.SplitHostPort(name)
	if err != nil {
		host = name
	}
	_, err = netip.ParseAddr(host)
	if guest.CheckHost(name) != nil || wildcard && (err == nil || !strings.Contains(host, ".")) {
		return errors.New("must be a host name like edge.example.com, or *.example.com for all with one label in place of the *, with a port if it is not 443")
	}
	return nil
}

// allowedHost reports whether a host is in a list. Port 443 is that of a host
// without one, and letters have no case.
func allowedHost(list []string, host string) bool {
	host = canonicalHost(host)
	_, parent, _ := strings.Cut(host, ".")
	for _, allowed := range list {
		name, wildcard := strings.CutPrefix(allowed, anyLabel)
		switch name = canonicalHost(name); {
		case !wildcard && host == name, wildcard && parent == name:
			return true
		}
	}
	return false
}

func canonicalHost(host string) string {
	host = strings.ToLower(host)
	if name, port, err := net.SplitHostPort(host); err == nil && port == "443" {
		return name // an address without the brackets that the port has needed
	}
	return host
}
