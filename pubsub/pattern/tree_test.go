package pattern

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTreePrints(t *testing.T) {
	var tree Tree[int]
	for i, s := range []string{"a.b", "a.*", "a.>", "#", ">", "*.#", "ab>", "ab*.*.#", "abc*", "b#", "a.#", "a.bc*.d", "c.d.e"} {
		tree.Insert(mustParse(t, s), i)
	}
	want := `
a a.#=10
  b a.b=0
  * a.*=1 a.>=2
  bc*
    d a.bc*.d=11
c
  d
    e c.d.e=12
* #=3 *.#=5 >=4
b* b#=9
ab*
  * ab*.*.#=7 ab>=6
abc* abc*=8
`
	equal(t, "the tree", "\n"+tree.String(), want)
}

func TestTreeValues(t *testing.T) {
	var tree Tree[int]
	hash, gt, a := mustParse(t, "#"), mustParse(t, ">"), mustParse(t, "a")
	type result struct {
		value int
		found bool
	}
	of := func(value int, found bool) result { return result{value, found} }
	none := result{}
	equal(t, "get from an empty tree", of(tree.Get(a)), none)
	equal(t, "delete from an empty tree", of(tree.Delete(a)), none)
	equal(t, "first insert", of(tree.Insert(hash, 1)), none)
	equal(t, "second insert", of(tree.Insert(hash, 2)), result{1, true})
	// `>` has the same form as `#`, yet it is another pattern.
	equal(t, "get >", of(tree.Get(gt)), none)
	equal(t, "delete >", of(tree.Delete(gt)), none)
	tree.Insert(gt, 3)
	equal(t, "Len", tree.Len(), 2)
	if got := tree.AppendMatches([]int{9}, []byte("x.y")); !slices.Equal(got, []int{9, 2, 3}) {
		t.Errorf("matches are %v, want them appended: [9 2 3]", got)
	}
	equal(t, "delete #", of(tree.Delete(hash)), result{2, true})
	equal(t, "delete # twice", of(tree.Delete(hash)), none)
	equal(t, "get > again", of(tree.Get(gt)), result{3, true})
	equal(t, "Len", tree.Len(), 1)
}

// Whoever has had enough of the values gets no more, wherever in the tree they are.
func TestTreeAllEnds(t *testing.T) {
	var tree Tree[int]
	for i, p := range []string{"a.b", "a.b.#", "x-*.y", "x-*.y.z", "#"} {
		tree.Insert(mustParse(t, p), i)
	}
	for want := range tree.Len() + 1 {
		got := 0
		for range tree.All() { // panics if it goes on behind break
			if got++; got >= want {
				break
			}
		}
		if got != max(want, 1) {
			t.Errorf("got %d values, want %d", got, want)
		}
	}
}

// TestTreePrunes deletes a pattern and finds the tree as it was before.
func TestTreePrunes(t *testing.T) {
	var tree Tree[int]
	for _, s := range []string{"a.b", "a*.b"} {
		tree.Insert(mustParse(t, s), 1)
	}
	before := tree.String()
	for _, s := range []string{"a", "a.#", "a.b.c.d", "a.b.*.d>", "a.bc*", "b.c.d", "*", "a*", "ab*.c", "a*.bc"} {
		p := mustParse(t, s)
		tree.Insert(p, 2)
		if tree.String() == before {
			t.Errorf("%s leaves no trace", s)
		}
		tree.Delete(p)
		if got := tree.String(); got != before {
			t.Errorf("after %s came and went:\n%s\nwant\n%s", s, got, before)
		}
	}
}

// TestTreePrefixSiblings holds that a level's cost follows the number of
// lengths of its prefixes, not of the prefixes.
func TestTreePrefixSiblings(t *testing.T) {
	var tree Tree[int]
	for i := range 100 {
		tree.Insert(mustParse(t, fmt.Sprintf("a%02d*", i)), i)
		tree.Insert(mustParse(t, fmt.Sprintf("b%03d#", i)), i)
	}
	n := 0
	for l := tree.root.prefixes.first.Load(); l != nil; l = l.rest.first.Load() {
		n++
	}
	equal(t, "tables for prefixes of two lengths", n, 2)
}

// TestTreeRandom inserts and removes at random and compares with a list that is
// searched with the definition of matching.
func TestTreeRandom(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))

	for range 20 {
		var tree Tree[string]
		naive := map[string]bool{}
		share := 1 + rnd.IntN(9) // of ten steps, how many insert
		for step := range 400 {
			changeTree(t, &tree, naive, mustParse(t, randomPattern(rnd)), rnd.IntN(10) < share)
			if step%10 == 0 {
				compareTree(t, &tree, naive, randomChannel(rnd))
			}
		}
		compareOrder(t, &tree, naive, rnd)
		emptyTree(t, &tree, naive)
	}
}

