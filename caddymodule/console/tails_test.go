package console

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// tailing is a session with live tokens.
func (s *state) tailing(t *testing.T, o *operators, name string, tokens ...liveToken) [32]byte {
	t.Helper()
	_, made, _ := s.open(name, o.byName[name], host)
	for _, token := range tokens {
		if over, open := s.addLive(made.id, token); !open || len(over) > 0 {
			t.Fatalf("%v ended, open %v", over, open)
		}
	}
	return made.id
}

func soon(id string, publishes bool) liveToken {
	return liveToken{id, publishes, time.Now().Add(liveTokenLifetime)}
}

// However a session ends, its live tokens end with it.
func TestTailsEndWithTheirSessions(t *testing.T) {
	before := compile(t, Operator{"ada", one, Manager}, Operator{"bob", one, Viewer}, Operator{"eve", one, Manager}, Operator{"kim", one, Manager})
	synctest.Test(t, func(t *testing.T) {
		s := newState(time.Now)
		s.lease(before)
		closed := s.tailing(t, before, "ada", soon("a1", false), soon("a2", true))
		if got := s.close(closed); !slices.Equal(got, []string{"a1", "a2"}) {
			t.Errorf("after a logout: %v", got)
		}
		if over, open := s.addLive(closed, soon("late", true)); open || !slices.Equal(over, []string{"late"}) {
			t.Errorf("one that was issued while its session ended: %v, open %v", over, open)
		}

		s.tailing(t, before, "ada", soon("a3", false))
		for i := range maxSessionsOfOperator {
			time.Sleep(time.Second)
			_, _, orphans := s.open("ada", before.byName["ada"], host)
			if want := map[bool][]string{true: {"a3"}}[i == maxSessionsOfOperator-1]; !slices.Equal(orphans, want) {
				t.Errorf("login %d ended %v, want %v", i+2, orphans, want)
			}
		}

		// A reload that drops bob, makes eve a viewer, and changes the hash of kim.
		s.tailing(t, before, "bob", soon("b", false))
		s.tailing(t, before, "eve", soon("e", false), soon("e publishes", true))
		s.tailing(t, before, "kim", soon("k", true))
		s.tailing(t, before, "ada", soon("a4", true))
		var revoked []string
		after := compile(t, Operator{"ada", one, Manager}, Operator{"eve", one, Viewer}, Operator{"kim", two, Manager})
		s.lease(after, &revoked)
		s.unlease(t, before)
		s.revoking.Wait()
		slices.Sort(revoked)
		if want := []string{"b", "e publishes", "k"}; !slices.Equal(revoked, want) {
			t.Errorf("the reload revoked %q, want %q", revoked, want)
		}
	})
}

func TestTailBounds(t *testing.T) {
	o := compile(t, Operator{"ada", one, Manager}, Operator{"bob", one, Viewer})
	synctest.Test(t, func(t *testing.T) {
		s := newState(time.Now)
		s.lease(o)
		first, second := s.tailing(t, o, "ada"), s.tailing(t, o, "ada")
		for i := range maxLiveTokens {
			id := [2][32]byte{first, second}[i%2]
			if over, _ := s.addLive(id, soon(fmt.Sprint(i), false)); len(over) > 0 {
				t.Fatalf("token %d ends %v", i, over)
			}
			time.Sleep(time.Second)
		}
		for i := range 3 {
			if over, open := s.addLive(second, soon("more", false)); !open || !slices.Equal(over, []string{fmt.Sprint(i)}) {
				t.Errorf("one too many ends %v, want the oldest, %d", over, i)
			}
		}
		s.tailing(t, o, "bob", soon("b", false)) // which fails if one of ada's counts
		time.Sleep(liveTokenLifetime)
		if over, _ := s.addLive(first, soon("later", false)); len(over) > 0 {
			t.Errorf("those that have expired count: %v", over)
		}

		// Another session is no other operator.
		allowed := 0
		for range 10 * liveBurst {
			s.open("ada", o.byName["ada"], host)
			if s.mayTail("ada") {
				allowed++
			}
		}
		if allowed != liveBurst || !s.mayTail("bob") {
			t.Errorf("%d live tokens at once, want %d", allowed, liveBurst)
		}
		time.Sleep(liveEvery)
		if !s.mayTail("ada") || s.mayTail("ada") {
			t.Errorf("not one more after %v", liveEvery)
		}
	})
}
