package pattern

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

// The grammar of docs/protocol.md a second time, as regular expressions, for
// texts within the limits of length, tokens and variants.
const (
	reName    = `[a-zA-Z0-9_~@-]+`
	reToken   = `(?:` + reName + `\*?|\*)`
	reGroup   = `\(` + reName + `\*?(?:\|` + reName + `\*?)*\)`
	reOpen    = `(?:` + reName + `)?[>#]`
	rePublish = `(?:` + reToken + `|` + reGroup + `)`
	reSub     = `(?:` + reToken + `|` + reGroup + `|\?)`
)

var grammars = map[string]*regexp.Regexp{
	"pattern":   grammar(reToken),
	"publish":   grammar(rePublish),
	"subscribe": grammar(reSub),
}

func grammar(token string) *regexp.Regexp {
	return regexp.MustCompile(`\A(?:` + token + `\.)*(?:` + token + `|` + reOpen + `)\z`)
}

// TestGrammar compares all texts of up to five bytes over the special bytes and
// one letter with the regular expressions.
func TestGrammar(t *testing.T) {
	legal := 0
	for _, s := range append(words("a.*>#?(|)", 5), "") {
		for role, err := range parseAll(s) {
			if want := grammars[role].MatchString(s); (err == nil) != want {
				t.Fatalf("%q as %s: %v, want legal %v", s, role, err, want)
			}
			if err == nil {
				legal++
			}
		}
	}
	if legal == 0 {
		t.Error("nothing was legal")
	}
}

