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

// right is a token's grants, and what they allow.
type right struct {
	grants             []harness.Object
	tenants            []string
	publish, subscribe map[string][]pattern.Rule // by tenant
}

// The tenants differ in ways that an encoding, a prefix or a comparison without case would confuse.
var tenants = []string{
	"a", "A", "a.b", "a-b", "a_b", "a.b.", ".", "..", "~", "@", "U", "D",
	strings.Repeat("t", 128), strings.Repeat("t", 127) + "T", strings.Repeat(".", 128),
}

var (
	tokens = []string{"a", "b", "ab", "abc", "A", "-", "~", "@_", "0"}
	// Strange names are illegal, or as long as they may be.
	strangeChannels = []string{
		"", ".", "a.", "a..b", "a*", "#", "a b", "é", "a:b", "\xff",
		strings.Repeat("a", 257), strings.Repeat("a.", 32) + "a", strings.Repeat("a", 256),
	}
	strangePatterns = []string{
		"", "*a", "#.a", ">.a", "a..b", "(a|b)", "?", "a:b", "a*b", "**", "é",
		strings.Repeat("a", 257), strings.Repeat("*.", 32) + "a", strings.Repeat("*.", 31) + "#",
	}
)

func pick[T any](c choices, list []T) T { return list[c.IntN(len(list))] }

// tenant is one for a grant: often one of the first, so that clients meet.
func (c choices) tenant() string {
	if c.IntN(2) == 0 {
		return pick(c, tenants[:4])
	}
	return pick(c, tenants)
}

// spoken is a tenant as a client with this right writes it: it may be empty, or none.
func (c choices) spoken(r right, bad ...string) string {
	switch n := c.IntN(40); {
	case n == 0:
		return ""
	case n == 1:
		return pick(c, append(bad, "a b", "é", "a/b", "a*", strings.Repeat("t", 129)))
	case n < 9:
		return c.tenant()
	}
	return pick(c, r.tenants)
}

func (c choices) tokens() []string {
	list := make([]string, 1+c.IntN(3))
	if c.IntN(200) == 0 { // as many as there may be
		list = make([]string, 32)
	}
	for i := range list {
		list[i] = pick(c, tokens)
	}
	return list
}

// channel is one to publish to; it may be none.
func (c choices) channel() string {
	if c.IntN(100) == 0 {
		return pick(c, strangeChannels)
	}
	return strings.Join(c.tokens(), ".")
}

// pattern is one to subscribe to; it may be none.
func (c choices) pattern() string {
	if c.IntN(60) == 0 {
		return pick(c, strangePatterns)
	}
	list := c.tokens()
	for i := range list {
		switch c.IntN(6) {
		case 0:
			list[i] = "*"
		case 1:
			list[i] += "*"
		}
	}
	last := &list[len(list)-1]
	switch c.IntN(5) {
	case 0:
		*last = pick(c, []string{"#", ">", "*"})
	case 1:
		*last = strings.Trim(*last, "*") + pick(c, []string{"#", ">", "*"})
	}
	return strings.Join(list, ".")
}

// right draws grants: those of most clients are wide, or little would be delivered. All may use
// the channel of fences.
func (c choices) right() (r right) {
	r.publish, r.subscribe = map[string][]pattern.Rule{}, map[string][]pattern.Rule{}
	rules := func() (list []string) {
		for range c.IntN(4) {
			list = append(list, c.rule())
		}
		if c.IntN(3) > 0 {
			list = append(list, "#")
		}
		return list
	}
	for range 1 + c.IntN(3) {
		var tenants []string
		for range 1 + c.IntN(6) {
			tenants = append(tenants, c.tenant())
		}
		r.tenants = append(r.tenants, tenants...)
		r.grant(tenants, rules(), rules())
	}
	r.grant(tenants, []string{fence}, []string{fence})
	return r
}

// grant adds a grant, with those rules that are legal.
func (r *right) grant(tenants, publish, subscribe []string) {
	g := harness.Object{"tenant_ids": tenants}
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
	g["allow_channels_pub"] = legal(publish, pattern.PublishRule, r.publish)
	g["allow_channels_sub"] = legal(subscribe, pattern.SubscribeRule, r.subscribe)
	r.grants = append(r.grants, g)
}

// rule is a pattern, or has what rules alone may have; it need not be legal.
func (c choices) rule() string {
	list := strings.Split(c.pattern(), ".")
	for i := range list {
		switch c.IntN(8) {
		case 0:
			list[i] = "(" + pick(c, tokens) + "|" + pick(c, tokens) + "*)"
		case 1:
			list[i] = "?" // of subscribing alone
		}
	}
	return strings.Join(list, ".")
}
