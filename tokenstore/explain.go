package tokenstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// Explain reports whether a token allows an action, and by which rule, or why not. It
// is for operators: the answer shows rules of the token, never its secret.
func (s *Service) Explain(ctx context.Context, q Query) Explanation {
	a, refusal := s.explainToken(ctx, q)
	if refusal != "" {
		return Explanation{Reason: refusal}
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

func (s *Service) explainToken(ctx context.Context, q Query) (a *Access, refusal string) {
	if a = q.Access; a == nil {
		if !IsID(q.TokenID) {
			return nil, "the token id must be 32 lower-case hex digits"
		}
		c, err := s.load(ctx, q.TokenID, s.store.Get)
		switch {
		case errors.Is(err, ErrNotFound):
			return nil, "there is no token with this id (an expired one is forgotten after a day)"
		case err != nil:
			return nil, "the token cannot be read: " + err.Error()
		case c.revoked:
			return nil, "the token is revoked"
		}
		a = c
	}
	if !s.now().Before(a.ExpiresAt) {
		return nil, "the token expired at " + a.ExpiresAt.Format(time.RFC3339)
	}
	return a, ""
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

func noRuleAllows(a *Access, tenant, misses string, l ruleList) Explanation {
	grants := findTenant(&a.right.tenants, tenant)
	if grants == 0 {
		return Explanation{Reason: "no grant of the token names the tenant"}
	}
	var have []string
	for g := range eachBit(grants) {
		for i, text := range l.rules(&a.right.grants[g]).All() {
			have = append(have, l.describe(g, i, text))
		}
	}
	if len(have) == 0 {
		return Explanation{Reason: "the grants of the tenant have no rule in " + l.name}
	}
	return Explanation{Reason: "no rule of the tenant " + misses + "; it has " + strings.Join(have, ", ")}
}
