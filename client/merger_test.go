package client

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// mergerScript drives a merger of numbered messages, as the router does.
type mergerScript struct {
	m     *merger[int]
	now   time.Time
	given []int
	late  *notes
	until time.Time // of late
}

func newScript() *mergerScript {
	return &mergerScript{m: newMerger[int](noteLife), now: time.Unix(0, 0)}
}

func of(n int) digest { return digestOf("t", "c", fmt.Append(nil, n)) }

func (s *mergerScript) fromCurrent(n int) {
	if s.m.fromCurrent(s.now, of(n)) {
		s.given = append(s.given, n)
	}
}

func (s *mergerScript) fromNext(n int) {
	switch {
	case s.late != nil:
		if !s.now.Before(s.until) || !s.late.use(s.now, of(n)) {
			s.given = append(s.given, n)
		}
	case !s.m.known(s.now, of(n)):
		s.given = append(s.given, s.m.fromNext(s.now, of(n), 1, n)...)
	}
}

func (s *mergerScript) left() {
	due, late, until := s.m.left(s.now)
	s.given = append(s.given, due...)
	s.late, s.until = late, until
}

func TestMover(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(*mergerScript)
		want []int
	}{
		{"the first alone", func(s *mergerScript) { s.fromCurrent(1); s.fromCurrent(2); s.left() }, []int{1, 2}},
		{"copies behind", func(s *mergerScript) { s.fromCurrent(1); s.fromNext(1); s.fromCurrent(2); s.fromNext(2); s.left() }, []int{1, 2}},
		{"copies ahead", func(s *mergerScript) { s.fromNext(1); s.fromNext(2); s.fromCurrent(1); s.fromCurrent(2); s.left() }, []int{1, 2}},
		{"only the second", func(s *mergerScript) { s.fromNext(1); s.fromCurrent(2); s.fromNext(2); s.left() }, []int{2, 1}},
		{"equal messages", func(s *mergerScript) {
			s.fromCurrent(1)
			s.fromCurrent(1)
			s.fromNext(1)
			s.fromNext(1)
			s.fromNext(1)
			s.left()
		}, []int{1, 1, 1}},
		{"late copy", func(s *mergerScript) { s.fromCurrent(1); s.left(); s.fromNext(1); s.fromNext(2) }, []int{1, 2}},
		{"late copy, once", func(s *mergerScript) { s.fromCurrent(1); s.left(); s.fromNext(1); s.fromNext(1) }, []int{1, 1}},
		{"the note is too old", func(s *mergerScript) { s.fromCurrent(1); s.left(); s.now = s.now.Add(noteLife); s.fromNext(1) }, []int{1, 1}},
		{"the note is just good", func(s *mergerScript) { s.fromCurrent(1); s.left(); s.now = s.now.Add(noteLife - 1); s.fromNext(1) }, []int{1}},
		{"late, in a long move", func(s *mergerScript) {
			s.fromCurrent(1)
			s.m.nextBegins(s.now)
			s.fromCurrent(2)
			s.now = s.now.Add(3 * noteLife) // nobody gets any time
			s.fromNext(1)
			s.fromCurrent(3)
			s.left()
			s.now = s.now.Add(noteLife - 1)
			s.fromNext(2)
			s.now = s.now.Add(3 * noteLife)
			s.fromNext(3)
			s.now = s.now.Add(1)
			s.fromNext(3)
		}, []int{1, 2, 3, 3}},
		{"too late, in a long move", func(s *mergerScript) {
			s.m.nextBegins(s.now)
			s.fromCurrent(1)
			s.now = s.now.Add(3 * noteLife)
			s.fromCurrent(2)
			s.left()
			s.now = s.now.Add(noteLife)
			s.fromNext(1)
			s.now = s.now.Add(3 * noteLife)
			s.fromNext(2)
		}, []int{1, 2, 1, 2}},
		{"too late, in a move without an end", func(s *mergerScript) {
			s.m.nextBegins(s.now)
			s.now = s.now.Add(time.Hour)
			s.fromCurrent(1)
			s.fromCurrent(2)
			s.now = s.now.Add(maxNoteLife - 1)
			s.fromNext(1)
			s.now = s.now.Add(1)
			s.fromNext(2)
			s.left()
		}, []int{1, 2, 2}},
		{"too late for the second that came after another one", func(s *mergerScript) {
			s.m.nextBegins(s.now)
			s.fromCurrent(1)
			s.now = s.now.Add(noteLife)
			s.m.nextBegins(s.now)
			s.fromNext(1)
			s.left()
		}, []int{1, 1}},
		{"the second dies", func(s *mergerScript) { s.fromNext(1); s.m.nextJoined(); s.fromCurrent(1); s.fromNext(1); s.left() }, []int{1}},
		{"a pile with a gap", func(s *mergerScript) { s.fromNext(1); s.fromNext(2); s.fromNext(3); s.fromCurrent(2); s.left() }, []int{2, 1, 3}},
		{"too many notes", func(s *mergerScript) {
			s.m.notes.limit = 2
			s.fromCurrent(1)
			s.fromCurrent(2)
			s.fromCurrent(3)
			s.fromNext(2)
			s.fromNext(3)
			s.fromNext(1)
			s.left()
		}, []int{1, 2, 3, 1}},
		{"too large a pile", func(s *mergerScript) {
			s.m.maxPile = 2
			s.fromNext(1)
			s.fromNext(2)
			s.fromNext(3)
			s.fromCurrent(1)
			s.fromCurrent(2)
			s.left()
		}, []int{1, 2, 3}},
		{"too many bytes in the pile", func(s *mergerScript) { s.m.maxBytes = 1; s.fromNext(1); s.fromNext(2); s.left() }, []int{1, 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScript()
			test.run(s)
			if !slices.Equal(s.given, test.want) {
				t.Errorf("got %v, want %v", s.given, test.want)
			}
		})
	}
}

