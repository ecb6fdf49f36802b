package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/netlab"
	"github.com/millrace/millrace/internal/smalldisk"
)

// fault is a fault of an edge, with a begin and an end.
type fault struct {
	name  string
	begin func(l *lab, e *edge, rng *rand.Rand)
	end   func(l *lab, e *edge)
}

func heal(l *lab, e *edge) { l.part(e, netlab.Treatment{}) }

// ends awaits the end of an edge's process.
func (l *lab) ends(e *edge) {
	l.Helper()
	select {
	case <-e.end:
	case <-time.After(waitTimeout):
		l.Fatalf("the process of edge %d does not end", e.number)
	}
}

// faults are those that there can be here. A soak has more.
func faults() []fault {
	list := []fault{
		{"kill", func(l *lab, e *edge, _ *rand.Rand) { e.signal(syscall.SIGKILL); l.ends(e) }, func(_ *lab, e *edge) { e.start() }},
		{"freeze", func(_ *lab, e *edge, _ *rand.Rand) { e.stood.Store(true); e.signal(syscall.SIGSTOP) }, func(_ *lab, e *edge) { e.signal(syscall.SIGCONT) }},
		{"partition", func(l *lab, e *edge, _ *rand.Rand) { l.part(e, netlab.Treatment{Cut: true}) }, heal},
	}
	if whyNot == nil {
		list = append(list, fault{"full disk", func(l *lab, e *edge, _ *rand.Rand) { smalldisk.Fill(l.T, e.disk) }, func(l *lab, e *edge) { smalldisk.Free(l.T, e.disk) }})
	}
	if harness.Soaking {
		list = append(list, fault{"loss and delay", func(l *lab, e *edge, rng *rand.Rand) {
			l.part(e, netlab.Treatment{Loss: 0.1 * rng.Float64(), Delay: time.Duration(rng.IntN(100)) * time.Millisecond})
		}, heal}, fault{"clock", func(_ *lab, e *edge, rng *rand.Rand) {
			e.signal([]syscall.Signal{clockAhead, clockBehind}[rng.IntN(2)])
		}, func(_ *lab, e *edge) { e.signal(clockRight) }})
	}
	return list
}

// stopFault stops an edge as an operator does, which takes at least 7 s.
var stopFault = fault{"stop", func(_ *lab, e *edge, _ *rand.Rand) { e.signal(syscall.SIGTERM) }, func(l *lab, e *edge) { l.ends(e); e.start() }}

// While edges fail, acknowledged revocations are in force at every other one, in a soak within a
// second; between the other edges no message is lost, and none arrives twice, out of order, or
// late; and afterwards everything works again by itself.
func TestFaults(t *testing.T) {
	first := harness.Seed(t)
	seeds := number("MILLRACE_ROUNDS", harness.AtLength(1, 10))
	l := startLab(t)
	play := func(name string, seeds int, takes time.Duration, list ...fault) {
		t.Run(name, func(t *testing.T) {
			in := *l
			in.T = t
			for i := range seeds {
				in.play(list, rand.New(rand.NewPCG(first+uint64(i), 0)), harness.AtLength(6, 100), takes)
			}
		})
	}
	takes := harness.AtLength(3*time.Second, 50*time.Second)
	for _, f := range faults() {
		play(f.name, seeds, takes, f)
		for _, g := range faults() {
			if n := number("MILLRACE_PAIRS", 0); n > 0 {
				play(f.name+", then "+g.name, n, takes*3/5, f, g)
			}
		}
	}
	if harness.Soaking {
		play(stopFault.name, seeds, takes, stopFault)
	}
	t.Logf("%d messages were lost where they may be", l.traffic.lost)
}

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// step is what to do at a time.
type step struct {
	at time.Duration
	do func()
}

// windows are when faults begin and end, in shares of the time: a single one, after which the
// edge recovers; and two, of which the second begins at another edge before the first ends.
var windows = [][][2]float64{nil, {{.1, .7}}, {{.1, .45}, {.4, .8}}}

// revocable is a token with a session at each edge.
type revocable struct {
	token            token
	revoked          time.Time  // when that was acknowledged
	healthy, touched []*session // touched: at edges that fail
}

