package pattern

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// tracked is a pattern that the writer inserts, replaces and deletes in turn.
// Its version k is what the k-th change leaves: nothing if k is a multiple of
// three, the value k if not. A stable pattern is replaced only.
type tracked struct {
	Pattern
	stable bool
	begun  atomic.Int64 // the last version whose change has begun
	done   atomic.Int64 // the last version whose change has returned
}

type version struct {
	of     *tracked
	number int64
}

func (p *tracked) present(k int64) bool { return p.stable || k%3 != 0 }

// change makes the next version.
func (p *tracked) change(t *testing.T, tree *Tree[version]) {
	k := p.done.Load() + 1
	p.begun.Store(k)
	if p.present(k) {
		old, replaced := tree.Insert(p.Pattern, version{p, k})
		if wanted := k > 1 && p.present(k-1); replaced != wanted || replaced && old != (version{p, k - 1}) {
			t.Errorf("%s, version %d: the old one was %d (%v)", p, k, old.number, replaced)
		}
	} else if old, ok := tree.Delete(p.Pattern); !ok || old != (version{p, k - 1}) {
		t.Errorf("%s, version %d: the old one was %d (%v)", p, k, old.number, ok)
	}
	p.done.Store(k)
}

// TestTreeConcurrent lets readers match while a writer changes the tree. Each
// match must find, of each pattern it matches, one version that the pattern had
// at one time between the match's begin and end: no version that was replaced
// before, and nothing only if the pattern was not there for a time. What a
// reader has seen, it must not see undone.
func TestTreeConcurrent(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	patterns, channels := concurrentWorld(t)
	var tree Tree[version]
	for _, p := range patterns {
		if p.stable {
			p.change(t, &tree)
		}
	}

	var stop atomic.Bool
	var begun, readers sync.WaitGroup
	for range 3 {
		begun.Add(1)
		readers.Go(func() {
			r := newTrackedReader(&tree, patterns, channels)
			r.match(t, 0)
			begun.Done()
			for i := 0; !stop.Load() && !t.Failed(); i++ {
				r.match(t, i%len(channels))
			}
			t.Logf("%d matches, %d results changed meanwhile", r.matches, r.overlaps)
		})
	}
	begun.Wait()
	for step := range 60000 {
		p := patterns[rnd.IntN(len(patterns))]
		// The tree grows and shrinks by turns.
		grow, deletes := step/1000%2 == 0, !p.present(p.done.Load()+1)
		inserts := !p.stable && p.done.Load()%3 == 0
		if (grow && deletes || !grow && inserts) && rnd.IntN(20) > 0 {
			continue
		}
		p.change(t, &tree)
		if t.Failed() {
			break
		}
	}
	stop.Store(true)
	readers.Wait()
}

// concurrentWorld returns patterns that share and fill nodes, tables and lists
// of prefixes, some of them stable, and the channels to match.
func concurrentWorld(t *testing.T) (patterns []*tracked, channels []string) {
	add := func(stable bool, texts ...string) {
		for _, text := range texts {
			patterns = append(patterns, &tracked{Pattern: mustParse(t, text), stable: stable})
		}
	}
	// Spellings of one form, and ends beside opens.
	add(true, "*.#", "room.*.>", "a.b")
	add(false, "#", ">", "*", "room.>", "room.*.*.#", "a.b.#", "a.b.>", "a.*", "a.#")
	// Paths that come and go as a whole.
	add(true, "deep.1.2.3.4")
	add(false, "deep.1.2", "deep.1.*.3.#", "deep.*.2.>", "deep.*.*.*.4", "x.y.z", "x.y*.z", "x.y*.z.>", "x*.y.>")
	// Prefixes of many lengths.
	for i := range 8 {
		add(i == 3 || i == 5, "abcdefgh"[:i]+"*.p", "q."+"abcdefgh"[:i]+"*")
	}
	// Many siblings.
	for i := range 100 {
		add(i%10 == 0, fmt.Sprintf("room.%d", i))
		add(i%10 == 5, fmt.Sprintf("room.%d*.#", i))
	}
	channels = strings.Fields("a a.b a.b.c deep.1.2 deep.1.2.3.4 deep.7.2.3.4 x.y.z x.yy.z xx.y.z abcdefgh.p abc.p q.abcdefgh q.abd")
	for i := range 25 {
		channels = append(channels, fmt.Sprintf("room.%d", i*4), fmt.Sprintf("room.%d.c", i*4))
	}
	return patterns, channels
}

type trackedReader struct {
	tree              *Tree[version]
	channels          []string
	matching          [][]*tracked       // by channel
	seen              map[*tracked]int64 // the version that the last match has shown
	found             []version
	before            []int64
	matches, overlaps int
}

func newTrackedReader(tree *Tree[version], patterns []*tracked, channels []string) *trackedReader {
	r := &trackedReader{tree: tree, channels: channels, seen: map[*tracked]int64{}}
	for _, c := range channels {
		var matching []*tracked
		for _, p := range patterns {
			if defMatch(strings.Split(p.String(), "."), strings.Split(c, ".")) {
				matching = append(matching, p)
			}
		}
		r.matching = append(r.matching, matching)
	}
	return r
}

// match matches the i-th channel and checks the result.
func (r *trackedReader) match(t *testing.T, i int) {
	r.before = r.before[:0]
	for _, p := range r.matching[i] {
		r.before = append(r.before, p.done.Load())
	}
	r.found = r.tree.AppendMatches(r.found[:0], []byte(r.channels[i]))
	r.matches++

	results := map[*tracked]int64{}
	for _, v := range r.found {
		if _, twice := results[v.of]; twice {
			t.Errorf("%s: %s is found twice", r.channels[i], v.of)
		}
		results[v.of] = v.number
	}
	for j, p := range r.matching[i] {
		first, last := r.before[j], p.begun.Load()
		if first != last {
			r.overlaps++
		}
		k, found := results[p]
		delete(results, p)
		if !found {
			// The first version without it that this can have been.
			for k = max(first, r.seen[p]); p.stable || p.present(k); k++ {
				if p.stable || k >= last {
					t.Errorf("%s: %s is not found in versions %d to %d", r.channels[i], p, first, last)
					return
				}
			}
		}
		if k < first || k < r.seen[p] || k > last {
			t.Errorf("%s: %s is found in version %d, after %d was seen and while it had versions %d to %d",
				r.channels[i], p, k, r.seen[p], first, last)
		}
		r.seen[p] = k
	}
	for p := range results {
		t.Errorf("%s: %s is found and does not match", r.channels[i], p)
	}
}
