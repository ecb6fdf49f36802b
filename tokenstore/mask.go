package tokenstore

import (
	"fmt"
	"net/netip"
	"strings"
)

// parseMask reads an address or a CIDR without zone and not IPv4-mapped, and
// clears the host bits.
func parseMask(s string) (netip.Prefix, bool) {
	if strings.Contains(s, "/") {
		p, err := netip.ParsePrefix(s)
		if err != nil || p.Addr().Is4In6() {
			return netip.Prefix{}, false
		}
		return p.Masked(), true
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" || a.Is4In6() {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(a, a.BitLen()), true
}

// maskText returns the stored form of a mask: a single address has no prefix length.
func maskText(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}

// normalizeMasks returns the masks in their stored form.
func normalizeMasks(path string, masks []string) ([]string, error) {
	if err := checkLen(path, len(masks)); err != nil {
		return nil, err
	}
	out := make([]string, 0, len(masks))
	for i, s := range masks {
		p, ok := parseMask(s)
		if !ok {
			return nil, invalid(fmt.Sprintf("%s[%d]", path, i),
				"must be an IP address or a CIDR, without zone and not an IPv4-mapped IPv6 address")
		}
		out = append(out, maskText(p))
	}
	return out, nil
}

// parseMasks compiles stored masks.
func parseMasks(masks []string) ([]netip.Prefix, error) {
	out := make([]netip.Prefix, 0, len(masks))
	for _, s := range masks {
		p, ok := parseMask(s)
		if !ok {
			return nil, fmt.Errorf("tokenstore: a stored IP mask cannot be read")
		}
		out = append(out, p)
	}
	return out, nil
}

// ipAllowed reports whether ip is inside one of the masks. Without masks every address
// is allowed; with masks, an unknown address is refused.
func ipAllowed(masks []netip.Prefix, ip netip.Addr) bool {
	if len(masks) == 0 {
		return true
	}
	ip = ip.Unmap().WithZone("") // the mask applies in whatever form the socket reports the address
	for _, m := range masks {
		if m.Contains(ip) {
			return true
		}
	}
	return false
}
