package pattern

import (
	"iter"
	"strings"
)

// RuleList is a list of rules in the space of their texts: an edge keeps one for each list of each
// token that is in use. It is immutable and safe for concurrent use; two are equal if they have the
// same rules in the same order. The zero RuleList is empty.
//
// A rule that is parsed takes up to 50 times its text. So the list is read as it was written; that
// takes no longer, as there is nothing to follow from one place of the memory to another.
type RuleList struct {
	texts string // of each rule a byte, its length less one, and its text
}

// NewRuleList returns the list of rules of a kind. The error is the [*SyntaxError] of the first that
// is none.
func NewRuleList(texts []string, k RuleKind) (RuleList, error) {
	size := 0
	var scratch form // of all, one after the other: nothing of it is kept
	for _, text := range texts {
		if err := scratch.parse(text, k.dialect()); err != nil {
			return RuleList{}, err
		}
		size += 1 + len(text)
	}
	var b strings.Builder
	b.Grow(size)
	for _, text := range texts {
		b.WriteByte(byte(len(text) - 1)) // 1 to maxBytes
		b.WriteString(text)
	}
	return RuleList{b.String()}, nil
}

// Size returns how many bytes the list takes beside itself.
func (l RuleList) Size() int { return len(l.texts) }

// All iterates over the texts of the rules, in order.
func (l RuleList) All() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i, rest := 0, l.texts; rest != ""; i++ {
			var text string
			if text, rest = cutRule(rest); !yield(i, text) {
				return
			}
		}
	}
}

// Match returns the index of the first rule that matches a channel, as [Rule.Match]; -1: none does.
// It does not allocate.
func (l RuleList) Match(channel []byte) int {
	for i, rest := 0, l.texts; rest != ""; i++ {
		var text string
		if text, rest = cutRule(rest); ruleMatches(text, channel) {
			return i
		}
	}
	return -1
}

// Contains returns the index of the first rule that contains a pattern, as [Rule.Contains]; -1: none
// does. It does not allocate.
func (l RuleList) Contains(p Pattern) int {
	for i, rest := 0, l.texts; rest != ""; i++ {
		var text string
		if text, rest = cutRule(rest); ruleContains(text, p.form) {
			return i
		}
	}
	return -1
}

func cutRule(texts string) (text, rest string) {
	n := 2 + int(texts[0])
	return texts[1:n], texts[n:]
}

// ruleMatches is [Rule.Match] for the text of a rule.
func ruleMatches(text string, channel []byte) bool {
	if text == "#" {
		return true // the rule of most tokens
	}
	n := 0
	for n < len(text) && n < len(channel) && text[n] == channel[n] {
		n++
	}
	// Most rules differ from the channel in a byte of a name, and need not be looked at closer.
	if n == len(text) || text[n] == '.' && n < len(channel) || nameByte(text[n]) {
		return n == len(text) && n == len(channel)
	}
	t, rest, more := ruleTokens{rest: text}, channel, true
	for t.next() {
		if !more {
			return false
		}
		var name []byte
		if name, rest, more = cutToken(rest); !t.token.matches(name) {
			return false
		}
	}
	return !more || t.open
}

// ruleContains is [Rule.Contains] for the text of a rule.
func ruleContains(text string, p form) bool {
	t, i := ruleTokens{rest: text}, 0
	for ; t.next(); i++ {
		if i == len(p.tokens) || !t.token.covers(p.tokens[i]) {
			return false
		}
	}
	return t.open || !p.open && i == len(p.tokens)
}

// ruleTokens goes through the normal form (see form) of the text of a rule.
type ruleTokens struct {
	rest  string // of the rule
	token ruleToken
	n     int  // tokens so far
	any   bool // any token follows
	open  bool // after the last token: whether the form is open
}

func (t *ruleTokens) next() bool {
	switch {
	case t.any:
		t.token, t.any = ruleToken{kind: prefix}, false
		return true
	case t.rest == "":
		return false
	}
	text, rest, _ := strings.Cut(t.rest, ".")
	t.rest = rest
	switch start := text[:len(text)-1]; text[len(text)-1] {
	case '>':
		t.token, t.any, t.open = ruleToken{prefix, start}, start != "", true
	case '#':
		t.token, t.open = ruleToken{prefix, start}, true
		if start == "" && t.n > 0 {
			return false
		}
	case ')':
		t.token = ruleToken{group, text[1 : len(text)-1]}
	case '?':
		t.token = ruleToken{kind: named}
	default:
		t.token = nameOrPrefix(text)
	}
	t.n++
	return true
}

// ruleToken is a token as it is written, without what says its kind; of a group, the variants.
type ruleToken struct {
	kind tokenKind
	text string
}

func nameOrPrefix(text string) ruleToken {
	if start, is := strings.CutSuffix(text, "*"); is {
		return ruleToken{prefix, start}
	}
	return ruleToken{literal, text}
}

// matches reports whether a token of a channel is one that t stands for.
func (t ruleToken) matches(name []byte) bool {
	switch t.kind {
	case literal:
		return string(name) == t.text
	case prefix:
		return len(name) >= len(t.text) && string(name[:len(t.text)]) == t.text
	case group:
		for variant := range strings.SplitSeq(t.text, "|") {
			if nameOrPrefix(variant).matches(name) {
				return true
			}
		}
		return false
	}
	return true
}

// covers is [token.covers].
func (t ruleToken) covers(p token) bool {
	if t.kind != group {
		return token{kind: t.kind, text: t.text}.covers(p)
	}
	for variant := range strings.SplitSeq(t.text, "|") {
		if nameOrPrefix(variant).covers(p) {
			return true
		}
	}
	return false
}
