package client

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millrace/millrace/pubsub/pattern"
)

// checkGrants refuses a History that no Subscribe for the same tenant contains, which nobody could read. said is
// about a Presence of that kind: it is of use, but seldom meant. Invalid rules, and those with groups, are
// the edge's to judge.
func checkGrants(grants []Grant) (said string, err error) {
	for i, g := range grants {
		var within []string
		for _, other := range grants {
			if sharesTenant(g, other) {
				within = append(within, other.Subscribe...)
			}
		}
		outer, err := pattern.NewRuleList(within, pattern.SubscribeRule)
		if err != nil {
			return "", nil //nolint:nilerr // the edge says what is wrong with it
		}
		for _, list := range []struct {
			name  string
			rules []string
		}{{"History", g.History}, {"Presence", g.Presence}} {
			for j, rule := range list.rules {
				p, err := pattern.Parse(rule)
				if err != nil || outer.Contains(p) >= 0 {
					continue
				}
				have := "nothing"
				if len(within) > 0 {
					have = strings.Join(within, ", ")
				}
				text := fmt.Sprintf("Grants[%d].%s[%d] is %s, which Subscribe (%s) does not contain", i, list.name, j, rule, have)
				if list.name == "History" {
					return "", badOption("%s: nobody could read it; add it to Subscribe, or narrow it", text)
				}
				said = text + ": the token shows who is there, and cannot subscribe; is that meant?"
			}
		}
	}
	return said, nil
}

// sharesTenant reports whether two grants are for the same tenant, which may have the prefix of the master token
// before it in one of them.
func sharesTenant(a, b Grant) bool {
	return slices.ContainsFunc(a.Tenants, func(one string) bool {
		return slices.ContainsFunc(b.Tenants, func(other string) bool {
			return one == other || strings.HasSuffix(one, "."+other) || strings.HasSuffix(other, "."+one)
		})
	})
}
