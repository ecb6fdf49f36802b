package tokenstore

import (
	"context"
	"strings"

	"github.com/google/btree"
)

// namespace has the tokens that a prefix manages.
type namespace struct {
	tokens *btree.BTreeG[*indexed] // by id
	ready  chan struct{}           // closed when all are in
	asked  uint64                  // number of the last question for it
}

// maxNamespaces bounds the prefixes that are kept. Each is that of a master token, so
// there are few.
const maxNamespaces = 256

// page returns the ids of at most n tokens above after that a prefix manages, in
// ascending order.
func (x *Index) page(ctx context.Context, prefix, after string, n int) (ids []string, err error) {
	if err := x.await(ctx); err != nil {
		return nil, err
	}
	s := x.namespace(prefix)
	select {
	case <-s.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.forget() // else the store would be asked for what it has not
	s.tokens.AscendGreaterOrEqual(&indexed{id: after}, func(t *indexed) bool {
		if t.id != after {
			ids = append(ids, t.id)
		}
		return len(ids) < n
	})
	return ids, nil
}

// namespace returns that of a prefix. Whoever asks first puts the tokens in that
// are there; add and drop see to the others.
func (x *Index) namespace(prefix string) *namespace {
	x.mu.Lock()
	x.asked++
	s := x.spaces[prefix]
	if s != nil {
		s.asked = x.asked
		x.mu.Unlock()
		return s
	}
	if len(x.spaces) >= maxNamespaces {
		oldest := prefix
		for p, other := range x.spaces {
			if o := x.spaces[oldest]; o == nil || other.asked < o.asked {
				oldest = p
			}
		}
		delete(x.spaces, oldest)
	}
	s = &namespace{tokens: btree.NewG(treeDegree, byID), ready: make(chan struct{}), asked: x.asked}
	x.spaces[prefix] = s
	x.mu.Unlock()
	for after, more := "", true; more; {
		after, more = x.fill(s, prefix, after)
	}
	close(s.ready)
	return s
}

// fill puts some of the tokens above after into a namespace.
func (x *Index) fill(s *namespace, prefix, after string) (last string, more bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := 0
	last = after
	x.tokens.AscendGreaterOrEqual(&indexed{id: after}, func(t *indexed) bool {
		if strings.HasPrefix(t.common.Value(), prefix) {
			s.tokens.ReplaceOrInsert(t)
		}
		last = t.id
		n++
		return n < stepTokens
	})
	return last, n == stepTokens
}
