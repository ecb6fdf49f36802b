package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/internal/netlab"
	"github.com/millrace/millrace/internal/smalldisk"
	"github.com/millrace/millrace/wire"
)

// lab is three edges that are one overlay, with proxies between them, and what can fail.
type lab struct {
	*harness.Overlay
	links  [][]*natstest.Proxy // of each edge
	calm   [3]func()           // ends the flapping of its links
	random *rand.Rand
	faults []fault
}

// fault is a fault of an edge, with a begin and an end.
type fault struct {
	name       string
	begin, end func(at int)
}

var labCaddyfile = strings.Replace(harness.DefaultCaddyfile, "\tpubsub\n", "\tpubsub\n\tpubsub_ready\n", 1)

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{Overlay: &harness.Overlay{T: t}, random: rand.New(rand.NewPCG(harness.Seed(t), 0))}
	t.Cleanup(func() {
		for at, e := range l.Edges {
			if t.Failed() {
				t.Logf("edge %d wrote:\n%s", at, e.Output())
			}
		}
	})
	return l
}

// beside has a NATS server for each edge, which its edge reaches by a proxy. more is of the token store.
func beside(t *testing.T, more string) *lab {
	t.Helper()
	l := newLab(t)
	l.Nodes = harness.StartNATS(t, 3, ", no_advertise: true") // or an edge would find another way
	var urls []string
	for _, node := range l.Nodes {
		link := natstest.ProxyTo(t, strings.TrimPrefix(node.URL(), "nats://"))
		l.links, urls = append(l.links, []*natstest.Proxy{link}), append(urls, link.URL())
	}
	l.StartEdges(labCaddyfile, harness.JoiningBy(urls, 3, more))
	l.awaitAll()
	l.faults = []fault{
		{"cut off from NATS", l.on((*natstest.Proxy).Hold), l.on(heal)},
		{"flapping link to NATS", l.flap, func(at int) { l.calm[at]() }},
		{"killed server", func(at int) { l.Nodes[at].Kill(t) }, func(at int) { l.Nodes[at].Restart(t) }},
	}
	return l
}

// inside has NATS servers inside the edges, with proxies on the routes. A soak has more faults.
func inside(t *testing.T) *lab {
	t.Helper()
	l, disks, options := newLab(t), make([]string, 3), []harness.Option(nil)
	if harness.Soaking {
		options = append(options, withClock(t))
	}
	for at := range disks {
		if disks[at] = t.TempDir(); netlab.Possible() == nil { // then smalldisk is, too
			disks[at] = smalldisk.Mount(t, 160<<20)
		}
	}
	l.Overlay, l.links = harness.StartJoined(t, labCaddyfile, disks, options...)
	for at := range l.Edges {
		t.Cleanup(func() { l.Edges[at].Signal(syscall.SIGCONT) }) // else a frozen one would not end
	}
	l.awaitAll()

	signal := func(list ...syscall.Signal) func(int) {
		return func(at int) { l.Edges[at].Signal(list[l.random.IntN(len(list))]) }
	}
	l.faults = []fault{
		{"kill", func(at int) { l.Edges[at].Kill() }, l.start},
		{"freeze", signal(syscall.SIGSTOP), signal(syscall.SIGCONT)},
		{"partition", l.on((*natstest.Proxy).Hold), l.on(heal)},
		{"flapping links", l.flap, func(at int) { l.calm[at]() }},
	}
	if netlab.Possible() == nil {
		l.faults = append(l.faults, fault{"full disk", func(at int) { smalldisk.Fill(t, disks[at]) }, func(at int) { smalldisk.Free(t, disks[at]) }})
	}
	if harness.Soaking {
		l.faults = append(l.faults, fault{"delay", func(at int) {
			late := time.Duration(l.random.IntN(100)) * time.Millisecond
			l.on(func(link *natstest.Proxy) { link.Delay(late, late) })(at)
		}, l.on(heal)}, fault{"clock", signal(clockAhead, clockBehind), signal(clockRight)},
			fault{"stop", func(at int) { l.Edges[at].Terminate() }, func(at int) { l.Edges[at].Stop(); l.start(at) }})
	}
	return l
}

// on returns what does something with all links of an edge.
func (l *lab) on(do func(*natstest.Proxy)) func(at int) {
	return func(at int) {
		for _, link := range l.links[at] {
			do(link)
		}
	}
}

func heal(link *natstest.Proxy) {
	link.Delay(0, 0)
	link.Heal()
}

// flap makes the links of an edge go down and up again, until calm.
func (l *lab) flap(at int) {
	end, ended, random := make(chan struct{}), make(chan struct{}), rand.New(rand.NewPCG(l.random.Uint64(), 0))
	l.calm[at] = sync.OnceFunc(func() {
		close(end)
		<-ended
		l.on(heal)(at)
	})
	l.T.Cleanup(l.calm[at])
	go func() { // ends with calm
		defer close(ended)
		for down := true; ; down = !down {
			change, most := (*natstest.Proxy).Resume, 500
			if down {
				change, most = (*natstest.Proxy).Hold, 1500
			}
			l.on(change)(at)
			select {
			case <-time.After(time.Duration(random.IntN(most)) * time.Millisecond):
			case <-end:
				return
			}
		}
	}()
}

