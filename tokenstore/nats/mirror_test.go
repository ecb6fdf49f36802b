package nats

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// step is one that is done with a mirror, and what the watchers hear of it.
type step struct {
	do   string // put, remove, sweep, rebase, prune or wait
	id   string
	n    uint64 // the revision
	in   uint64 // the round
	hear string // "a=3": the record a has version 3; "a-3": it was deleted with 3
}

func TestMirror(t *testing.T) {
	for name, c := range map[string]struct {
		steps []step
		has   string // at the end, in order: id=version
	}{
		"newer replaces older": {[]step{{"put", "a", 1, 0, "a=1"}, {"put", "a", 2, 0, "a=2"}}, "a=2"},
		"older is ignored":     {[]step{{"put", "a", 2, 0, "a=2"}, {"put", "a", 1, 0, ""}}, "a=2"},
		"told once":            {[]step{{"put", "a", 2, 0, "a=2"}, {"put", "a", 2, 1, ""}}, "a=2"},
		"removed":              {[]step{{"put", "a", 1, 0, "a=1"}, {"remove", "a", 2, 0, "a-2"}}, ""},
		"removed once":         {[]step{{"put", "a", 1, 0, "a=1"}, {"remove", "a", 2, 0, "a-2"}, {"remove", "a", 2, 0, ""}, {"remove", "a", 3, 0, ""}}, ""},
		"removed unknown":      {[]step{{"remove", "a", 2, 0, ""}}, ""},
		"older removal":        {[]step{{"put", "a", 3, 0, "a=3"}, {"remove", "a", 2, 0, ""}}, "a=3"},
		"older after removal":  {[]step{{"put", "a", 1, 0, "a=1"}, {"remove", "a", 3, 0, "a-3"}, {"put", "a", 2, 0, ""}}, ""},
		"older after unknown removal": {
			[]step{{"remove", "a", 3, 0, ""}, {"put", "a", 2, 0, ""}}, "",
		},
		"created again": {[]step{{"put", "a", 1, 0, "a=1"}, {"remove", "a", 2, 0, "a-2"}, {"put", "a", 3, 0, "a=3"}}, "a=3"},
		"other ids":     {[]step{{"put", "b", 1, 0, "b=1"}, {"put", "a", 2, 0, "a=2"}, {"remove", "b", 3, 0, "b-3"}, {"put", "c", 4, 0, "c=4"}}, "a=2 c=4"},

		"sweep removes what a round has not seen": {
			[]step{{"put", "a", 1, 1, "a=1"}, {"put", "b", 2, 1, "b=2"}, {"put", "b", 2, 2, ""}, {"sweep", "", 9, 2, "a-9"}}, "b=2",
		},
		"sweep spares what was written meanwhile": {
			[]step{{"put", "a", 10, 0, "a=10"}, {"sweep", "", 9, 2, ""}}, "a=10",
		},
		"sweep spares what was seen and then written": {
			[]step{{"put", "a", 1, 2, "a=1"}, {"put", "a", 3, 0, "a=3"}, {"sweep", "", 9, 2, ""}}, "a=3",
		},
		"sweep leaves deletions": {
			[]step{{"put", "a", 1, 1, "a=1"}, {"remove", "a", 3, 0, "a-3"}, {"sweep", "", 9, 2, ""}, {"put", "a", 2, 2, ""}}, "",
		},
		"what sweep removed does not come back": {
			[]step{{"put", "a", 1, 1, "a=1"}, {"sweep", "", 9, 2, "a-9"}, {"put", "a", 8, 2, ""}, {"put", "a", 10, 2, "a=10"}}, "a=10",
		},

		"rebase lets lower revisions in": {
			[]step{
				{"put", "a", 7, 1, "a=7"}, {"put", "b", 8, 1, "b=8"}, {"remove", "c", 9, 0, ""}, {"rebase", "", 0, 0, ""},
				{"put", "a", 1, 2, "a=10"}, {"put", "c", 2, 2, "c=11"}, {"sweep", "", 2, 2, "b-11"},
			}, "a=10 c=11",
		},
		"rebase on an empty bucket": {
			[]step{{"put", "a", 7, 1, "a=7"}, {"rebase", "", 0, 0, ""}, {"sweep", "", 0, 2, "a-7"}}, "",
		},

		"prune keeps new tombstones": {
			[]step{{"remove", "a", 3, 0, ""}, {"prune", "", 0, 0, ""}, {"put", "a", 2, 0, ""}}, "",
		},
		"prune removes only old tombstones": {
			[]step{{"remove", "a", 3, 0, ""}, {"put", "b", 4, 0, "b=4"}, {"wait", "", 0, 0, ""}, {"remove", "c", 5, 0, ""}, {"prune", "", 0, 0, ""}, {"put", "a", 2, 0, "a=2"}, {"put", "c", 2, 0, ""}}, "a=2 b=4",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMirror()
			now := time.Now()
			m.now = func() time.Time { return now }
			var heard string
			m.watchers.Add(func(c tokenstore.Change) {
				sign := "="
				if c.Deleted {
					sign = "-"
				}
				heard += fmt.Sprint(c.Record.ID, sign, c.Record.Version)
			})
			for i, s := range c.steps {
				heard = ""
				switch s.do {
				case "put":
					m.put(tokenstore.Record{Kind: access, ID: s.id, Version: s.n}, s.in)
				case "remove":
					m.remove(access, s.id, s.n)
				case "sweep":
					for _, key := range m.unseen(s.in, s.n) {
						m.removeUnseen(key, s.in, s.n)
					}
				case "rebase":
					m.rebase()
				case "prune":
					m.pruneTombstones()
				case "wait":
					now = now.Add(tombstoneTTL + 1)
				}
				if heard != s.hear {
					t.Errorf("step %d, %+v: the watchers heard %q", i+1, s, heard)
				}
				checkIDs(t, m) // in between, as it keeps the order
			}
			var has string
			for _, id := range m.ids(access, "", math.MaxInt) {
				rec, _ := m.get(access, id)
				has += fmt.Sprint(" ", id, "=", rec.Version)
			}
			if c.has != "" {
				c.has = " " + c.has
			}
			same(t, "the mirror has", has, c.has)
		})
	}
}

