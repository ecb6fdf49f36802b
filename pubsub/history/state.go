package history

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrRetired is why an edge cannot use a history of its configuration that was retired at another edge.
var ErrRetired = errors.New("the history was retired at another edge")

// State is how a history stands at an edge.
type State struct {
	Configured *Definition // by this edge; nil: it is not
	Effective  *Definition // what all edges follow; nil: no edge keeps it, or this one does not know
	// Err is why this edge cannot use the history; nil: it can, as far as it knows.
	Err error
	// Pending is why Configured is not effective although its version is the higher one; nil: nothing is known.
	Pending error
	// Reason is Err or Pending for strangers: it names no channel, no tenant and no server.
	Reason string
	// InUse: clients of this edge use the history, or did so a moment ago.
	InUse bool
}

// Difference is a member of a definition in which a configuration and what is effective differ.
type Difference struct {
	Field      string `json:"field"` // as in a Caddyfile; "history": all of it
	Configured string `json:"configured"`
	Effective  string `json:"effective"`
}

// Drift returns in what the configuration of this edge differs from what all edges follow. It is empty where either
// is not known; Err says so then.
func (s *State) Drift() (list []Difference) {
	c, e := s.Configured, s.Effective
	switch {
	case e == nil:
		return nil
	case c == nil:
		return []Difference{{"history", "none", "kept"}}
	}
	add := func(field, configured, effective string) {
		if configured != effective {
			list = append(list, Difference{field, configured, effective})
		}
	}
	add("version", fmt.Sprint(c.Version), fmt.Sprint(e.Version))
	if c.Retired {
		return append(list, Difference{"retired", "yes", "no"})
	}
	add("tenants", names(c.Tenants), names(e.Tenants))
	add("channels", names(c.Channels), names(e.Channels))
	add("messages", fmt.Sprint(c.Limits.Messages), fmt.Sprint(e.Limits.Messages))
	add("age", DurationText(c.Limits.Age), DurationText(e.Limits.Age))
	add("size", fmt.Sprint(c.Limits.Size), fmt.Sprint(e.Limits.Size))
	add("max_lag", DurationText(c.MaxLag), DurationText(e.MaxLag))
	return list
}

// Remedy says what an operator can do about drift; empty: there is none.
func (s *State) Remedy() string {
	c, e := s.Configured, s.Effective
	if len(s.Drift()) == 0 {
		return ""
	}
	next := e.Version + 1
	switch {
	case c == nil:
		return fmt.Sprintf("give this edge a file that has the history, or retire it at all edges with `version %d` and `retired`", next)
	case c.Version > e.Version && s.Pending != nil:
		return "its version is the higher one, and is not taken: " + s.Pending.Error()
	case c.Version > e.Version:
		return "its version is the higher one, and is taken in a moment"
	case c.Version < e.Version:
		return fmt.Sprintf("give this edge the file of version %d; or, to go back to this one, give it `version %d`", e.Version, next)
	}
	return fmt.Sprintf("give this edge the file that the others have; or, to have all edges follow this one, give it `version %d`", next)
}

// DriftText is a line about drift.
func DriftText(list []Difference) string {
	var parts []string
	for _, d := range list {
		parts = append(parts, fmt.Sprintf("%s %s (configured: %s)", d.Field, d.Effective, d.Configured))
	}
	return strings.Join(parts, ", ")
}

// names lists tenants or channels, none as "all": tenants alone may be none.
func names(list []string) string {
	if len(list) == 0 {
		return "all"
	}
	return strings.Join(list, " ")
}

// DurationText is a duration without units that are zero, as 24h; 0 means none.
func DurationText(d time.Duration) string {
	text := d.String()
	if d == 0 {
		return "none"
	}
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
