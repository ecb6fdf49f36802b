package pattern

import (
	"fmt"
	"testing"
)

var treeSizes = []int{10, 1000, 100000}

// shapes of trees: how the i-th pattern reads, and a channel that a few match.
var shapes = []struct {
	name    string
	pattern func(i int) string
	channel string
}{
	{"literals", func(i int) string { return fmt.Sprintf("game.%d.room.%d", i%100, i/100) }, "game.7.room.0"},
	{"prefixes", func(i int) string { return fmt.Sprintf("game.room%06d*", i) }, "game.room000007x"},
	{"mixed", func(i int) string {
		switch g := i / 4; i % 4 {
		case 0:
			return fmt.Sprintf("game.%d.>", g)
		case 1:
			return fmt.Sprintf("*.%d.room.*", g)
		case 2:
			return fmt.Sprintf("game.%d.r*.#", g)
		default:
			return fmt.Sprintf("game.*.room.%d", g)
		}
	}, "game.1.room.1"},
}

func BenchmarkTreeAppendMatches(b *testing.B) {
	for _, s := range shapes {
		for _, size := range treeSizes {
			b.Run(fmt.Sprintf("shape=%s/patterns=%d", s.name, size), func(b *testing.B) {
				tree := buildTree(b, size, s.pattern)
				channel, dst := []byte(s.channel), make([]int, 0, 16)
				if len(tree.AppendMatches(dst, channel)) == 0 {
					b.Fatal("nothing matches")
				}
				b.ReportAllocs()
				for b.Loop() {
					dst = tree.AppendMatches(dst[:0], channel)
				}
			})
		}
	}
}

// BenchmarkTreeInsertDelete puts one more pattern into a tree and takes it out.
func BenchmarkTreeInsertDelete(b *testing.B) {
	for _, s := range shapes {
		for _, size := range treeSizes {
			b.Run(fmt.Sprintf("shape=%s/patterns=%d", s.name, size), func(b *testing.B) {
				tree := buildTree(b, size, s.pattern)
				p := mustParse(b, s.pattern(size))
				b.ReportAllocs()
				for b.Loop() {
					tree.Insert(p, 0)
					tree.Delete(p)
				}
			})
		}
	}
}

func buildTree(b *testing.B, size int, pattern func(i int) string) *Tree[int] {
	b.Helper()
	var tree Tree[int]
	for i := range size {
		tree.Insert(mustParse(b, pattern(i)), i)
	}
	return &tree
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("game.7.room*.#"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRuleMatch(b *testing.B) {
	r, channel := mustRule(b, "game.(eu|us|a*).?.#", SubscribeRule), []byte("game.asia.room.7")
	b.ReportAllocs()
	for b.Loop() {
		if !r.Match(channel) {
			b.Fatal("no match")
		}
	}
}

func BenchmarkRuleContains(b *testing.B) {
	r, p := mustRule(b, "game.(eu|us|a*).?.#", SubscribeRule), mustParse(b, "game.asia.room.>")
	b.ReportAllocs()
	for b.Loop() {
		if !r.Contains(p) {
			b.Fatal("not contained")
		}
	}
}
