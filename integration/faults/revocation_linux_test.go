package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// promptly is the time limit for a revocation to be in force at each edge with a majority.
// Only a soak has the machine for itself.
func promptly() time.Duration {
	if soaking {
		return time.Second
	}
	return 10 * time.Second
}

// While edges fail, acknowledged revocations are in force at every other one within a
// second; between the other edges no message is lost, and none arrives twice, out of
// order, or late; and afterwards everything works again by itself.
func TestFaults(t *testing.T) {
	seeds, pairSeeds, n, takes := 1, 0, 20, 8*time.Second
	if soaking {
		seeds, n, takes = 10, 100, 50*time.Second
	}
	seeds, pairSeeds = number("MILLRACE_ROUNDS", seeds), number("MILLRACE_PAIRS", pairSeeds)
	first := firstSeed(t)
	known := allFaults
	if whyNot != nil {
		t.Logf("no disk is full here, and nothing in a network namespace: %v", whyNot)
		known = slices.DeleteFunc(slices.Clone(known), func(f fault) bool { return f.name == fullDisk })
	}
	l := startLab(t, whyNot != nil)
	play := func(c course, seeds int, takes time.Duration) {
		t.Run(c.name, func(t *testing.T) { l.plays(t, c, first, seeds, n, takes) })
	}
	if soaking {
		known = append(slices.Clone(known), clockFault)
	}
	if seeds > 0 {
		for _, f := range known {
			play(alone(f), seeds, takes)
		}
		if soaking {
			play(alone(stopFault), seeds, takes)
		}
	}
	if pairSeeds > 0 {
		for _, f := range known {
			for _, g := range known {
				play(pair(f, g), pairSeeds, takes*3/5)
			}
		}
	}
	l.settled()
}

// The same holds for a partition by proxies, which works without network namespaces.
func TestFaultsBehindProxies(t *testing.T) {
	if whyNot != nil {
		t.Skip("TestFaults has them here")
	}
	seed := firstSeed(t)
	l := startLab(t, true)
	l.plays(t, alone(partition), seed, 1, 20, 8*time.Second)
	l.settled()
}

// plays plays a course with several seeds.
func (l *lab) plays(t *testing.T, c course, first uint64, seeds, n int, takes time.Duration) {
	in := *l
	in.T = t
	var all outcome
	for i := range seeds {
		seed := first + uint64(i)
		o := in.play(c, rand.New(rand.NewPCG(seed, 0)), n, takes)
		t.Logf("seed %d: %v", seed, o)
		all = all.worse(o)
	}
	if seeds > 1 {
		t.Logf("all: %v", all)
	}
	if longest := slices.Max(all.revoked); longest > promptly() {
		t.Errorf("a revocation came after %v", longest)
	}
}

// settled reports what became of all messages.
func (l *lab) settled() {
	l.Helper()
	l.traffic.settle()
	l.traffic.mu.Lock()
	defer l.traffic.mu.Unlock()
	l.Logf("%d messages were lost where they may be; of %d to one, %d", l.traffic.lost, l.traffic.taken+l.traffic.never, l.traffic.never)
}

// firstSeed returns the seed of the first round.
func firstSeed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(number("MILLRACE_SEED", int(time.Now().Unix())))
	t.Logf("MILLRACE_SEED=%d", seed)
	return seed
}

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// revocable is a token with a session at each edge.
type revocable struct {
	token   token
	revoked time.Time // when that was acknowledged
	healthy []*session
	touched []*session // at edges that fail
}

// play revokes n tokens during a course, through edges without a fault.
func (l *lab) play(c course, rng *rand.Rand, n int, takes time.Duration) (o outcome) {
	l.Helper()
	var (
		list   []*revocable
		issued []token
	)
	for range n {
		t, err := l.issue(l.edges[0])
		if err != nil {
			l.Fatal(err)
		}
		list = append(list, &revocable{token: t})
	}
	r := l.begin(c, rng, takes)
	healthy := r.healthy()
	for _, s := range list {
		for _, e := range l.edges {
			one, err := l.connect(e, s.token)
			if err != nil {
				l.Fatalf("edge %d: %v", e.number, err)
			}
			if slices.Contains(healthy, e) {
				s.healthy = append(s.healthy, one)
			} else {
				s.touched = append(s.touched, one)
			}
		}
	}
	r.start = time.Now() // all have connected
	for i, s := range list {
		due := time.Duration(i) * takes / time.Duration(n)
		l.await("its time", func() bool { r.tick(); return time.Since(r.start) >= due })
		through := healthy[rng.IntN(len(healthy))]
		asked := time.Now()
		l.await("a revocation", func() bool {
			r.tick()
			status, err := through.call(http.MethodDelete, "/v1/revoke-token", map[string]any{"token": s.token.Token}, nil)
			s.revoked = time.Now()
			return err == nil && status == http.StatusOK
		})
		o.waited = max(o.waited, s.revoked.Sub(asked))
		o.revoked = append(o.revoked, l.over(s.healthy).Sub(s.revoked))
		for _, e := range healthy { // which have ended its sessions
			if _, err := l.connect(e, s.token); !errors.Is(err, errUnauthorized) {
				l.Errorf("edge %d does not refuse a token that is revoked: %v", e.number, err)
			}
		}
		if t, err := l.issue(through); err == nil {
			issued = append(issued, t)
		}
	}
	l.await("the faults to end", func() bool { r.tick(); return len(r.steps) == 0 })
	r.whole(&o)
	for _, s := range list {
		since := r.ended
		if s.revoked.After(since) {
			since = s.revoked
		}
		o.there = max(o.there, l.over(s.touched).Sub(since))
	}
	l.remembered(list, issued)
	l.await("the last messages to one", func() bool { return time.Since(r.ended) > oneTime })
	o.lost = l.lostToOne(c, r)
	return o
}

// remembered waits until each edge lists everything that was acknowledged, with its status:
// edges that have recovered may be a moment behind.
func (l *lab) remembered(revoked []*revocable, issued []token) {
	l.Helper()
	want := map[string]string{}
	for _, s := range revoked {
		want[s.token.ID] = "revoked"
	}
	for _, t := range issued {
		want[t.ID] = "valid"
	}
	for _, e := range l.edges {
		var wrong []string
		for begin := time.Now(); ; time.Sleep(100 * time.Millisecond) {
			known, err := l.statuses(e)
			wrong = nil
			for id, status := range want {
				if known[id] != status {
					wrong = append(wrong, fmt.Sprintf("%s is %q and not %q", id, known[id], status))
				}
			}
			if err == nil && len(wrong) == 0 {
				break
			}
			if time.Since(begin) > waitTimeout {
				l.Errorf("edge %d forgets what was acknowledged: %v %v", e.number, err, wrong)
				break
			}
		}
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
			l.Errorf("a session at edge %d does not end", s.edge.number)
		}
	}
	return last
}
