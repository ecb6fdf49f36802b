package cluster

import (
	"math/rand/v2"
	"strings"
)

// oracleChoices draws names, patterns and rights: few enough that they meet, at
// the limits of what is legal, and now and then beyond.
type oracleChoices struct{ *rand.Rand }

// The tenants differ in ways that an encoding, a prefix or a comparison without
// case would confuse.
var oracleTenants = []string{
	"a", "A", "a.b", "a-b", "a_b", "a.b.", ".a", ".", "..", "~", "@", "U", "D", "a.B", "0",
	strings.Repeat("t", 128), strings.Repeat("t", 127), strings.Repeat("t", 127) + "T", strings.Repeat(".", 128),
}

var oracleTokens = []string{"a", "b", "ab", "abc", "A", "-", "~", "@_", "0"}

func pick[T any](c oracleChoices, list []T) T { return list[c.IntN(len(list))] }

// tenant is one for a grant: often one of the first, so that clients meet.
func (c oracleChoices) tenant() string {
	if c.IntN(2) == 0 {
		return pick(c, oracleTenants[:4])
	}
	return pick(c, oracleTenants)
}

// spokenTenant is one as a client with these grants writes it: it may be empty,
// or none.
func (c oracleChoices) spokenTenant(right []oracleGrant, inLine bool) string {
	switch c.IntN(40) {
	case 0:
		return ""
	case 1:
		bad := []string{"a b", "a=b", "é", "a/b", "a*", strings.Repeat("t", 129)}
		if !inLine {
			bad = append(bad, "a:b", "\x00", "\xff", strings.Repeat("t", 255))
		}
		return pick(c, bad)
	}
	if c.IntN(5) == 0 {
		return c.tenant()
	}
	return pick(c, pick(c, right).tenants)
}

func (c oracleChoices) tokens() []string {
	if c.IntN(200) == 0 { // as many as there may be
		return strings.Split(strings.Repeat("a.", 31)+"a", ".")
	}
	list := make([]string, 1+c.IntN(3))
	for i := range list {
		list[i] = pick(c, oracleTokens)
	}
	return list
}

// channel is one to publish to; it may be none.
func (c oracleChoices) channel() string {
	switch c.IntN(200) {
	case 0:
		return pick(c, []string{"", ".", "a.", ".a", "a..b", "a*", "#", "a b", "é", "a:b", "\xff", strings.Repeat("a", 257), strings.Repeat("a.", 32) + "a"})
	case 1:
		return pick(c, []string{strings.Repeat("a", 256), strings.Repeat("ab.", 30) + strings.Repeat("a", 166), strings.Repeat("a.", 31) + "b"})
	}
	return strings.Join(c.tokens(), ".")
}

// pattern is one to subscribe to; it may be none.
func (c oracleChoices) pattern() string {
	if c.IntN(60) == 0 {
		return pick(c, []string{"", "*a", "a#b", "#.a", ">.a", "a>.b", "a..b", "(a|b)", "?", "a:b", "a*b", "**", "a b", "é", strings.Repeat("a", 257), strings.Repeat("*.", 32) + "a"})
	}
	return c.legalPattern()
}

func (c oracleChoices) legalPattern() string {
	if c.IntN(100) == 0 {
		return pick(c, []string{strings.Repeat("a", 256), strings.Repeat("a", 255) + "*", strings.Repeat("*.", 31) + "#"})
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
	*last = strings.TrimSuffix(*last, "*")
	switch c.IntN(5) {
	case 0:
		*last = pick(c, []string{"#", ">", "*"})
	case 1:
		*last += pick(c, []string{"#", ">", "*"})
	}
	if strings.TrimLeft(*last, "#>*") == "" && len(*last) != 1 {
		*last = "*"
	}
	return strings.Join(list, ".")
}

// rule is a pattern, or has what rules alone may have.
func (c oracleChoices) rule(forSubscribing bool) string {
	tokens := strings.Split(c.legalPattern(), ".")
	for i := range tokens {
		switch c.IntN(8) {
		case 0:
			tokens[i] = "(" + pick(c, oracleTokens) + "|" + pick(c, oracleTokens) + "*)"
		case 1:
			if forSubscribing {
				tokens[i] = "?"
			}
		}
	}
	if rule := strings.Join(tokens, "."); len(rule) <= 256 {
		return rule
	}
	return "#"
}

// right is a token's grants: those of most clients are wide, or little would be
// delivered.
func (c oracleChoices) right() []oracleGrant {
	list := make([]oracleGrant, 1+c.IntN(3))
	for i := range list {
		g := &list[i]
		for range 1 + c.IntN(6) {
			g.tenants = append(g.tenants, c.tenant())
		}
		for range c.IntN(4) {
			g.publish = append(g.publish, c.rule(false))
		}
		for range c.IntN(4) {
			g.subscribe = append(g.subscribe, c.rule(true))
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
