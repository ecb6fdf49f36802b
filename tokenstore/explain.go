package tokenstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// Explain reports whether a token allows an action, and by which rule, or why not. It
// is for operators: the answer shows rules of the token, never its secret.
func (s *Service) Explain(ctx context.Context, q Query) Explanation {
	a, refusal := s.explainToken(ctx, q)
	if refusal != nil {
		return *refusal
	}
	if e, refused := explainConnection(a, q); refused {
		return e
	}
	if q.Tenant == "" {
		q.Tenant = wire.DefaultTenant
	}
	switch q.Action {
	case ActionConnect:
		return Explanation{Allowed: true, Reason: "the token is valid and allows this connection"}
	case ActionPublish:
		return explainPublish(a, q)
	case ActionSubscribe:
		return explainSubscribe(a, q, subscribeRules)
	case ActionHistory:
		return explainSubscribe(a, q, subscribeRules, historyRules)
	case ActionPresence:
		return explainSubscribe(a, q, presenceRules)
	}
	return Explanation{Reason: "the action must be publish, subscribe, history, presence or connect"}
}

// explainToken returns the token of a query, or why it cannot be used at all.
func (s *Service) explainToken(ctx context.Context, q Query) (a *Access, refusal *Explanation) {
	a = q.Access
	var err error
	switch {
	case a != nil:
		_, err = s.unlessEnded(a)
	case q.Token != "":
		a, err = s.Authenticate(ctx, q.Token)
	case !IsID(q.TokenID):
		return nil, &Explanation{Reason: "the token id must be 32 lower-case hex digits"}
	default:
		a, err = s.Lookup(ctx, q.TokenID)
	}
	var unauthorized *UnauthorizedError
	switch {
	case errors.As(err, &unauthorized):
		return nil, &Explanation{Reason: unauthorized.Reason, Rule: unauthorized.Rule}
	case err != nil:
		return nil, &Explanation{Reason: "the token cannot be read: " + err.Error()}
	}
	return a, nil
}

// ExplainDenied says for operators why a token does not allow what a client asked for: pub, sub,
// rsub, join or who, in a tenant, of a channel or a pattern.
func (a *Access) ExplainDenied(action, tenant, channel string) (reason string) {
	q := Query{Tenant: tenant, Channel: channel}
	var e Explanation
	switch action {
	case "pub":
		e = explainPublish(a, q)
	case "rsub":
		e = explainSubscribe(a, q, subscribeRules, historyRules)
	case "who":
		e = explainSubscribe(a, q, presenceRules)
	default:
		e = explainSubscribe(a, q, subscribeRules)
	}
	return e.Reason
}

// Denial says to a client that a token does not allow what it asked for, as in ExplainDenied: which rules of
// this kind it has in the tenant or, if it does not name that, which tenants. These are no more than a line has
// room for, with one more that is cut then.
func (a *Access) Denial(action, tenant, channel string) (kind wire.DenialKind, names []string) {
	grants := findTenant(&a.right.tenants, tenant)
	if grants == 0 {
		if names = a.Tenants; len(a.right.tenants.ends) > len(names) {
			names = append(slices.Clip(names), wire.DenialCut)
		}
		return wire.DeniedTenants, names
	}
	l := subscribeRules
	switch action {
	case "pub":
		l = publishRules
	case "who":
		l = presenceRules
	case "rsub":
		if p, err := pattern.Parse(channel); err == nil && a.CanSubscribe(tenant, p) {
			l = historyRules
		}
	}
	size := 0
	for g := range eachBit(grants) {
		for _, text := range l.rules(&a.right.grants[g]).All() {
			names = append(names, text)
			if size += len(text) + 1; size > wire.MaxLine {
				return wire.DeniedRules, names
			}
		}
	}
	return wire.DeniedRules, names
}

// Description is what an operator can know of a token.
type Description struct {
	AccessInfo
	Access *Access
	Master Master // that issued it; zero: the local admin API did, or it is gone
}

// Describe describes a token, also one that has ended. The error may be [ErrNotFound].
func (s *Service) Describe(ctx context.Context, tokenID string) (d Description, err error) {
	rec, err := s.store.Get(ctx, KindAccess, tokenID)
	if err != nil {
		return d, err
	}
	var r accessRecord
	if err := decode(rec, &r); err != nil {
		return d, err
	}
	d.AccessInfo = r.info(tokenID, s.now())
	if d.Access, err = compile(tokenID, rec.Version, &r); err != nil {
		return d, err
	}
	d.Master, err = s.master(ctx, r.MasterID, s.localGet())
	if errors.Is(err, ErrUnknownMaster) {
		err = nil
	}
	return d, err
}

// TokenIDOf returns the id of an access token, which is no secret; empty: it has not the form of one.
func TokenIDOf(token string) string {
	id, _, _ := splitToken(accessPrefix, token)
	return strings.Clone(id)
}

