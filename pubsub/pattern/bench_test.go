package pattern

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

var treeSizes = []int{10, 1000, 100000}

// shapes of trees: how the i-th pattern reads, and a channel that it matches.
var shapes = []struct {
	name             string
	pattern, channel func(i int) string
}{
	{
		"literals",
		func(i int) string { return fmt.Sprintf("game.room%06d", i) },
		func(i int) string { return fmt.Sprintf("game.room%06d", i) },
	},
	{
		"prefixes",
		func(i int) string { return fmt.Sprintf("game.room%06d*", i) },
		func(i int) string { return fmt.Sprintf("game.room%06dx", i) },
	},
	{
		"mixed",
		func(i int) string {
			return fmt.Sprintf([]string{"game.%d.>", "*.%d.room.*", "game.%d.r*.#", "game.*.room.%d"}[i%4], i/4)
		},
		func(i int) string { return fmt.Sprintf("game.%d.room.%d", i/4, i/4) },
	},
}

func eachTree(b *testing.B, run func(b *testing.B, size int, pattern, channel func(i int) string)) {
	for _, size := range treeSizes {
		for _, s := range shapes {
			b.Run(fmt.Sprintf("patterns=%d/shape=%s", size, s.name), func(b *testing.B) {
				run(b, size, s.pattern, s.channel)
			})
		}
	}
}

// BenchmarkTreeMatch asks for another channel each time, so that a large tree is not in the
// processor's caches.
func BenchmarkTreeMatch(b *testing.B) {
	eachTree(b, func(b *testing.B, size int, pattern, channel func(i int) string) {
		tree, channels := fill(parsed(b, size, pattern)), scattered(size, channel)
		dst := make([]*int, 0, 64)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			dst = tree.AppendMatches(dst[:0], channels[i&(len(channels)-1)])
		}
	})
}

// scattered are channels that one pattern each matches at least, in an order
// without order. Their number is a power of two.
func scattered(size int, channel func(i int) string) [][]byte {
	rnd := rand.New(rand.NewPCG(1, 1))
	channels := make([][]byte, 1<<14)
	for i := range channels {
		channels[i] = []byte(channel(rnd.IntN(size)))
	}
	return channels
}

// BenchmarkTreeInsertDelete puts a new pattern into a tree and takes the oldest
// out.
func BenchmarkTreeInsertDelete(b *testing.B) {
	eachTree(b, func(b *testing.B, size int, pattern, _ func(i int) string) {
		tree, patterns := fill(parsed(b, size, pattern)), parsed(b, 2*size, pattern)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			exchange(tree, patterns, i)
		}
	})
}

// exchange is the i-th change of a tree that begins with the first half of
// patterns and goes on with the half that follows, round and round.
func exchange(tree *Tree[*int], patterns []Pattern, i int) {
	tree.Insert(patterns[(i+len(patterns)/2)%len(patterns)], nil)
	tree.Delete(patterns[i%len(patterns)])
}

// BenchmarkTreeFill builds a tree. B/pattern is what it holds in the end, texts
// and values not counted.
func BenchmarkTreeFill(b *testing.B) {
	eachTree(b, func(b *testing.B, size int, pattern, _ func(i int) string) {
		patterns := parsed(b, size, pattern)
		before := heap()
		tree := fill(patterns)
		bytes := heap() - before
		runtime.KeepAlive(tree)
		b.ReportAllocs()
		for b.Loop() {
			fill(patterns)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/pattern")
		b.ReportMetric(float64(bytes)/float64(size), "B/pattern")
	})
}

func fill(patterns []Pattern) *Tree[*int] {
	tree := new(Tree[*int])
	for _, p := range patterns {
		tree.Insert(p, nil)
	}
	return tree
}

// heap returns the bytes in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func parsed(b *testing.B, size int, pattern func(i int) string) []Pattern {
	b.Helper()
	patterns := make([]Pattern, size)
	for i := range patterns {
		patterns[i] = mustParse(b, pattern(i))
	}
	return patterns
}
