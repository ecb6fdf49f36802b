package badger

import (
	"fmt"
	"testing"

	"github.com/millrace/millrace/pubsub/history"
)

// A store knows after a restart whose a tenant is, and forgets it with the tenant; one that an earlier version
// has left counts for nobody.
func TestOwnersOutliveARestart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	define(t, s, func(l *history.Limits) { l.Messages = 1 })
	for i, owner := range []string{"", "a.", "b.", "a."} {
		put(t, s, history.Message{Tenant: "t", Channel: fmt.Append(nil, i), Owner: owner})
	}
	put(t, s, history.Message{Tenant: "nobody's", Channel: []byte("c")})
	for range 3 {
		must(t, s.Close())
		s = open(t, Config{Dir: dir})
		for tenant, want := range map[string]string{"t": "a.", "nobody's": "", "unknown": ""} {
			k, err := s.set.Lock("h")
			must(t, err)
			got := k.Index.Owner(tenant)
			k.Unlock()
			if got != want {
				t.Errorf("%s is %q's, want %q", tenant, got, want)
			}
		}
	}
	records := func() (n int) {
		must(t, s.each(kindOwner, func(_, _ []byte) error { n++; return nil }))
		return n
	}
	if n := records(); n != 1 {
		t.Errorf("%d records of owners, want 1", n)
	}
	if _, err := s.Purge("h", "t", ""); err != nil {
		t.Fatal(err)
	}
	putAll(t, s, "many", 1)
	if _, err := s.Purge("h", "", ""); err != nil {
		t.Fatal(err)
	}
	putAll(t, s, "more", 1) // so that idle ones are forgotten
	must(t, s.Close())
	s = open(t, Config{Dir: dir})
	k, err := s.set.Find("h")
	must(t, err)
	must(t, s.flushAll(k))
	if n := records(); n != 0 {
		t.Errorf("%d records are left of a tenant that is forgotten", n)
	}
}

// An owner fills half of the queue at most.
func TestOwnersShareTheQueue(t *testing.T) {
	q := queue{filled: make(chan struct{}, 1), most: 10}
	fill := func(owner string) (n int) {
		for q.push(&history.Message{Tenant: fmt.Sprint(owner, n), Owner: owner}) == nil {
			n++
		}
		return n
	}
	if a, b := fill("a."), fill("b."); a != 5 || b != 5 {
		t.Errorf("two owners have %d and %d of 10", a, b)
	}
	q.take()
	if n := len(q.owners); n != 0 {
		t.Errorf("%d owners are left", n)
	}
	if n := fill(""); n != 10 {
		t.Errorf("who is not known has %d of 10", n)
	}
}
