package history

import (
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/pattern"
)

func define(name string, tenants []string, channels ...string) Definition {
	return Definition{Name: name, Tenants: tenants, Channels: channels, Limits: DefaultLimits()}
}

func with(d Definition, change func(*Definition)) Definition {
	change(&d)
	return d
}

func TestNewSetRefuses(t *testing.T) {
	good := define("a", nil, "chat.#")
	for _, c := range []struct {
		definitions []Definition
		want        string
	}{
		{[]Definition{define("A b", nil, "x")}, "a name has 1 to 32"},
		{[]Definition{define("", nil, "x")}, "a name has 1 to 32"},
		{[]Definition{define("a", nil)}, "at least one pattern"},
		{[]Definition{define("a", nil, "x..y")}, "channels: x..y: pattern syntax error"},
		{[]Definition{define("a", []string{"x*y"}, "x")}, "tenants: each must be"},
		{[]Definition{define("a", []string{""}, "x")}, "tenants: each must be"},
		{[]Definition{good, good}, "history a is given twice"},
		{[]Definition{good, define("b", nil, "*.x")}, "histories a and b share channels of a tenant: chat.# of the first and *.x of the second"},
		{[]Definition{define("a", []string{"t.*"}, "x"), define("b", []string{"t.1"}, "x")}, "histories a and b"},
		{[]Definition{define("a", []string{"t*"}, "x"), define("b", []string{"t.1*"}, "x")}, "histories a and b"},
		{[]Definition{with(good, func(d *Definition) { d.Limits.Messages = 0 })}, "messages: must be from 1 to 100000"},
		{[]Definition{with(good, func(d *Definition) { d.Limits.Messages = 100_001 })}, "messages: must be from 1 to 100000"},
		{[]Definition{with(good, func(d *Definition) { d.Limits.Age = time.Millisecond })}, "age: must be from 1s to 720h"},
		{[]Definition{with(good, func(d *Definition) { d.Limits.Size = 1 })}, "size: must be from 1048576"},
		{[]Definition{with(good, func(d *Definition) { d.MaxLag = time.Millisecond })}, "max_lag: must be from 1s"},
	} {
		_, err := NewSet(c.definitions)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.definitions, err, c.want)
		}
	}
}

func TestSet(t *testing.T) {
	s, err := NewSet([]Definition{
		define("chat", []string{"paint.*", "shop"}, "chat.#", "log.*"),
		define("prices", []string{"shop"}, "price.>"),
		define("other", []string{"elsewhere*"}, "#"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tenant, pattern, want string }{
		{"paint.eu", "chat.#", "chat"},
		{"paint.eu", "chat.room.1", "chat"},
		{"paint.eu", "log.*", "chat"},
		{"paint.eu", "log.#", ""}, // more than the history has
		{"paint", "chat.#", ""},
		{"shop", "price.a", "prices"},
		{"paint.eu", "price.a", ""},
		{"elsewhere", "x.y", "other"},
		{"nowhere", "x.y", ""},
	} {
		p, err := pattern.Parse(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if h := s.Containing(c.tenant, p); h != nil {
			got = h.Name
		}
		if got != c.want {
			t.Errorf("%s %s: in %q, want %q", c.tenant, c.pattern, got, c.want)
		}
	}
	if list := s.OfTenant("shop"); len(list) != 2 || !list[0].Keeps([]byte("chat")) || list[0].Keeps([]byte("price.a")) {
		t.Errorf("%v", list)
	}
	var none *Set
	if none.All() != nil || none.OfTenant("t") != nil || none.Containing("t", pattern.Pattern{}) != nil {
		t.Error("the nil set has histories")
	}
}

// A scope starts over whenever what is kept has changed, and when a history is back.
func TestNextScopes(t *testing.T) {
	set := func(definitions ...Definition) *Set {
		t.Helper()
		s, err := NewSet(definitions)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0) }
	a, b := define("a", nil, "x.#"), define("b", nil, "y.#")
	scopes := set(a).NextScopes(nil, at(1))
	if scopes["a"].Since != 0 {
		t.Errorf("of a new store: %+v", scopes)
	}
	scopes = set(with(a, func(d *Definition) { d.Limits.Messages = 7 }), b).NextScopes(scopes, at(2))
	if scopes["a"].Since != 0 || scopes["b"].Since != 2000 {
		t.Errorf("with other limits, and another history: %+v", scopes)
	}
	scopes = set(define("a", []string{"t"}, "x.#")).NextScopes(scopes, at(3))
	if scopes["a"].Since != 3000 || scopes["b"].Print != "" {
		t.Errorf("of other tenants, and without the other: %+v", scopes)
	}
	scopes = set(define("a", []string{"t"}, "x.#"), b).NextScopes(scopes, at(4))
	if scopes["a"].Since != 3000 || scopes["b"].Since != 4000 {
		t.Errorf("with the other again: %+v", scopes)
	}
	var none *Set
	if scopes = set(a).NextScopes(none.NextScopes(scopes, at(5)), at(6)); scopes["a"].Since != 6000 {
		t.Errorf("after none: %+v", scopes)
	}
}
