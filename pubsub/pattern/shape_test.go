package pattern

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestShape(t *testing.T) {
	same := [][]string{
		{"a", "b", "a.b.c", "user.5"},
		{"a.*", "bcd.*"},
		{"room.5.ab*", "user.777.cd*"},
		{"a.#", "bb.#"},
		{"ab>", "cd>"},
		{"*.a", "*.bc"},
		{"#"}, {">"}, {"*"}, {"*.*"}, {"*.#"}, {"a*"}, {"abc*"}, {"a>"}, {"a#"}, {"a.*.*"}, {"*.a.*"},
	}
	seen := map[Shape]string{}
	for _, texts := range same {
		first := mustParse(t, texts[0]).Shape()
		for _, text := range texts {
			if mustParse(t, text).Shape() != first {
				t.Errorf("%s and %s have different shapes", texts[0], text)
			}
		}
		if other, known := seen[first]; known {
			t.Errorf("%s and %s have one shape", texts[0], other)
		}
		seen[first] = texts[0]
	}
	equal(t, "shape of a pattern without wildcard", mustParse(t, "a.b").Shape(), 0)
}

// What the bound rests on: of different patterns with one shape, a channel is
// matched by at most one.
func TestOneOfEachShapeMatches(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	tokens := []string{"a", "b", "ab", "ba", "aa", "a*", "b*", "ab*", "aa*", "*"}
	pick := func(from []string, n int) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = from[random.IntN(len(from))]
		}
		return strings.Join(parts, ".")
	}
	texts := map[string]bool{"#": true, ">": true}
	for len(texts) < 3000 {
		text := pick(tokens, 1+random.IntN(4))
		switch end := random.IntN(6); {
		case end == 0:
			text += ".#"
		case end == 1:
			text += ".>"
		case end == 2 && !strings.HasSuffix(text, "*"):
			text += "#"
		case end == 3 && !strings.HasSuffix(text, "*"):
			text += ">"
		}
		texts[text] = true
	}
	overlaps := 0
	for range 300 {
		channel := pick(tokens[:5], 1+random.IntN(5))
		matching := map[Shape]string{}
		for text := range texts {
			p := mustParse(t, text)
			if !p.Match(channel) {
				continue
			}
			overlaps++
			if other, known := matching[p.Shape()]; known {
				t.Fatalf("%s is matched by %s and %s, of one shape", channel, text, other)
			}
			matching[p.Shape()] = text
		}
	}
	if overlaps < 3000 {
		t.Errorf("only %d matches: the test shows nothing", overlaps)
	}
}