// TestNameBytes tries every byte as a token.
func TestNameBytes(t *testing.T) {
	const legal = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-~@*>#"
	for c := range 256 {
		s := string([]byte{byte(c)})
		if _, err := Parse(s); (err == nil) != strings.Contains(legal, s) {
			t.Errorf("byte %#x: %v", c, err)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	tests := []struct {
		text   string
		pos    int
		reason string // a part of it
	}{
		{"", 0, "empty"},
		{"a..b", 2, "empty token"},
		{"a.", 2, "empty token"},
		{strings.Repeat("a", 257), 256, "longer than 256 bytes"},
		{strings.Repeat("a.", 32) + "a", 64, "more than 32 tokens"},
		{"a.b*c", 4, "nothing may follow `*`"},
		{"*a", 1, "nothing may follow `*`"},
		{"a.#.b", 2, "last byte of the last token"},
		{"ab>c", 2, "last byte of the last token"},
		{"a.b?", 3, "only in subscribe rules, as a whole token"},
		{"a.b(c)", 3, "group"},
		{"ab.c|d", 4, "group"},
		{"ab:c", 2, "illegal byte; allowed are a-z"},
		{"a.é", 2, "illegal byte"},
		{"a.(b.c)", 4, "ends with `)`"},
		{"(b)>", 3, "nothing may follow a group"},
		{"a.(b|)", 5, "variant of a group starts"},
		{"(a|*)", 3, "variant of a group starts"},
		{"(a|b:c)", 4, "literal like `a` or a prefix like `a*`"},
		{"(a" + strings.Repeat("|b", 16) + ")", 33, "more than 16 variants"},
	}
	for _, tt := range tests {
		_, err := ParseRule(tt.text, SubscribeRule)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !errors.Is(err, ErrSyntax) {
			t.Errorf("%q: %v, want a SyntaxError", tt.text, err)
			continue
		}
		if syntax.Pos != tt.pos || !strings.Contains(syntax.Reason, tt.reason) {
			t.Errorf("%q: byte %d: %s; want byte %d: …%s…", tt.text, syntax.Pos, syntax.Reason, tt.pos, tt.reason)
		}
		if !strings.Contains(err.Error(), syntax.Reason) {
			t.Errorf("%q: the text %q lacks the reason", tt.text, err)
		}
	}

	for text, pos := range map[string]int{"a.?": 2, "a.(b)": 2} {
		var syntax *SyntaxError
		if _, err := Parse(text); !errors.As(err, &syntax) || syntax.Pos != pos {
			t.Errorf("pattern %q: %v, want byte %d", text, err, pos)
		}
	}
}

func TestString(t *testing.T) {
	equal(t, "pattern", mustParse(t, "a*.b.*.c>").String(), "a*.b.*.c>")
	equal(t, "rule", mustRule(t, "(a|b*).?.#", SubscribeRule).String(), "(a|b*).?.#")
}

// TestZero holds what the zero values promise.
func TestZero(t *testing.T) {
	var p Pattern
	var r Rule
	for _, c := range []string{"a", "a.b"} {
		if p.Match(c) || r.MatchString(c) || r.Match([]byte(c)) {
			t.Errorf("a zero value matches %s", c)
		}
	}
	for _, s := range []string{"a", "#", ">", "a.#"} {
		if r.Contains(mustParse(t, s)) {
			t.Errorf("the zero Rule contains %s", s)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, v := range vectors[syntaxVector](f, "syntax.json") {
		f.Add(v.Text, "a.b")
	}
	for _, v := range vectors[matchVector](f, "match.json") {
		f.Add(v.Pattern, v.Channel)
	}
	f.Fuzz(func(t *testing.T, s, channel string) {
		p, err := Parse(s)
		if err != nil {
			checkSyntaxError(t, s, err)
			return
		}
		if p.String() != s {
			t.Fatalf("%q prints as %q", s, p)
		}
		if !grammars["pattern"].MatchString(s) {
			t.Fatalf("%q parses", s)
		}
		got := p.Match(channel)
		for _, k := range []RuleKind{PublishRule, SubscribeRule} {
			r := mustRule(t, s, k)
			if !r.Contains(p) {
				t.Fatalf("rule %q does not contain itself", s)
			}
			if r.Match([]byte(channel)) != got || r.MatchString(channel) != got {
				t.Fatalf("%q and %q: the pattern says %v, the rule does not", s, channel, got)
			}
		}
		if want := defMatch(strings.Split(s, "."), strings.Split(channel, ".")); got != want {
			t.Fatalf("%q matches %q: %v, want %v", s, channel, got, want)
		}
	})
}

func FuzzParseRule(f *testing.F) {
	for _, v := range vectors[syntaxVector](f, "syntax.json") {
		f.Add(v.Text, "a.b")
	}
	for _, v := range vectors[matchVector](f, "match.json") {
		f.Add(v.Rule, v.Channel)
	}
	for _, v := range vectors[containVector](f, "contain.json") {
		f.Add(v.Rule, v.Pattern)
	}
	// other is tried as a channel and as a pattern.
	f.Fuzz(func(t *testing.T, s, other string) {
		r, err := ParseRule(s, SubscribeRule)
		if err != nil {
			checkSyntaxError(t, s, err)
			return
		}
		if r.String() != s {
			t.Fatalf("%q prints as %q", s, r)
		}
		if !grammars["subscribe"].MatchString(s) {
			t.Fatalf("%q parses", s)
		}
		if _, err := ParseRule(s, PublishRule); (err == nil) == strings.Contains(s, "?") {
			t.Fatalf("%q as a publish rule: %v", s, err)
		}
		tokens, names := strings.Split(s, "."), strings.Split(other, ".")
		if got, want := r.Match([]byte(other)), defMatch(tokens, names); got != want {
			t.Fatalf("%q matches %q: %v, want %v", s, other, got, want)
		}
		p, err := Parse(other)
		if err != nil {
			return
		}
		list := mustList(t, s)
		if got, want := list.Contains(p) == 0, r.Contains(p); got != want {
			t.Fatalf("%q in a list contains %q: %v, want %v", s, other, got, want)
		}
		if strings.ContainsAny(other, "*>#") {
			return
		}
		if got, want := list.Match([]byte(other)) == 0, r.MatchString(other); got != want {
			t.Fatalf("%q in a list matches %q: %v, want %v", s, other, got, want)
		}
		// A pattern without wildcards is contained when it matches as a channel.
		if got, want := r.Contains(p), r.MatchString(other); got != want {
			t.Fatalf("%q contains %q: %v, want %v", s, other, got, want)
		}
	})
}

func checkSyntaxError(t *testing.T, s string, err error) {
	t.Helper()
	var syntax *SyntaxError
	if !errors.As(err, &syntax) || syntax.Pos < 0 || syntax.Pos > len(s) || syntax.Reason == "" {
		t.Fatalf("%q: not a proper SyntaxError: %v", s, err)
	}
}
