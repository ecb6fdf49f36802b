package history

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// Limits bound what a history keeps. A message beyond any of them is removed.
type Limits struct {
	Messages int           // of each channel, 1 to MaxMessages
	Age      time.Duration // of a message, MinAge to MaxAge
	Size     int64         // bytes of the whole history, bookkeeping included; MinSize to MaxSize
}

// The ranges of [Limits] and of [Definition].MaxLag.
const (
	MaxMessages = wire.MaxLast
	MinAge      = time.Second
	MaxAge      = 720 * time.Hour
	MinSize     = 1 << 20
	MaxSize     = 1 << 40
	MinLag      = time.Second
)

// DefaultLimits are the documented defaults (docs/history.md).
func DefaultLimits() Limits { return Limits{Messages: 100, Age: time.Hour, Size: 256 << 20} }

// Definition says what one history keeps.
type Definition struct {
	Name     string
	Tenants  []string // exact names, or beginnings of names with `*` behind; none: every tenant
	Channels []string // patterns, at least one
	Limits   Limits
	// MaxLag is how far a subscription may be behind before it goes on at the head, with a
	// gap. 0: any time, as long as the history has what it needs.
	MaxLag time.Duration
}

// History is a definition that has been checked. It does not change.
type History struct {
	Definition

	rules    []pattern.Rule    // of Channels
	patterns []pattern.Pattern // likewise
}

// Set is the histories of a configuration, no two of which share a channel of a tenant.
// It does not change, and may be used concurrently. The nil Set has none.
type Set struct{ histories []*History }

var nameForm = regexp.MustCompile(`^[a-z0-9_-]{1,32}$`)

// NewSet checks definitions. The error names the history that is wrong and what is
// allowed, or both histories that share a channel.
func NewSet(definitions []Definition) (*Set, error) {
	s := new(Set)
	for _, d := range definitions {
		h, err := newHistory(d)
		if err != nil {
			return nil, fmt.Errorf("history %s: %w", d.Name, err)
		}
		for _, other := range s.histories {
			if other.Name == h.Name {
				return nil, fmt.Errorf("history %s is given twice", h.Name)
			}
			if a, b, shared := h.shares(other); shared {
				return nil, fmt.Errorf("the histories %s and %s share channels of a tenant: %s of the first and %s of the second; a channel may be in one history",
					other.Name, h.Name, b, a)
			}
		}
		s.histories = append(s.histories, h)
	}
	return s, nil
}

func newHistory(d Definition) (*History, error) {
	if !nameForm.MatchString(d.Name) {
		return nil, errors.New("a name has 1 to 32 of a-z, 0-9, _ and -")
	}
	for _, tenant := range d.Tenants {
		if name, _ := strings.CutSuffix(tenant, "*"); tenant != "*" && wire.CheckTenant([]byte(name)) != nil {
			return nil, errors.New("tenants: each must be the name of a tenant, or the beginning of one with * behind it")
		}
	}
	if len(d.Channels) == 0 {
		return nil, errors.New("channels: at least one pattern is needed")
	}
	h := &History{Definition: d}
	for _, text := range d.Channels {
		p, err := pattern.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("channels: %s: %w", text, err)
		}
		rule, err := pattern.ParseRule(text, pattern.PublishRule)
		if err != nil {
			return nil, fmt.Errorf("channels: %s: %w", text, err)
		}
		h.patterns, h.rules = append(h.patterns, p), append(h.rules, rule)
	}
	return h, d.checkLimits()
}

func (d *Definition) checkLimits() error {
	switch l := d.Limits; {
	case l.Messages < 1 || l.Messages > MaxMessages:
		return fmt.Errorf("messages: must be from 1 to %d", MaxMessages)
	case l.Age < MinAge || l.Age > MaxAge:
		return fmt.Errorf("age: must be from %v to %.0fh", MinAge, MaxAge.Hours())
	case l.Size < MinSize || l.Size > MaxSize:
		return fmt.Errorf("size: must be from %d to %d bytes", MinSize, int64(MaxSize))
	case d.MaxLag != 0 && (d.MaxLag < MinLag || d.MaxLag > MaxAge):
		return fmt.Errorf("max_lag: must be from %v to %.0fh", MinLag, MaxAge.Hours())
	}
	return nil
}

// shares returns a pattern of h and one of the other history that match the same channel
// of the same tenant, if there are any.
func (h *History) shares(o *History) (of, ofOther string, shared bool) {
	if !tenantsIntersect(h.Tenants, o.Tenants) {
		return "", "", false
	}
	for _, p := range h.patterns {
		for _, q := range o.patterns {
			if p.Intersects(q) {
				return p.String(), q.String(), true
			}
		}
	}
	return "", "", false
}

func tenantsIntersect(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	for _, x := range a {
		for _, y := range b {
			if tenantIntersects(x, y) {
				return true
			}
		}
	}
	return false
}

func tenantIntersects(x, y string) bool {
	beginX, openX := strings.CutSuffix(x, "*")
	beginY, openY := strings.CutSuffix(y, "*")
	switch {
	case openX && openY:
		return strings.HasPrefix(beginX, beginY) || strings.HasPrefix(beginY, beginX)
	case openX:
		return strings.HasPrefix(y, beginX)
	case openY:
		return strings.HasPrefix(x, beginY)
	}
	return x == y
}

// HasTenant reports whether the history is of this tenant, too.
func (h *History) HasTenant(tenant string) bool {
	return len(h.Tenants) == 0 || slices.ContainsFunc(h.Tenants, func(t string) bool { return tenantIntersects(t, tenant) })
}

// Keeps reports whether the history keeps a channel of its tenants. It allocates nothing.
func (h *History) Keeps(channel []byte) bool {
	for i := range h.rules {
		if h.rules[i].Match(channel) {
			return true
		}
	}
	return false
}

// Intersects reports whether the history keeps a channel that a pattern matches.
func (h *History) Intersects(p pattern.Pattern) bool {
	return slices.ContainsFunc(h.patterns, func(q pattern.Pattern) bool { return q.Intersects(p) })
}

// Contains reports whether the history keeps every channel that a pattern matches: one of
// its own patterns alone contains it, as in grants.
func (h *History) Contains(p pattern.Pattern) bool {
	return slices.ContainsFunc(h.rules, func(r pattern.Rule) bool { return r.Contains(p) })
}

// All lists the histories, in the order of their definitions. Read-only.
func (s *Set) All() []*History {
	if s == nil {
		return nil
	}
	return s.histories
}

// OfTenant lists the histories of a tenant.
func (s *Set) OfTenant(tenant string) (list []*History) {
	for _, h := range s.All() {
		if h.HasTenant(tenant) {
			list = append(list, h)
		}
	}
	return list
}

// Find returns the history of this name, or nil.
func (s *Set) Find(name string) *History {
	list := s.All()
	if i := slices.IndexFunc(list, func(h *History) bool { return h.Name == name }); i >= 0 {
		return list[i]
	}
	return nil
}

// Containing returns the history that keeps all that a pattern of a tenant matches; nil:
// there is none.
func (s *Set) Containing(tenant string, p pattern.Pattern) *History {
	for _, h := range s.All() {
		if h.HasTenant(tenant) && h.Contains(p) {
			return h
		}
	}
	return nil
}
