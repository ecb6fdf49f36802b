package pattern

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// vectors reads a file of testdata, which is written for any language: a list
// of objects, each with a comment and what to expect.
func vectors[T any](t testing.TB, file string) []T {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var list []T
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if len(list) == 0 {
		t.Fatalf("%s is empty", file)
	}
	return list
}

// matchVector has either a pattern or a rule. A rule is a subscribe rule, and a
// publish rule as well if it has no `?`.
type matchVector struct {
	Comment, Pattern, Rule, Channel string
	Expect                          bool
}

func TestMatchVectors(t *testing.T) {
	for _, v := range vectors[matchVector](t, "match.json") {
		t.Run(v.Comment, func(t *testing.T) {
			text := v.Rule
			if v.Pattern != "" {
				text = v.Pattern
				p := mustParse(t, text)
				equal(t, "pattern", p.Match(v.Channel), v.Expect)
				var tree Tree[string]
				tree.Insert(p, text)
				got := tree.AppendMatches(nil, []byte(v.Channel))
				if found := slices.Equal(got, []string{text}); found != v.Expect || !found && got != nil {
					t.Errorf("tree: %v, want match %v", got, v.Expect)
				}
			}
			for _, k := range kindsOf(text) {
				r := mustRule(t, text, k)
				equal(t, "rule", r.Match([]byte(v.Channel)), v.Expect)
				equal(t, "rule of a string", r.MatchString(v.Channel), v.Expect)
			}
		})
	}
}

func kindsOf(rule string) []RuleKind {
	if slices.Contains([]byte(rule), '?') {
		return []RuleKind{SubscribeRule}
	}
	return []RuleKind{PublishRule, SubscribeRule}
}

type containVector struct {
	Comment, Rule, Pattern string
	Expect                 bool
}

func TestContainVectors(t *testing.T) {
	for _, v := range vectors[containVector](t, "contain.json") {
		t.Run(v.Comment, func(t *testing.T) {
			for _, k := range kindsOf(v.Rule) {
				equal(t, "contains", mustRule(t, v.Rule, k).Contains(mustParse(t, v.Pattern)), v.Expect)
			}
		})
	}
}

// syntaxVector expects text to be legal as "pattern", "publish" (rule) and
// "subscribe" (rule), as far as listed.
type syntaxVector struct {
	Comment, Text string
	Expect        []string
}

func TestSyntaxVectors(t *testing.T) {
	for _, v := range vectors[syntaxVector](t, "syntax.json") {
		t.Run(v.Comment, func(t *testing.T) {
			for role, err := range parseAll(v.Text) {
				if want := slices.Contains(v.Expect, role); (err == nil) != want {
					t.Errorf("%q as %s: %v, want legal %v", v.Text, role, err, want)
				}
			}
		})
	}
}

func parseAll(s string) map[string]error {
	_, pattern := Parse(s)
	_, publish := ParseRule(s, PublishRule)
	_, subscribe := ParseRule(s, SubscribeRule)
	return map[string]error{"pattern": pattern, "publish": publish, "subscribe": subscribe}
}

func TestVectorsHaveComments(t *testing.T) {
	for _, file := range []string{"match.json", "contain.json", "syntax.json"} {
		seen := map[string]bool{}
		for i, v := range vectors[struct{ Comment string }](t, file) {
			if v.Comment == "" || seen[v.Comment] {
				t.Errorf("%s[%d]: comment %q is empty or not the only one", file, i, v.Comment)
			}
			seen[v.Comment] = true
		}
	}
}