// changeTree inserts or deletes a pattern, whose value is its text, and compares what was there.
func changeTree(t *testing.T, tree *Tree[string], naive map[string]bool, p Pattern, insert bool) {
	t.Helper()
	change := func() (string, bool) { return tree.Delete(p) }
	if insert {
		change = func() (string, bool) { return tree.Insert(p, p.String()) }
	}
	if old, was := change(); was != naive[p.String()] || was && old != p.String() {
		t.Fatalf("insert %s: %v: the old value is %q, %v", p, insert, old, was)
	}
	if insert {
		naive[p.String()] = true
	} else {
		delete(naive, p.String())
	}
	if _, ok := tree.Get(p); ok != insert {
		t.Fatalf("get %s: %v", p, ok)
	}
}

func randomPattern(rnd *rand.Rand) string {
	tokens := []string{"a", "b", "ab", "abc", "*", "a*", "b*", "ab*"}
	last := append([]string{">", "#", "a>", "a#", "ab>", "ab#"}, tokens...)
	return randomName(rnd, tokens, last, 4)
}

func randomChannel(rnd *rand.Rand) string {
	tokens := []string{"a", "b", "ab", "abc", "abcd", "bz", "z"}
	return randomName(rnd, tokens, tokens, 5)
}

func randomName(rnd *rand.Rand, tokens, last []string, depth int) string {
	var b strings.Builder
	for range rnd.IntN(depth) {
		b.WriteString(tokens[rnd.IntN(len(tokens))] + ".")
	}
	b.WriteString(last[rnd.IntN(len(last))])
	return b.String()
}

// compareTree compares the matches of a tree, whose values are the patterns
// themselves, with those of the patterns in naive.
func compareTree(t *testing.T, tree *Tree[string], naive map[string]bool, channel string) {
	t.Helper()
	if tree.Len() != len(naive) {
		t.Fatalf("Len is %d, want %d", tree.Len(), len(naive))
	}
	var want []string
	for s := range naive {
		if defMatch(strings.Split(s, "."), strings.Split(channel, ".")) {
			want = append(want, s)
		}
	}
	slices.Sort(want)
	got := tree.AppendMatches(nil, []byte(channel))
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Fatalf("%q: got %v, want %v in\n%s", channel, got, want, tree)
	}
}

// compareOrder builds an equal tree in another order and compares the order of
// the matches.
func compareOrder(t *testing.T, tree *Tree[string], naive map[string]bool, rnd *rand.Rand) {
	t.Helper()
	texts := slices.Sorted(maps.Keys(naive))
	rnd.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	var other Tree[string]
	for _, s := range texts {
		other.Insert(mustParse(t, s), s)
	}
	if tree.String() != other.String() {
		t.Fatalf("equal trees print differently:\n%s\n%s", tree, &other)
	}
	channel := randomChannel(rnd)
	a, b := tree.AppendMatches(nil, []byte(channel)), other.AppendMatches(nil, []byte(channel))
	if !slices.Equal(a, b) {
		t.Fatalf("%s: equal trees match in different orders:\n%v\n%v", channel, a, b)
	}
}

func emptyTree(t *testing.T, tree *Tree[string], naive map[string]bool) {
	t.Helper()
	for _, s := range slices.Sorted(maps.Keys(naive)) {
		tree.Delete(mustParse(t, s))
	}
	if tree.Len() != 0 || !tree.root.empty() {
		t.Fatalf("%d patterns remain after all were deleted:\n%s", tree.Len(), tree)
	}
}

func FuzzTree(f *testing.F) {
	f.Add("a.b a.* a.> # -a.b a*", "a.b")
	f.Add("# > *.# x> x*.>", "x.y")
	for _, v := range vectors[matchVector](f, "match.json") {
		f.Add(v.Pattern+" # -#", v.Channel)
	}
	// Each field of script is a pattern to insert or, after a `-`, to delete.
	f.Fuzz(func(t *testing.T, script, channel string) {
		var tree Tree[string]
		naive := map[string]bool{}
		for _, s := range strings.Fields(script) {
			name, isDelete := strings.CutPrefix(s, "-")
			p, err := Parse(name)
			if err != nil {
				continue
			}
			changeTree(t, &tree, naive, p, !isDelete)
		}
		compareTree(t, &tree, naive, channel)
		emptyTree(t, &tree, naive)
	})
}
