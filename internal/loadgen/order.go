package loadgen

// An order finds out, for one subscriber and one publisher, which messages came
// twice or late. What comes in its order costs one comparison.
type order struct {
	next    uint64 // the number that comes next
	missing []span // numbers below next that have not come, ascending
}

// A span is the numbers from lo up to and without hi.
type span struct{ lo, hi uint64 }

// maxSpans bounds the memory of a connection that loses much. Older spans are
// let go: what comes of them then counts as a duplicate.
const maxSpans = 256

type verdict uint8

const (
	inOrder verdict = iota
	late
	duplicate
)

// skip judges a number that is not next.
func (o *order) skip(number uint64) verdict {
	if number > o.next {
		if len(o.missing) == maxSpans {
			o.missing = o.missing[:copy(o.missing, o.missing[1:])]
		}
		o.missing = append(o.missing, span{o.next, number})
		o.next = number + 1
		return inOrder
	}
	for i := range o.missing {
		m := &o.missing[i]
		if number < m.lo || number >= m.hi {
			continue
		}
		before, behind := span{m.lo, number}, span{number + 1, m.hi}
		switch {
		case before.lo == before.hi && behind.lo == behind.hi:
			o.missing = append(o.missing[:i], o.missing[i+1:]...)
		case before.lo == before.hi:
			*m = behind
		case behind.lo == behind.hi:
			*m = before
		default:
			*m = before
			if len(o.missing) < maxSpans {
				o.missing = append(o.missing[:i+1], append([]span{behind}, o.missing[i+1:]...)...)
			}
		}
		return late
	}
	return duplicate
}
