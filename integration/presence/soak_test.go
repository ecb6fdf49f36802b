package presence

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/pattern"
)

// Random clients of the SDK for Go join, leave, go and come at three edges, over both transports,
// while edges are killed, freeze, are cut off from NATS, and NATS itself is killed. After each
// round everybody who watches, at any edge, sees exactly those who are there; in a soak within
// 10 s, in which the linger, 2 s here, and the 5 s to 6.1 s go by that an edge must be silent until
// it is taken for gone. TestRandom of pubsub/presence has more faults, and clients that vanish.
func TestPresenceSoak(t *testing.T) {
	t.Parallel()
	seed := harness.Seed(t)
	r := &run{file: harness.WithPresence("linger 2s"), random: rand.New(rand.NewPCG(seed, 0))}
	r.Overlay, r.links = history.Linked(t, harness.DefaultCaddyfile, 1, 3, func(*harness.Edge) {})
	for _, e := range r.Edges {
		e.Reload(r.file) // it begins with a reload
	}
	for i := range 14 { // some are the same subject
		m := &member{run: r, subject: fmt.Sprintf("u%d", i%9), random: rand.New(rand.NewPCG(seed, uint64(i+1)))}
		m.options = r.options(m.subject, []client.Transport{client.WebTransport, client.WebSocket}[i%2])
		r.members = append(r.members, m)
	}
	watchers := []*watcher{r.watch("room.#"), r.watch("room.1"), r.watch("room.3.#"), r.watch("room.*", client.WithCounts())}
	for range harness.SoakCount(t, 1, 100) {
		present := r.round()
		limit := time.After(harness.AtLength(harness.WaitTimeout, 10*time.Second))
		for _, w := range watchers {
			for !w.sees(present) {
				select {
				case <-time.After(10 * time.Millisecond): // views change with each frame
				case <-limit:
					t.Fatalf("a watcher of %s has %v %v, want %v", w.Pattern(), w.Members(), w.Counts(), present)
				}
			}
		}
	}
	for _, m := range r.members {
		m.leave()
	}
}

// run is members, and edges, each with a link of its own to NATS.
type run struct {
	*harness.Overlay
	links     [][]*natstest.Proxy
	file      string
	random    *rand.Rand
	addresses []string
	members   []*member
}

func (r *run) options(subject string, transport client.Transport) (o client.Options) {
	r.T.Helper()
	r.addresses, o = history.Clients(r.Overlay, r.Edges[0].SubjectToken(subject, subject, harness.PresenceTenant))
	o.Transports = []client.Transport{transport}
	return o
}

// round lets clients and faults go on for a while. It returns who is present then, as
// "channel subject info".
func (r *run) round() map[string]bool {
	r.T.Helper()
	stop := make(chan struct{})
	var acting sync.WaitGroup
	for _, m := range r.members {
		acting.Go(func() { m.act(stop) })
	}
	for range 1 + r.random.IntN(2) {
		history.PauseRandomly(r.random, 500, nil)
		r.play()
	}
	history.PauseRandomly(r.random, 1000, nil)
	close(stop)
	acting.Wait()
	present := map[string]bool{}
	for _, m := range r.members {
		for channel := range m.joined {
			present[fmt.Sprintf(`%s %s {"name":"%s"}`, channel, m.subject, m.subject)] = true
		}
	}
	return present
}

