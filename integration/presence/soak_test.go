package presence

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/internal/natstest"
)

// Random clients of the SDK for Go join, leave, move, vanish and come back at three edges, over
// both transports, while edges are killed, freeze, are cut off from NATS, and NATS itself is
// killed. After each round everybody who watches, at any edge, sees exactly those who are there;
// in a soak within 10 s, in which the linger, 2 s here, and the 5 s to 6.1 s go by that an edge
// must be silent until it is taken for gone.
func TestPresenceSoak(t *testing.T) {
	t.Parallel()
	seed := harness.Seed(t)
	r := &presenceRun{
		Overlay: &harness.Overlay{T: t, Nodes: harness.StartNATS(t, 1)},
		file:    harness.WithPresence("linger 2s"), random: rand.New(rand.NewPCG(seed, 0)),
	}
	var urls []string
	for range 3 {
		link := r.Nodes[0].StartProxy(t)
		r.links, urls = append(r.links, link), append(urls, link.URL())
	}
	joins := harness.JoiningBy(urls, 1, "")
	for i, join := range joins {
		joins[i] = func(e *harness.Edge) { join(e); harness.ForBrowsers(e) } // one authority
	}
	r.StartEdges(r.file, joins)
	for _, e := range r.Edges {
		r.addresses = append(r.addresses, e.HttpsURL(""))
	}
	for i := range 14 { // some are the same subject
		m := &member{run: r, subject: fmt.Sprintf("u%d", i%9), random: rand.New(rand.NewPCG(seed, uint64(i+1)))}
		if m.options = r.options(m.subject, client.WebTransport); i%2 == 0 {
			m.options = r.options(m.subject, client.WebSocket)
			m.options.Network = &client.Network{Dial: m.dial, DialPacket: func(context.Context, string) (net.PacketConn, net.Addr, error) {
				return nil, nil, errors.ErrUnsupported
			}}
		}
		r.members = append(r.members, m)
	}
	r.watch("room.#", `room\.`)
	r.watch("room.*", `room\.\d$`)
	r.watch("room.1", `room\.1$`)
	r.watch("room.3.#", `room\.3`)
	r.watch("room.#", `room\.`, client.WithCounts())
	r.watch("room.2", `room\.2$`, client.WithCounts())
	for range harness.SoakCount(t, 1, 100) {
		if r.round(); t.Failed() {
			break
		}
	}
	for _, m := range r.members {
		m.lose()
	}
}

// presenceRun is edges, each with a link of its own to NATS, members and watchers.
type presenceRun struct {
	*harness.Overlay
	links     []*natstest.Proxy
	file      string
	random    *rand.Rand
	addresses []string
	members   []*member
	watchers  []*watcher
}

// options are those of a client that notices in time what is wrong.
func (r *presenceRun) options(subject string, transport client.Transport) client.Options {
	r.T.Helper()
	roots, err := r.Edges[0].TlsConfig()
	r.Edges[0].Must(err)
	return client.Options{
		Token: r.Edges[0].SubjectToken(subject, subject, harness.PresenceTenant), Transports: []client.Transport{transport},
		TLS: roots, KeepAlive: time.Second, MaxBackOff: 500 * time.Millisecond,
	}
}

// round lets clients and faults go on for a while, and waits until all watchers are right.
func (r *presenceRun) round() {
	r.T.Helper()
	stop := make(chan struct{})
	var acting sync.WaitGroup
	for _, m := range r.members {
		acting.Go(func() { m.Act(stop) })
	}
	for range 1 + r.random.IntN(2) {
		history.PauseRandomly(r.random, 500, nil)
		r.play()
	}
	history.PauseRandomly(r.random, 1000, nil)
	close(stop)
	acting.Wait()
	want := map[string]string{}
	for _, m := range r.members {
		for channel := range m.joined {
			want[channel+" "+m.subject] = fmt.Sprintf(`{"name":"%s"}`, m.subject)
		}
	}
	begin, limit := time.Now(), harness.AtLength(2*time.Minute, 10*time.Second)
	for _, w := range r.watchers {
		for !w.isRight(want) {
			if time.Since(begin) > limit {
				r.T.Fatalf("after %v a watcher of %v has %v %v, want %v", limit, w.channels, w.Members(), w.Counts(), want)
			}
			time.Sleep(10 * time.Millisecond) // views change with each frame
		}
	}
	r.T.Logf("%d members, all watchers right after %v", len(want), time.Since(begin))
}

