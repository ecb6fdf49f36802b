package tokenstore

import (
	"fmt"
	"iter"
	"maps"
	"math/bits"
	"net/netip"
	"slices"
	"sort"
	"strings"

	"github.com/millrace/millrace/pubsub/pattern"
)

// compiledRight is a right, ready for use, in little more space than its text takes. Connections
// hold on to it, so all of one token share it, whichever version of the token they came with: see
// accessCache. It does not change.
type compiledRight struct {
	grants  []grant
	tenants tenantIndex

	masks     []netip.Prefix
	origins   []string
	protocols []string
	regions   []string
	size      int // bytes, about
}

// A grant is a compiled TenantGrant, at its index in right.tenant_grants.
type grant struct {
	pub, sub, history, presence pattern.RuleList
}

func compileRight(r *Right) (*compiledRight, error) {
	if n := len(r.TenantGrants); n > MaxGrants {
		return nil, fmt.Errorf("tokenstore: a stored right has %d grants, more than %d", n, MaxGrants)
	}
	c := &compiledRight{
		grants: make([]grant, len(r.TenantGrants)), tenants: indexTenants(r.TenantGrants),
		origins: slices.Clone(r.AllowedWSOrigin), protocols: slices.Clone(r.AllowProtocols), regions: slices.Clone(r.AllowRegions),
	}
	var err error
	if c.masks, err = parseMasks(r.AllowIPMasks); err != nil {
		return nil, err
	}
	c.size = 512 + c.tenants.size() + 32*len(c.masks)
	for i, tg := range r.TenantGrants {
		g := &c.grants[i]
		for _, list := range []struct {
			rules *pattern.RuleList
			texts []string
			kind  pattern.RuleKind
		}{
			{&g.pub, tg.AllowChannelsPub, pattern.PublishRule}, {&g.sub, tg.AllowChannelsSub, pattern.SubscribeRule},
			{&g.history, tg.AllowChannelsHistory, pattern.SubscribeRule}, {&g.presence, tg.AllowChannelsPresence, pattern.SubscribeRule},
		} {
			if *list.rules, err = pattern.NewRuleList(list.texts, list.kind); err != nil {
				return nil, fmt.Errorf("tokenstore: a stored channel rule cannot be read: %w", err)
			}
			c.size += 16 + list.rules.Size()
		}
	}
	for _, list := range [][]string{c.origins, c.protocols, c.regions} {
		for _, text := range list {
			c.size += 16 + len(text)
		}
	}
	return c, nil
}

// equal reports whether two rights permit the same in the same words.
func (c *compiledRight) equal(other *compiledRight) bool {
	return slices.Equal(c.grants, other.grants) && c.tenants.equal(&other.tenants) && slices.Equal(c.masks, other.masks) &&
		slices.Equal(c.origins, other.origins) && slices.Equal(c.protocols, other.protocols) && slices.Equal(c.regions, other.regions)
}

// tenantIndex tells which grants name a tenant.
type tenantIndex struct {
	names  string   // of all tenants, in order
	ends   []uint32 // of each name
	grants []uint64 // those that name it, one of MaxGrants bits each
}

func indexTenants(grants []TenantGrant) (x tenantIndex) {
	byName := map[string]uint64{}
	for i, g := range grants {
		for _, name := range g.TenantIDs {
			byName[name] |= 1 << i
		}
	}
	names := slices.Sorted(maps.Keys(byName))
	x.names = strings.Join(names, "")
	x.ends, x.grants = make([]uint32, len(names)), make([]uint64, len(names))
	end := 0
	for i, name := range names {
		end += len(name)
		x.ends[i], x.grants[i] = uint32(end), byName[name]
	}
	return x
}

func (x *tenantIndex) size() int { return len(x.names) + 12*len(x.ends) }

func (x *tenantIndex) equal(other *tenantIndex) bool {
	return x.names == other.names && slices.Equal(x.ends, other.ends) && slices.Equal(x.grants, other.grants)
}

func (x *tenantIndex) name(i int) string {
	if i == 0 {
		return x.names[:x.ends[0]]
	}
	return x.names[x.ends[i-1]:x.ends[i]]
}

// findTenant returns the grants of a tenant, as bits; 0: none names it. It does not allocate.
func findTenant[T string | []byte](x *tenantIndex, tenant T) uint64 {
	i := 0
	if len(x.ends) > 1 {
		i = sort.Search(len(x.ends), func(i int) bool { return x.name(i) >= string(tenant) })
	}
	if i == len(x.ends) || x.name(i) != string(tenant) {
		return 0
	}
	return x.grants[i]
}

func eachBit(set uint64) iter.Seq[int] {
	return func(yield func(int) bool) {
		for ; set != 0; set &= set - 1 {
			if !yield(bits.TrailingZeros64(set)) {
				return
			}
		}
	}
}

// firstRule returns the indexes of the first grant of a tenant, and of its rule in a list, that find
// finds: find returns -1 where there is none.
func firstRule[T string | []byte](c *compiledRight, tenant T, l ruleList, find func(pattern.RuleList) int) (grant, rule int, ok bool) {
	for g := range eachBit(findTenant(&c.tenants, tenant)) {
		if rule = find(l.rules(&c.grants[g])); rule >= 0 {
			return g, rule, true
		}
	}
	return 0, 0, false
}