// start starts an edge that has ended.
func (l *lab) start(at int) {
	gone := l.Edges[at]
	l.Edges[at] = harness.StartEdge(l.T, gone.Given, harness.InDir(gone.Dir), harness.Replacing(gone),
		func(e *harness.Edge) { e.Program = gone.Program })
}

// awaitAll waits until each edge is ready, and issues tokens. The first one is for sessions: all
// edges have had the time to hear of it.
func (l *lab) awaitAll() {
	l.T.Helper()
	for at, e := range l.Edges {
		e.Poll("readiness", func() bool { return e.Rest("GET", "/ready", "", nil).Status == http.StatusOK })
		l.Token = cmp.Or(l.Token, awaitToken(l.Overlay, at))
	}
}

// An edge that cannot verify tokens for longer than max_stale serves nobody.
func TestStaleEdge(t *testing.T) {
	t.Parallel()
	l := beside(t, "max_stale 10s")
	open, elsewhere := l.Session(2), l.Session(0)
	l.faults[0].begin(2)
	open.ExpectText("ERR:" + string(wire.CodeTokenUnverifiable))
	open.ExpectClose(wire.CloseTryLater)
	_, refused := l.Edges[2].Open(harness.Handshake{Token: l.Token})
	refused.Problem(t, http.StatusServiceUnavailable, "unavailable")
	elsewhere.Ping()
	l.faults[0].end(2)
	l.Edges[2].Poll("a session at the edge", func() bool { return accepts(l.Edges[2], l.Token) })
}

// While edges fail, acknowledged revocations hold at every other one, in a soak within a
// second; between the other edges no message is lost, and none comes twice, out of order or, in a
// soak, late; and afterwards everything works again by itself.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) *lab{
		"inside": inside, "beside": func(t *testing.T) *lab { return beside(t, "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, takes, seconds := start(t), harness.AtLength(3*time.Second, 50*time.Second), [][]fault{nil}
			if os.Getenv("MILLRACE_PAIRS") != "" {
				takes, seconds = takes*3/5, slices.Collect(slices.Chunk(l.faults, 1))
			}
			for _, f := range l.faults {
				for _, second := range seconds {
					for range harness.SoakCount(t, 1, 10) {
						l.play(takes, append([]fault{f}, second...)...)
					}
				}
			}
		})
	}
}

// windows are when faults begin and end, in shares of the time: a single one, after which the
// edge recovers; and two, where the second begins at another edge before the first ends.
var windows = [][][2]float64{nil, {{.1, .7}}, {{.1, .45}, {.4, .8}}}

// play revokes tokens, through edges without a fault, while others fail, one after the other.
func (l *lab) play(takes time.Duration, list ...fault) {
	l.T.Helper()
	name, before, order := list[0].name+", "+list[len(list)-1].name, slices.Clone(l.Edges), l.random.Perm(len(l.Edges))
	touched, healthy := order[:len(list)], order[len(list):]
	listeners := slices.Concat(healthy, touched)
	var streams []*harness.Stream
	for _, from := range healthy {
		streams = append(streams, l.Stream(fmt.Sprintf("news.%d", from), from, listeners...))
	}
	revoked, valid := make([]string, harness.AtLength(6, 100)), []string{}
	over := make([][]chan error, len(revoked)) // of each token, how its session at each edge ended
	for i := range revoked {
		// After the last fault the bucket may have to find a leader once more: until then nothing is issued, nor looked up.
		revoked[i] = awaitToken(l.Overlay, 0)
		for _, e := range l.Edges {
			s, ended := awaitSession(e, revoked[i]), make(chan error, 1)
			over[i] = append(over[i], ended)
			go func() { ended <- s.UntilEnd() }() // ends with the session, or the link's timeout
		}
	}

	type step struct {
		share float64
		do    func()
	}
	var steps []step
	for i, f := range list {
		window := windows[len(list)][i]
		steps = append(steps, step{window[0], func() { f.begin(touched[i]) }}, step{window[1], func() { f.end(touched[i]) }})
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.share, b.share) })
	start := time.Now()
	isAt := func(share float64) bool { return float64(time.Since(start)) >= share*float64(takes) }
	await := func(what string, is func() bool) {
		l.T.Helper()
		l.Edges[healthy[0]].Poll(name+": "+what, func() bool {
			for ; len(steps) > 0 && isAt(steps[0].share); steps = steps[1:] {
				steps[0].do()
			}
			return is()
		})
	}
	var longest time.Duration // from an acknowledgement to the end of the last session at a healthy edge
	for i, token := range revoked {
		await("its time", func() bool { return isAt(float64(i) / float64(len(revoked))) })
		through := l.Edges[healthy[l.random.IntN(len(healthy))]]
		await("a revocation", func() bool { return through.Revoke(through.Master, token).Status == http.StatusOK })
		done := time.Now()
		for _, at := range healthy {
			l.expectEnded(over[i][at])
			longest = max(longest, time.Since(done))
			if status := handshake(l.Edges[at], token); !refused(status) {
				l.T.Errorf("%s: edge %d answers a token that is revoked with %d", name, at, status)
			}
		}
		if token := tryIssue(through); token != "" {
			valid = append(valid, token)
		}
	}
	await("the faults to end", func() bool { return len(steps) == 0 })
	l.awaitAll()
	l.Spread("after", "after", 1, 1, 1) // messages from each edge to each
	for i, token := range revoked {
		for _, at := range touched {
			if err := natstest.Receive(l.T, "the end of a session", over[i][at]); errors.Is(err, os.ErrDeadlineExceeded) {
				l.T.Errorf("%s: a session at edge %d, which had failed, did not end", name, at)
			}
		}
		for _, e := range l.Edges {
			e.Poll("a refusal of a revoked token", func() bool { return handshake(e, token) == http.StatusUnauthorized })
		}
	}
	for _, token := range valid {
		for _, e := range l.Edges {
			e.Poll("a token that was issued meanwhile to work", func() bool { return accepts(e, token) })
		}
	}
	l.T.Logf("%s at %v: the slowest revocation took %v, and all was whole after %v", name, touched, longest, time.Since(start))
	for _, s := range streams {
		close(s.Stop)
		sent := <-s.Sent
		for i, at := range listeners {
			l.check(<-s.Heard[i], sent, i < len(healthy), l.Edges[at] == before[at])
		}
	}
	if harness.Soaking && longest > time.Second {
		l.T.Errorf("%s: a revocation came after %v", name, longest)
	}
}

