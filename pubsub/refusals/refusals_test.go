package refusals

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// Whoever is refused often pushes out their own refusals alone, in each way to be many.
func TestLogIsFair(t *testing.T) {
	address := func(format string, a ...any) []string {
		return OfAddress(netip.MustParseAddr(fmt.Sprintf(format, a...)))
	}
	quiet := map[string][]string{
		"a customer": OfToken("shop.", []string{"shop.a"}, "quiet"), "another tenant": OfToken("shop.", []string{"shop.b"}, "b"),
		"another issuer": OfToken("paint.", []string{"paint.a"}, "c"), "a stranger": address("198.51.100.7"),
		"a neighbour": address("203.0.113.9"), "one of IPv6": address("2001:db8::1"), "nobody knows": OfAddress(netip.Addr{}),
	}
	for what, attack := range map[string]func(i int) []string{
		"one token":                    func(int) []string { return OfToken("shop.", []string{"shop.a"}, "loud") },
		"many tokens of a tenant":      func(i int) []string { return OfToken("shop.", []string{"shop.a"}, fmt.Sprint(i)) },
		"many tenants of an issuer":    func(i int) []string { return OfToken("evil.", []string{fmt.Sprint("evil.", i)}, fmt.Sprint(i)) },
		"one address":                  func(int) []string { return address("203.0.113.8") },
		"all addresses of a network":   func(i int) []string { return address("203.0.113.%d", 128+i%100) },
		"a site of IPv6":               func(i int) []string { return address("2001:db8:1:%x::1", i%65536) },
		"a thousand networks":          func(i int) []string { return address("10.%d.%d.%d", i%4, i%250, i%256) },
		"all strangers, and one token": func(i int) []string { return address("%d.%d.1.1", 1+i%200, i/200%250) },
	} {
		var l Log
		begin := time.Unix(1000, 0)
		for name, of := range quiet {
			l.Add(Refusal{Time: begin, Subject: name}, of)
		}
		for i := range 5 * MaxKept {
			l.Add(Refusal{Time: begin, TokenID: "loud"}, attack(i))
		}
		if list, _ := l.List(Filter{}, 10*MaxKept); len(list) != MaxKept || l.root.count != MaxKept {
			t.Errorf("%s: %d are kept, counted %d", what, len(list), l.root.count)
		}
		for name, of := range quiet {
			pushedOut := what == "many tokens of a tenant" && name == "a customer" || // which is one of these
				strings.HasPrefix(what, "all strangers") && of[0] == strangers // there is no telling them apart
			if list, _ := l.List(Filter{Subject: name}, 1); len(list) == 0 && !pushedOut {
				t.Errorf("%s: pushes out %s", what, name)
			}
		}
	}
}

func TestLogLists(t *testing.T) {
	var l Log
	at := time.Unix(1000, 0)
	ip := netip.MustParseAddr("192.0.2.1")
	for i := range 10 {
		l.Add(Refusal{Time: at, ConnectionID: 1 + 2*7, TokenID: fmt.Sprint("t", i%2), Subject: "ada", IP: ip}, OfToken("", nil, fmt.Sprint(i%3)))
	}
	l.Add(Refusal{Time: at.Add(-time.Hour), ConnectionID: 9, Subject: "bob"}, OfAddress(netip.Addr{})) // the clock was set back
	list, more := l.List(Filter{}, 3)
	if len(list) != 3 || !more || list[0].Subject != "bob" || !list[1].Time.Before(list[0].Time) {
		t.Errorf("got %v, %v", list, more)
	}
	list, more = l.List(Filter{Before: list[2].Time}, 100)
	if len(list) != 8 || more {
		t.Errorf("got %d, %v on the next page", len(list), more)
	}
	for filter, want := range map[Filter]int{
		{ConnectionID: 9}: 1, {ConnectionID: 8}: 0, {TokenID: "t1"}: 5, {Subject: "ada", TokenID: "t0"}: 5,
		{Network: netip.MustParsePrefix("192.0.2.0/24")}: 10, {Network: netip.MustParsePrefix("198.51.100.0/24")}: 0,
	} {
		if list, _ := l.List(filter, 100); len(list) != want {
			t.Errorf("%+v: %d, want %d", filter, len(list), want)
		}
	}
}

// Nobody takes more than half of what those take who they are among, and what is left out is told.
func TestBudget(t *testing.T) {
	b, now := Budget{Max: 8}, time.Unix(1000, 0)
	take := func(of ...[]string) (taken int) {
		for i := range 1000 {
			if ok, _ := b.Take(now, of[i%len(of)]); ok {
				taken++
			}
		}
		return taken
	}
	a, z := OfAddress(netip.MustParseAddr("192.0.2.1")), OfAddress(netip.MustParseAddr("198.51.100.1"))
	if n := take(a); n != 2 {
		t.Errorf("an address got %d", n)
	}
	if n := take(OfAddress(netip.MustParseAddr("192.0.2.2")), a); n != 2 {
		t.Errorf("a network got %d more", n)
	}
	if n := take(z, OfAddress(netip.Addr{})); n != 4 {
		t.Errorf("others got %d", n)
	}
	if n := take(OfToken("i", []string{"t"}, "a"), OfToken("i", []string{"t"}, "b"), OfToken("j", nil, "")); n != 3 {
		t.Errorf("tokens got %d", n)
	}
	now = now.Add(time.Second)
	if ok, omitted := b.Take(now, a); !ok || omitted != 4000-11 {
		t.Errorf("a second later: %v, %d left out", ok, omitted)
	}
	if ok, omitted := b.Take(now, a); !ok || omitted != 0 || b.Omitted() != 0 {
		t.Errorf("reported twice: %d", omitted)
	}
}

func TestCut(t *testing.T) {
	long := strings.Repeat("ä", MaxText)
	if got := Cut(long); len(got) != MaxText+len("…") || !strings.HasPrefix(got, "ää") || Cut("short") != "short" {
		t.Errorf("got %d bytes", len(got))
	}
}
