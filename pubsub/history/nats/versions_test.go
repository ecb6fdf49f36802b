package nats

import (
	"regexp"
	"sync"
	"testing"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
)

func version(n, messages int) history.Definition {
	return definition("h", func(d *history.Definition) { d.Version, d.Limits.Messages = n, messages })
}

// effective returns version and messages of the history h that a store follows; 0: it is not kept.
func effective(s *Store) [2]int {
	if d := s.States()["h"].Effective; d != nil {
		return [2]int{d.Version, d.Limits.Messages}
	}
	return [2]int{}
}

func awaitEffective(t *testing.T, version, messages int, stores ...*Store) {
	t.Helper()
	for _, s := range stores {
		await(t, "the definition", func() bool { return effective(s) == [2]int{version, messages} })
	}
}

// drift has the fields in which a store's configuration differs.
func drift(s *Store) (text string) {
	state := s.States()["h"]
	for _, d := range state.Drift() {
		text += d.Field + " "
	}
	return text
}

// Edges that start put a higher version in the place of a lower one, and nothing else. Those that start again with
// the old file, as in the middle of a rolling update, change nothing.
func TestVersions(t *testing.T) {
	t.Parallel()
	by := natstest.Connect(natstest.Server(t))
	start := func(d history.Definition) *Store {
		s := open(t, by)
		define(t, s, d)
		join(s)
		return s
	}
	a := start(version(0, 100))
	b := start(version(1, 50))
	awaitEffective(t, 1, 50, a, b)
	again := start(version(0, 100))
	same := start(version(1, 60))
	awaitEffective(t, 1, 50, a, b, again, same)
	for s, want := range map[*Store]string{a: "version messages ", b: "", again: "version messages ", same: "messages "} {
		if got := drift(s); got != want {
			t.Errorf("differs in %q, want %q", got, want)
		}
	}
	define(t, a, version(0, 7)) // a reload of an older file
	awaitEffective(t, 1, 50, a, b)
	must(t, again.Retire("h")) // likewise, of one without the history
	awaitEffective(t, 1, 50, a, b, again)
	if got := drift(again); got != "history " {
		t.Errorf("an edge without the history differs in %q", got)
	}
	define(t, same, version(1, 70)) // a reload of the same version
	awaitEffective(t, 1, 70, a, b, same)
	if got := drift(b); got != "messages " {
		t.Errorf("an edge that was first differs in %q", got)
	}
	start(version(3, 100)) // back to the old limits, with a higher version
	awaitEffective(t, 3, 100, a, b, same)
}

// Of edges that start at once with one version, one wins, and the others say so.
func TestVersionsAtOnce(t *testing.T) {
	t.Parallel()
	by := natstest.Connect(natstest.Server(t))
	first := open(t, by)
	define(t, first, version(1, 100))
	stores := [4]*Store{}
	var starting sync.WaitGroup
	for i := range stores {
		stores[i] = open(t, by)
		starting.Go(func() {
			if err := stores[i].Define(version(2, 10+i)); err != nil {
				t.Error(err)
			}
		})
	}
	starting.Wait()
	await(t, "version 2", func() bool { return effective(first)[0] == 2 })
	won := effective(first)[1]
	awaitEffective(t, 2, won, stores[:]...)
	for i, s := range stores {
		if want := map[bool]string{false: "messages "}[10+i == won]; drift(s) != want {
			t.Errorf("edge %d differs in %q; kept are %d", i, drift(s), won)
		}
	}
}

// A history that is retired by a version stays so when edges start with the one before, gives its channels to another
// one at once, and comes back by a higher one.
func TestRetiredVersion(t *testing.T) {
	t.Parallel()
	by := natstest.Connect(natstest.Server(t))
	retired := history.Definition{Name: "h", Version: 2, Retired: true}
	old := open(t, by)
	define(t, old, version(1, 100))
	put(t, old, "h", "t", "c", "1")
	s := open(t, by)
	define(t, s, retired)
	define(t, s, definition("next"))
	again := open(t, by)
	if err := again.Define(version(1, 100)); err != nil {
		t.Fatal(err)
	}
	awaitEffective(t, 0, 0, old, s, again)
	if state := again.States()["h"]; state.Err == nil {
		t.Errorf("the edge with the old file says nothing: %+v", state)
	}
	if state := s.States()["h"]; state.Err != nil || len(state.Drift()) > 0 {
		t.Errorf("the edge that retired it: %+v", state)
	}
	must(t, s.Retire("h")) // the block is taken out, which changes nothing
	must(t, s.Retire("next"))
	define(t, s, version(3, 100))
	awaitEffective(t, 3, 100, old, s, again)
	if list, err := s.Usage(); err != nil || len(list) != 1 || list[0].Messages != 1 {
		t.Errorf("it keeps %+v, %v", list, err)
	}
	// At an edge that runs, too: the other one had it as the only one.
	define(t, s, history.Definition{Name: "h", Version: 4, Retired: true})
	awaitEffective(t, 0, 0, old, s, again)
}

// A build that knows no versions drops them when it changes the definitions, and an older copy of the bucket has a
// lower one: edges put the version that they have configured in again.
func TestVersionDropped(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	s := open(t, natstest.Connect(server))
	define(t, s, version(2, 50))
	kv, err := operator(t, server.ClientURL()).KeyValue(t.Context(), "p_histories")
	must(t, err)
	entry, err := kv.Get(t.Context(), "definitions")
	must(t, err)
	older := regexp.MustCompile(`"version":2,(.*)"messages":50`).ReplaceAll(entry.Value(), []byte(`$1"messages":7`))
	if string(older) == string(entry.Value()) {
		t.Fatalf("no version in %s", older)
	}
	revision, err := kv.Put(t.Context(), "definitions", older)
	must(t, err)
	await(t, "the version", func() bool {
		entry, err := kv.Get(t.Context(), "definitions")
		return err == nil && entry.Revision() > revision && effective(s) == [2]int{2, 50}
	})
}
