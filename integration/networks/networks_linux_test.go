package networks

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/netlab"
)

// A client gets messages again soon after a network breaks, or never misses any: see
// docs/networks.md.
func TestNetworks(t *testing.T) {
	if whyNot != nil {
		t.Skipf("no network namespaces here: %v", whyNot)
	}
	rounds, wanted, played := 20, kinds, breakages
	if !soaking {
		rounds, wanted = 1, kinds[:2]
		played = slices.DeleteFunc(slices.Clone(breakages), func(b breakage) bool { return b.unmarked })
	}
	rounds = number(t, "MILLRACE_ROUNDS", rounds)
	wanted = chosen(t, "MILLRACE_KINDS", kinds, wanted, kind.String)
	cases := chosen(t, "MILLRACE_CASES", breakages, played, func(b breakage) string { return b.name })
	results := &results{all: map[string]map[kind][]outcome{}, turns: make(chan struct{}, number(t, "MILLRACE_TURNS", 2))}
	t.Run("kinds", func(t *testing.T) { // ends with the last of them
		for _, k := range wanted {
			for name, group := range groups(cases) {
				t.Run(k.String()+" "+name, func(t *testing.T) {
					t.Parallel()
					if soaking && name == others {
						results.turns <- struct{}{}
						defer func() { <-results.turns }()
					}
					results.play(t, k, group, rounds)
				})
			}
		}
	})
	t.Log("\n" + results.table(cases, wanted))
}

// number is that of the environment, or the standard one.
func number(t *testing.T, env string, standard int) int {
	t.Helper()
	text := os.Getenv(env)
	if text == "" {
		return standard
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, want a number", env, text)
	}
	return n
}

// chosen are those whose names the environment has, separated by commas.
func chosen[T any](t *testing.T, env string, all, standard []T, name func(T) string) []T {
	t.Helper()
	text := os.Getenv(env)
	if text == "" {
		return standard
	}
	var list []T
	for _, want := range strings.Split(text, ",") {
		i := slices.IndexFunc(all, func(x T) bool { return name(x) == want })
		if i < 0 {
			t.Fatalf("%s has %q, which is not known", env, want)
		}
		list = append(list, all[i])
	}
	return list
}

// others is the group of the cases that measure seconds. In a soak, two kinds at a time play
// it, or MILLRACE_TURNS.
const others = "others"

// groups are cases that are played one after the other, in labs that are there at the same
// time. In a soak, those that wait for long are by themselves.
func groups(cases []breakage) map[string][]breakage {
	list := map[string][]breakage{}
	for i, c := range cases {
		name := others
		switch {
		case soaking && slices.Contains([]string{"sleep", "loss"}, c.name):
			name = c.name
		case !soaking:
			name = fmt.Sprint(i % 3)
		}
		list[name] = append(list[name], c)
	}
	return list
}

// results are what came of all cases.
type results struct {
	turns chan struct{} // one for each lab that plays the others

	mu  sync.Mutex
	all map[string]map[kind][]outcome
}

// play plays cases for clients of a kind.
func (r *results) play(t *testing.T, k kind, cases []breakage, rounds int) {
	l := startLab(t)
	for _, b := range cases {
		if b.only != "" && b.only != k.transport {
			continue
		}
		n := rounds
		if b.name == "loss" && soaking {
			n = 1 // which is an hour
		}
		for round := range n {
			o := l.play(b, k)
			t.Logf("%s, %v, round %d: %v", b.title, k, round+1, o)
			for _, miss := range b.misses(k, o) {
				t.Errorf("%s, %v, round %d: %s", b.title, k, round+1, miss)
			}
			r.mu.Lock()
			if r.all[b.name] == nil {
				r.all[b.name] = map[kind][]outcome{}
			}
			r.all[b.name][k] = append(r.all[b.name][k], o)
			r.mu.Unlock()
		}
	}
}

// starting is held while a client starts: several browsers at once take minutes.
var starting sync.Mutex

// play plays a case.
func (l *lab) play(b breakage, k kind) outcome {
	l.Helper()
	l.heal()
	select {
	case <-l.near.end: // the case before has killed it
		l.near.start()
	default:
	}
	l.near.awaitReady()
	l.probeMTUs(b.probing)
	starting.Lock()
	began := sync.OnceFunc(starting.Unlock)
	defer began()
	w := &watch{l: l, s: l.startSubject(k)}
	defer w.s.end()
	edges, keepAlive := []*edge{l.near}, time.Duration(0)
	if b.both {
		edges = append(edges, l.far)
	}
	if b.keepAlive != nil {
		keepAlive = b.keepAlive()
	}
	l.network.Set(clientMachine, farMachine, farther)
	w.s.connect(l, keepAlive, edges...)
	began()
	l.network.Set(clientMachine, farMachine, netlab.Treatment{})
	if r, err := w.s.await(0, waitTimeout, func(r report) bool { return r.Event == "connected" }); err != nil ||
		r.Edge != l.near.url() || r.Transport != k.transport {
		l.Fatalf("the client is at %s over %s, %v", r.Edge, r.Transport, err)
	}
	at := l.far
	if b.atNear {
		at = l.near
	}
	if !b.silent {
		w.p = l.publish(at, b.size)
		if _, err := w.s.await(0, waitTimeout, func(r report) bool {
			number, is := r.number()
			return is && number >= 40 // all is calm, and paths are known
		}); err != nil {
			l.Fatalf("no messages before the break: %v", w.s.reports())
		}
	}
	b.play(w)
	grace := 2 * time.Second
	if b.none || b.nothingMissed != nil {
		grace = 17 * time.Second // so long a connection that was replaced may bring what is late, and a little more
	}
	w.settle(grace)
	return w.o
}

// settle ends the case when all has come that was sent since the first message that came, or
// does not come any more.
func (w *watch) settle(grace time.Duration) {
	w.l.Helper()
	sent := w.p.stop()
	got, first := map[uint64]bool{}, uint64(len(sent))
	_, _ = w.s.await(0, grace, func(r report) bool { // an error says that some did not come: they are counted below
		if number, is := r.number(); is {
			got[number] = true
			first = min(first, number)
		}
		return uint64(len(got)) == uint64(len(sent))-first && len(got) > 0
	})
	w.o.read(w.s.reports(), sent)
}