// Messages of several publishers run through two edges, each at its own speed. The
// application must get each once, those of one publisher in order.
func TestMoverOracle(t *testing.T) {
	for seed := range uint64(3000) {
		must(t, oracle(rand.New(rand.NewPCG(seed, 1))))
	}
}

func oracle(random *rand.Rand) error {
	const publishers, each = 3, 12
	s := newScript()
	// The messages in the order in which each edge has them: those of one publisher
	// keep theirs.
	shuffle := func() []int {
		var order []int
		next := [publishers]int{}
		for len(order) < publishers*each {
			if p := random.IntN(publishers); next[p] < each {
				order = append(order, p*each+next[p])
				next[p]++
			}
		}
		return order
	}
	first, second := shuffle(), shuffle()
	// The next connection subscribes when some messages have passed its edge: these
	// have passed, or will pass, the current one.
	missed := map[int]bool{}
	for range random.IntN(len(second)) {
		missed[second[0]] = true
		second = second[1:]
	}
	// The current connection delivers what the next one missed, and perhaps more.
	least := 0
	for i, n := range first {
		if missed[n] {
			least = i + 1
		}
	}
	until := least + random.IntN(len(first)-least+1)
	for at := 0; at < until || len(second) > 0; {
		s.now = s.now.Add(time.Duration(random.IntN(20)) * time.Millisecond / 2)
		switch {
		case at < until && (len(second) == 0 || random.IntN(2) == 0):
			s.fromCurrent(first[at])
			if at++; at == until {
				s.left()
			}
		case len(second) > 0 && (at < until || s.late != nil):
			s.fromNext(second[0])
			second = second[1:]
		default: // nothing of the current one: it is left at once
			s.left()
		}
	}
	if s.late == nil {
		s.left()
	}
	return check(s.given, publishers, each)
}

func check(given []int, publishers, each int) error {
	if len(given) != publishers*each {
		return fmt.Errorf("%d messages, want %d: %v", len(given), publishers*each, given)
	}
	next := make([]int, publishers)
	for _, n := range given {
		if p := n / each; n%each != next[p] {
			return fmt.Errorf("publisher %d: got %d, want %d: %v", p, n%each, next[p], given)
		}
		next[n/each]++
	}
	return nil
}
