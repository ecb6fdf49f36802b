package pattern

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Tree maps patterns, each distinct by its text, to values, and finds the
// values of all patterns that match a channel. The zero Tree is empty and
// ready. It has no lock: any number of readers or one writer at a time.
//
// Each level of the tree decides one token of the channel. A node is reached by
// the fixed tokens of a normal form, and there hang the values of the patterns
// with that form: ends, of patterns that match only if the channel ends here,
// and opens, of patterns that match whatever follows. Spellings of one form
// (`>`, `#` and `*.#`) share a node and keep one entry each.
//
// A node has two kinds of children. Literals are found in a map by the token.
// Prefixes are found in maps by the token's first k bytes, one map for each
// length k that occurs among the siblings; `*` is the prefix with k = 0. So a
// level costs one look-up and one more for each such length, however many
// siblings there are.
//
// A channel may go on in several children, and all are followed. Every path
// from the root is another form, so no value is found twice.
type Tree[V any] struct {
	root node[V]
	size int
}

type node[V any] struct {
	ends     []entry[V] // sorted by text
	opens    []entry[V] // sorted by text
	literals map[string]*node[V]
	prefixes []prefixes[V] // sorted by length
}

type entry[V any] struct {
	text  string
	value V
}

// prefixes are the children whose prefix has length bytes.
type prefixes[V any] struct {
	length   int
	children map[string]*node[V]
}

// Len returns the number of patterns.
func (t *Tree[V]) Len() int { return t.size }

// Insert sets the value of p. If p had one, it is returned as old.
func (t *Tree[V]) Insert(p Pattern, v V) (old V, replaced bool) {
	n := &t.root
	for _, tok := range p.form.tokens {
		n = n.makeChild(tok)
	}
	list := n.entries(p.form.open)
	i, found := search(*list, p.text)
	if found {
		old, (*list)[i].value = (*list)[i].value, v
		return old, true
	}
	*list = slices.Insert(*list, i, entry[V]{p.text, v})
	t.size++
	return old, false
}

// Get returns the value of p.
func (t *Tree[V]) Get(p Pattern) (v V, ok bool) {
	n := &t.root
	for _, tok := range p.form.tokens {
		if n = n.child(tok); n == nil {
			return v, false
		}
	}
	list := *n.entries(p.form.open)
	i, found := search(list, p.text)
	if !found {
		return v, false
	}
	return list[i].value, true
}

// Delete removes p and returns its value. Nodes left empty are removed as well.
func (t *Tree[V]) Delete(p Pattern) (v V, ok bool) {
	v, ok = t.root.remove(p, p.form.tokens)
	if ok {
		t.size--
	}
	return v, ok
}

// AppendMatches appends the values of all patterns that match channel to dst,
// each once, and returns the extended slice. It allocates only to grow dst. The
// order is not specified, but trees with the same patterns give the same order.
func (t *Tree[V]) AppendMatches(dst []V, channel []byte) []V {
	return t.root.appendMatches(dst, channel, true)
}

// appendMatches does it below n, where rest is the part of the channel that is
// not decided yet; more tells whether there is such a part.
func (n *node[V]) appendMatches(dst []V, rest []byte, more bool) []V {
	for i := range n.opens {
		dst = append(dst, n.opens[i].value)
	}
	if !more {
		for i := range n.ends {
			dst = append(dst, n.ends[i].value)
		}
		return dst
	}
	name, rest, more := cutToken(rest)
	if c := n.literals[string(name)]; c != nil {
		dst = c.appendMatches(dst, rest, more)
	}
	for _, p := range n.prefixes {
		if p.length > len(name) {
			break
		}
		if c := p.children[string(name[:p.length])]; c != nil {
			dst = c.appendMatches(dst, rest, more)
		}
	}
	return dst
}

func (n *node[V]) remove(p Pattern, tokens []token) (v V, ok bool) {
	if len(tokens) == 0 {
		list := n.entries(p.form.open)
		i, found := search(*list, p.text)
		if !found {
			return v, false
		}
		v = (*list)[i].value
		*list = slices.Delete(*list, i, i+1)
		return v, true
	}
	c := n.child(tokens[0])
	if c == nil {
		return v, false
	}
	if v, ok = c.remove(p, tokens[1:]); ok && c.empty() {
		n.dropChild(tokens[0])
	}
	return v, ok
}

func (n *node[V]) entries(open bool) *[]entry[V] {
	if open {
		return &n.opens
	}
	return &n.ends
}

func search[V any](list []entry[V], text string) (int, bool) {
	return slices.BinarySearchFunc(list, text, func(e entry[V], text string) int {
		return cmp.Compare(e.text, text)
	})
}

func (n *node[V]) empty() bool {
	return len(n.ends) == 0 && len(n.opens) == 0 && len(n.literals) == 0 && len(n.prefixes) == 0
}

// ofLength finds the place of the prefixes with length bytes.
func (n *node[V]) ofLength(length int) (int, bool) {
	return slices.BinarySearchFunc(n.prefixes, length, func(p prefixes[V], length int) int {
		return cmp.Compare(p.length, length)
	})
}

// child returns the child for tok, a literal or a prefix, or nil.
func (n *node[V]) child(tok token) *node[V] {
	if tok.kind == literal {
		return n.literals[tok.text]
	}
	if i, found := n.ofLength(len(tok.text)); found {
		return n.prefixes[i].children[tok.text]
	}
	return nil
}

func (n *node[V]) makeChild(tok token) *node[V] {
	if c := n.child(tok); c != nil {
		return c
	}
	c := new(node[V])
	if tok.kind == literal {
		if n.literals == nil {
			n.literals = make(map[string]*node[V])
		}
		n.literals[tok.text] = c
		return c
	}
	i, found := n.ofLength(len(tok.text))
	if !found {
		n.prefixes = slices.Insert(n.prefixes, i, prefixes[V]{len(tok.text), make(map[string]*node[V])})
	}
	n.prefixes[i].children[tok.text] = c
	return c
}

func (n *node[V]) dropChild(tok token) {
	if tok.kind == literal {
		delete(n.literals, tok.text)
		if len(n.literals) == 0 {
			n.literals = nil // a map that was large never shrinks
		}
		return
	}
	i, _ := n.ofLength(len(tok.text))
	delete(n.prefixes[i].children, tok.text)
	if len(n.prefixes[i].children) == 0 {
		n.prefixes = slices.Delete(n.prefixes, i, i+1)
	}
}

// String prints the tree for tests: a line for each node below the root,
// indented by depth, with the patterns that hang there and their values.
//
//	a
//	  b a.b=1
//	  * a.*=2 a.>=3
func (t *Tree[V]) String() string {
	var b strings.Builder
	t.root.print(&b, "")
	return b.String()
}

func (n *node[V]) print(b *strings.Builder, indent string) {
	child := func(label string, c *node[V]) {
		b.WriteString(indent + label)
		for _, e := range slices.Concat(c.ends, c.opens) {
			fmt.Fprintf(b, " %s=%v", e.text, e.value)
		}
		b.WriteByte('\n')
		c.print(b, indent+"  ")
	}
	for _, text := range slices.Sorted(maps.Keys(n.literals)) {
		child(text, n.literals[text])
	}
	for _, p := range n.prefixes {
		for _, text := range slices.Sorted(maps.Keys(p.children)) {
			child(text+"*", p.children[text])
		}
	}
}
