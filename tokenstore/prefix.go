package tokenstore

import (
	"strings"

	"github.com/millrace/millrace/wire"
)

// NormalizePrefix returns a tenant prefix in its stored form: a prefix that
// ends in a letter or digit gets a trailing ".", so that the namespace
// "paint." does not contain "paintball". Everything that accepts a prefix
// calls it. A prefix has at most 127 bytes, those of a tenant name; empty is
// the whole overlay. The error is an [*InvalidError].
func NormalizePrefix(p string) (string, error) {
	if p == "" {
		return "", nil
	}
	if isAlphanumeric(p[len(p)-1]) {
		p += "."
	}
	if len(p) > MaxPrefix || wire.CheckTenant(p) != nil {
		return "", invalid("tenant_prefix",
			"must be 0 to 127 bytes of a-z A-Z 0-9 _ - ~ @ . (a trailing dot is added after a letter or digit)")
	}
	return p, nil
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// physicalTenant returns the name of the tenant in the namespace of prefix, as it is stored.
func physicalTenant(prefix, tenant string) string {
	if strings.HasPrefix(tenant, prefix) {
		return tenant
	}
	return prefix + tenant
}

// manages reports whether a master with this prefix manages a token with this
// right: every physical tenant starts with the prefix.
func manages(prefix string, r *Right) bool {
	for _, g := range r.TenantGrants {
		for _, t := range g.TenantIDs {
			if !strings.HasPrefix(t, prefix) {
				return false
			}
		}
	}
	return true
}
