package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/loopback"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/internal/netlab"
	"github.com/millrace/millrace/internal/smalldisk"
	"github.com/millrace/millrace/wire"
)

// lab is three edges with NATS servers inside, which are one cluster, with proxies on its routes.
type lab struct {
	*harness.Overlay
	proxies map[[2]int]*natstest.Proxy
	disks   []string // of the NATS servers
	random  *rand.Rand
}

// fault is a fault of an edge, with a begin and an end.
type fault struct {
	name       string
	begin, end func(l *lab, at int)
}

func heal(l *lab, at int) {
	l.each(at, func(c *natstest.Proxy) { c.Delay(0, 0); c.Heal() })
}

// start starts an edge that has ended.
func start(l *lab, at int) {
	gone := l.Edges[at]
	l.Edges[at] = harness.StartEdge(l.T, gone.Given, harness.InDir(gone.Dir), harness.Replacing(gone),
		func(e *harness.Edge) { e.Program = gone.Program })
}

func signal(list ...syscall.Signal) func(*lab, int) {
	return func(l *lab, at int) { l.Edges[at].Signal(list[l.random.IntN(len(list))]) }
}

// faults are those that there can be here. A soak has more.
func faults() []fault {
	list := []fault{
		{"kill", func(l *lab, at int) { l.Edges[at].Kill() }, start},
		{"freeze", signal(syscall.SIGSTOP), signal(syscall.SIGCONT)},
		{"partition", func(l *lab, at int) { l.each(at, (*natstest.Proxy).Hold) }, heal},
	}
	if netlab.Possible() == nil { // then smalldisk is, too
		list = append(list, fault{"full disk", func(l *lab, at int) { smalldisk.Fill(l.T, l.disks[at]) },
			func(l *lab, at int) { smalldisk.Free(l.T, l.disks[at]) }})
	}
	if harness.Soaking {
		list = append(list, fault{"delay", func(l *lab, at int) {
			late := time.Duration(l.random.IntN(100)) * time.Millisecond
			l.each(at, func(c *natstest.Proxy) { c.Delay(late, late) })
		}, heal}, fault{"clock", signal(clockAhead, clockBehind), signal(clockRight)},
			fault{"stop", func(l *lab, at int) { l.Edges[at].Terminate() }, func(l *lab, at int) { l.Edges[at].Stop(); start(l, at) }})
	}
	return list
}

// each does something with all routes of an edge.
func (l *lab) each(at int, do func(*natstest.Proxy)) {
	for between, proxy := range l.proxies {
		if slices.Contains(between[:], at) {
			do(proxy)
		}
	}
}

func startLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{Overlay: &harness.Overlay{T: t}, proxies: map[[2]int]*natstest.Proxy{}, random: rand.New(rand.NewPCG(harness.Seed(t), 0))}
	options := []harness.Option{func(*harness.Edge) {}}
	if harness.Soaking {
		options[0] = withClock(t)
	}
	var listens []string
	for range 3 {
		listens = append(listens, fmt.Sprintf("127.0.0.1:%d", loopback.FreePort(t)))
	}
	for at := range listens {
		if l.disks = append(l.disks, t.TempDir()); netlab.Possible() == nil {
			l.disks[at] = smalldisk.Mount(t, 160<<20)
		}
	}
	for at, listen := range listens {
		var routes []string
		for other := range listens {
			if other != at {
				proxy := natstest.ProxyTo(t, listens[other])
				l.proxies[[2]int{at, other}] = proxy
				routes = append(routes, proxy.URL())
			}
		}
		l.Edges = append(l.Edges, harness.StartEdge(t, strings.Replace(harness.DefaultCaddyfile, "\tpubsub\n", "\tpubsub\n\tpubsub_ready\n", 1),
			append(options, func(e *harness.Edge) {
				e.Store = "nats {\nreplicas 3\n}"
				e.Broker = fmt.Sprintf("nats {\nembedded {\nname edge-%d\ndir %s\ncluster edges {\nlisten %s\nroutes %s\nuser edge\npassword {env.MILLRACE_MASTER_TOKEN}\n}\n}\n}",
					at, l.disks[at], listen, strings.Join(routes, " "))
			})...))
		options = append(options[:1], harness.WithMaster(l.Edges[0]))
	}
	t.Cleanup(func() {
		for _, e := range l.Edges {
			e.Signal(syscall.SIGCONT) // else a frozen one would not end
		}
	})
	l.Token = l.issue()
	return l
}

// issue issues a token at each edge, when it is ready, and returns the last one.
func (l *lab) issue() (token string) {
	l.T.Helper()
	for _, e := range l.Edges {
		e.Poll("a token to be issued", func() bool {
			token = issueLong(e)
			return token != "" && e.Rest("GET", "/ready", "", nil).Status == http.StatusOK
		})
	}
	return token
}

// issueLong issues a token that is valid for longer than clocks are wrong by; "" if it cannot.
func issueLong(e *harness.Edge) string {
	request := harness.TokenRequest(harness.AllowAll("room"))
	request["right"].(harness.Object)["expires_at"] = harness.In(5 * time.Hour)
	return tryIssue(e, request)
}

