package badger

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

func copyStore(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir() + "/h"
	must(t, os.CopyFS(to, os.DirFS(dir)))
	if err := os.Remove(to + "/LOCK"); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return to
}

// After a store was put back from an older copy, positions of messages that the copy has not
// are unknown, however often it is opened again; its own stay known.
func TestOlderCopy(t *testing.T) {
	for _, opens := range []int{1, 3, 25} {
		t.Run(fmt.Sprintf("opens=%d", opens), func(t *testing.T) {
			one := func(l *history.Limits) { l.Messages = 1 }
			dir := t.TempDir()
			s := open(t, Config{Dir: dir})
			define(t, s, one)
			own := []wire.Position{put(t, s, history.Message{Channel: []byte("b"), Payload: []byte("1")}).Position}
			must(t, s.Close())
			copied := copyStore(t, dir)
			s = open(t, Config{Dir: dir})
			define(t, s, one)
			old := put(t, s, history.Message{Channel: []byte("b"), Payload: []byte("old2")}).Position
			must(t, s.Close())
			time.Sleep(2 * time.Millisecond) // so that the copy is opened later
			for i := range opens {
				s = open(t, Config{Dir: copied})
				for range 2 {
					own = append(own, put(t, s, history.Message{Channel: []byte("b"), Payload: []byte("new")}).Position)
				}
				if known, err := s.Knows("h", "t", old); known || err != nil {
					t.Errorf("open %d: %v of the other store is known: %v", i, old, err)
				}
				for _, p := range own[max(0, len(own)-16):] {
					if known, err := s.Knows("h", "t", p); !known || err != nil {
						t.Errorf("open %d: the store's own %v is not known: %v", i, p, err)
					}
				}
				must(t, s.Close())
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
}

// The same for a tenant, and a history, that the copy had no message of.
func TestOlderCopyNewTenant(t *testing.T) {
	one := func(l *history.Limits) { l.Messages = 1 }
	message := history.Message{Channel: []byte("b"), Payload: []byte("x")}
	for _, defined := range []bool{false, true} {
		dir := t.TempDir()
		s := open(t, Config{Dir: dir})
		if defined {
			define(t, s, one)
		}
		must(t, s.Close())
		copied := copyStore(t, dir)
		s = open(t, Config{Dir: dir})
		define(t, s, one)
		old := put(t, s, message).Position
		time.Sleep(2 * time.Millisecond)
		for range 3 {
			s = open(t, Config{Dir: copied})
			define(t, s, one)
			for range 2 {
				put(t, s, message)
			}
			if known, err := s.Knows("h", "t", old); known || err != nil {
				t.Errorf("defined: %v: %v of the other store is known: %v", defined, old, err)
			}
			must(t, s.Close())
		}
	}
}

// manyTenants is more than an index remembers without messages.
const manyTenants = 8192 + 200

func putAll(t *testing.T, s *Store, owner, prefix string, n int) {
	t.Helper()
	var done sync.WaitGroup
	for i := range manyTenants {
		for range n {
			done.Add(1)
			s.Append(&history.Message{History: "h", Owner: owner, Tenant: fmt.Sprint(prefix, i), Channel: []byte("c"), Stored: func(_ *history.Message, r history.Result) {
				if r.Err != nil {
					t.Error(r.Err)
				}
				done.Done()
			}})
		}
	}
	done.Wait()
}

// A store with many tenants knows all of them after a restart, with messages or without.
func TestReopenManyTenants(t *testing.T) {
	for _, purged := range []bool{false, true} {
		t.Run(fmt.Sprintf("purged=%v", purged), func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, Config{Dir: dir})
			define(t, s, func(l *history.Limits) { l.Messages = 1 })
			putAll(t, s, "", "t", 2)
			put(t, s, history.Message{Channel: []byte("c")})
			if purged {
				must(t, errorOf(s.Purge("h", "", "")))
			}
			heads := map[string]wire.Position{}
			for i := range manyTenants {
				name := fmt.Sprint("t", i)
				heads[name], _ = s.Head("h", name)
			}
			for range 2 {
				must(t, s.Close())
				s = open(t, Config{Dir: dir})
				wrong := 0
				for name, head := range heads {
					got, err := s.Head("h", name)
					known, _ := s.Knows("h", name, head)
					if err != nil || got != head || !known {
						wrong++
					}
				}
				if wrong > 0 {
					t.Errorf("%d of %d tenants are not as they were", wrong, len(heads))
				}
			}
		})
	}
}

// The numbers of tenants that were forgotten are not given again, also not after a restart,
// and the database has no records of them.
func TestForgottenTenantsReopen(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	define(t, s, nil)
	for range 5 {
		put(t, s, history.Message{Channel: []byte("c")})
	}
	last, _ := s.Head("h", "t")
	for _, prefix := range []string{"a", "b"} {
		putAll(t, s, "", prefix, 1)
		must(t, errorOf(s.Purge("h", "", "")))
	}
	for i := range manyTenants / 200 { // some are forgotten for each
		put(t, s, history.Message{Tenant: fmt.Sprint("new", i), Channel: []byte("c")})
	}
	for range 2 {
		must(t, s.Close())
		s = open(t, Config{Dir: dir})
		if head, err := s.Head("h", "t"); err != nil || head.N < last.N || head.T < last.T {
			t.Errorf("the head is %v, %v, and was %v", head, err, last)
		}
		records := 0
		if err := s.each(kindTenant, func(_, _ []byte) error { records++; return nil }); err != nil {
			t.Fatal(err)
		}
		if records > manyTenants {
			t.Errorf("%d records of tenants", records)
		}
	}
	if at := put(t, s, history.Message{Channel: []byte("c")}).Position; at.N <= last.N {
		t.Errorf("%v follows %v", at, last)
	}
	early := last
	early.N--
	if p := page(t, s, "#", early.N); p.Removed.N < last.N {
		t.Errorf("who stood at %v gets removals up to %v", early, p.Removed)
	}
}

// Scopes outlive the process.
func TestScopes(t *testing.T) {
	c := Config{Dir: t.TempDir(), Reserve: 1}
	s := open(t, c)
	if got, err := s.Scopes(); err != nil || len(got) != 0 {
		t.Errorf("of a new store: %v, %v", got, err)
	}
	want := map[string]history.Scope{"a": {Print: "p", Since: 1}, "b": {Since: 1 << 40}}
	must(t, s.SetScopes(want))
	must(t, s.Close())
	if err := s.SetScopes(want); !errors.Is(err, history.ErrClosed) {
		t.Errorf("of a closed store: %v", err)
	}
	if got, err := open(t, c).Scopes(); err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}
