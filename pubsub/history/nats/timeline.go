package nats

import (
	"sort"

	"github.com/millrace/millrace/wire"
)

// timeline has the times of the messages of all tenants, by number: what tells whether a
// position is one of this stream, and not of one whose numbers were given again.
type timeline struct {
	epoch uint64
	list  []moment // ascending
}

type moment struct{ n, t uint64 }

// minTimes is how many messages are remembered at least.
const minTimes = 1 << 14

// add adds the next message. live is how many the index has.
func (l *timeline) add(p wire.Position, live int) {
	if len(l.list) > minTimes && len(l.list) > 2*live {
		l.list = append([]moment(nil), l.list[len(l.list)/2:]...)
	}
	l.list = append(l.list, moment{p.N, p.T})
}

// search returns the place of the first message at a number or behind it.
func (l *timeline) search(n uint64) int {
	return sort.Search(len(l.list), func(i int) bool { return l.list[i].n >= n })
}

// knows reports whether a position below the head agrees with what is remembered: it is one
// of a message, or lies between its neighbours.
func (l *timeline) knows(p wire.Position, head wire.Position) bool {
	i := l.search(p.N)
	after := head.T
	if i < len(l.list) {
		if l.list[i].n == p.N {
			return l.list[i].t == p.T
		}
		after = l.list[i].t
	}
	return p.T <= after && (i == 0 || p.T >= l.list[i-1].t)
}

// at returns the position with a number, whose time is that of the message, or else of the
// one behind it or before it; 1 if there is none: no position has none.
func (l *timeline) at(n uint64) wire.Position {
	p := wire.Position{Epoch: l.epoch, N: n, T: 1}
	i := min(l.search(n), len(l.list)-1)
	if i >= 0 {
		p.T = l.list[i].t
	}
	return p
}
