package presence

import (
	"errors"
	"fmt"
	"time"

	"github.com/millrace/millrace/pubsub/internal/channelset"
	"github.com/millrace/millrace/pubsub/pattern"
)

// The ranges of a [Definition].
const (
	MaxMembers = 1_000_000
	MinLinger  = time.Second
	MaxLinger  = 10 * time.Minute
)

// The documented defaults of a [Definition] (docs/configuration.md).
const (
	DefaultMembers = 10_000
	DefaultLinger  = 15 * time.Second
)

// Definition says where there is presence.
type Definition struct {
	Name     string
	Tenants  []string      // exact names, or beginnings of names with `*` behind; none: every tenant
	Channels []string      // patterns, at least one
	Members  int           // that a tenant may have in it, on all edges together; 1 to MaxMembers
	Linger   time.Duration // how long a member stays whose last session was lost; MinLinger to MaxLinger
}

// Set is the presences of a configuration, which share no channel of a tenant. It
// does not change. The nil Set has none.
type Set struct{ list []*definition }

type definition struct {
	Definition
	channels *channelset.Set
}

// NewSet checks definitions. The error names the presence that is wrong and what is allowed,
// or both that share a channel.
func NewSet(definitions []Definition) (*Set, error) {
	s := new(Set)
	for _, d := range definitions {
		checked, err := d.check()
		if err != nil {
			return nil, fmt.Errorf("presence %s: %w", d.Name, err)
		}
		for _, other := range s.list {
			if other.Name == d.Name {
				return nil, fmt.Errorf("presence %s is given twice", d.Name)
			}
			if a, b, shared := checked.channels.Shares(other.channels); shared {
				return nil, fmt.Errorf("the presences %s and %s share channels of a tenant: %s of the first and %s of the second; a channel may be in one presence",
					other.Name, d.Name, b, a)
			}
		}
		s.list = append(s.list, checked)
	}
	return s, nil
}

func (d Definition) check() (*definition, error) {
	if err := channelset.CheckName(d.Name); err != nil {
		return nil, err
	}
	channels, err := channelset.New(d.Tenants, d.Channels)
	switch {
	case err != nil:
		return nil, err
	case d.Members < 1 || d.Members > MaxMembers:
		return nil, fmt.Errorf("members: must be from 1 to %d", MaxMembers)
	case d.Linger < MinLinger || d.Linger > MaxLinger:
		return nil, errors.New("linger: must be from 1s to 10m")
	}
	return &definition{d, channels}, nil
}

// Len returns how many presences the set has.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.list)
}

// All returns the definitions, in their order.
func (s *Set) All() (list []Definition) {
	if s == nil {
		return nil
	}
	for _, d := range s.list {
		list = append(list, d.Definition)
	}
	return list
}

// definitionFor returns the presence that has a channel, or nil.
func (s *Set) definitionFor(tenant, channel string) *definition {
	if s == nil {
		return nil
	}
	for _, d := range s.list {
		if d.channels.HasTenant(tenant) && d.channels.Has([]byte(channel)) {
			return d
		}
	}
	return nil
}

// Has reports whether a presence has a channel of a tenant.
func (s *Set) Has(tenant, channel string) bool { return s.definitionFor(tenant, channel) != nil }

// Contains reports whether one presence has all channels of a tenant that a pattern matches.
func (s *Set) Contains(tenant string, p pattern.Pattern) bool {
	if s == nil {
		return false
	}
	for _, d := range s.list {
		if d.channels.HasTenant(tenant) && d.channels.Contains(p) {
			return true
		}
	}
	return false
}
