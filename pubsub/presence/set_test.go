package presence

import (
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// Each bad value is refused by name, with what is allowed.
func TestNewSetRefuses(t *testing.T) {
	good := Definition{Name: "rooms", Channels: []string{"room.#"}, Members: 1, Linger: time.Second}
	for want, change := range map[string]func(*Definition){
		"presence : a name has 1 to 32 of a-z, 0-9, _ and -":             func(d *Definition) { d.Name = "" },
		"presence Rooms: a name has":                                     func(d *Definition) { d.Name = "Rooms" },
		"presence rooms: channels: at least one pattern":                 func(d *Definition) { d.Channels = nil },
		"presence rooms: channels: a#b: pattern syntax error":            func(d *Definition) { d.Channels = []string{"a", "a#b"} },
		"presence rooms: channels: : pattern syntax error":               func(d *Definition) { d.Channels = []string{""} },
		"presence rooms: tenants: each must be the name of a tenant":     func(d *Definition) { d.Tenants = []string{"a", ""} },
		"presence rooms: tenants: each must be the name of a tenant, or": func(d *Definition) { d.Tenants = []string{"a*b"} },
		"presence rooms: members: must be from 1 to 1000000":             func(d *Definition) { d.Members = 0 },
		"presence rooms: members: must be from 1 to 1000000 ":            func(d *Definition) { d.Members = -1 },
		"presence rooms: members: must be from 1 to 1000000  ":           func(d *Definition) { d.Members = MaxMembers + 1 },
		"presence rooms: linger: must be from 1s to 10m":                 func(d *Definition) { d.Linger = MinLinger - 1 },
		"presence rooms: linger: must be from 1s to 10m ":                func(d *Definition) { d.Linger = -time.Hour },
		"presence rooms: linger: must be from 1s to 10m  ":               func(d *Definition) { d.Linger = MaxLinger + 1 },
	} {
		d := good
		change(&d)
		if _, err := NewSet([]Definition{d}); err == nil || !strings.HasPrefix(err.Error(), strings.TrimRight(want, " ")) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	for _, edge := range []Definition{good, {Name: "x", Channels: []string{"#"}, Members: MaxMembers, Linger: MaxLinger}} {
		if _, err := NewSet([]Definition{edge}); err != nil {
			t.Error(err)
		}
	}
}

// No two have a channel of a tenant in common; the same channels of other tenants are fine.
func TestNewSetOverlaps(t *testing.T) {
	of := func(name, tenants, channels string) Definition {
		return Definition{Name: name, Tenants: strings.Fields(tenants), Channels: strings.Fields(channels), Members: 1, Linger: time.Second}
	}
	for _, c := range []struct {
		second Definition
		want   string // empty: both can be
	}{
		{of("b", "shop", "room.#"), ""},
		{of("b", "paint.*", "hall.#"), ""},
		{of("b", "paint.eu", "*.lobby"), "the presences a and b share channels of a tenant: room.# of the first and *.lobby of the second"},
		{of("b", "", "room.1"), "the presences a and b share"},
		{of("b", "pa*", "x room.*"), "room.# of the first and room.* of the second"},
		{of("a", "shop", "hall.#"), "presence a is given twice"},
	} {
		_, err := NewSet([]Definition{of("a", "paint.*", "room.#"), c.second})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.second, err, c.want)
		}
	}
}

func TestSetContains(t *testing.T) {
	s, err := NewSet([]Definition{
		{Name: "a", Tenants: []string{"paint.*"}, Channels: []string{"room.#"}, Members: 1, Linger: time.Second},
		{Name: "b", Tenants: []string{"shop"}, Channels: []string{"#"}, Members: 1, Linger: time.Second},
	})
	must(t, err)
	for _, c := range []struct {
		tenant, pattern string
		contains        bool
	}{
		{"paint.eu", "room.1", true}, {"paint.eu", "room.*", true}, {"paint.eu", "#", false}, {"paint.eu", "hall", false},
		{"shop", "#", true}, {"shops", "room.1", false}, {"paint", "room.1", false},
	} {
		if got := s.Contains(c.tenant, parse(t, c.pattern)); got != c.contains {
			t.Errorf("contains %s of %s: %v", c.pattern, c.tenant, got)
		}
		if wire.CheckChannel(c.pattern) == nil && s.Has(c.tenant, c.pattern) != c.contains {
			t.Errorf("has %s of %s: %v", c.pattern, c.tenant, !c.contains)
		}
	}
	var none *Set
	if none.Len() != 0 || none.Has("shop", "a") || none.Contains("shop", parse(t, "a")) || s.Len() != 2 {
		t.Error("the nil set has something")
	}
}
