package tokenstore

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"
)

const originRule = "must be scheme://host[:port] without path and wildcard (a name in its xn-- form), null, or file:// for pages that are local files"

var defaultPorts = map[string]string{"http": "80", "https": "443"}

// normalizeOrigin returns the canonical form of an origin, in which two equal origins
// are equal strings: lower case, without the scheme's default port. It accepts
// scheme://host[:port], "null" and "file://", nothing else. Chromium sends file:// for pages of
// Electron and Cordova that are files; browsers send null for such a page.
func normalizeOrigin(s string) (string, bool) {
	if s == "null" || strings.EqualFold(s, "file://") {
		return strings.ToLower(s), true
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf { // before ToLower, which turns the Kelvin sign into a k
			return "", false
		}
	}
	scheme, rest, ok := strings.Cut(strings.ToLower(s), "://")
	if !ok || !isScheme(scheme) {
		return "", false
	}
	host, port, ok := splitHostPort(rest)
	if !ok {
		return "", false
	}
	if port == "" || port == defaultPorts[scheme] {
		return scheme + "://" + host, true
	}
	return scheme + "://" + host + ":" + port, true
}

// splitHostPort splits and normalises what follows "://". The port is empty when there
// is none.
func splitHostPort(s string) (host, port string, ok bool) {
	if inner, found := strings.CutPrefix(s, "["); found {
		addr, rest, closed := strings.Cut(inner, "]")
		ip, err := netip.ParseAddr(addr)
		if !closed || err != nil || !ip.Is6() || ip.Zone() != "" {
			return "", "", false
		}
		host, s = "["+ip.String()+"]", rest
	} else {
		end := strings.IndexByte(s, ':')
		if end < 0 {
			end = len(s)
		}
		host, s = s[:end], s[end:]
		if !isHost(host) {
			return "", "", false
		}
	}
	if s == "" {
		return host, "", true
	}
	digits, colon := strings.CutPrefix(s, ":")
	n, err := strconv.ParseUint(digits, 10, 16)
	if !colon || err != nil || n == 0 {
		return "", "", false
	}
	return host, strconv.FormatUint(n, 10), true
}

// isScheme reports whether s is a lower-case URI scheme (RFC 3986, section 3.1).
func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return s != ""
}

// isHost reports whether s is an IPv4 address or a lower-case ASCII host name.
func isHost(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return s != "" && len(s) <= 253
}
