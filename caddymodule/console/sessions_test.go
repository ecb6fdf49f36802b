package console

import (
	"crypto/sha256"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// Hashes of the passwords one and two, of the lowest cost that is allowed.
const (
	one = "$2a$10$KXhR/QTg6MpNMN809f.mueTUPklAY1JAsUZyvl/ddEGYKYZU6QCh6"
	two = "$2a$10$GfO6MYwNLpraX5ZF8XqPCuqh1Sb73bLZsTwEVg7TaKd61AhEDlZBu"
)

func compile(t *testing.T, list ...Operator) *operators {
	t.Helper()
	o, err := newOperators(list, authOperators)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const host = "edge.example.com"

// lease is leaseState with a state of the test's own. What a reload revokes goes to revoked.
func (s *state) lease(o *operators, revoked ...*[]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.consoles = append(s.consoles, lease{o, func(ids []string) {
		for _, list := range revoked {
			*list = append(*list, ids...)
		}
	}, nil})
}

// unlease is release without the pool.
func (s *state) unlease(t *testing.T, o *operators) {
	t.Helper()
	if _, _, err := states.LoadOrNew(stateKey{}, func() (caddy.Destructor, error) { return s, nil }); err != nil {
		t.Fatal(err)
	}
	if err := s.release(o); err != nil {
		t.Fatal(err)
	}
}

func TestSessionEnds(t *testing.T) {
	ada := Operator{Name: "ada", Hash: one, Role: Manager}
	o := compile(t, ada)
	synctest.Test(t, func(t *testing.T) {
		s := newState(time.Now)
		s.lease(o)
		open := func() string {
			key, _, _ := s.open("ada", o.byName["ada"], host)
			return key
		}
		found := func(key string, caused bool) bool {
			_, ok := s.find(key, host, o, caused)
			return ok
		}

		key := open()
		for range 5 { // what the operator does prolongs it
			time.Sleep(idleTime - time.Second)
			if !found(key, true) {
				t.Fatal("it ended while it was used")
			}
		}
		time.Sleep(idleTime / 2)
		if !found(key, false) {
			t.Error("it ended before its time")
		}
		time.Sleep(idleTime / 2) // what a timer does, does not
		if found(key, true) {
			t.Errorf("it lives %v after its operator's last call", idleTime)
		}

		key = open()
		for range int(longestTime/idleTime)*2 - 1 {
			time.Sleep(idleTime / 2)
			found(key, true)
		}
		if !found(key, true) {
			t.Error("it ended before its longest time")
		}
		time.Sleep(idleTime / 2)
		if found(key, true) {
			t.Errorf("it lives %v after the login", longestTime)
		}

		key = open()
		id := sha256.Sum256([]byte(key))
		s.close(id)
		if found(key, true) {
			t.Error("it outlives its logout")
		}
		key = open()
		if _, ok := s.find(key, "other.example.com", o, true); ok {
			t.Error("it holds at another host")
		}
		for _, wrong := range []string{"", key[1:], key + "A", strings.ToLower(key) + "x"} {
			if found(wrong, true) {
				t.Errorf("%q finds a session", wrong)
			}
		}
		for id := range s.sessions {
			if strings.Contains(string(id[:]), key) {
				t.Error("the key itself is kept")
			}
		}
	})
}

// A reload ends the sessions of operators that it drops or whose hash it changes, for good,
// and no others.
func TestReloadEndsSessions(t *testing.T) {
	before := compile(t, Operator{"ada", one, Manager}, Operator{"bob", one, Viewer}, Operator{"eve", one, Viewer})
	s := newState(time.Now)
	s.lease(before)
	keys := map[string]string{}
	for name, op := range before.byName {
		keys[name], _, _ = s.open(name, op, host)
	}
	found := func(o *operators, name string) bool {
		_, ok := s.find(keys[name], host, o, true)
		return ok
	}

	after := compile(t, Operator{"ada", one, Viewer}, Operator{"bob", two, Viewer})
	s.lease(after)
	if !found(after, "ada") || found(after, "bob") || found(after, "eve") {
		t.Errorf("right after the reload: ada %v, bob %v, eve %v", found(after, "ada"), found(after, "bob"), found(after, "eve"))
	}
	s.unlease(t, before)
	again := compile(t, Operator{"ada", one, Manager}, Operator{"bob", one, Viewer}, Operator{"eve", one, Viewer})
	s.lease(again)
	s.unlease(t, after)
	if !found(again, "ada") || found(again, "bob") || found(again, "eve") {
		t.Errorf("after the next one: ada %v, bob %v, eve %v", found(again, "ada"), found(again, "bob"), found(again, "eve"))
	}
}

func TestSessionBounds(t *testing.T) {
	o := compile(t, Operator{"ada", one, Manager}, Operator{"bob", one, Viewer})
	synctest.Test(t, func(t *testing.T) {
		s := newState(time.Now)
		s.lease(o)
		bob, _, _ := s.open("bob", o.byName["bob"], host)
		var keys []string
		for range maxSessionsOfOperator {
			key, _, _ := s.open("ada", o.byName["ada"], host)
			keys = append(keys, key)
			time.Sleep(time.Second)
		}
		s.find(keys[0], host, o, true)       // so that the second is the oldest
		s.open("ada", o.byName["ada"], host) // one too many
		for i, key := range keys {
			if _, ok := s.find(key, host, o, false); ok != (i != 1) {
				t.Errorf("session %d of %d: open %v", i, len(keys), ok)
			}
		}
		if _, ok := s.find(bob, host, o, false); !ok {
			t.Error("one operator's sessions end another's")
		}

		var ends []func()
		for i := range maxCallsOfOperator + 1 {
			end, ok := s.begin("ada")
			if ok != (i < maxCallsOfOperator) {
				t.Errorf("call %d at a time: %v", i+1, ok)
			}
			ends = append(ends, end)
		}
		if _, ok := s.begin("bob"); !ok {
			t.Error("one operator's calls keep another's waiting")
		}
		ends[0]()
		if _, ok := s.begin("ada"); !ok {
			t.Error("a call that has ended still counts")
		}
	})
}

// Whoever has the wrong password, or no name, causes the same work.
func TestCheckPassword(t *testing.T) {
	o := compile(t, Operator{"ada", one, Manager}, Operator{"bob", two, Viewer},
		Operator{"eve", "$argon2id$v=19$m=47104,t=1,p=1$P2nzckEdTZ3bxCiBCkRTyA$xQL3Z32eo5jKl7u5tcIsnEKObYiyNZQQf5/4sAau6Pg", Viewer})
	for _, c := range []struct {
		name, password string
		want           bool
	}{
		{"ada", "one", true}, {"bob", "two", true}, {"eve", "antitiming", true}, {"ada", "two", false},
		{"", "", false}, {"nobody", "one", false},
	} {
		if got := o.check(c.name, c.password); got != c.want {
			t.Errorf("%s %s: %v", c.name, c.password, got)
		}
	}
	counter := &countingComparer{}
	for i := range o.classes {
		o.classes[i].comparer = counter
	}
	for _, name := range []string{"ada", "eve", "nobody"} {
		counter.calls = 0
		o.check(name, "wrong")
		if counter.calls != 2 {
			t.Errorf("%s: %d hashes are computed, want one of each of the 2 kinds", name, counter.calls)
		}
	}
}

type countingComparer struct{ calls int }

func (c *countingComparer) Compare(_, _ []byte) (bool, error) {
	c.calls++
	return false, nil
}
