package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/millrace/millrace/internal/smalldisk"
)

// fault is a fault of an edge, with a begin and an end.
type fault struct {
	name  string
	begin func(l *lab, e *edge, rng *rand.Rand)
	end   func(l *lab, e *edge)
	// loses is how long before and after its beginning another edge may send a message
	// to one that is lost; 0: no such message is. Negative: from oneTime before it to its end.
	loses time.Duration
}

// always stands for as long as a fault lasts.
const always = -1

// underWay is how old a message to one may be that is lost with the edge it was sent to.
// Only a soak has the machine for itself.
var underWay = map[bool]time.Duration{true: time.Second, false: oneTime}[soaking]

const fullDisk = "full disk"

var partition = fault{"partition", func(l *lab, e *edge, _ *rand.Rand) { l.part(e, treatment{Cut: true}) }, heal, always}

var allFaults = []fault{
	{"kill", func(l *lab, e *edge, _ *rand.Rand) { e.signal(syscall.SIGKILL); l.ends(e) }, func(_ *lab, e *edge) { e.start() }, underWay},
	{"freeze", func(_ *lab, e *edge, _ *rand.Rand) { e.stood.Store(true); e.signal(syscall.SIGSTOP) }, func(_ *lab, e *edge) { e.signal(syscall.SIGCONT) }, always},
	partition,
	{"loss and delay", func(l *lab, e *edge, rng *rand.Rand) {
		l.part(e, treatment{Loss: 0.1 * rng.Float64(), Delay: time.Duration(rng.IntN(100)) * time.Millisecond})
	}, heal, always},
	{fullDisk, func(l *lab, e *edge, _ *rand.Rand) { smalldisk.Fill(l.T, e.disk) }, func(l *lab, e *edge) { smalldisk.Free(l.T, e.disk) }, 0},
}

// clockFault needs the program with a clock that can be set.
var clockFault = fault{"clock", func(_ *lab, e *edge, rng *rand.Rand) {
	e.signal([]syscall.Signal{clockAhead, clockBehind}[rng.IntN(2)])
}, func(_ *lab, e *edge) { e.signal(clockRight) }, 0}

// stopFault stops an edge as an operator does, which takes at least 7 s.
var stopFault = fault{"stop", func(_ *lab, e *edge, _ *rand.Rand) { e.signal(syscall.SIGTERM) },
	func(l *lab, e *edge) { l.ends(e); e.start() }, 0}

func heal(l *lab, e *edge) { l.part(e, treatment{}) }

// ends awaits the end of an edge's process.
func (l *lab) ends(e *edge) {
	l.Helper()
	l.await("the end of a process", func() bool {
		select {
		case <-e.end:
			return true
		default:
			return false
		}
	})
}

// part applies a treatment between an edge and all others.
func (l *lab) part(e *edge, how treatment) {
	for _, other := range l.edges {
		if other != e {
			l.network.set(e.number, other.number, how)
		}
	}
}

// course is a sequence of faults of the edges.
type course struct {
	name    string
	faults  []fault // of an edge each, one after the other
	windows [][2]float64
}

// A single fault lasts for six tenths of the time, and the edge recovers in the rest.
func alone(f fault) course { return course{f.name, []fault{f}, [][2]float64{{.1, .7}}} }

// Of two faults, the second begins at another edge before the first ends, and lasts while
// the first edge recovers.
func pair(f, g fault) course {
	return course{f.name + ", then " + g.name, []fault{f, g}, [][2]float64{{.1, .45}, {.4, .8}}}
}

// step is what to do at a time.
type step struct {
	at time.Duration
	do func()
}

// running is a running course.
type running struct {
	l       *lab
	start   time.Time
	steps   []step
	touched []*edge   // by its faults
	began   time.Time // when the first fault did
	ended   time.Time // when the last fault did
	again   chan again
}

// again says how long after the faults tokens and messages worked again; 0: they do not.
type again struct{ tokens, messages time.Duration }