// play revokes n tokens, through edges without a fault, while others fail, one after the other.
func (l *lab) play(list []fault, rng *rand.Rand, n int, takes time.Duration) {
	l.Helper()
	order := rng.Perm(len(l.edges))
	var touched, healthy []*edge
	for i, at := range order {
		if i < len(list) {
			touched = append(touched, l.edges[at])
		} else {
			healthy = append(healthy, l.edges[at])
		}
	}
	var tokens []*revocable
	for range n {
		t, err := l.edges[0].issue()
		if err != nil {
			l.Fatal(err)
		}
		s := &revocable{token: t}
		for _, e := range l.edges {
			one, err := l.connect(e, t)
			if err != nil {
				l.Fatalf("edge %d: %v", e.number, err)
			}
			if slices.Contains(healthy, e) {
				s.healthy = append(s.healthy, one)
			} else {
				s.touched = append(s.touched, one)
			}
		}
		tokens = append(tokens, s)
	}

	var steps []step
	var start, ended time.Time
	for i, f := range list {
		e, window := touched[i], windows[len(list)][i]
		at := func(share float64) time.Duration { return time.Duration(share * float64(takes)) }
		steps = append(steps,
			step{at(window[0]), func() { e.suspect.Store(true); f.begin(l, e, rng) }},
			step{at(window[1]), func() { f.end(l, e); ended = time.Now() }})
	}
	slices.SortFunc(steps, func(a, b step) int { return int(a.at - b.at) })
	tick := func() {
		for len(steps) > 0 && time.Since(start) >= steps[0].at {
			steps[0].do()
			steps = steps[1:]
		}
	}
	start = time.Now()
	want := map[string]string{} // the status of each token
	var took []time.Duration    // from each acknowledgement to the end of the last session at a healthy edge
	for i, s := range tokens {
		due := time.Duration(i) * takes / time.Duration(n)
		l.await("its time", func() bool { tick(); return time.Since(start) >= due })
		through := healthy[rng.IntN(len(healthy))]
		l.await("a revocation", func() bool {
			tick()
			status, err := through.call(http.MethodDelete, "/v1/revoke-token", map[string]any{"token": s.token.Token}, nil)
			s.revoked = time.Now()
			return err == nil && status == http.StatusOK
		})
		want[s.token.ID] = "revoked"
		took = append(took, l.over(s.healthy).Sub(s.revoked))
		for _, e := range healthy { // which have ended its sessions
			if _, err := l.connect(e, s.token); !errors.Is(err, errUnauthorized) {
				l.Errorf("edge %d does not refuse a token that is revoked: %v", e.number, err)
			}
		}
		if t, err := through.issue(); err == nil {
			want[t.ID] = "valid"
		}
	}
	l.await("the faults to end", func() bool { tick(); return len(steps) == 0 })

	l.await("tokens at each edge", l.issues)
	tokensAfter := time.Since(ended)
	l.await("messages from each edge to each", func() bool { return l.traffic.crossed(ended) })
	messagesAfter := time.Since(ended)
	for _, e := range touched {
		e.suspect.Store(false)
		e.stood.Store(false)
	}
	var there time.Duration // from the end of the faults, or a later acknowledgement, to the last session's at an edge that failed
	for _, s := range tokens {
		since := ended
		if s.revoked.After(since) {
			since = s.revoked
		}
		there = max(there, l.over(s.touched).Sub(since))
	}
	l.remembered(want)
	slices.Sort(took)
	l.Logf("%d revocations: p50 %v, p99 %v, longest %v; at edges that failed %v; tokens after %v, messages after %v",
		n, took[n/2], took[n*99/100], took[n-1], there, tokensAfter, messagesAfter)
	if harness.Soaking && took[n-1] > time.Second {
		l.Errorf("a revocation came after %v", took[n-1])
	}
}

// remembered waits until each edge lists everything that was acknowledged, with its status:
// edges that have recovered may be a moment behind.
func (l *lab) remembered(want map[string]string) {
	l.Helper()
	for _, e := range l.edges {
		var wrong string
		l.await(fmt.Sprintf("edge %d to remember what was acknowledged", e.number), func() bool {
			known, err := e.statuses()
			now := fmt.Sprint(err)
			for id, status := range want {
				if known[id] != status {
					now += fmt.Sprintf("; %s is %q and not %q", id, known[id], status)
				}
			}
			if right := err == nil && now == fmt.Sprint(error(nil)); right {
				return true
			}
			if now != wrong {
				wrong = now
				l.Logf("edge %d: %s", e.number, wrong)
			}
			return false
		})
	}
}

// over returns when the last of these sessions ended.
func (l *lab) over(sessions []*session) (last time.Time) {
	l.Helper()
	for _, s := range sessions {
		select {
		case <-s.done:
			if s.ended.After(last) {
				last = s.ended
			}
		case <-time.After(waitTimeout):
			l.Fatalf("a session at edge %d does not end", s.edge.number)
		}
	}
	return last
}
