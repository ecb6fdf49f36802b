package pattern

import "strings"

// Intersects reports whether a legal channel exists that both patterns match. It does
// not allocate.
func (p Pattern) Intersects(q Pattern) bool {
	a, b := p.form, q.form
	if len(a.tokens) > len(b.tokens) {
		a, b = b, a
	}
	if len(a.tokens) == 0 || !a.open && len(a.tokens) < len(b.tokens) {
		return false // the zero Pattern; or what b matches is too long for a
	}
	bytes := len(b.tokens) - 1 // of the shortest channel: its dots, and what follows
	for i, t := range b.tokens {
		n := len(t.text)
		if i < len(a.tokens) {
			if !t.intersects(a.tokens[i]) {
				return false
			}
			n = max(n, len(a.tokens[i].text))
		}
		bytes += max(1, n) // no token is empty
	}
	return bytes <= maxBytes && len(b.tokens) <= maxTokens
}

// intersects reports whether two tokens of patterns, literals or prefixes, match the
// same name.
func (t token) intersects(o token) bool {
	switch {
	case t.kind == literal:
		return o.text == t.text || o.kind == prefix && strings.HasPrefix(t.text, o.text)
	case o.kind == literal:
		return strings.HasPrefix(o.text, t.text)
	}
	return strings.HasPrefix(o.text, t.text) || strings.HasPrefix(t.text, o.text)
}
