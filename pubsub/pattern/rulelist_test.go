package pattern

import (
	"errors"
	"slices"
	"testing"
)

// mustList returns the list of one rule.
func mustList(t testing.TB, text string) RuleList {
	t.Helper()
	l, err := NewRuleList([]string{text}, SubscribeRule)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return l
}

// A list says of each rule what the rule says.
func TestRuleListVectors(t *testing.T) {
	for _, v := range vectors[matchVector](t, "match.json") {
		equal(t, v.Comment, mustList(t, v.Pattern+v.Rule).Match([]byte(v.Channel)) == 0, v.Expect)
	}
	for _, v := range vectors[containVector](t, "contain.json") {
		equal(t, v.Comment, mustList(t, v.Rule).Contains(mustParse(t, v.Pattern)) == 0, v.Expect)
	}
}

func TestRuleList(t *testing.T) {
	texts := []string{"a.b", longToken + "*", "(x|y*).#", "?", string(slices.Repeat([]byte("n"), maxBytes)), "#"}
	l, err := NewRuleList(texts, SubscribeRule)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, text := range l.All() {
		equal(t, "index", i, len(got))
		got = append(got, text)
	}
	if !slices.Equal(got, texts) {
		t.Errorf("got %q", got)
	}
	for channel, want := range map[string]int{"a.b": 0, longToken + "y": 1, "yes.b": 2, texts[4]: 3, "a.c": 5} {
		equal(t, "the first that matches "+channel, l.Match([]byte(channel)), want)
		equal(t, "the first that contains "+channel, l.Contains(mustParse(t, channel)), want)
	}
	equal(t, "size", l.Size(), len("a.b")+len(longToken)+1+len("(x|y*).#")+1+maxBytes+1+len(texts))
	equal(t, "no rule", RuleList{}.Match([]byte("a"))+RuleList{}.Contains(mustParse(t, "a")), -2)
	if _, err := NewRuleList([]string{"a", "a..b"}, PublishRule); !errors.Is(err, ErrSyntax) {
		t.Errorf("got %v", err)
	}
}
