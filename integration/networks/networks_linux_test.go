package networks

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/netlab"
)

const publishEvery = 50 * time.Millisecond

// A client gets messages again soon after a network breaks, or never misses any: see
// docs/networks.md.
func TestNetworks(t *testing.T) {
	t.Parallel()
	kinds := slices.DeleteFunc(slices.Clone(sdk.Kinds), func(k sdk.Kind) bool { return k.Where == "python" })
	usual := func(b breakage) bool { return b.short || soaking }
	cases := chosen(t, "MILLRACE_CASES", breakages, func(b breakage) string { return b.name }, usual)
	kinds = chosen(t, "MILLRACE_KINDS", kinds, sdk.Kind.String, func(k sdk.Kind) bool { return k.Where == "go" || soaking })
	rounds := count(t, "MILLRACE_ROUNDS", harness.AtLength(1, 20))
	turns := make(chan struct{}, count(t, "MILLRACE_TURNS", 2)) // how many labs play what measures seconds
	report := &report{all: map[string][]outcome{}}
	t.Run("kinds", func(t *testing.T) { // ends with the last of them
		for _, k := range kinds {
			for name, group := range groups(cases) {
				t.Run(k.String()+" "+name, func(t *testing.T) {
					t.Parallel()
					if name == "others" {
						turns <- struct{}{}
						defer func() { <-turns }()
					}
					report.play(t, k, group, rounds)
				})
			}
		}
	})
	report.log(t, cases, kinds)
}

// count is a number of the environment, or the standard one.
func count(t *testing.T, env string, standard int) int {
	t.Helper()
	n := standard
	if text := os.Getenv(env); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil || n < 1 {
			t.Fatalf("%s is %q, want a number", env, text)
		}
	}
	return n
}

// chosen are those whose names the environment has, separated by commas, or the usual ones.
func chosen[T any](t *testing.T, env string, all []T, name func(T) string, usual func(T) bool) (list []T) {
	t.Helper()
	wanted := strings.FieldsFunc(os.Getenv(env), func(r rune) bool { return r == ',' })
	for _, x := range all {
		if slices.Contains(wanted, name(x)) || len(wanted) == 0 && usual(x) {
			list = append(list, x)
		}
	}
	if len(wanted) > 0 && len(list) != len(wanted) {
		t.Fatalf("%s is %q, and not all of it is known", env, wanted)
	}
	return list
}

// groups are cases that are played one after the other, in labs that are there at the same
// time. In a soak, those that wait for long are by themselves.
func groups(cases []breakage) map[string][]breakage {
	list := map[string][]breakage{}
	for _, b := range cases {
		name := "others"
		if soaking && (b.name == "sleep" || b.name == "loss") {
			name = b.name
		}
		list[name] = append(list[name], b)
	}
	return list
}

// report is what came of all cases, by case and kind.
type report struct {
	mu  sync.Mutex
	all map[string][]outcome
}

// play plays cases for clients of a kind.
func (r *report) play(t *testing.T, k sdk.Kind, cases []breakage, rounds int) {
	l := startLab(t)
	for _, b := range cases {
		if b.only != "" && b.only != k.Transport {
			continue
		}
		n := rounds
		if b.name == "loss" {
			n = 1 // an hour
		}
		for range n {
			o := l.play(b, k)
			t.Logf("%s, %v: %v", b.title, k, o)
			if o.bad = b.misses(k, o); o.bad != "" {
				t.Errorf("%s, %v: %s", b.title, k, o.bad)
			}
			r.mu.Lock()
			r.all[b.name+k.String()] = append(r.all[b.name+k.String()], o)
			r.mu.Unlock()
		}
	}
}

// log logs a row for each case and kind, in Markdown, from which docs/networks.md has its table.
func (r *report) log(t *testing.T, cases []breakage, kinds []sdk.Kind) {
	t.Helper()
	var text strings.Builder
	text.WriteString("\n| case | client | mark | back: median, worst | silent: median, worst | missed | late | over | marks missed |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, b := range cases {
		for _, k := range kinds {
			all := r.all[b.name+k.String()]
			if len(all) == 0 {
				continue
			}
			var back, silence []time.Duration
			var missed, late, bad int
			var over []string
			for _, o := range all {
				back, silence, over = append(back, o.back.Round(time.Second/10)), append(silence, o.silence.Round(time.Second/10)), append(over, o.over)
				missed, late = max(missed, o.missed), max(late, o.late)
				if o.bad != "" {
					bad++
				}
			}
			slices.Sort(back)
			slices.Sort(silence)
			slices.Sort(over)
			n := len(all)
			fmt.Fprintf(&text, "| %s | %v | %v | %v, %v | %v, %v | %d | %d | %s | %d of %d |\n", b.title, k, b.mark(k),
				back[n/2], back[n-1], silence[n/2], silence[n-1], missed, late, strings.Join(slices.Compact(over), ", "), bad, n)
		}
	}
	t.Log(text.String())
}

