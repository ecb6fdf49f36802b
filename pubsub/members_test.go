package pubsub

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// Whoever has a set goes on seeing what was in it, whatever becomes of it.
func TestMembers(t *testing.T) {
	now := new(members)
	var in []*subscription
	type snapshot struct {
		set  *members
		want map[*subscription]int
	}
	var old []snapshot
	most := 0
	for round := range 120_000 {
		if grow := round/30_000%2 == 0; len(in) == 0 || rand.IntN(3) > 0 == grow {
			sub := &subscription{index: now.len()}
			now = now.with(member{sub: sub})
			in = append(in, sub)
		} else {
			i := rand.IntN(len(in))
			left, moved := now.without(in[i].index)
			moved.index = in[i].index
			now, in[i] = left, in[len(in)-1]
			in = in[:len(in)-1]
		}
		if now.len() != len(in) {
			t.Fatalf("%d members, want %d", now.len(), len(in))
		}
		most = max(most, len(now.full))
		if round%997 == 0 {
			want := map[*subscription]int{}
			for _, sub := range in {
				want[sub] = 1
			}
			old = append(old, snapshot{now, want})
		}
	}
	if most < 2 || len(now.full) == most {
		t.Errorf("the largest set had %d chunks of chunks, the last one %d", most, len(now.full))
	}
	for _, s := range old {
		got := map[*subscription]int{}
		for part := range s.set.chunks {
			for _, one := range part {
				got[one.sub]++
			}
		}
		if !maps.Equal(got, s.want) {
			t.Fatalf("%d members, or some twice, want %d", len(got), len(s.want))
		}
	}
	all := map[int]bool{}
	for _, sub := range in {
		all[sub.index] = true
	}
	equal(t, "different indexes", len(all), len(in))
}
