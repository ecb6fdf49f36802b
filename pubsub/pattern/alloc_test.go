package pattern

import (
	"slices"
	"strings"
	"testing"
)

// Tokens longer than 32 bytes matter here: up to that length the compiler
// converts bytes to a string in a buffer on the stack.
var longToken = strings.Repeat("x", 100)

func TestNoAllocations(t *testing.T) {
	channel := []byte("eu." + longToken + ".c." + longToken)
	name := string(channel)
	p := mustParse(t, "eu."+longToken+"."+"*."+longToken[:50]+"#")
	r := mustRule(t, "(us|e*)."+longToken+".?.("+longToken+"|y)", SubscribeRule)
	wide := mustRule(t, "(us|e*).>", SubscribeRule)

	var tree Tree[int]
	for i, s := range []string{"#", ">", "*.#", "eu.*.c.*", "eu." + longToken + ".#", "e*." + longToken[:50] + "*.c.x>", name, "us.>"} {
		tree.Insert(mustParse(t, s), i)
	}
	dst := make([]int, 0, tree.Len())

	list, err := NewRuleList([]string{"us", r.String(), wide.String()}, SubscribeRule)
	if err != nil {
		t.Fatal(err)
	}
	texts := slices.Repeat([]string{"us.*.#", "a*.b>", name}, 100)
	if n := testing.AllocsPerRun(10, func() { _, _ = NewRuleList(texts, SubscribeRule) }); n > 10 {
		t.Errorf("a list of %d rules takes %v allocations", len(texts), n)
	}
	tests := []struct {
		name string
		run  func() bool
	}{
		{"Pattern.Match", func() bool { return p.Match(name) }},
		{"Rule.Match", func() bool { return r.Match(channel) }},
		{"Rule.MatchString", func() bool { return r.MatchString(name) }},
		{"Pattern.Shape", func() bool { return p.Shape() != 0 }},
		{"Rule.Contains", func() bool { return wide.Contains(p) }},
		{"RuleList.Match", func() bool { return list.Match(channel) == 1 }},
		{"RuleList.Contains", func() bool { return list.Contains(p) == 2 }},
		{"Tree.AppendMatches", func() bool { return len(tree.AppendMatches(dst, channel)) == 6 }},
	}
	for _, tt := range tests {
		if !tt.run() {
			t.Errorf("%s: the case does not match", tt.name)
		}
		if n := testing.AllocsPerRun(100, func() { tt.run() }); n != 0 {
			t.Errorf("%s allocates %v times", tt.name, n)
		}
	}
}
