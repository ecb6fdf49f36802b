package pattern

import "hash/maphash"

// Shape is what a pattern looks like when the names in it are left out: the
// number of its tokens, which of them are literals, how long the beginnings
// before wildcards are, and the wildcards themselves. `room.5.ab*` and
// `user.7.cd*` have one shape, `room.5.abc*` has another.
//
// Two patterns of one shape never match the same channel: where they differ,
// both ask for a certain beginning of the same length, and a channel has only
// one. So at most as many patterns match a channel as there are shapes. This bound
// costs one comparison for each new pattern; to find how many really overlap would
// be a search for a clique.
//
// Patterns without a wildcard have the zero Shape, whatever their length: they
// are channels, and a channel is equal to one of them at most. Shapes are
// comparable, within one process.
type Shape uint64

// Shape returns the shape of p. It does not allocate.
func (p Pattern) Shape() Shape {
	var shape [2 * maxTokens]byte // of each token: its wildcard or 0, and the length of the beginning before it
	n, literal := 0, true
	for text, more := p.text, true; more && n < len(shape); n += 2 {
		var name string
		name, text, more = cutToken(text)
		if name == "" {
			continue // the zero Pattern
		}
		switch last := name[len(name)-1]; last {
		case '*', '>', '#':
			literal = false
			shape[n], shape[n+1] = last, byte(len(name)-1)
		}
	}
	if literal {
		return 0
	}
	return Shape(max(1, maphash.Bytes(shapeSeed, shape[:n])))
}

// shapeSeed is known to nobody outside, who otherwise could look for patterns whose
// different shapes have the same hash.
var shapeSeed = maphash.MakeSeed()
