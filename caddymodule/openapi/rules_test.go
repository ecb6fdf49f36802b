package openapi

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace/millrace/pubsub/pattern"
)

// The document's expressions for rules and the grammar agree, but for the length.
func TestRulePatterns(t *testing.T) {
	doc := load(t)
	random := rand.New(rand.NewPCG(12, 7))
	pieces := []string{".", ".", "a", "B-9", "_~@", "*", "#", ">", "?", "(", ")", "|", "(eu|us*)", "(a)", "a.b", "é", " ", "a.a.a.a.a.a.a.a.a.a"}
	for schema, kind := range map[string]pattern.RuleKind{"PublishRule": pattern.PublishRule, "SubscribeRule": pattern.SubscribeRule} {
		text, _ := at(t, doc, doc, "components", "schemas", schema, "pattern").(string)
		expression := regexp.MustCompile(text)
		legal := 0
		check := func(rule string) {
			t.Helper()
			_, err := pattern.ParseRule(rule, kind)
			if got := expression.MatchString(rule); got != (err == nil) {
				t.Errorf("%s: %q matches: %v, by the grammar: %v", schema, rule, got, err)
			}
			if err == nil {
				legal++
			}
		}
		for range 20_000 {
			var b strings.Builder
			for range 1 + random.IntN(6) {
				b.WriteString(pieces[random.IntN(len(pieces))])
			}
			check(b.String())
		}
		variants := strings.Repeat("a|", 15)
		for _, rule := range []string{"", "(*)", "(" + variants + "a)", "(" + variants + "a|a)", strings.Repeat("a.", 31) + "a", strings.Repeat("a.", 32) + "a", "?.?", "x?"} {
			check(rule)
		}
		if legal < 1000 {
			t.Errorf("%s: %d rules were legal only", schema, legal)
		}
	}
}
