package loadgen

// An order detects, for one subscriber and one publisher, which messages arrived twice or
// late. A message in order costs one comparison.
type order struct {
	next    uint64 // the number that is expected next
	missing []span // numbers below next that have not arrived, ascending
}

// A span is the numbers from lo up to, but not including, hi.
type span struct{ lo, hi uint64 }

// maxSpans bounds the memory of a connection that loses much. Older spans are forgotten:
// messages of them that arrive later count as duplicates.
const maxSpans = 256

type verdict uint8

const (
	inOrder verdict = iota
	late
	duplicate
)

// skip handles a number that is not next.
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