// checkIDs compares the ids in order with what get knows.
func checkIDs(t *testing.T, m *mirror) {
	t.Helper()
	var want []string
	for _, id := range []string{"a", "b", "c"} {
		if _, ok := m.get(access, id); ok {
			want = append(want, id)
		}
	}
	if got := m.ids(access, "", math.MaxInt); !slices.Equal(got, want) {
		t.Errorf("ids %v, want %v", got, want)
	}
}

// A deletion says what was deleted, but nobody hears of a record that may be
// forgotten.
func TestMirrorReportsDeletions(t *testing.T) {
	m := newMirror()
	now := time.Now()
	m.now = func() time.Time { return now }
	var heard []tokenstore.Change
	m.watchers.Add(func(c tokenstore.Change) { heard = append(heard, c) })
	m.put(tokenstore.Record{Kind: access, ID: "a", Version: 1, Value: []byte("x"), DeleteAfter: now.Add(1)}, 0)
	m.put(tokenstore.Record{Kind: access, ID: "b", Version: 2, Value: []byte("y"), DeleteAfter: now}, 0)
	heard = nil
	m.remove(access, "a", 3)
	m.remove(access, "b", 4)
	if len(heard) != 1 || !heard[0].Deleted || heard[0].Record.ID != "a" || heard[0].Record.Version != 3 || string(heard[0].Record.Value) != "x" {
		t.Errorf("the watchers heard %+v", heard)
	}
	if list := m.ids(access, "", math.MaxInt); len(list) != 0 {
		t.Errorf("has %v", list)
	}
}

func TestMirrorExpired(t *testing.T) {
	m := newMirror()
	now := time.Now()
	m.now = func() time.Time { return now }
	for i, after := range []time.Time{{}, now.Add(-time.Second), now, now.Add(1), now.Add(-time.Second)} {
		m.put(tokenstore.Record{Kind: access, ID: fmt.Sprint(i), Version: uint64(i + 1), DeleteAfter: after}, 0)
	}
	m.remove(access, "4", 9)
	var ids []string
	for _, rec := range m.expired() {
		ids = append(ids, rec.ID)
	}
	slices.Sort(ids)
	if !slices.Equal(ids, []string{"1", "2"}) {
		t.Errorf("%v may be forgotten, want 1 and 2", ids)
	}
}
