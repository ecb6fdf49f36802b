// Package channelset holds sets of channels of some tenants, as histories and presences
// are configured by.
package channelset

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// Set is some channels of some tenants. It does not change.
type Set struct {
	tenants  []string
	rules    []pattern.Rule
	patterns []pattern.Pattern // of the same channels
}

var nameForm = regexp.MustCompile(`^[a-z0-9_-]{1,32}$`)

// CheckName returns an error for what is not the name of something that has a Set.
func CheckName(name string) error {
	if !nameForm.MatchString(name) {
		return errors.New("a name has 1 to 32 of a-z, 0-9, _ and -")
	}
	return nil
}

// New makes a set. Tenants are exact names, or beginnings of names with `*` behind, and none
// means all; channels are patterns, at least one. The error says what is wrong and what is
// allowed.
func New(tenants, channels []string) (*Set, error) {
	for _, tenant := range tenants {
		if name, _ := strings.CutSuffix(tenant, "*"); tenant != "*" && wire.CheckTenant([]byte(name)) != nil {
			return nil, errors.New("tenants: each must be the name of a tenant, or the beginning of one with * behind it")
		}
	}
	if len(channels) == 0 {
		return nil, errors.New("channels: at least one pattern is needed")
	}
	s := &Set{tenants: tenants}
	for _, text := range channels {
		p, err := pattern.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("channels: %s: %w", text, err)
		}
		rule, err := pattern.ParseRule(text, pattern.PublishRule)
		if err != nil {
			return nil, fmt.Errorf("channels: %s: %w", text, err)
		}
		s.patterns, s.rules = append(s.patterns, p), append(s.rules, rule)
	}
	return s, nil
}

// Shares returns a pattern of s and one of the other set that match the same channel
// of the same tenant, if there are any.
func (s *Set) Shares(o *Set) (of, ofOther string, shares bool) {
	if !tenantsIntersect(s.tenants, o.tenants) {
		return "", "", false
	}
	for _, p := range s.patterns {
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

// HasTenant reports whether the set has channels of this tenant.
func (s *Set) HasTenant(tenant string) bool {
	return len(s.tenants) == 0 || slices.ContainsFunc(s.tenants, func(t string) bool { return tenantIntersects(t, tenant) })
}

// Has reports whether the set has a channel of its tenants. It allocates nothing.
func (s *Set) Has(channel []byte) bool {
	for i := range s.rules {
		if s.rules[i].Match(channel) {
			return true
		}
	}
	return false
}

// Intersects reports whether the set has a channel that a pattern matches.
func (s *Set) Intersects(p pattern.Pattern) bool {
	return slices.ContainsFunc(s.patterns, func(q pattern.Pattern) bool { return q.Intersects(p) })
}

// Contains reports whether the set has every channel that a pattern matches: one of its own
// patterns alone contains it, as in grants.
func (s *Set) Contains(p pattern.Pattern) bool {
	return slices.ContainsFunc(s.rules, func(r pattern.Rule) bool { return r.Contains(p) })
}
