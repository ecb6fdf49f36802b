package cluster

import (
	"math/rand/v2"
	"strings"

	"github.com/millrace/millrace/pubsub/pattern"
)

// choices draws names, patterns and rights: few enough that they meet, at the limits of what is
// legal, and now and then beyond.
type choices struct{ *rand.Rand }

// grant is a grant of a token.
type grant struct{ tenants, publish, subscribe []string }

// The tenants differ in ways that an encoding, a prefix or a comparison without case would confuse.
var tenants = []string{
	"a", "A", "a.b", "a-b", "a_b", "a.b.", ".", "..", "~", "@", "U", "D",
	strings.Repeat("t", 128), strings.Repeat("t", 127) + "T", strings.Repeat(".", 128),
}

var tokens = []string{"a", "b", "ab", "abc", "A", "-", "~", "@_", "0"}

func pick[T any](c choices, list []T) T { return list[c.IntN(len(list))] }

// tenant is one for a grant: often one of the first, so that clients meet.
func (c choices) tenant() string {
	if c.IntN(2) == 0 {
		return pick(c, tenants[:4])
	}
	return pick(c, tenants)
}

// spoken is a tenant as a client with these grants writes it: it may be empty, or none.
func (c choices) spoken(right []grant, inLine bool) string {
	switch c.IntN(40) {
	case 0:
		return ""
	case 1:
		bad := []string{"a b", "é", "a/b", "a*", strings.Repeat("t", 129)}
		if !inLine {
			bad = append(bad, "a:b", "\x00", "\xff", strings.Repeat("t", 255))
		}
		return pick(c, bad)
	case 2, 3, 4, 5, 6, 7, 8:
		return c.tenant()
	}
	return pick(c, pick(c, right).tenants)
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
		return pick(c, []string{"", ".", "a.", "a..b", "a*", "#", "a b", "é", "a:b", "\xff", strings.Repeat("a", 257), strings.Repeat("a.", 32) + "a", strings.Repeat("a", 256)})
	}
	return strings.Join(c.tokens(), ".")
}

// pattern is one to subscribe to; it may be none.
func (c choices) pattern() string {
	if c.IntN(60) == 0 {
		return pick(c, []string{"", "*a", "#.a", ">.a", "a..b", "(a|b)", "?", "a:b", "a*b", "**", "é", strings.Repeat("a", 257), strings.Repeat("*.", 32) + "a", strings.Repeat("*.", 31) + "#"})
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

// rule is a pattern, or has what rules alone may have.
func (c choices) rule(subscribe bool) string {
	list := strings.Split(c.pattern(), ".")
	for i := range list {
		switch c.IntN(8) {
		case 0:
			list[i] = "(" + pick(c, tokens) + "|" + pick(c, tokens) + "*)"
		case 1:
			if subscribe {
				list[i] = "?"
			}
		}
	}
	return strings.Join(list, ".")
}

// right is a token's grants: those of most clients are wide, or little would be delivered.
func (c choices) right() []grant {
	list := make([]grant, 1+c.IntN(3))
	for i := range list {
		g := &list[i]
		for range 1 + c.IntN(6) {
			g.tenants = append(g.tenants, c.tenant())
		}
		for range c.IntN(4) {
			g.publish, g.subscribe = append(g.publish, c.legalRule(false)), append(g.subscribe, c.legalRule(true))
		}
		if c.IntN(3) > 0 {
			g.publish = append(g.publish, "#")
		}
		if c.IntN(3) > 0 {
			g.subscribe = append(g.subscribe, "#")
		}
	}
	return list
}

// legalRule draws rules until one may be in a grant.
func (c choices) legalRule(subscribe bool) string {
	kind := pattern.PublishRule
	if subscribe {
		kind = pattern.SubscribeRule
	}
	for {
		rule := c.rule(subscribe)
		if _, err := pattern.ParseRule(rule, kind); err == nil {
			return rule
		}
	}
}