// play plays a fault, which is over when it returns.
func (r *presenceRun) play() {
	r.T.Helper()
	at, fault := r.random.IntN(len(r.Edges)), []string{"kill", "cut", "hold", "freeze", "node", "together"}[r.random.IntN(6)]
	r.T.Logf("%s: %s %d", time.Now().UTC().Format(time.TimeOnly+".000"), fault, at)
	switch fault {
	case "cut":
		r.links[at].Cut()
	case "hold", "together":
		r.links[at].Hold()
	case "freeze":
		r.Edges[at].Signal(syscall.SIGSTOP)
	case "node":
		r.Nodes[0].Kill(r.T)
	}
	if fault == "kill" || fault == "together" { // an edge is away while another one restarts
		r.KillAndStart((at+1)%len(r.Edges), r.file, func() {}, harness.ForBrowsers)
	} else {
		history.PauseRandomly(r.random, harness.AtLength(2500, 8000), nil)
	}
	switch fault {
	case "cut", "hold", "together":
		r.links[at].Resume()
	case "freeze":
		r.Edges[at].Signal(syscall.SIGCONT)
	case "node":
		r.Nodes[0].Restart(r.T)
		r.Overlay.AwaitAll(r.Nodes[0])
	}
}

// member is a client that joins and leaves.
type member struct {
	run     *presenceRun
	subject string
	random  *rand.Rand
	options client.Options
	client  *client.Client // nil: it is not connected
	joined  map[string]*client.Membership

	mu    sync.Mutex
	conns []net.Conn // over WebSocket
}

// Act does this and that until stop is closed. Then it is where it says, connected.
func (m *member) Act(stop <-chan struct{}) {
	ctx, cancel := context.WithTimeout(m.run.T.Context(), 2*time.Minute)
	defer cancel()
	for running := true; running; running = history.PauseRandomly(m.random, 150, stop) {
		channel := []string{"room.1", "room.2", "room.3.a", "room.4"}[m.random.IntN(4)]
		switch n := m.random.IntN(20); {
		case m.client == nil:
			m.connect(ctx)
		case n < 14 && m.joined[channel] != nil:
			m.must(m.joined[channel].Leave(ctx))
			delete(m.joined, channel)
		case n < 14:
			m.join(ctx, channel)
		case n < 17: // it leaves, or vanishes, and perhaps comes back
			m.lose()
		case n < 19: // it moves
			old, channels := m.client, m.joined
			m.connect(ctx)
			for channel := range channels {
				m.join(ctx, channel)
			}
			m.must(old.Close())
		}
	}
	switch {
	case m.random.IntN(4) == 0: // it is gone
		m.lose()
	case m.client == nil:
		m.connect(ctx)
	default:
		m.must(m.client.Flush(ctx))
	}
}

func (m *member) must(err error) {
	if err != nil && !errors.Is(err, client.ErrDisconnected) {
		m.run.T.Errorf("%s: %v", m.subject, err)
	}
}

func (m *member) join(ctx context.Context, channel string) {
	membership, err := m.client.Join(ctx, harness.PresenceTenant, channel)
	if m.must(err); err == nil {
		m.joined[channel] = membership
	}
}

// connect connects to some edge.
func (m *member) connect(ctx context.Context) {
	c, err := client.Connect(ctx, m.run.addresses, m.options)
	for err != nil && ctx.Err() == nil {
		history.PauseRandomly(m.random, 100, ctx.Done())
		c, err = client.Connect(ctx, m.run.addresses, m.options)
	}
	m.must(err)
	m.client, m.joined = c, map[string]*client.Membership{}
}

func (m *member) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := harness.DialLoopback(ctx, network, address)
	if err == nil {
		m.mu.Lock()
		m.conns = append(m.conns, conn)
		m.mu.Unlock()
	}
	return conn, err
}

// lose ends the client. Over WebSocket it vanishes without a word; over QUIC that would be seen
// only after the idle timeout.
func (m *member) lose() {
	if m.client == nil {
		return
	}
	m.mu.Lock()
	for _, conn := range m.conns {
		_ = conn.Close()
	}
	m.mu.Unlock()
	_ = m.client.Close() // which may say that there was nobody to hear it
	m.client, m.joined = nil, nil
}

// watcher is a client, at any edge.
type watcher struct {
	*client.Presence
	channels *regexp.Regexp // that its pattern matches
	count    bool
}

// watch starts a watcher, which ends with the test.
func (r *presenceRun) watch(pattern, channels string, options ...client.PresenceOption) {
	r.T.Helper()
	c, err := client.Connect(r.T.Context(), r.addresses, r.options("", client.WebSocket))
	r.Edges[0].Must(err)
	r.T.Cleanup(func() { _ = c.Close() })
	p, err := c.Presence(r.T.Context(), harness.PresenceTenant, pattern, options...)
	r.Edges[0].Must(err)
	r.watchers = append(r.watchers, &watcher{p, regexp.MustCompile(channels), len(options) > 0})
}

// isRight reports whether the watcher sees exactly those whom it should.
func (w *watcher) isRight(want map[string]string) bool {
	all, counts, got := map[string]string{}, map[string]int{}, map[string]string{}
	for key, info := range want {
		if channel, _, _ := strings.Cut(key, " "); w.channels.MatchString(channel) {
			all[key] = info
			counts[channel]++
		}
	}
	for _, m := range w.Members() {
		got[m.Channel+" "+m.Subject] = string(m.Info)
	}
	if w.count {
		return w.Synced() && maps.Equal(w.Counts(), counts)
	}
	return w.Synced() && maps.Equal(got, all)
}