// While edges fail, acknowledged revocations are in force at every other one, in a soak within a
// second; between the other edges no message is lost, and none comes twice, out of order or, in a
// soak, late; and afterwards everything works again by itself.
func TestFaults(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	takes := harness.AtLength(3*time.Second, 50*time.Second)
	for _, f := range faults() {
		if os.Getenv("MILLRACE_PAIRS") == "" {
			for range harness.SoakCount(t, 1, 10) {
				l.play(takes, f)
			}
			continue
		}
		for _, g := range faults() {
			for range harness.SoakCount(t, 1, 3) {
				l.play(takes*3/5, f, g)
			}
		}
	}
}

// windows are when faults begin and end, in shares of the time: a single one, after which the
// edge recovers; and two, of which the second begins at another edge before the first ends.
var windows = [][][2]float64{nil, {{.1, .7}}, {{.1, .45}, {.4, .8}}}

// revocable is a token with a session at each edge, and how these ended.
type revocable struct {
	token string
	over  []chan error
}

// play revokes tokens, through edges without a fault, while others fail, one after the other.
func (l *lab) play(takes time.Duration, list ...fault) {
	l.T.Helper()
	order := l.random.Perm(len(l.Edges))
	touched, healthy := order[:len(list)], order[len(list):]
	var complete []int // listeners
	for i := range healthy {
		complete = append(complete, i)
	}
	var streams []*harness.Stream
	for _, from := range healthy {
		streams = append(streams, l.Stream(fmt.Sprintf("news.%d", from), from, slices.Concat(healthy, touched)...))
	}
	tokens := make([]revocable, harness.AtLength(6, 100))
	for i := range tokens {
		r := &tokens[i]
		r.token = issueLong(l.Edges[0])
		for _, e := range l.Edges {
			s, over := e.Dial(r.token), make(chan error, 1)
			r.over = append(r.over, over)
			go func() { over <- s.UntilEnd() }() // ends with the session, or the link's timeout
		}
	}

	type step struct {
		at time.Duration
		do func(*lab, int)
		to int
	}
	var steps []step
	for i, f := range list {
		for end, do := range []func(*lab, int){f.begin, f.end} {
			steps = append(steps, step{time.Duration(windows[len(list)][i][end] * float64(takes)), do, touched[i]})
		}
	}
	slices.SortFunc(steps, func(a, b step) int { return int(a.at - b.at) })
	start := time.Now()
	await := func(what string, is func() bool) {
		l.T.Helper()
		l.Edges[healthy[0]].Poll(what, func() bool {
			for ; len(steps) > 0 && time.Since(start) >= steps[0].at; steps = steps[1:] {
				steps[0].do(l, steps[0].to)
			}
			return is()
		})
	}
	var valid []string
	var longest time.Duration // from an acknowledgement to the end of the last session at a healthy edge
	for i, r := range tokens {
		await("its time", func() bool { return time.Since(start) >= time.Duration(i)*takes/time.Duration(len(tokens)) })
		through := l.Edges[healthy[l.random.IntN(len(healthy))]]
		await("a revocation", func() bool { return through.Revoke(through.Master, r.token).Status == http.StatusOK })
		revoked := time.Now()
		for _, at := range healthy {
			err, closed := natstest.Receive(l.T, "the end of a session", r.over[at]), new(harness.Closed)
			if !errors.As(err, &closed) || closed.Code != wire.CloseForbidden {
				l.T.Errorf("a session of a revoked token ended with %v", err)
			}
			longest = max(longest, time.Since(revoked))
			if status := handshake(l.Edges[at], r.token); status != http.StatusUnauthorized {
				l.T.Errorf("edge %d answers a token that is revoked with %d", at, status)
			}
		}
		if token := issueLong(through); token != "" {
			valid = append(valid, token)
		}
	}
	await("the faults to end", func() bool { return len(steps) == 0 })
	ended := time.Now()
	l.issue()
	issued := time.Since(ended)
	l.Spread("after", "after", 1, 1, 1) // messages from each edge to each
	crossed := time.Since(ended)
	for _, r := range tokens {
		for _, at := range touched {
			if err := natstest.Receive(l.T, "the end of a session", r.over[at]); errors.Is(err, os.ErrDeadlineExceeded) {
				l.T.Errorf("a session at edge %d, which had failed, did not end", at)
			}
		}
	}
	l.T.Logf("%s, then %s at %v: the slowest of %d revocations took %v; tokens after %v, messages after %v, no revoked session after %v",
		list[0].name, list[len(list)-1].name, touched, len(tokens), longest, issued, crossed, time.Since(ended))
	for _, e := range l.Edges {
		for _, token := range valid {
			e.Poll("a token that was issued meanwhile to work", func() bool { return accepts(e, token) })
		}
		for _, r := range tokens {
			e.Poll("a refusal of a revoked token", func() bool { return handshake(e, r.token) == http.StatusUnauthorized })
		}
	}
	for _, s := range streams {
		end(s, l.T, complete...)
	}
	if harness.Soaking && longest > time.Second {
		l.T.Errorf("a revocation came after %v", longest)
	}
}
