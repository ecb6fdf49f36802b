package tokenstore

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/pubsub/pattern"
)

// An Access is the compiled right of one version of an access token. It never
// changes, TakeCost aside, and may be used concurrently.
type Access struct {
	ID        string
	ExpiresAt time.Time // a refresh moves it: see Service.Watch
	Version   uint64    // of the record that it was compiled from

	Subject string          // whose token it is; empty: nobody's
	Info    json.RawMessage // of the application, a JSON object; nil: none. Nobody may modify it.

	// Caps of each connection in KB/s. 0: the edge default.
	IngressKBPerSec int
	EgressKBPerSec  int

	// Tenants are the tenants that the grants name, each once, in the order of the
	// right, but no more than MaxListedTenants.
	Tenants []string

	right   *compiledRight
	hash    secretHash
	revoked bool
	cost    atomic.Int64 // ns; see TakeCost

	masterID string // that issued it; empty: the local admin API did
}

// MaxListedTenants bounds [Access.Tenants]: a token may name thousands.
const MaxListedTenants = 16

func compile(id string, version uint64, r *accessRecord) (*Access, error) {
	right, err := compileRight(&r.Right)
	if err != nil {
		return nil, err
	}
	a := &Access{
		ID: id, ExpiresAt: r.ExpiresAt, Version: version, Subject: r.Subject, Info: r.Info,
		right: right, hash: r.Hash, revoked: r.RevokedAt != nil, masterID: r.MasterID,
	}
	if r.Right.IngressKBPerSec != nil {
		a.IngressKBPerSec = *r.Right.IngressKBPerSec
	}
	if r.Right.EgressKBPerSec != nil {
		a.EgressKBPerSec = *r.Right.EgressKBPerSec
	}
	for _, tg := range r.Right.TenantGrants {
		for _, t := range tg.TenantIDs {
			if len(a.Tenants) < MaxListedTenants && !slices.Contains(a.Tenants, t) {
				a.Tenants = append(a.Tenants, t)
			}
		}
	}
	return a, nil
}

// Size returns how many bytes the right takes in memory, about: once for all connections of the token.
func (a *Access) Size() int { return a.right.size + len(a.Info) + len(a.Subject) }

// costlyRight is from how many bytes on a right costs a handshake more than the rest of it, about.
const costlyRight = 2 << 10

// TakeCost returns how long it took to read a large right, to the first one who asks, who is to have it
// paid for; 0 otherwise.
func (a *Access) TakeCost() time.Duration { return time.Duration(a.cost.Swap(0)) }

// CanPublish reports whether a grant names the tenant and one of its publish
// rules matches the channel. It allocates nothing.
func (a *Access) CanPublish(tenant, channel []byte) bool {
	c := a.right // written out: it is in the way of each publish
	for left := findTenant(&c.tenants, tenant); left != 0; left &= left - 1 {
		if c.grants[bits.TrailingZeros64(left)].pub.Match(channel) >= 0 {
			return true
		}
	}
	return false
}

// publishRule returns the indexes of the first grant and of its rule that allow the publish.
func (a *Access) publishRule(tenant, channel []byte) (grant, rule int, ok bool) {
	return firstRule(a.right, tenant, publishRules, func(l pattern.RuleList) int { return l.Match(channel) })
}

// CanSubscribe reports whether a grant names the tenant and one of its
// subscribe rules alone contains the pattern.
func (a *Access) CanSubscribe(tenant string, p pattern.Pattern) bool {
	_, _, ok := a.containingRule(tenant, p, subscribeRules)
	return ok
}

// CanReadHistory reports whether a grant names the tenant and one of its history
// rules alone contains the pattern. A subscription that begins in the past needs this and
// [Access.CanSubscribe].
func (a *Access) CanReadHistory(tenant string, p pattern.Pattern) bool {
	_, _, ok := a.containingRule(tenant, p, historyRules)
	return ok
}

// CanReadPresence reports whether a grant names the tenant and one of its presence rules
// alone contains the pattern.
func (a *Access) CanReadPresence(tenant string, p pattern.Pattern) bool {
	_, _, ok := a.containingRule(tenant, p, presenceRules)
	return ok
}

// containingRule returns the indexes of the first grant, and of its rule in a list, that contain the
// pattern.
func (a *Access) containingRule(tenant string, p pattern.Pattern, l ruleList) (grant, rule int, ok bool) {
	return firstRule(a.right, tenant, l, func(rules pattern.RuleList) int { return rules.Contains(p) })
}

// CheckConnection returns nil, or a [*ForbiddenError] with the first of ip,
// origin, protocol and region that the right does not allow.
func (a *Access) CheckConnection(c Connection) error {
	switch {
	case !ipAllowed(a.right.masks, c.IP):
		ip := "which is not known"
		if c.IP.IsValid() {
			ip = c.IP.String()
		}
		return forbidden("ip", "address", ip, "allow_ip_masks", a.right.masks)
	case !a.originAllowed(c.Origins):
		return forbidden("origin", "origin", fmt.Sprintf("%q", c.Origins), "allowed_ws_origin", a.right.origins)
	case !listAllows(a.right.protocols, c.Protocol):
		return forbidden("protocol", "protocol", c.Protocol, "allow_protocols", a.right.protocols)
	case !listAllows(a.right.regions, c.Region):
		return forbidden("region", "region of the edge", cmp.Or(c.Region, "which has none"), "allow_regions", a.right.regions)
	}
	return nil
}

func forbidden[T any](what, called, is, list string, allowed []T) error {
	return &ForbiddenError{
		What: what, Reason: "the token does not allow the " + called + ", " + is,
		Rule: fmt.Sprintf("right.%s %v", list, allowed),
	}
}

// AllowedIPs returns a function that reports whether a connection may come from an
// address, for connections that migrate while they are open. It is nil if the right has
// no masks, and so allows every address.
func (a *Access) AllowedIPs() func(netip.Addr) bool {
	if len(a.right.masks) == 0 {
		return nil
	}
	return func(ip netip.Addr) bool { return ipAllowed(a.right.masks, ip) }
}

// originAllowed refuses a missing and a repeated Origin when there is a list: only a
// single one says where the page came from.
func (a *Access) originAllowed(origins []string) bool {
	if len(a.right.origins) == 0 {
		return true
	}
	if len(origins) != 1 {
		return false
	}
	o, ok := normalizeOrigin(origins[0])
	return ok && slices.Contains(a.right.origins, o)
}

// listAllows reports whether a list allows a value. An empty list sets no limit;
// any other list refuses an unknown value, "".
func listAllows(list []string, v string) bool {
	return len(list) == 0 || slices.Contains(list, v)
}