// expectEnded waits for the end of a session of a revoked token. Where the bucket cannot say
// what became of the token, another edge has said that it was changed.
func (l *lab) expectEnded(over <-chan error) {
	l.T.Helper()
	err, closed := natstest.Receive(l.T, "the end of a session", over), new(harness.Closed)
	if !errors.As(err, &closed) || closed.Code != wire.CloseForbidden && closed.Code != wire.CloseTryLater {
		l.T.Errorf("a session of a revoked token ended with %v", err)
	}
}

// refused reports whether an edge has let nobody in, for certain or until the bucket can be asked.
func refused(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusServiceUnavailable
}

// An edge that was stopped, and goes on, accepts nothing that was revoked meanwhile, not even
// before it can reach the others; and in a soak its sessions end within a second.
func TestStoppedEdge(t *testing.T) {
	t.Parallel()
	l := inside(t)
	for _, at := range l.random.Perm(len(l.Edges))[:harness.AtLength(1, 3)] { // one of them leads the bucket
		e, other := l.Edges[at], l.Edges[(at+1)%len(l.Edges)]
		var tokens []string
		var over []chan error
		for range harness.AtLength(5, 50) {
			token := awaitToken(l.Overlay, 0)
			s, ended := awaitSession(e, token), make(chan error, 1)
			go func() { ended <- s.UntilEnd() }() // ends with the session, or the link's timeout
			tokens, over = append(tokens, token), append(over, ended)
		}
		e.Signal(syscall.SIGSTOP)
		stopped := time.Now()
		for _, token := range tokens {
			other.Poll("a revocation", func() bool { return other.Revoke(other.Master, token).Status == http.StatusOK })
		}
		other.Poll("the others to take it for gone", func() bool { return time.Since(stopped) > harness.AtLength(8*time.Second, 20*time.Second) })
		e.Signal(syscall.SIGCONT)
		resumed := time.Now()
		var handshakes sync.WaitGroup
		for _, token := range tokens {
			handshakes.Go(func() {
				if status := handshake(e, token); !refused(status) {
					t.Errorf("edge %d answers a token that is revoked with %d, %v after it went on", at, status, time.Since(resumed))
				}
			})
		}
		for _, ended := range over {
			l.expectEnded(ended)
		}
		took := time.Since(resumed)
		handshakes.Wait()
		t.Logf("edge %d: the last session of a revoked token ended %v after it went on", at, took)
		if harness.Soaking && took > time.Second {
			t.Errorf("edge %d: a session of a revoked token ended %v after it went on", at, took)
		}
		l.awaitAll()
	}
}

// check looks at what a listener got of so many messages: nothing twice or in another order; all of
// it, if it is at an edge without a fault, and in time: after 5 s (docs/clustering.md) and a second
// in which nobody looks, if this is a soak, which has the machine for itself; and the end, if its
// session lived on.
func (l *lab) check(got []harness.Stamped, sent int, all, lives bool) {
	l.T.Helper()
	last := -1
	for _, m := range got {
		if m.N <= last || harness.Soaking && all && m.Late > 6*time.Second {
			l.T.Errorf("%d came after %d, and after %v", m.N, last, m.Late)
		}
		last = m.N
	}
	if all && len(got) != sent || lives && last != sent-1 {
		l.T.Errorf("a listener got %d of %d messages, the last one was %d", len(got), sent, last)
	}
}
