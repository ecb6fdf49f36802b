package history

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/millrace/millrace/pubsub/internal/channelset"
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
	MaxVersion  = 1 << 30
)

// DefaultLimits are the documented defaults (docs/history.md).
func DefaultLimits() Limits { return Limits{Messages: 100, Age: time.Hour, Size: 256 << 20} }

// Definition says what one history keeps.
type Definition struct {
	Name string
	// Version, 0 to MaxVersion: in a [Shared] store, a definition replaces one of a lower version.
	Version int
	// Retired takes the history from all edges of a [Shared] store; nothing else of the definition counts then.
	Retired  bool
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

	channels *channelset.Set
}

// Set is the histories of a configuration, which share no channel of a tenant.
// It does not change, and may be used concurrently. The nil Set has none.
type Set struct {
	histories []*History
	retired   []Definition
}

// ErrOverlap is in the error about a history that keeps a channel of another one.
var ErrOverlap = errors.New("a channel may be in one history")

// NewSet checks definitions. The error names the history that is wrong and what is
// allowed, or both histories that share a channel.
func NewSet(definitions []Definition) (*Set, error) {
	s, given := new(Set), map[string]bool{}
	for _, d := range definitions {
		if given[d.Name] {
			return nil, fmt.Errorf("history %s is given twice", d.Name)
		}
		given[d.Name] = true
		h, err := newHistory(d)
		if err != nil {
			return nil, fmt.Errorf("history %s: %w", d.Name, err)
		}
		if d.Retired {
			s.retired = append(s.retired, d)
			continue
		}
		for _, other := range s.histories {
			if a, b, shared := h.channels.Shares(other.channels); shared {
				return nil, fmt.Errorf("the histories %s and %s share channels of a tenant: %s of the first and %s of the second; %w",
					other.Name, h.Name, b, a, ErrOverlap)
			}
		}
		s.histories = append(s.histories, h)
	}
	return s, nil
}

func newHistory(d Definition) (*History, error) {
	if err := channelset.CheckName(d.Name); err != nil {
		return nil, err
	}
	if d.Version < 0 || d.Version > MaxVersion {
		return nil, fmt.Errorf("version: must be from 0 to %d", MaxVersion)
	}
	if d.Retired {
		return nil, nil
	}
	channels, err := channelset.New(d.Tenants, d.Channels)
	if err != nil {
		return nil, err
	}
	return &History{d, channels}, d.checkLimits()
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

// HasTenant reports whether the history is of this tenant, too.
func (h *History) HasTenant(tenant string) bool { return h.channels.HasTenant(tenant) }

// Keeps reports whether the history keeps a channel of its tenants. It allocates nothing.
func (h *History) Keeps(channel []byte) bool { return h.channels.Has(channel) }

// Intersects reports whether the history keeps a channel that a pattern matches.
func (h *History) Intersects(p pattern.Pattern) bool { return h.channels.Intersects(p) }

// Contains reports whether the history keeps every channel that a pattern matches: one of
// its own patterns alone contains it, as in grants.
func (h *History) Contains(p pattern.Pattern) bool { return h.channels.Contains(p) }

// All lists the histories, in the order of their definitions. Read-only.
func (s *Set) All() []*History {
	if s == nil {
		return nil
	}
	return s.histories
}

// Retired lists those that are taken from all edges. Read-only.
func (s *Set) Retired() []Definition {
	if s == nil {
		return nil
	}
	return s.retired
}

// Names lists all of them, those that are retired included.
func (s *Set) Names() (list []string) {
	for _, h := range s.All() {
		list = append(list, h.Name)
	}
	for _, d := range s.Retired() {
		list = append(list, d.Name)
	}
	return list
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