// outcome is what a client saw of a case.
type outcome struct {
	back     time.Duration // until the first message that was sent after the break; the longest, if it broke several times
	never    bool          // there was none
	silence  time.Duration // the longest time between two messages
	missed   int           // messages between the first and the last one
	late     int           // messages that came over a replaced connection
	events   []string      // what was told after the client had connected
	over     string        // the transport at the end
	switches int           // changes of the connection
	lost     bool          // disconnected was among the events
	bad      string        // which marks it misses
}

func (o outcome) String() string {
	return fmt.Sprintf("back after %v (never: %t), silent for %v, %d missed, %d late, over %s, events: %s",
		o.back, o.never, o.silence, o.missed, o.late, o.over, strings.Join(o.events, ", "))
}

// watch is a case that is being played.
type watch struct {
	l *lab
	s *subject
	p *publisher
	o outcome
}

// starting is held while a client starts: several browsers at once take minutes.
var starting sync.Mutex

// play plays a case.
func (l *lab) play(b breakage, k sdk.Kind) outcome {
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
	edges := []*edge{l.near}
	if b.both { // the other edge is the second choice, as long as the client chooses
		edges = append(edges, l.far)
		l.network.Set(clientMachine, farMachine, netlab.Treatment{Delay: 250 * time.Millisecond})
	}
	w.s.connect(l, b.keepAlive, edges...)
	began()
	l.network.Set(clientMachine, farMachine, netlab.Treatment{})
	if r, _ := w.s.await(0, limit, func(r sdk.Report) bool { return r.Event == "connected" }); r.Edge != l.near.url() || r.Transport != k.Transport {
		l.Fatalf("the client is at %s over %s", r.Edge, r.Transport)
	}
	at := l.far
	if b.atNear {
		at = l.near
	}
	if !b.silent {
		w.p = l.publish(at, publishEvery, b.size, channel)
		if _, found := w.s.await(0, limit, func(r sdk.Report) bool { n, is := number(r); return is && n >= 40 }); !found { // all is calm, and paths are known
			l.Fatalf("no messages before the break: %v", w.s.reports())
		}
	}
	b.play(w)
	// So long a connection that was replaced may bring what is late, and a little more.
	w.settle(harness.AtLength(limit, 17*time.Second), b.none || b.noneOverWebTransport && k.Transport == "webtransport")
	return w.o
}

// next waits for a message that was sent after a time, and notes how long that took.
func (w *watch) next(after time.Time) {
	within := harness.AtLength(limit, 50*time.Second)
	r, found := w.s.await(0, within, func(r sdk.Report) bool {
		n, is := number(r)
		if !is {
			return false
		}
		sent, known := w.p.sentAt(n)
		return known && sent.After(after)
	})
	if w.o.never = !found; found {
		w.o.back = max(w.o.back, r.At.Sub(after))
	}
}

// settle ends the case when the last message has come, or if all is asked for, each since the
// first that came; or when time is over. Then it looks at what came.
func (w *watch) settle(within time.Duration, all bool) {
	w.l.Helper()
	sent := w.p.stop()
	got, first := map[int]bool{}, len(sent)
	if !w.o.never {
		_, _ = w.s.await(0, within, func(r sdk.Report) bool { // what did not come is counted below
			n, is := number(r)
			if is {
				got[n] = true
				first = min(first, n)
			}
			return is && (!all && n == len(sent)-1 || len(got) == len(sent)-first)
		})
	}
	w.o.read(w.s.reports(), len(sent))
}

// read notes what the reports say, given how many messages were sent.
func (o *outcome) read(reports []sdk.Report, sent int) {
	got := map[int]bool{}
	first, last := sent, 0
	var previous time.Time
	for _, r := range reports {
		n, is := number(r)
		switch {
		case is:
			got[n] = true
			first, last = min(first, n), max(last, n)
			if r.Late {
				o.late++
			}
			if !previous.IsZero() {
				o.silence = max(o.silence, r.At.Sub(previous))
			}
			previous = r.At
		case r.Event == "connected":
			o.over = r.Transport
		case !slices.Contains([]string{"answer", "roundTrip", "linkUp", "linkDown"}, r.Event):
			o.events = append(o.events, strings.TrimSpace(r.Event+" "+r.Transport))
			if r.Event == "recovered" && r.Away > 0 || r.Event == "reconnected" || r.Event == "moved" {
				o.over = r.Transport
				o.switches++
			}
			o.lost = o.lost || r.Event == "disconnected"
		}
	}
	o.missed = last - first + 1 - len(got)
}
