package pattern

import "strings"

// Contains reports whether r alone allows a subscription to p: r matches every
// channel that p matches, and p has a literal token wherever r has a `?`
// (docs/protocol.md, Grants). Two rules that cover p only together do not
// contain it. It does not allocate.
func (r Rule) Contains(p Pattern) bool {
	rule, sub := r.form, p.form
	if len(rule.tokens) > len(sub.tokens) {
		return false // p matches a channel that is too short for r
	}
	if !rule.open && (sub.open || len(rule.tokens) < len(sub.tokens)) {
		return false // p matches a channel that is too long for r
	}
	for i := range rule.tokens {
		if !rule.tokens[i].covers(sub.tokens[i]) {
			return false
		}
	}
	return true
}

// covers reports whether t matches every token that the pattern's token p
// matches. Variants are judged one by one. That loses nothing: variants are
// finite in number, so a prefix always has a continuation that none of them
// foresees, unless one covers the whole prefix.
func (t token) covers(p token) bool {
	switch t.kind {
	case literal:
		return p.kind == literal && p.text == t.text
	case prefix:
		return strings.HasPrefix(p.text, t.text)
	case named:
		return p.kind == literal
	case group:
		for _, v := range t.variants {
			if v.covers(p) {
				return true
			}
		}
	}
	return false
}
