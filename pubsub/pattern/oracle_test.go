package pattern

import (
	"slices"
	"strings"
	"testing"
)

// The oracle: in small worlds, every rule × pattern × channel is compared with
// the definition of docs/protocol.md, which is written down here a second time,
// on texts and without the normal form.

// defMatch is the definition of matching, for patterns and rules.
func defMatch(tokens, channel []string) bool {
	if len(tokens) == 0 {
		return len(channel) == 0
	}
	head := tokens[0]
	if len(tokens) == 1 {
		start := head[:len(head)-1]
		switch {
		case head == ">":
			return len(channel) >= 1
		case head == "#":
			return true
		case strings.HasSuffix(head, ">"):
			return len(channel) >= 2 && strings.HasPrefix(channel[0], start)
		case strings.HasSuffix(head, "#"):
			return len(channel) >= 1 && strings.HasPrefix(channel[0], start)
		}
	}
	return len(channel) > 0 && defToken(head, channel[0]) && defMatch(tokens[1:], channel[1:])
}

func defToken(token, name string) bool {
	switch {
	case token == "*" || token == "?":
		return true
	case token[0] == '(':
		variants := strings.Split(token[1:len(token)-1], "|")
		return slices.ContainsFunc(variants, func(v string) bool { return defToken(v, name) })
	case strings.HasSuffix(token, "*"):
		return strings.HasPrefix(name, token[:len(token)-1])
	}
	return token == name
}

// defContains is the definition of containment: each channel that the pattern
// matches is matched by the rule, and the pattern is literal where the rule has
// a `?`. A place is literal when all matched channels have the same token
// there, which needs no look at the pattern's syntax.
func defContains(rule, pattern *subject) bool {
	for i, token := range rule.tokens {
		if token == "?" && (i >= len(pattern.literal) || !pattern.literal[i]) {
			return false
		}
	}
	for _, w := range pattern.words {
		if pattern.matched[w]&^rule.matched[w] != 0 {
			return false
		}
	}
	return true
}

// world is a finite universe in which the definition of containment is exact:
// its channels are one token deeper and, in the letter z that no rule and no
// pattern has, one letter longer than any rule or pattern. So whatever a
// pattern leaves open has a witness that no list of literals and prefixes
// foresees.
type world struct {
	name         string
	depth        int      // of rules and patterns
	names        []string // tokens of the channels
	ruleTokens   []string
	ruleLast     []string // legal as the last token only
	patternToken []string
	patternLast  []string
}

func worlds() []world {
	short := words("abz", 2)
	return []world{
		{
			// All tokens with literals of up to two letters, all groups of up to two variants.
			name: "tokens", depth: 1, names: words("abz", 3),
			ruleTokens:   slices.Concat([]string{"*", "?"}, words("ab", 2), suffixed(words("ab", 2), "*"), groups(words("ab", 2))),
			ruleLast:     slices.Concat([]string{">", "#"}, suffixed(words("ab", 2), ">"), suffixed(words("ab", 2), "#")),
			patternToken: slices.Concat([]string{"*"}, words("ab", 2), suffixed(words("ab", 2), "*")),
			patternLast:  slices.Concat([]string{">", "#"}, suffixed(words("ab", 2), ">"), suffixed(words("ab", 2), "#")),
		},
		{
			// The same for one letter, two deep.
			name: "pairs", depth: 2, names: short,
			ruleTokens:   slices.Concat([]string{"a", "b", "a*", "b*", "*", "?"}, groups([]string{"a", "b"})),
			ruleLast:     []string{">", "#", "a>", "b>", "a#", "b#"},
			patternToken: []string{"a", "b", "a*", "b*", "*"},
			patternLast:  []string{">", "#", "a>", "b>", "a#", "b#"},
		},
		{
			name: "triples", depth: 3, names: short,
			ruleTokens:   []string{"a", "a*", "*", "?", "(a|b*)"},
			ruleLast:     []string{">", "#", "a>", "a#"},
			patternToken: []string{"a", "b", "a*", "*"},
			patternLast:  []string{">", "#", "a>", "a#"},
		},
		{
			// Literals and prefixes of one letter tell longer names apart by their
			// first letter only, so one longer name for each of a and b is enough;
			// z and zz are the same to them. The worlds above have all names.
			name: "deep", depth: 4, names: []string{"a", "b", "z", "az", "bz"},
			ruleTokens:   []string{"a", "a*", "*", "?", "(a|b*)"},
			ruleLast:     []string{">", "#", "a>", "a#"},
			patternToken: []string{"a", "b", "a*", "*"},
			patternLast:  []string{">", "#", "a>", "a#"},
		},
	}
}

