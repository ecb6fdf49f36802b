package pattern

import (
	"strings"
	"testing"
)

// All pairs of patterns of the worlds of the oracle against the definition: both match
// one of its channels, which have a witness for whatever two patterns leave open.
func TestIntersectsOracle(t *testing.T) {
	for _, w := range worlds() {
		t.Run(w.name, func(t *testing.T) {
			channels := sequences(w.names, nil, w.depth+1)
			patterns := subjects(t, sequences(w.patternToken, w.patternLast, w.depth), channels, false)
			met := [2]int{}
			for i := range patterns {
				for j := range patterns {
					p, q := &patterns[i], &patterns[j]
					want := false
					for _, word := range p.words {
						want = want || p.matched[word]&q.matched[word] != 0
					}
					if got := p.pattern.Intersects(q.pattern); got != want {
						t.Fatalf("%s intersects %s: %v, want %v", p.text, q.text, got, want)
					}
					if want {
						met[1]++
					} else {
						met[0]++
					}
				}
			}
			if met[0] == 0 || met[1] == 0 {
				t.Errorf("the world has pairs of one kind only: %v", met)
			}
		})
	}
}

func TestIntersects(t *testing.T) {
	long := strings.Repeat("a", 200)
	deep := strings.Repeat("a.", 31)
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"chat.#", "chat", true},
		{"chat.>", "chat", false},
		{"chat.*", "*.room", true},
		{"chat.*", "log.*", false},
		{"#", ">", true},
		{long + ".*", "*." + long, false}, // the channel would have 401 bytes
		{long + ".*", "*.bc", true},
		{deep + "a", deep + "*", true},
		{deep + ">", "#", true},
		{deep + "a>", "#", false}, // it needs 33 tokens
		{"aaa*.b", "aaaa*.*", true},
		{"ab*", "ac*", false},
	} {
		a, b := mustParse(t, c.a), mustParse(t, c.b)
		if a.Intersects(b) != c.want || b.Intersects(a) != c.want {
			t.Errorf("%s intersects %s: not %v", c.a, c.b, c.want)
		}
	}
	if (Pattern{}).Intersects(mustParse(t, "#")) || mustParse(t, "#").Intersects(Pattern{}) {
		t.Error("the zero pattern matches no channel")
	}
}
