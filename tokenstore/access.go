package tokenstore

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/millrace/millrace/pubsub/pattern"
)

// An Access is the compiled right of one version of an access token. It never
// changes and may be used concurrently.
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

	tenants   map[string][]*grant // by physical tenant, in the order of the right
	masks     []netip.Prefix
	origins   []string
	protocols []string
	regions   []string
}

// MaxListedTenants bounds [Access.Tenants]: a token may name thousands.
const MaxListedTenants = 16

// A grant is a compiled TenantGrant.
type grant struct {
	index                       int // in right.tenant_grants
	pub, sub, history, presence []pattern.Rule
}

func compile(id string, version uint64, r *accessRecord) (*Access, error) {
	a := &Access{
		ID: id, ExpiresAt: r.ExpiresAt, Version: version, Subject: r.Subject, Info: r.Info,
		tenants: make(map[string][]*grant),
		origins: r.Right.AllowedWSOrigin, protocols: r.Right.AllowProtocols, regions: r.Right.AllowRegions,
	}
	if r.Right.IngressKBPerSec != nil {
		a.IngressKBPerSec = *r.Right.IngressKBPerSec
	}
	if r.Right.EgressKBPerSec != nil {
		a.EgressKBPerSec = *r.Right.EgressKBPerSec
	}
	var err error
	if a.masks, err = parseMasks(r.Right.AllowIPMasks); err != nil {
		return nil, err
	}
	for i, tg := range r.Right.TenantGrants {
		g := &grant{index: i}
		if g.pub, err = compileRules(tg.AllowChannelsPub, pattern.PublishRule); err != nil {
			return nil, err
		}
		if g.sub, err = compileRules(tg.AllowChannelsSub, pattern.SubscribeRule); err != nil {
			return nil, err
		}
		if g.history, err = compileRules(tg.AllowChannelsHistory, pattern.SubscribeRule); err != nil {
			return nil, err
		}
		if g.presence, err = compileRules(tg.AllowChannelsPresence, pattern.SubscribeRule); err != nil {
			return nil, err
		}
		for _, t := range tg.TenantIDs {
			if _, known := a.tenants[t]; !known && len(a.Tenants) < MaxListedTenants {
				a.Tenants = append(a.Tenants, t)
			}
			if !slices.Contains(a.tenants[t], g) { // the list may name a tenant twice
				a.tenants[t] = append(a.tenants[t], g)
			}
		}
	}
	return a, nil
}

func compileRules(texts []string, kind pattern.RuleKind) ([]pattern.Rule, error) {
	rules := make([]pattern.Rule, 0, len(texts))
	for _, t := range texts {
		r, err := pattern.ParseRule(t, kind)
		if err != nil {
			return nil, fmt.Errorf("tokenstore: a stored channel rule cannot be read: %w", err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// CanPublish reports whether a grant names the tenant and one of its publish
// rules matches the channel. It allocates nothing.
func (a *Access) CanPublish(tenant, channel []byte) bool {
	g, _ := a.publishRule(tenant, channel)
	return g != nil
}

// publishRule returns the first grant and the index of its rule that allow the
// publish, or nil.
func (a *Access) publishRule(tenant, channel []byte) (*grant, int) {
	for _, g := range a.tenants[string(tenant)] {
		for i := range g.pub {
			if g.pub[i].Match(channel) {
				return g, i
			}
		}
	}
	return nil, 0
}

// CanSubscribe reports whether a grant names the tenant and one of its
// subscribe rules alone contains the pattern.
func (a *Access) CanSubscribe(tenant string, p pattern.Pattern) bool {
	g, _ := a.containingRule(tenant, p, subscribeRules)
	return g != nil
}

// CanReadHistory reports whether a grant names the tenant and one of its history
// rules alone contains the pattern. A subscription that begins in the past needs this and
// [Access.CanSubscribe].
func (a *Access) CanReadHistory(tenant string, p pattern.Pattern) bool {
	g, _ := a.containingRule(tenant, p, historyRules)
	return g != nil
}

// CanReadPresence reports whether a grant names the tenant and one of its presence rules
// alone contains the pattern.
func (a *Access) CanReadPresence(tenant string, p pattern.Pattern) bool {
	g, _ := a.containingRule(tenant, p, presenceRules)
	return g != nil
}

// containingRule returns the first grant and the index of its rule in a list that contain
// the pattern, or nil.
func (a *Access) containingRule(tenant string, p pattern.Pattern, l ruleList) (*grant, int) {
	for _, g := range a.tenants[tenant] {
		rules := l.rules(g)
		for i := range rules {
			if rules[i].Contains(p) {
				return g, i
			}
		}
	}
	return nil, 0
}

// CheckConnection returns nil, or a [*ForbiddenError] with the first of ip,
// origin, protocol and region that the right does not allow.
func (a *Access) CheckConnection(c Connection) error {
	switch {
	case !ipAllowed(a.masks, c.IP):
		return &ForbiddenError{What: "ip"}
	case !a.originAllowed(c.Origins):
		return &ForbiddenError{What: "origin"}
	case !listAllows(a.protocols, c.Protocol):
		return &ForbiddenError{What: "protocol"}
	case !listAllows(a.regions, c.Region):
		return &ForbiddenError{What: "region"}
	}
	return nil
}

// AllowedIPs returns a function that reports whether a connection may come from an
// address, for connections that migrate while they are open. It is nil if the right has
// no masks, and so allows every address.
func (a *Access) AllowedIPs() func(netip.Addr) bool {
	if len(a.masks) == 0 {
		return nil
	}
	return func(ip netip.Addr) bool { return ipAllowed(a.masks, ip) }
}

// originAllowed refuses a missing and a repeated Origin when there is a list: only a
// single one says where the page came from.
func (a *Access) originAllowed(origins []string) bool {
	if len(a.origins) == 0 {
		return true
	}
	if len(origins) != 1 {
		return false
	}
	o, ok := normalizeOrigin(origins[0])
	return ok && slices.Contains(a.origins, o)
}

// listAllows reports whether a list allows a value. An empty list sets no limit;
// any other list refuses an unknown value, "".
func listAllows(list []string, v string) bool {
	return len(list) == 0 || slices.Contains(list, v)
}
