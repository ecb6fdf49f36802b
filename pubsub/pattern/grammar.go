// Package pattern decides which channels a subscription pattern or a grant's
// rule stands for, whether a rule contains a pattern, and, for many patterns at
// once, which of them match a channel ([Tree]).
//
// Texts are parsed once, by [Parse] or [ParseRule], into a normal form: a list
// of fixed tokens and an optional open tail (see form). Matching, containment
// and the tree work on that form alone, so `>`, `#` and their prefixed kinds
// are known to the parser only.
//
// Channels given to the match functions are expected to be legal names. Other
// bytes never cause a panic, but what they match is not promised.
//
// The normative text is docs/protocol.md, Patterns and Grants; testdata holds
// test vectors that any implementation can read.
package pattern

import (
	"errors"
	"fmt"
	"strings"
)

const (
	maxBytes  = 256 // of a pattern or a rule
	maxTokens = 32  // of a pattern or a rule, as written
)

// ErrSyntax is what every [*SyntaxError] matches with errors.Is.
var ErrSyntax = errors.New("pattern syntax error")

// SyntaxError tells where and why a pattern or rule is not legal. It holds
// nothing of the refused text, so it can be shown to any client.
type SyntaxError struct {
	Pos    int    // offset in bytes, from 0, of the first byte that cannot stand
	Reason string // what is wrong and what is allowed
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%v at byte %d: %s", ErrSyntax, e.Pos, e.Reason)
}

// Is reports whether target is [ErrSyntax].
func (e *SyntaxError) Is(target error) bool { return target == ErrSyntax }

// Pattern is a parsed subscription pattern. It is immutable and safe for
// concurrent use. The zero Pattern matches no channel.
type Pattern struct {
	text string
	form form
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// Parse parses a subscription pattern (docs/protocol.md, Patterns). The error
// is a [*SyntaxError].
func Parse(s string) (Pattern, error) {
	f, err := parse(s, dialect{})
	if err != nil {
		return Pattern{}, err
	}
	return Pattern{text: s, form: f}, nil
}

// form is the normal form: the tokens that a channel must have and, when open,
// any number of further ones.
//
//	a.b    a b           a.#    a …
//	a.>    a * …         #      * …    (no channel is empty)
//	x>     x* * …        x#     x* …
type form struct {
	tokens []token
	open   bool
}

// token is one fixed token of a form.
type token struct {
	kind     tokenKind
	text     string  // of a literal or prefix
	variants []token // of a group: literals and prefixes
}

type tokenKind uint8

const (
	literal tokenKind = iota // exactly text
	prefix                   // text and whatever follows; `*` is the empty prefix
	named                    // `?`: any token, named literally by the subscription
	group                    // any of variants
)

var anyToken = token{kind: prefix}

// dialect says how the grammar of patterns is extended.
type dialect struct {
	groups bool // (eu|us|a*)
	named  bool // ?
}

func parse(s string, d dialect) (form, error) {
	var f form
	if err := f.parse(s, d); err != nil {
		return form{}, err
	}
	return f, nil
}

// parse makes f, which may have been another form before, the form of a text.
func (f *form) parse(s string, d dialect) error {
	if s == "" {
		return &SyntaxError{0, "empty; at least one token is needed"}
	}
	if len(s) > maxBytes {
		return &SyntaxError{maxBytes, fmt.Sprintf("longer than %d bytes", maxBytes)}
	}
	f.tokens, f.open = f.tokens[:0], false
	pos := 0
	for n := 1; n <= maxTokens; n++ {
		text, _, more := strings.Cut(s[pos:], ".")
		if err := f.add(text, pos, !more, d); err != nil {
			return err
		}
		if !more {
			return nil
		}
		pos += len(text) + 1
	}
	return &SyntaxError{pos, fmt.Sprintf("more than %d tokens", maxTokens)}
}

// add appends the normal form of the token text, which starts at byte pos.
func (f *form) add(text string, pos int, last bool, d dialect) error {
	switch {
	case text == "":
		return &SyntaxError{pos, "empty token"}
	case text == "?" && d.named:
		f.tokens = append(f.tokens, token{kind: named})
		return nil
	case text[0] == '(' && d.groups:
		variants, err := parseGroup(text, pos)
		if err != nil {
			return err
		}
		f.tokens = append(f.tokens, token{kind: group, variants: variants})
		return nil
	}

	name, wildcard := cutName(text)
	switch {
	case wildcard == "":
		f.tokens = append(f.tokens, token{kind: literal, text: name})
	case wildcard == "*":
		f.tokens = append(f.tokens, token{kind: prefix, text: name})
	case wildcard == ">" && last:
		if name != "" {
			f.tokens = append(f.tokens, token{kind: prefix, text: name})
		}
		f.tokens = append(f.tokens, anyToken)
		f.open = true
	case wildcard == "#" && last:
		// A bare `#` keeps the empty prefix: no channel is empty.
		if name != "" || len(f.tokens) == 0 {
			f.tokens = append(f.tokens, token{kind: prefix, text: name})
		}
		f.open = true
	default:
		return misplaced(wildcard, pos+len(name))
	}
	return nil
}

// misplaced explains why rest, which starts at byte pos with a byte that no
// name has, cannot stand there.
func misplaced(rest string, pos int) error {
	switch rest[0] {
	case '*':
		return &SyntaxError{pos + 1, "nothing may follow `*` in its token"}
	case '>', '#':
		return &SyntaxError{pos, "`>` and `#` are legal only as the last byte of the last token"}
	case '?':
		return &SyntaxError{pos, "`?` is legal only in subscribe rules, as a whole token"}
	case '(', '|', ')':
		return &SyntaxError{pos, "a group like `(a|b*)` is legal only in rules, as a whole token"}
	}
	return &SyntaxError{pos, "illegal byte; allowed are a-z A-Z 0-9 _ - ~ @ and the wildcards * > #"}
}

// cutName splits text after its leading bytes that are legal in a name's token.
func cutName(text string) (name, rest string) {
	for i := range len(text) {
		if !nameByte(text[i]) {
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// nameByte reports whether c is legal in a token of a channel.
func nameByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '_' || c == '-' || c == '~' || c == '@'
}