// words returns all words of 1 to n letters.
func words(letters string, n int) []string {
	all, longest := []string(nil), []string{""}
	for range n {
		var next []string
		for _, w := range longest {
			for _, c := range letters {
				next = append(next, w+string(c))
			}
		}
		all, longest = append(all, next...), next
	}
	return all
}

func suffixed(words []string, suffix string) []string {
	var out []string
	for _, w := range words {
		out = append(out, w+suffix)
	}
	return out
}

// groups returns all groups of one or two variants, literals and prefixes.
func groups(words []string) []string {
	variants := append(suffixed(words, ""), suffixed(words, "*")...)
	var out []string
	for i, v := range variants {
		out = append(out, "("+v+")")
		for _, w := range variants[i+1:] {
			out = append(out, "("+v+"|"+w+")")
		}
	}
	return out
}

// sequences returns all lists of 1 to depth tokens; last are legal at the end only.
func sequences(tokens, last []string, depth int) [][]string {
	all, heads := [][]string(nil), [][]string{nil}
	for range depth {
		var next [][]string
		for _, h := range heads {
			for _, t := range tokens {
				next = append(next, append(slices.Clone(h), t))
			}
			for _, t := range last {
				all = append(all, append(slices.Clone(h), t))
			}
		}
		all, heads = append(all, next...), next
	}
	return all
}

// subject is a rule or pattern with the channels it matches, as a bit set.
type subject struct {
	text    string
	tokens  []string
	rule    Rule
	list    RuleList // of the rule alone
	pattern Pattern
	matched []uint64
	words   []int  // indexes of the nonzero words of matched
	literal []bool // by place: all matched channels have the same token here
}

func TestOracle(t *testing.T) {
	for _, w := range worlds() {
		t.Run(w.name, func(t *testing.T) {
			channels := sequences(w.names, nil, w.depth+1)
			rules := subjects(t, sequences(w.ruleTokens, w.ruleLast, w.depth), channels, true)
			patterns := subjects(t, sequences(w.patternToken, w.patternLast, w.depth), channels, false)
			contained := 0
			for i := range rules {
				for j := range patterns {
					r, p := &rules[i], &patterns[j]
					want := defContains(r, p)
					if got, listed := r.rule.Contains(p.pattern), r.list.Contains(p.pattern) == 0; got != want || listed != want {
						t.Fatalf("rule %s contains %s: %v, in a list %v, want %v", r.text, p.text, got, listed, want)
					}
					if want {
						contained++
					}
				}
			}
			if contained == 0 {
				t.Error("the world holds no containment")
			}
		})
	}
}

// subjects parses all texts and compares all their matches with the definition.
func subjects(t *testing.T, texts, channels [][]string, asRules bool) []subject {
	t.Helper()
	names := make([]string, len(channels))
	for i, c := range channels {
		names[i] = strings.Join(c, ".")
	}
	out := make([]subject, len(texts))
	buf := make([]byte, 0, maxBytes)
	for i, tokens := range texts {
		s := subject{
			text: strings.Join(tokens, "."), tokens: tokens,
			matched: make([]uint64, (len(channels)+63)/64),
		}
		if asRules {
			kind := PublishRule
			if slices.Contains(tokens, "?") {
				kind = SubscribeRule
			}
			s.rule, s.list = mustRule(t, s.text, kind), mustList(t, s.text)
		} else {
			s.pattern = mustParse(t, s.text)
		}
		var first []string
		for j, c := range channels {
			var got bool
			if asRules {
				buf = append(buf[:0], names[j]...)
				if got = s.rule.Match(buf); got != (s.list.Match(buf) == 0) {
					t.Fatalf("%s matches %s: %v, and not so in a list", s.text, names[j], got)
				}
			} else {
				got = s.pattern.Match(names[j])
			}
			want := defMatch(tokens, c)
			if got != want {
				t.Fatalf("%s matches %s: %v, want %v", s.text, names[j], got, want)
			}
			if !want {
				continue
			}
			s.matched[j/64] |= 1 << (j % 64)
			if first == nil {
				first = c
				s.literal = slices.Repeat([]bool{true}, len(c))
			}
			for k := range s.literal {
				if k >= len(c) || c[k] != first[k] {
					s.literal[k] = false
				}
			}
		}
		if first == nil {
			t.Fatalf("%s matches no channel of the world", s.text)
		}
		for k, bits := range s.matched {
			if bits != 0 {
				s.words = append(s.words, k)
			}
		}
		out[i] = s
	}
	return out
}

func mustParse(t testing.TB, s string) Pattern {
	t.Helper()
	p, err := Parse(s)
	if err != nil {
		t.Fatalf("pattern %q: %v", s, err)
	}
	return p
}

func mustRule(t testing.TB, s string, k RuleKind) Rule {
	t.Helper()
	r, err := ParseRule(s, k)
	if err != nil {
		t.Fatalf("rule %q: %v", s, err)
	}
	return r
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