// play plays a fault, which is over when it returns.
func (r *run) play() {
	r.T.Helper()
	at := r.random.IntN(len(r.Edges))
	link, nothing := r.links[at][0], func() {}
	pause := func() { history.PauseRandomly(r.random, harness.AtLength(2500, 8000), nil) }
	kill := func() { r.KillAndStart((at+1)%len(r.Edges), r.file, nothing, harness.ForBrowsers) }
	faults := []struct {
		name                  string
		begin, meanwhile, end func()
	}{
		{"kill", nothing, kill, nothing},
		{"drain", r.Edges[at].Stop, nothing, func() {
			gone := r.Edges[at]
			r.Edges[at] = harness.StartEdge(r.T, r.file, harness.InDir(gone.Dir), harness.Replacing(gone), harness.ForBrowsers)
		}},
		{"cut", link.Cut, pause, link.Resume},
		{"hold", link.Hold, pause, link.Resume},
		{"hold, and kill another", link.Hold, kill, link.Resume},
		{"freeze", func() { r.Edges[at].Signal(syscall.SIGSTOP) }, pause, func() { r.Edges[at].Signal(syscall.SIGCONT) }},
		{"kill NATS", func() { r.Nodes[0].Kill(r.T) }, pause, func() { r.Nodes[0].Restart(r.T); r.AwaitAll(r.Nodes...) }},
	}
	f := faults[r.random.IntN(len(faults))]
	r.T.Logf("%s: %s %d", time.Now().UTC().Format(time.TimeOnly+".000"), f.name, at)
	f.begin()
	f.meanwhile()
	f.end()
}

// member is a client that joins and leaves.
type member struct {
	run     *run
	subject string
	random  *rand.Rand
	options client.Options
	client  *client.Client // nil: it is not connected
	joined  map[string]*client.Membership
}

// act does this and that until stop is closed. Then the client is where it says.
func (m *member) act(stop <-chan struct{}) {
	ctx, cancel := context.WithTimeout(m.run.T.Context(), harness.WaitTimeout)
	defer cancel()
	must := func(err error) {
		if err != nil && !errors.Is(err, client.ErrDisconnected) {
			m.run.T.Errorf("%s: %v", m.subject, err)
		}
	}
	for running := true; running; running = history.PauseRandomly(m.random, 150, stop) {
		channel := []string{"room.1", "room.2", "room.3.a", "room.4"}[m.random.IntN(4)]
		switch {
		case m.client == nil: // as long as no edge answers it tries again
			m.client, _ = client.Connect(ctx, m.run.addresses, m.options)
			m.joined = map[string]*client.Membership{}
		case m.random.IntN(6) == 0:
			m.leave()
		case m.joined[channel] != nil:
			must(m.joined[channel].Leave(ctx))
			delete(m.joined, channel)
		default:
			membership, err := m.client.Join(ctx, harness.PresenceTenant, channel)
			if must(err); err == nil {
				m.joined[channel] = membership
			}
		}
	}
	if m.client != nil {
		must(m.client.Flush(ctx))
	}
}

func (m *member) leave() {
	if m.client != nil {
		_ = m.client.Close() // which may say that there was nobody to hear it
	}
	m.client, m.joined = nil, nil
}

// watcher is a client, at any edge.
type watcher struct {
	*client.Presence
	matches pattern.Pattern
	counts  bool
}

// watch starts a watcher, which ends with the test.
func (r *run) watch(text string, options ...client.PresenceOption) *watcher {
	r.T.Helper()
	c, err := client.Connect(r.T.Context(), r.addresses, r.options("", client.WebSocket))
	r.Edges[0].Must(err)
	r.T.Cleanup(func() { _ = c.Close() })
	p, err := c.Presence(r.T.Context(), harness.PresenceTenant, text, options...)
	r.Edges[0].Must(err)
	matches, err := pattern.Parse(text)
	r.Edges[0].Must(err)
	return &watcher{p, matches, len(options) > 0}
}

// sees reports whether the watcher sees exactly those whom it should of those who are present.
func (w *watcher) sees(present map[string]bool) bool {
	got, want, counts := map[string]bool{}, map[string]bool{}, map[string]int{}
	for key := range present {
		if channel, _, _ := strings.Cut(key, " "); w.matches.Match(channel) {
			want[key] = true
			counts[channel]++
		}
	}
	if w.counts {
		return w.Synced() && maps.Equal(w.Counts(), counts)
	}
	for _, m := range w.Members() {
		got[fmt.Sprintf("%s %s %s", m.Channel, m.Subject, m.Info)] = true
	}
	return w.Synced() && maps.Equal(got, want)
}
