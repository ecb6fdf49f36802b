package tokenstore

import (
	"cmp"
	"context"
	"strings"

	"github.com/google/btree"
)

// namespace holds the tokens that a master token with a prefix manages.
type namespace struct {
	tokens    *btree.BTreeG[*indexedToken] // by id
	subjects  *btree.BTreeG[*indexedToken] // those that have a subject, by it and by id
	ready     chan struct{}                // closed when it holds all of them
	lastQuery uint64                       // value of Index.queries at the last query for it
}

func bySubject(a, b *indexedToken) bool {
	return cmp.Or(strings.Compare(a.subject, b.subject), strings.Compare(a.id, b.id)) < 0
}

// add adds a token. The caller holds Index.mu.
func (s *namespace) add(t *indexedToken) {
	s.tokens.ReplaceOrInsert(t)
	if t.subject != "" {
		s.subjects.ReplaceOrInsert(t)
	}
}

// drop undoes add. The caller holds Index.mu.
func (s *namespace) drop(t *indexedToken) {
	s.tokens.Delete(t)
	if t.subject != "" {
		s.subjects.Delete(t)
	}
}

// maxNamespaces bounds the namespaces that are kept; the least recently queried one
// goes first. Each prefix is that of a master token, so there are few.
const maxNamespaces = 256

// page returns the ids of at most n tokens above after that a prefix manages, in
// ascending order: those of a subject, or all if it is empty.
func (x *Index) page(ctx context.Context, prefix, subject, after string, n int) (ids []string, err error) {
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
	x.dropForgotten() // else the caller would ask the store for records that are gone
	tokens := s.tokens
	if subject != "" {
		tokens = s.subjects
	}
	tokens.AscendGreaterOrEqual(&indexedToken{subject: subject, id: after}, func(t *indexedToken) bool {
		if subject != "" && t.subject != subject {
			return false
		}
		if t.id != after {
			ids = append(ids, t.id)
		}
		return len(ids) < n
	})
	return ids, nil
}

// namespace returns the namespace of a prefix. The first query adds the tokens that
// are in the index; add and drop keep it up to date from then on.
func (x *Index) namespace(prefix string) *namespace {
	x.mu.Lock()
	x.queries++
	s := x.namespaces[prefix]
	if s != nil {
		s.lastQuery = x.queries
		x.mu.Unlock()
		return s
	}
	if len(x.namespaces) >= maxNamespaces {
		oldest := prefix
		for p, other := range x.namespaces {
			if o := x.namespaces[oldest]; o == nil || other.lastQuery < o.lastQuery {
				oldest = p
			}
		}
		delete(x.namespaces, oldest)
	}
	s = &namespace{tokens: btree.NewG(treeDegree, byID), subjects: btree.NewG(treeDegree, bySubject), ready: make(chan struct{}), lastQuery: x.queries}
	x.namespaces[prefix] = s
	x.mu.Unlock()
	for after, more := "", true; more; {
		after, more = x.fill(s, prefix, after)
	}
	close(s.ready)
	return s
}

// fill adds a batch of the tokens above after to a namespace.
func (x *Index) fill(s *namespace, prefix, after string) (last string, more bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := 0
	last = after
	x.tokens.AscendGreaterOrEqual(&indexedToken{id: after}, func(t *indexedToken) bool {
		if strings.HasPrefix(t.commonPrefix.Value(), prefix) {
			s.add(t)
		}
		last = t.id
		n++
		return n < batchTokens
	})
	return last, n == batchTokens
}
