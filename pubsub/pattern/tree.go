package pattern

import (
	"cmp"
	"fmt"
	"iter"
	"strings"
)

// Tree maps patterns, each distinct by its text, to values, and finds the
// values of all patterns that match a channel. The zero Tree is empty and
// ready.
//
// AppendMatches is safe for any number of goroutines, also while one of the
// other methods runs. Of these the caller lets one run at a time.
//
// Each level of the tree decides one token of the channel. A node is reached by
// the fixed tokens of a normal form, and there hang the values of the patterns
// with that form: ends, of patterns that match only if the channel ends here,
// and opens, of patterns that match whatever follows. Spellings of one form
// (`>`, `#` and `*.#`) share a node and keep one entry each.
//
// A node has two kinds of children. Literals are found in a table by the token.
// Prefixes are found in tables by the token's first k bytes, one table for each
// length k that occurs among the siblings; `*` is the prefix with k = 0. So a
// level costs one look-up and one more for each such length, however many
// siblings there are.
//
// A channel may go on in several children, and all are followed. Every path
// from the root is another form, so no value is found twice.
//
// There is no lock, as all that can change is a [list] or [children]: both let
// readers find what stays while the writer changes something else. A pattern
// comes and goes with its entry, in one atomic step; its path is made before
// and taken down after.
type Tree[V any] struct {
	root node[V]
	size int // the writer's
}

type node[V any] struct {
	text     string         // of the token that leads here
	hash     uint64         // of text
	ends     list[entry[V]] // sorted by text
	opens    list[entry[V]] // sorted by text
	literals children[V]
	prefixes list[prefixes[V]] // sorted by length
}

type entry[V any] struct {
	text  string
	value V
}

// prefixes are the children whose prefix has length bytes.
type prefixes[V any] struct {
	length   int
	children children[V]
}

// Len returns the number of patterns.
func (t *Tree[V]) Len() int { return t.size }

// Insert sets the value of p. If p had one, it is returned as old. Matches that
// begin afterwards find the new value; those under way find it, or what was
// there before.
func (t *Tree[V]) Insert(p Pattern, v V) (old V, replaced bool) {
	n := &t.root
	for _, tok := range p.form.tokens {
		n = n.makeChild(tok)
	}
	l, found := n.entry(p)
	if found {
		old = l.front().value
		l.replace(entry[V]{p.text, v})
		return old, true
	}
	l.push(entry[V]{p.text, v})
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
	l, found := n.entry(p)
	if !found {
		return v, false
	}
	return l.front().value, true
}

// Delete removes p and returns its value. Matches that begin afterwards do not
// find it; those under way may. Nodes left empty are removed as well.
func (t *Tree[V]) Delete(p Pattern) (v V, ok bool) {
	v, ok = t.root.remove(p, p.form.tokens)
	if ok {
		t.size--
	}
	return v, ok
}

// AppendMatches appends the values of all patterns that match channel to dst,
// each once, and returns the extended slice. A pattern that comes or goes
// meanwhile may be found or not. It allocates only to grow dst, and never waits.
// The order is not specified, but trees with the same patterns give the same
// order.
func (t *Tree[V]) AppendMatches(dst []V, channel []byte) []V {
	return t.root.appendMatches(dst, channel, true)
}

// appendMatches does it below n, where rest is the part of the channel that is
// not decided yet; more tells whether there is such a part.
func (n *node[V]) appendMatches(dst []V, rest []byte, more bool) []V {
	for l := n.opens.first.Load(); l != nil; l = l.rest.first.Load() {
		dst = append(dst, l.item.value)
	}
	if !more {
		for l := n.ends.first.Load(); l != nil; l = l.rest.first.Load() {
			dst = append(dst, l.item.value)
		}
		return dst
	}
	name, rest, more := cutToken(rest)
	if c := n.literals.get(name); c != nil {
		dst = c.appendMatches(dst, rest, more)
	}
	for l := n.prefixes.first.Load(); l != nil && l.item.length <= len(name); l = l.rest.first.Load() {
		if c := l.item.children.get(name[:l.item.length]); c != nil {
			dst = c.appendMatches(dst, rest, more)
		}
	}
	return dst
}

// All yields the values of all patterns, in no order. The tree does not change meanwhile.
func (t *Tree[V]) All() iter.Seq[V] {
	return func(yield func(V) bool) { t.root.all(yield) }
}

// all yields the values at n and below, and reports whether the caller wants more.
func (n *node[V]) all(yield func(V) bool) bool {
	for _, entries := range []*list[entry[V]]{&n.ends, &n.opens} {
		for l := entries.first.Load(); l != nil; l = l.rest.first.Load() {
			if !yield(l.item.value) {
				return false
			}
		}
	}
	for _, c := range n.literals.inUse() {
		if !c.all(yield) {
			return false
		}
	}
	for l := n.prefixes.first.Load(); l != nil; l = l.rest.first.Load() {
		for _, c := range l.item.children.inUse() {
			if !c.all(yield) {
				return false
			}
		}
	}
	return true
}

func (n *node[V]) remove(p Pattern, tokens []token) (v V, ok bool) {
	if len(tokens) == 0 {
		l, found := n.entry(p)
		if !found {
			return v, false
		}
		v = l.front().value
		l.pop()
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

// entry finds the place of p's entry among those of n.
func (n *node[V]) entry(p Pattern) (from *list[entry[V]], found bool) {
	l := &n.ends
	if p.form.open {
		l = &n.opens
	}
	return l.find(func(e *entry[V]) int { return cmp.Compare(e.text, p.text) })
}

func (n *node[V]) empty() bool {
	return n.ends.empty() && n.opens.empty() && n.literals.empty() && n.prefixes.empty()
}

// ofLength finds the place of the prefixes with length bytes.
func (n *node[V]) ofLength(length int) (from *list[prefixes[V]], found bool) {
	return n.prefixes.find(func(p *prefixes[V]) int { return cmp.Compare(p.length, length) })
}

// child returns the child for tok, a literal or a prefix, or nil.
func (n *node[V]) child(tok token) *node[V] {
	if tok.kind == literal {
		return n.literals.get([]byte(tok.text))
	}
	if l, found := n.ofLength(len(tok.text)); found {
		return l.front().children.get([]byte(tok.text))
	}
	return nil
}

// makeChild is child, and makes it if there is none: a pattern will hang there or below.
func (n *node[V]) makeChild(tok token) *node[V] {
	if tok.kind == literal {
		return n.literals.add(tok.text)
	}
	l, found := n.ofLength(len(tok.text))
	if !found {
		l.push(prefixes[V]{length: len(tok.text)})
	}
	return l.front().children.add(tok.text)
}

// dropChild notes that the child for tok has become empty.
func (n *node[V]) dropChild(tok token) {
	if tok.kind == literal {
		n.literals.drop()
		return
	}
	l, _ := n.ofLength(len(tok.text))
	l.front().children.drop()
	if l.front().children.empty() {
		l.pop()
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
		for _, entries := range []*list[entry[V]]{&c.ends, &c.opens} {
			for l := entries.first.Load(); l != nil; l = l.rest.first.Load() {
				fmt.Fprintf(b, " %s=%v", l.item.text, l.item.value)
			}
		}
		b.WriteByte('\n')
		c.print(b, indent+"  ")
	}
	for _, c := range n.literals.sorted() {
		child(c.text, c)
	}
	for l := n.prefixes.first.Load(); l != nil; l = l.rest.first.Load() {
		for _, c := range l.item.children.sorted() {
			child(c.text+"*", c)
		}
	}
}
