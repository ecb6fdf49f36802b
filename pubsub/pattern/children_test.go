package pattern

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// family is a children with what should be in it.
type family struct {
	children[int]
	nodes map[string]*node[int]
}

// begin adds a child and fills it; end empties it and drops it.
func (f *family) begin(t *testing.T, text string) {
	t.Helper()
	n := f.add(text)
	if n == nil || n.text != text || !n.empty() {
		t.Fatalf("add %q gives %v", text, n)
	}
	n.ends.push(entry[int]{text: text})
	if f.add(text) != n {
		t.Fatalf("%q is added twice", text)
	}
	f.nodes[text] = n
}

func (f *family) end(text string) {
	f.nodes[text].ends.pop()
	delete(f.nodes, text)
	f.drop()
}

// check compares all children, and the table's account.
func (f *family) check(t *testing.T, texts []string) {
	t.Helper()
	for _, text := range texts {
		f.checkOne(t, text)
	}
	if len(f.sorted()) != len(f.nodes) || f.empty() != (len(f.nodes) == 0) {
		t.Fatalf("%d children, empty: %v; want %d", len(f.sorted()), f.empty(), len(f.nodes))
	}
	if f.empty() {
		return
	}
	table := f.table.Load()
	taken := 0
	for i := range table.slots {
		if table.slots[i].Load() != nil {
			taken++
		}
	}
	switch slots := len(table.slots); {
	case table.used != len(f.nodes) || table.taken != taken:
		t.Fatalf("%d children, %d slots taken; the table counts %d and %d", len(f.nodes), taken, table.used, table.taken)
	case slots&(slots-1) != 0 || taken > slots/3+1 || taken == slots:
		t.Fatalf("%d of %d slots are taken", taken, slots)
	case taken > 2*len(f.nodes) || slots > 16*len(f.nodes):
		t.Fatalf("%d slots, %d taken, for %d children", slots, taken, len(f.nodes))
	}
}

func (f *family) checkOne(t *testing.T, text string) {
	t.Helper()
	n := f.get([]byte(text))
	if want := f.nodes[text]; want != nil && n != want || want == nil && n != nil && !n.empty() {
		t.Fatalf("child %q is %v, want %v", text, n, want)
	}
}

// numbers are n texts; one is empty, as that of the child of `*`.
func numbers(n int) []string {
	texts := make([]string, n)
	for i := range texts[1:] {
		texts[i+1] = strconv.Itoa(i)
	}
	return texts
}

// TestChildrenGrowAndShrink adds and drops in different orders and counts what
// the new tables cost: a constant number of slots for a change.
func TestChildrenGrowAndShrink(t *testing.T) {
	const size = 500
	texts := numbers(size)
	rnd := rand.New(rand.NewPCG(3, 4))
	tests := []struct {
		name string
		next func(step int) (i int) // the child that comes or goes
	}{
		{"first out first", func(step int) int { return step % size }},
		{"one", func(int) int { return 0 }},
		{"random", func(int) int { return rnd.IntN(size) }},
		{"random few", func(int) int { return rnd.IntN(5) }},
		// As many stay: each step replaces one child by one that is new.
		{"replaced", func(step int) int {
			if step < 100 {
				return step
			}
			step -= 100
			return (step/2 + 100*(1-step%2)) % size
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := family{nodes: map[string]*node[int]{}}
			var last *table[int]
			steps, slots := 6*size, 0
			for step := range steps {
				text := texts[tt.next(step)]
				if f.nodes[text] == nil {
					f.begin(t, text)
				} else {
					f.end(text)
				}
				if table := f.table.Load(); table != nil && table != last {
					slots += len(table.slots)
					last = table
				}
				if step%29 == 0 {
					f.check(t, texts)
				}
			}
			f.check(t, texts)
			if slots > 16*steps {
				t.Errorf("%d slots were made in %d steps", slots, steps)
			}
			for _, text := range texts {
				if f.nodes[text] != nil {
					f.end(text)
				}
			}
			f.check(t, texts)
		})
	}
}

// TestChildrenReaders keeps tables that readers could still hold and finds in
// them all children that have been there since.
func TestChildrenReaders(t *testing.T) {
	texts := numbers(60)
	rnd := rand.New(rand.NewPCG(5, 6))
	f := family{nodes: map[string]*node[int]{}}
	type reader struct {
		table  *table[int]
		stable map[string]*node[int]
	}
	var readers []reader
	for step := range 2000 {
		text := texts[rnd.IntN(len(texts))]
		switch fill := step/200%2 == 0; {
		case f.nodes[text] == nil && (fill || rnd.IntN(10) == 0):
			f.begin(t, text)
		case f.nodes[text] != nil && (!fill || rnd.IntN(10) == 0):
			f.end(text)
			for _, r := range readers {
				delete(r.stable, text)
			}
		}
		if table := f.table.Load(); table != nil {
			r := reader{table, map[string]*node[int]{}}
			for text, n := range f.nodes {
				r.stable[text] = n
			}
			readers = append(readers, r)
		}
		for _, r := range readers {
			for text, n := range r.stable {
				if got := r.table.get([]byte(text)); got != n {
					t.Fatalf("%q was there all the time, yet %v is found", text, got)
				}
			}
			if n := r.table.get([]byte("nobody")); n != nil {
				t.Fatalf("a child that never was is found: %v", n)
			}
		}
		if len(readers) > 10 {
			i := rnd.IntN(len(readers))
			readers[i] = readers[len(readers)-1]
			readers = readers[:len(readers)-1]
		}
	}
}
