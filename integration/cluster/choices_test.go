package cluster

import (
	"math/rand/v2"
	"strings"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/pubsub/pattern"
)

// choices draws names, patterns and rights: few enough that they meet, at the limits of what is
// legal, and now and then beyond.
type choices struct{ *rand.Rand }

// The tenants differ in ways that an encoding, a prefix or a comparison without case would confuse.
var tenants = []string{
	"a", "A", "a.b", "a-b", "a_b", "a.b.", ".", "..", "~", "@", "U", "D",
	strings.Repeat("t", 128), strings.Repeat("t", 127) + "T", strings.Repeat(".", 128),
}

var (
	tokens  = []string{"a", "b", "ab", "abc", "A", "-", "~", "@_", "0"}
	strange = []string{ // as a tenant, a channel or a pattern
		"", ".", "a b", "é", "a/b", "a.", "a..b", "*a", "#.a", ">.a", "(a|b)", "?", "a*b", "**", "#", strings.Repeat("t", 129),
		strings.Repeat("a", 256), strings.Repeat("a", 257), strings.Repeat("*.", 31) + "#", strings.Repeat("a.", 32) + "a",
	}
)

func pick[T any](c choices, list []T) T { return list[c.IntN(len(list))] }

// odd returns a name, or now and then a strange one.
func (c choices) odd(name string) string {
	if c.IntN(60) == 0 {
		return pick(c, strange)
	}
	return name
}

// tenant is often one of the first, so that clients meet.
func (c choices) tenant() string {
	if c.IntN(2) == 0 {
		return pick(c, tenants[:4])
	}
	return pick(c, tenants)
}

// tokens are those of a channel.
func (c choices) tokens() (list []string) {
	for range 1 + c.IntN(3) {
		list = append(list, pick(c, tokens))
	}
	return list
}

// pattern is often legal.
func (c choices) pattern() string {
	list := c.tokens()
	for i := range list {
		list[i] = []string{list[i], list[i], list[i], list[i], list[i] + "*", "*"}[c.IntN(6)]
	}
	list[len(list)-1] += pick(c, []string{"", "", "", "", "", "#"})
	if c.IntN(5) == 0 {
		list[len(list)-1] = pick(c, []string{"#", ">"})
	}
	return strings.Join(list, ".")
}

// rules are patterns, or have what rules alone may have. Those of most clients are wide, or little
// would be delivered.
func (c choices) rules() (list []string) {
	for range c.IntN(4) {
		rule := strings.Split(c.pattern(), ".")
		for i := range rule {
			rule[i] = []string{rule[i], rule[i], rule[i], rule[i], "(" + pick(c, tokens) + "|" + pick(c, tokens) + "*)", "?"}[c.IntN(6)]
		}
		list = append(list, strings.Join(rule, "."))
	}
	if c.IntN(3) > 0 {
		list = append(list, "#")
	}
	return list
}

// right is a token's grants, and what they allow, by tenant.
type right struct {
	grants             []harness.Object
	publish, subscribe map[string][]pattern.Rule
}

// right draws grants. All may use the channel of fences.
func (c choices) right() right {
	r := right{publish: map[string][]pattern.Rule{}, subscribe: map[string][]pattern.Rule{}}
	for range 1 + c.IntN(3) {
		var some []string
		for range 1 + c.IntN(6) {
			some = append(some, c.tenant())
		}
		r.grant(some, c.rules(), c.rules())
	}
	r.grant(tenants, []string{fence}, []string{fence})
	return r
}

// grant adds a grant, with those rules that are legal.
func (r *right) grant(tenants, publish, subscribe []string) {
	legal := func(list []string, kind pattern.RuleKind, by map[string][]pattern.Rule) (legal []string) {
		for _, text := range list {
			if rule, err := pattern.ParseRule(text, kind); err == nil {
				legal = append(legal, text)
				for _, tenant := range tenants {
					by[tenant] = append(by[tenant], rule)
				}
			}
		}
		return legal
	}
	r.grants = append(r.grants, harness.Object{
		"tenant_ids":         tenants,
		"allow_channels_pub": legal(publish, pattern.PublishRule, r.publish),
		"allow_channels_sub": legal(subscribe, pattern.SubscribeRule, r.subscribe),
	})
}

// spoken is a tenant as a client with this right writes it, of at most as many bytes as a frame has
// room for.
func (c choices) spoken(r right) string {
	tenant := c.tenant()
	if c.IntN(6) > 0 {
		grants := r.grants[:len(r.grants)-1] // without that for the fence
		tenant = pick(c, pick(c, grants)["tenant_ids"].([]string))
	}
	tenant = c.odd(tenant)
	return tenant[:min(len(tenant), 255)]
}
