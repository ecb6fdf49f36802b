package pubsub

import (
	"slices"
	"sync/atomic"

	"github.com/millrace/millrace/pubsub/pattern"
)

// The cost of a publish depends on what it matches. Two bounds keep it small, whatever
// clients subscribe to: on the shapes of patterns (see [pattern.Shape]), each of which
// can match a channel once, and on the number of distinct patterns, each of which
// is an entry of the tree and an interest of the broker.

// shapeCounts are the shapes of a session's patterns, those without wildcard
// aside: few, and bounded by Limits.MaxPatternShapes.
type shapeCounts []shapeCount

type shapeCount struct {
	shape pattern.Shape
	n     int32 // patterns
}

// has reports whether a pattern with this shape is there already, or needs no shape.
func (c shapeCounts) has(shape pattern.Shape) bool { return shape == 0 || c.index(shape) >= 0 }

func (c shapeCounts) index(shape pattern.Shape) int {
	return slices.IndexFunc(c, func(s shapeCount) bool { return s.shape == shape })
}

func (c *shapeCounts) add(shape pattern.Shape) {
	if shape == 0 {
		return
	}
	if i := c.index(shape); i >= 0 {
		(*c)[i].n++
		return
	}
	*c = append(*c, shapeCount{shape, 1})
}

func (c *shapeCounts) remove(shape pattern.Shape) {
	i := c.index(shape)
	if shape == 0 || i < 0 {
		return
	}
	if (*c)[i].n--; (*c)[i].n == 0 {
		last := len(*c) - 1
		(*c)[i] = (*c)[last]
		*c = (*c)[:last]
	}
}

// patternCounts are the distinct patterns of an edge.
type patternCounts struct {
	all atomic.Int64 // of all tenants
}

// treeShapes are the shapes of the patterns of a tree. The zero value has none. The mutex of the tree
// guards it.
type treeShapes struct {
	uses     map[pattern.Shape]*shapeUse
	byIssuer map[string]int // shapes by issuer of the token that had them first
}

type shapeUse struct {
	patterns int
	issuer   string
}

func (t *treeShapes) add(shape pattern.Shape, issuer string) {
	if t.uses == nil {
		t.uses, t.byIssuer = map[pattern.Shape]*shapeUse{}, map[string]int{}
	}
	u := t.uses[shape]
	if u == nil {
		u = &shapeUse{issuer: issuer}
		t.uses[shape] = u
		t.byIssuer[issuer]++
	}
	u.patterns++
}

func (t *treeShapes) remove(shape pattern.Shape) {
	u := t.uses[shape]
	if u.patterns--; u.patterns > 0 {
		return
	}
	delete(t.uses, shape)
	if t.byIssuer[u.issuer]--; t.byIssuer[u.issuer] == 0 {
		delete(t.byIssuer, u.issuer)
	}
}

// hasPatternRoom reports whether a new distinct pattern is within the limits: those of
// the edge, of the tenant, which has n others of such shapes, and of the token whose
// session asks for it, and its issuer. Who is a guest in the tenant leaves shapes for its owner. Sessions
// that ask at the same moment can exceed a limit by one each. The caller holds the mutex of the tree
// that the pattern is for.
func (h *Hub) hasPatternRoom(n int, shapes *treeShapes, shape pattern.Shape, token *tokenState, of *owner) bool {
	l := h.limits.Load()
	over := func(n, limit int) bool { return limit > 0 && n >= limit }
	switch {
	case over(int(h.patterns.all.Load()), l.MaxPatterns),
		over(n, l.patternsOf(l.MaxPatternsPerTenant)),
		over(int(token.own.patterns.Load()), l.patternsOf(l.MaxPatternsPerToken)),
		over(int(token.issuer.patterns.Load()), h.issuerShareOf(l.MaxPatterns, l)):
		return false
	case shape == 0 || shapes.uses[shape] != nil:
		return true
	case !of.is(token.issuerName) && over(shapes.byIssuer[token.issuerName], h.issuerShareOf(l.MaxPatternShapesPerTenant, l)):
		return false
	}
	return len(shapes.uses) < l.MaxPatternShapesPerTenant
}

// patternsOf is a limit of patterns of a tenant or token, or half of the edge's if that is
// less; 0: there is none.
func (l *Limits) patternsOf(limit int) int {
	if half := (l.MaxPatterns + 1) / 2; l.MaxPatterns > 0 && (limit == 0 || limit > half) {
		return half
	}
	return limit
}

// countPattern counts a new distinct pattern, and its shape among those of its tree; a token counts the
// patterns that its sessions were the first to have. The caller holds the mutex of the tree.
func (h *Hub) countPattern(shapes *treeShapes, shape pattern.Shape, token *tokenState) {
	h.patterns.all.Add(1)
	token.own.patterns.Add(1)
	token.issuer.patterns.Add(1)
	if shape != 0 {
		shapes.add(shape, token.issuerName)
	}
}

// uncountPattern takes countPattern back. The caller holds the mutex of the tree.
func (h *Hub) uncountPattern(shapes *treeShapes, shape pattern.Shape, token *tokenState) {
	h.patterns.all.Add(-1)
	token.own.patterns.Add(-1)
	token.issuer.patterns.Add(-1)
	if shape != 0 {
		shapes.remove(shape)
	}
}
