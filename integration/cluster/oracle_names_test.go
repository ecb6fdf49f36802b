package cluster

import (
	"regexp"
	"strings"
	"sync"
)

// What docs/protocol.md says of names, patterns and rules, written down a second
// time and in another way than the code: [TestOracle] compares the two.

const nameClass = `[A-Za-z0-9_~@-]`

var (
	oracleTenant  = regexp.MustCompile(`^[A-Za-z0-9_~@.-]{1,128}$`)
	oracleChannel = regexp.MustCompile(`^` + nameClass + `+(\.` + nameClass + `+){0,31}$`)
	oraclePattern = regexp.MustCompile(`^((` + nameClass + `+\*?|\*)\.){0,31}(` + nameClass + `+[*#>]?|[*#>])$`)
)

func legalTenant(name string) bool { return oracleTenant.MatchString(name) }

func legalChannel(name string) bool { return len(name) <= 256 && oracleChannel.MatchString(name) }

func legalPattern(text string) bool { return len(text) <= 256 && oraclePattern.MatchString(text) }

// channelExpressions are the regular expressions of patterns and rules, by text.
var channelExpressions sync.Map

// covers reports whether a channel is one of those that a pattern, or a rule for
// publishing, stands for.
func covers(pattern, channel string) bool {
	known, ok := channelExpressions.Load(pattern)
	if !ok {
		known, _ = channelExpressions.LoadOrStore(pattern, regexp.MustCompile(channelExpression(pattern)))
	}
	return known.(*regexp.Regexp).MatchString(channel)
}

func channelExpression(pattern string) string {
	const token, more = `[^.]+`, `(\.[^.]+)`
	if pattern == "#" {
		return `^.*$`
	}
	var b strings.Builder
	b.WriteByte('^')
	for i, text := range strings.Split(pattern, ".") {
		dot := `\.`
		if i == 0 {
			dot = ""
		}
		switch {
		case text == "#":
			b.WriteString(more + `*`)
		case text == ">":
			b.WriteString(dot + token + more + `*`)
		case strings.HasPrefix(text, "("):
			var variants []string
			for _, v := range strings.Split(strings.Trim(text, "()"), "|") {
				variants = append(variants, tokenExpression(v))
			}
			b.WriteString(dot + `(` + strings.Join(variants, "|") + `)`)
		case text == "?" || text == "*":
			b.WriteString(dot + token)
		case strings.HasSuffix(text, "#"):
			b.WriteString(dot + tokenExpression(text[:len(text)-1]+"*") + more + `*`)
		case strings.HasSuffix(text, ">"):
			b.WriteString(dot + tokenExpression(text[:len(text)-1]+"*") + more + `+`)
		default:
			b.WriteString(dot + tokenExpression(text))
		}
	}
	return b.String() + `$`
}

// shapeOf is a pattern without its names; empty: it has no wildcard.
func shapeOf(pattern string) string {
	if !strings.ContainsAny(pattern, "*>#") {
		return ""
	}
	tokens := strings.Split(pattern, ".")
	for i, text := range tokens {
		if at := strings.IndexAny(text, "*>#"); at >= 0 {
			tokens[i] = strings.Repeat("x", at) + text[at:]
		} else {
			tokens[i] = "literal"
		}
	}
	return strings.Join(tokens, ".")
}

func tokenExpression(text string) string {
	if start, ok := strings.CutSuffix(text, "*"); ok {
		return regexp.QuoteMeta(start) + `[^.]*`
	}
	return regexp.QuoteMeta(text)
}

// contains reports whether a rule for subscribing contains a pattern
// (docs/protocol.md, Grants).
func contains(rule, pattern string) bool {
	fixed, tail := normalForm(rule)
	asked, askedTail := normalForm(pattern)
	if tail && len(fixed) > len(asked) || !tail && (len(fixed) != len(asked) || askedTail) {
		return false
	}
	for i := range fixed {
		if !tokenContains(fixed[i], asked[i]) {
			return false
		}
	}
	return true
}

// normalForm is the table of that name in docs/protocol.md.
func normalForm(text string) (fixed []string, tail bool) {
	fixed = strings.Split(text, ".")
	last := fixed[len(fixed)-1]
	before := fixed[:len(fixed)-1]
	switch {
	case text == "#", last == ">":
		return append(before, "*"), true
	case last == "#":
		return before, true
	case strings.HasSuffix(last, "#"):
		return append(before, last[:len(last)-1]+"*"), true
	case strings.HasSuffix(last, ">"):
		return append(before, last[:len(last)-1]+"*", "*"), true
	}
	return fixed, false
}

// tokenContains is the table of what a rule's token covers.
func tokenContains(rule, asked string) bool {
	literal := !strings.Contains(asked, "*")
	switch {
	case rule == "*":
		return true
	case rule == "?":
		return literal
	case strings.HasPrefix(rule, "("):
		for _, v := range strings.Split(strings.Trim(rule, "()"), "|") {
			if tokenContains(v, asked) {
				return true
			}
		}
		return false
	case strings.HasSuffix(rule, "*"):
		return strings.HasPrefix(strings.TrimSuffix(asked, "*"), rule[:len(rule)-1])
	}
	return rule == asked
}