// begin starts a course of this length, at random edges.
func (l *lab) begin(c course, rng *rand.Rand, takes time.Duration) *running {
	r := &running{l: l, start: time.Now(), again: make(chan again, 1)}
	order := rng.Perm(len(l.edges))
	for i, f := range c.faults {
		e := l.edges[order[i]]
		r.touched = append(r.touched, e)
		at := func(share float64) time.Duration { return time.Duration(share * float64(takes)) }
		r.steps = append(r.steps,
			step{at(c.windows[i][0]), func() {
				e.suspect.Store(true)
				l.traffic.begins()
				if i == 0 {
					r.began = time.Now()
				}
				f.begin(l, e, rng)
			}},
			step{at(c.windows[i][1]), func() { f.end(l, e); r.ended = time.Now() }})
	}
	slices.SortFunc(r.steps, func(a, b step) int { return int(a.at - b.at) })
	return r
}

// tick carries out the steps that are due.
func (r *running) tick() {
	for len(r.steps) > 0 && time.Since(r.start) >= r.steps[0].at {
		r.steps[0].do()
		r.steps = r.steps[1:]
		if len(r.steps) == 0 {
			go func() { r.again <- r.comeBack() }() // ends after waitTimeout
		}
	}
}

// comeBack measures when everything works again.
func (r *running) comeBack() (a again) {
	var both sync.WaitGroup
	both.Go(func() { a.tokens = r.until(r.l.issues) })
	both.Go(func() { a.messages = r.until(func() bool { return r.l.traffic.crossed(r.ended) }) })
	both.Wait()
	return a
}

// until returns how long after the faults is returns true; 0: not within waitTimeout.
func (r *running) until(is func() bool) time.Duration {
	for time.Since(r.ended) < waitTimeout {
		if is() {
			return time.Since(r.ended)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0
}

// mayLose reports whether a message to one that another edge sent at this time may be
// lost. During two faults, any may be lost.
func (c course) mayLose(r *running, sent time.Time) bool {
	loses := c.faults[0].loses
	return len(c.faults) > 1 || loses == always || sent.Sub(r.began).Abs() < loses
}

// healthy returns the edges without a fault.
func (r *running) healthy() []*edge {
	return slices.DeleteFunc(slices.Clone(r.l.edges), func(e *edge) bool { return slices.Contains(r.touched, e) })
}

// outcome is the result of a course.
type outcome struct {
	revoked []time.Duration // from each acknowledgement to the end of the last session at a healthy edge
	waited  time.Duration   // the longest that a revocation was asked for in vain, at edges that nothing happened to
	tokens  time.Duration   // from the end of the last fault until each edge issued
	crossed time.Duration   // until messages went from each edge to each
	there   time.Duration   // from that end, or a later acknowledgement, until the last session ended at an edge that failed
	lost    int             // messages to one, of edges that nothing happened to
}

// whole waits until everything works again.
func (r *running) whole(o *outcome) {
	r.l.Helper()
	a := <-r.again
	if a.tokens == 0 || a.messages == 0 {
		r.l.Fatalf("%v after the faults tokens are issued: %v, messages go from each edge to each: %v", waitTimeout, a.tokens > 0, a.messages > 0)
	}
	o.tokens, o.crossed = a.tokens, a.messages
	for _, e := range r.touched {
		e.suspect.Store(false)
		e.stood.Store(false)
	}
}

func (o outcome) String() string {
	all := slices.Sorted(slices.Values(o.revoked))
	round := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	return fmt.Sprintf("%d revocations: p50 %v, p99 %v, longest %v, asked for up to %v; at the edge that failed %v; tokens after %v, messages after %v; %d messages to one lost",
		len(all), round(all[len(all)/2]), round(all[len(all)*99/100]), round(all[len(all)-1]),
		round(o.waited), round(o.there), round(o.tokens), round(o.crossed), o.lost)
}

// worse returns the worst of both.
func (o outcome) worse(p outcome) outcome {
	return outcome{
		append(o.revoked, p.revoked...), max(o.waited, p.waited),
		max(o.tokens, p.tokens), max(o.crossed, p.crossed), max(o.there, p.there), o.lost + p.lost,
	}
}