// explainConnection checks the attributes of the connection: all of them for connect,
// otherwise only those that are given.
func explainConnection(a *Access, q Query) (e Explanation, refused bool) {
	all := q.Action == ActionConnect
	var origins []string
	if q.Origin != "" {
		origins = []string{q.Origin}
	}
	for _, c := range []struct {
		given, allowed bool
		what, path     string
		list           string
	}{
		{q.IP.IsValid(), ipAllowed(a.right.masks, q.IP), "address", "right.allow_ip_masks", fmt.Sprint(a.right.masks)},
		{q.Origin != "", a.originAllowed(origins), "origin", "right.allowed_ws_origin", fmt.Sprint(a.right.origins)},
		{q.Protocol != "", listAllows(a.right.protocols, q.Protocol), "protocol", "right.allow_protocols", fmt.Sprint(a.right.protocols)},
		{q.Region != "", listAllows(a.right.regions, q.Region), "region", "right.allow_regions", fmt.Sprint(a.right.regions)},
	} {
		switch {
		case c.allowed || !c.given && !all:
			continue
		case c.given:
			e.Reason = "the token does not allow this " + c.what
		default:
			e.Reason = "the token limits the " + c.what + ", and none is known"
		}
		e.Rule = c.path + " " + c.list
		return e, true
	}
	return e, false
}

func explainPublish(a *Access, q Query) Explanation {
	if e, bad := explainName("the tenant", wire.CheckTenant(q.Tenant)); bad {
		return e
	}
	if e, bad := explainName("the channel", wire.CheckChannel(q.Channel)); bad {
		return e
	}
	g, i, ok := a.publishRule([]byte(q.Tenant), []byte(q.Channel))
	if !ok {
		return noRuleAllows(a, q.Tenant, "matches the channel", publishRules)
	}
	return allowedBy(a, g, i, publishRules)
}

// explainSubscribe explains a subscription that needs a rule of each list. The last one
// is what allows it.
func explainSubscribe(a *Access, q Query, needs ...ruleList) (e Explanation) {
	if e, bad := explainName("the tenant", wire.CheckTenant(q.Tenant)); bad {
		return e
	}
	p, err := pattern.Parse(q.Channel)
	if e, bad := explainName("the pattern", err); bad {
		return e
	}
	for _, l := range needs {
		g, i, ok := a.containingRule(q.Tenant, p, l)
		if !ok {
			return noRuleAllows(a, q.Tenant, "alone contains the pattern", l)
		}
		e = allowedBy(a, g, i, l)
	}
	return e
}

func explainName(what string, err error) (Explanation, bool) {
	if err == nil {
		return Explanation{}, false
	}
	return Explanation{Reason: what + " is not legal: " + err.Error()}, true
}

// A ruleList selects one of the lists of a grant.
type ruleList struct {
	name  string
	rules func(*grant) pattern.RuleList
}

var (
	publishRules   = ruleList{"allow_channels_pub", func(g *grant) pattern.RuleList { return g.pub }}
	subscribeRules = ruleList{"allow_channels_sub", func(g *grant) pattern.RuleList { return g.sub }}
	historyRules   = ruleList{"allow_channels_history", func(g *grant) pattern.RuleList { return g.history }}
	presenceRules  = ruleList{"allow_channels_presence", func(g *grant) pattern.RuleList { return g.presence }}
)

// describe returns the JSON path and the text of a rule.
func (l ruleList) describe(grant, i int, text string) string {
	return fmt.Sprintf("right.tenant_grants[%d].%s[%d] %q", grant, l.name, i, text)
}

func allowedBy(a *Access, grant, rule int, l ruleList) Explanation {
	e := Explanation{Allowed: true, Reason: "a rule of the token allows it"}
	for i, text := range l.rules(&a.right.grants[grant]).All() {
		if i == rule {
			e.Rule = l.describe(grant, i, text)
		}
	}
	return e
}

// maxRulesNamed is how many rules an explanation names that do not allow something.
const maxRulesNamed = 32

func noRuleAllows(a *Access, tenant, misses string, l ruleList) Explanation {
	grants := findTenant(&a.right.tenants, tenant)
	if grants == 0 {
		return Explanation{Reason: "no grant of the token names the tenant"}
	}
	var have []string
	more := 0
	for g := range eachBit(grants) {
		for i, text := range l.rules(&a.right.grants[g]).All() {
			if len(have) == maxRulesNamed {
				more++
				continue
			}
			have = append(have, l.describe(g, i, text))
		}
	}
	if more > 0 {
		have = append(have, fmt.Sprintf("and %d more", more))
	}
	if len(have) == 0 {
		return Explanation{Reason: "the grants of the tenant have no rule in " + l.name}
	}
	return Explanation{Reason: "no rule of the tenant " + misses + "; it has " + strings.Join(have, ", ")}
}
