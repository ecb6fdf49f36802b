package main

import (
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	nats "github.com/nats-io/nats-server/v2/server"

	"github.com/millrace/millrace/pubsub/pattern"
)

// What follows compares the pattern tree with nats-server's sublist, for
// patterns that both know. To see them side by side:
//
//	go test -run='^$' -bench='Tree|Sublist' -count=6 . | benchstat -col .name -row /patterns,/shape,/channels -

var patternCounts = []int{10, 1000, 100000}

// shapes of pattern sets: how the i-th of n reads, and the k-th channel, which
// a few match.
var shapes = []struct {
	name    string
	pattern func(i int) string
	channel func(k, n int) string
}{
	{
		"literals",
		func(i int) string { return fmt.Sprintf("game.%d.room.%d", i%100, i/100) },
		func(k, n int) string { return fmt.Sprintf("game.%d.room.%d", k%n%100, k%n/100) },
	},
	{
		"wildcards",
		func(i int) string {
			switch g := i / 3; i % 3 {
			case 0:
				return fmt.Sprintf("game.%d.>", g)
			case 1:
				return fmt.Sprintf("*.%d.room.*", g)
			default:
				return fmt.Sprintf("game.*.room.%d", g)
			}
		},
		func(k, n int) string { return fmt.Sprintf("game.%d.room.%d", k%(n/3), k*7%(n/3)) },
	},
}

// trafficChannels is how many channels the traffic goes to in turn: one, or more
// than the sublist's cache holds.
var trafficChannels = []int{1, 4096}

func BenchmarkTree(b *testing.B) {
	eachShape(b, func(b *testing.B, patterns []string, channels [][]byte) {
		tree := newTree(b, patterns)
		dst, i := make([]string, 0, 16), 0
		for b.Loop() {
			dst = tree.AppendMatches(dst[:0], channels[i])
			if i++; i == len(channels) {
				i = 0
			}
		}
		if len(dst) == 0 {
			b.Fatal("nothing matches")
		}
	})
}

func BenchmarkSublist(b *testing.B) { benchmarkSublist(b, nats.NewSublistNoCache) }

func BenchmarkSublistCached(b *testing.B) { benchmarkSublist(b, nats.NewSublistWithCache) }

func benchmarkSublist(b *testing.B, make func() *nats.Sublist) {
	eachShape(b, func(b *testing.B, patterns []string, channels [][]byte) {
		list := newSublist(b, make(), patterns)
		i := 0
		for b.Loop() {
			list.MatchBytes(channels[i])
			if i++; i == len(channels) {
				i = 0
			}
		}
		if matchCount(list, channels[0]) == 0 {
			b.Fatal("nothing matches")
		}
	})
}

func eachShape(b *testing.B, run func(b *testing.B, patterns []string, channels [][]byte)) {
	for _, n := range patternCounts {
		for _, s := range shapes {
			for _, m := range trafficChannels {
				b.Run(fmt.Sprintf("patterns=%d/shape=%s/channels=%d", n, s.name, m), func(b *testing.B) {
					patterns, channels := make([]string, n), make([][]byte, m)
					for i := range patterns {
						patterns[i] = s.pattern(i)
					}
					for k := range channels {
						channels[k] = []byte(s.channel(k, n))
					}
					b.ReportAllocs()
					run(b, patterns, channels)
				})
			}
		}
	}
}

// TestTreeAndSublistAgree keeps the comparison honest: both find the same number.
func TestTreeAndSublistAgree(t *testing.T) {
	for _, s := range shapes {
		for _, n := range []int{10, 1000} {
			patterns := make([]string, n)
			for i := range patterns {
				patterns[i] = s.pattern(i)
			}
			tree, list := newTree(t, patterns), newSublist(t, nats.NewSublistNoCache(), patterns)
			for k := range 2 * n {
				channel := []byte(s.channel(k, n))
				ours, theirs := len(tree.AppendMatches(nil, channel)), matchCount(list, channel)
				if ours != theirs || ours == 0 {
					t.Fatalf("%s, %d patterns, %s: the tree finds %d, the sublist %d", s.name, n, channel, ours, theirs)
				}
			}
		}
	}
}

func newTree(tb testing.TB, patterns []string) *pattern.Tree[string] {
	tb.Helper()
	tree := new(pattern.Tree[string])
	for _, text := range patterns {
		p, err := pattern.Parse(text)
		if err != nil {
			tb.Fatal(err)
		}
		tree.Insert(p, text)
	}
	return tree
}

// newSublist fills a list. Its Insert takes a type that is not exported, and
// it needs the subject alone: hence the detour.
func newSublist(tb testing.TB, list *nats.Sublist, patterns []string) *nats.Sublist {
	tb.Helper()
	insert := reflect.ValueOf(list).MethodByName("Insert")
	for _, text := range patterns {
		sub := reflect.New(insert.Type().In(0).Elem())
		subject := sub.Elem().FieldByName("subject")
		*(*[]byte)(unsafe.Pointer(subject.UnsafeAddr())) = []byte(text)
		if err, _ := insert.Call([]reflect.Value{sub})[0].Interface().(error); err != nil {
			tb.Fatal(err)
		}
	}
	return list
}

func matchCount(list *nats.Sublist, channel []byte) int {
	return reflect.ValueOf(list.MatchBytes(channel)).Elem().FieldByName("psubs").Len()
}
