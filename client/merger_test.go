package client

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
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

// play does what a script says: "c1" and "n1" have the current and the next connection bring 1,
// "+life" lets the time go by in which notes are good, "+life-" a nanosecond less.
func (s *mergerScript) play(script string) {
	pass := func(d time.Duration) func(int) { return func(int) { s.now = s.now.Add(d) } }
	does := map[string]func(n int){
		"c": s.fromCurrent, "n": s.fromNext, "left": func(int) { s.left() },
		"begins": func(int) { s.m.nextBegins(s.now) }, "joined": func(int) { s.m.nextJoined() },
		"+life": pass(noteLife), "+life-": pass(noteLife - 1), "+3life": pass(3 * noteLife),
		"+max-": pass(maxNoteLife - 1), "+": pass(1), "+hour": pass(time.Hour),
		// What there is room for.
		"notes=": func(n int) { s.m.notes.limit = n },
		"pile=":  func(n int) { s.m.maxPile = n },
		"bytes=": func(n int) { s.m.maxBytes = n },
	}
	for _, step := range strings.Fields(script) {
		verb := strings.TrimRight(step, "0123456789")
		n, _ := strconv.Atoi(step[len(verb):]) // 0 where there is none
		does[verb](n)
	}
}

func TestMover(t *testing.T) {
	for _, test := range []struct {
		name, script string
		want         []int
	}{
		{"the first alone", "c1 c2 left", []int{1, 2}},
		{"copies behind", "c1 n1 c2 n2 left", []int{1, 2}},
		{"copies ahead", "n1 n2 c1 c2 left", []int{1, 2}},
		{"only the second", "n1 c2 n2 left", []int{2, 1}},
		{"equal messages", "c1 c1 n1 n1 n1 left", []int{1, 1, 1}},
		{"late copy", "c1 left n1 n2", []int{1, 2}},
		{"late copy, once", "c1 left n1 n1", []int{1, 1}},
		{"the note is too old", "c1 left +life n1", []int{1, 1}},
		{"the note is just good", "c1 left +life- n1", []int{1}},
		{"late, as nobody gets any time", "c1 begins c2 +3life n1 c3 left +life- n2 +3life n3 + n3", []int{1, 2, 3, 3}},
		{"too late, in a long move", "begins c1 +3life c2 left +life n1 +3life n2", []int{1, 2, 1, 2}},
		{"too late, in a move without an end", "begins +hour c1 c2 +max- n1 + n2 left", []int{1, 2, 2}},
		{"too late for the second that came after another one", "begins c1 +life begins n1 left", []int{1, 1}},
		{"the second dies", "n1 joined c1 n1 left", []int{1}},
		{"a pile with a gap", "n1 n2 n3 c2 left", []int{2, 1, 3}},
		{"too many notes", "notes=2 c1 c2 c3 n2 n3 n1 left", []int{1, 2, 3, 1}},
		{"too large a pile", "pile=2 n1 n2 n3 c1 c2 left", []int{1, 2, 3}},
		{"too many bytes in the pile", "bytes=1 n1 n2 left", []int{1, 2}},
	} {
		s := newScript()
		s.play(test.script)
		if !slices.Equal(s.given, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, s.given, test.want)
		}
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
