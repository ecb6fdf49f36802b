package networks

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/netlab"
)

const channel = "numbers"

// A client gets messages again soon after a network breaks, or never misses any: see
// docs/networks.md.
func TestNetworks(t *testing.T) {
	t.Parallel()
	known("MILLRACE_CASES", t, breakages, func(b breakage) string { return b.name })
	known("MILLRACE_KINDS", t, sdk.Kinds, sdk.Kind.String)
	turns := make(chan struct{}, 2) // how many labs play what measures seconds
	for _, k := range sdk.Kinds {
		for _, long := range []bool{false, true} { // those that wait for long are by themselves
			group := slices.DeleteFunc(slices.Clone(breakages), func(b breakage) bool {
				return (harness.Soaking && b.long) != long || b.only != "" && b.only != k.Transport || !wanted("MILLRACE_CASES", b.name, b.short)
			})
			if len(group) == 0 || k.Where == "python" || !wanted("MILLRACE_KINDS", k.String(), k.Where == "go") {
				continue
			}
			t.Run(fmt.Sprintf("%v long=%t", k, long), func(t *testing.T) {
				t.Parallel()
				if !long {
					turns <- struct{}{}
					defer func() { <-turns }()
				}
				l := startLab(t)
				for _, b := range group {
					l.rounds(b, k)
				}
			})
		}
	}
}

// known requires that a list of the environment names what there is.
func known[T any](env string, t *testing.T, all []T, nameOf func(T) string) {
	t.Helper()
	var names []string
	for _, one := range all {
		names = append(names, nameOf(one))
	}
	for name := range strings.SplitSeq(os.Getenv(env), ",") {
		if name != "" && !slices.Contains(names, name) {
			t.Fatalf("%s: there is no %q, only %q", env, name, names)
		}
	}
}

// wanted says that a list of the environment has a name; without the list, a soak wants all.
func wanted(env, name string, short bool) bool {
	if list := os.Getenv(env); list != "" {
		return slices.Contains(strings.Split(list, ","), name)
	}
	return short || harness.Soaking
}

// rounds plays a case again and again, and logs a row for docs/networks.md.
func (l *lab) rounds(b breakage, k sdk.Kind) {
	l.Helper()
	var back, silence []time.Duration
	missed, n := 0, harness.SoakCount(l.T, 1, 20)
	if b.name == "loss" {
		n = 1 // an hour
	}
	for range n {
		o := l.play(b, k)
		l.Logf("%s, %v: %+v", b.title, k, o)
		if bad := b.misses(k, o); bad != "" {
			l.Errorf("%s, %v: %s", b.title, k, bad)
		}
		back, silence, missed = append(back, o.back), append(silence, o.silence), max(missed, o.missed)
	}
	slices.Sort(back)
	slices.Sort(silence)
	l.Logf("| %s | %v | back %v, %v | silent %v, %v | %d missed |", b.title, k, back[n/2], back[n-1], silence[n/2], silence[n-1], missed)
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
}

// watch is a case that is being played.
type watch struct {
	l *lab
	s *subject
	p *publisher

	o           outcome
	got         map[int]bool
	first, last int
	previous    time.Time
}

// starting is held while a client starts: several browsers at once take minutes.
var starting sync.Mutex

// play plays a case.
func (l *lab) play(b breakage, k sdk.Kind) outcome {
	l.Helper()
	l.treat(netlab.Treatment{})
	l.near.Must(l.network.ForgetMTUs())
	select {
	case <-l.near.Exited: // the case before has killed it
		l.near.again()
	default:
	}
	for _, e := range []*edge{l.near, l.far} { // which find out by themselves how much passes over TCP, or not
		text := fmt.Sprintf("echo %d >/proc/sys/net/ipv4/tcp_mtu_probing", map[bool]int{true: 1}[b.probing])
		e.Must(e.Machine.Command("sh", "-c", text).Run())
	}
	edges := []*edge{l.near}
	if b.both { // the other edge is the second choice, as long as the client chooses
		edges = append(edges, l.far)
		l.network.Set(clientMachine, farMachine, netlab.Treatment{Delay: 250 * time.Millisecond})
	}
	starting.Lock()
	began := sync.OnceFunc(starting.Unlock)
	defer began()
	w := &watch{l: l, got: map[int]bool{}, first: math.MaxInt, o: outcome{over: k.Transport}}
	w.s = l.startSubject(k, b.keepAlive, []string{channel}, edges...)
	began()
	defer func() {
		w.s.end()
		_ = l.network.Machine(clientMachine).Signal(syscall.SIGKILL) // what it may have left
	}()
	l.network.Set(clientMachine, farMachine, netlab.Treatment{})
	if !b.silent {
		w.publish(map[bool]*edge{false: l.far, true: l.near}[b.atNear], b.size)
		_, found := w.until(func(r sdk.Report) bool { n, _, is := message(r); return is && n >= 40 })
		if !found { // else all is calm, and paths are known
			l.Fatal("no messages before the break")
		}
	}
	b.play(w)
	sent, all := w.p.stop(l.T), b.none || b.noneOverWebTransport && k.Transport == "webtransport"
	complete := func() bool { return !all && w.got[sent-1] || len(w.got) == sent-w.first }
	if !w.o.never && !complete() {
		_, _ = w.until(func(sdk.Report) bool { return complete() }) // what did not come is counted
	}
	w.o.missed = w.last - w.first + 1 - len(w.got)
	return w.o
}

func (w *watch) publish(at *edge, size int) {
	w.p = w.l.publish(at, 50*time.Millisecond, size, channel)
}

// next waits for a message that was sent after a time, and notes how long that took.
func (w *watch) next(after time.Time) {
	r, found := w.until(func(r sdk.Report) bool { _, sent, is := message(r); return is && sent.After(after) })
	if w.o.never = !found; found {
		w.o.back = max(w.o.back, r.At.Sub(after))
	}
}

// until notes what the client says up to a report, which it waits for.
func (w *watch) until(matches func(sdk.Report) bool) (sdk.Report, bool) {
	for over := time.Now().Add(sdk.Limit); ; {
		r, found := w.s.Next()
		if !found || time.Now().After(over) {
			return r, false
		}
		if n, _, is := message(r); is {
			w.got[n], w.first, w.last = true, min(w.first, n), max(w.last, n)
			if r.Late {
				w.o.late++
			}
			if !w.previous.IsZero() {
				w.o.silence = max(w.o.silence, r.At.Sub(w.previous))
			}
			w.previous = r.At
		} else if !slices.Contains([]string{"answer", "roundTrip", "linkUp", "linkDown"}, r.Event) {
			w.o.events = append(w.o.events, strings.TrimSpace(r.Event+" "+r.Transport))
			if r.Event == "recovered" && r.Away > 0 || r.Event == "reconnected" || r.Event == "moved" {
				w.o.over = r.Transport
				w.o.switches++
			}
		}
		if matches(r) {
			return r, true
		}
	}
}
