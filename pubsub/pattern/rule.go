package pattern

import (
	"fmt"
	"strings"
)

const maxVariants = 16 // of a group

// RuleKind is the list of a grant that a rule stands in. The two differ in
// grammar only: `?` is legal in subscribe rules alone.
type RuleKind uint8

// The kinds of rules.
const (
	PublishRule   RuleKind = iota // allow_channels_pub
	SubscribeRule                 // allow_channels_sub
)

func (k RuleKind) dialect() dialect { return dialect{groups: true, named: k == SubscribeRule} }

// Rule is a parsed rule of a grant. It is immutable and safe for concurrent
// use. The zero Rule matches and contains nothing that [Parse] returns.
type Rule struct {
	text string
	form form
}

// String returns the rule as it was written.
func (r Rule) String() string { return r.text }

// ParseRule parses a rule of kind k (docs/protocol.md, Grants). Every pattern
// is a legal rule of both kinds. The error is a [*SyntaxError].
func ParseRule(s string, k RuleKind) (Rule, error) {
	f, err := parse(s, k.dialect())
	if err != nil {
		return Rule{}, err
	}
	return Rule{text: s, form: f}, nil
}

// parseGroup parses a whole token that starts with `(` at byte pos.
func parseGroup(text string, pos int) ([]token, error) {
	end := strings.IndexByte(text, ')')
	if end < 0 {
		return nil, &SyntaxError{pos + len(text), "a group ends with `)` before its token ends"}
	}
	if end != len(text)-1 {
		return nil, &SyntaxError{pos + end + 1, "nothing may follow a group in its token"}
	}
	variants := make([]token, 0, min(maxVariants, 1+strings.Count(text, "|")))
	pos++
	for v := range strings.SplitSeq(text[1:end], "|") {
		if len(variants) == maxVariants {
			return nil, &SyntaxError{pos, fmt.Sprintf("more than %d variants in a group", maxVariants)}
		}
		name, rest := cutName(v)
		switch {
		case name == "":
			return nil, &SyntaxError{pos, "a variant of a group starts with a byte of a name: a-z A-Z 0-9 _ - ~ @"}
		case rest == "":
			variants = append(variants, token{kind: literal, text: name})
		case rest == "*":
			variants = append(variants, token{kind: prefix, text: name})
		default:
			return nil, &SyntaxError{pos + len(name), "a variant of a group is a literal like `a` or a prefix like `a*`"}
		}
		pos += len(v) + 1
	}
	return variants, nil
}
