package presence

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
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

// Random clients join, leave, move, vanish and come back at three edges, over both transports,
// while edges are killed, freeze, are cut off from NATS, and NATS itself is killed. After each
// round everybody who watches, at every edge, sees exactly those who are there; in a soak
// within 10 s, in which the linger, 2 s here, and the 5 s to 6.1 s go by that an edge must be
// silent until it is taken for gone.
func TestPresenceSoak(t *testing.T) {
	t.Parallel()
	seed := harness.Seed(t)
	r := &presenceRun{
		Overlay: &harness.Overlay{T: t, Nodes: harness.StartNATS(t, 1)}, file: harness.WithPresence("linger 2s"),
		random: rand.New(rand.NewPCG(seed, 0)), open: make([][]*harness.Socket, 3),
	}
	var urls []string
	for range r.open {
		link := r.Nodes[0].StartProxy(t)
		r.links, urls = append(r.links, link), append(urls, link.URL())
	}
	r.StartEdges(r.file, harness.JoiningBy(urls, 1, ""))
	r.runs = slices.Clone(r.Edges)
	for i := range 14 { // some are the same subject
		m := &member{run: r, subject: fmt.Sprintf("u%d", i%9), random: rand.New(rand.NewPCG(seed, uint64(i+1))), joined: map[string]bool{}}
		m.token = r.Edges[0].SubjectToken(m.subject, m.subject, harness.PresenceTenant)
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
}

// presenceRun is edges, each with a link of its own to NATS, members and watchers.
type presenceRun struct {
	*harness.Overlay
	links    []*natstest.Proxy
	file     string
	random   *rand.Rand
	members  []*member
	watchers []*watcher

	mu   sync.Mutex
	runs []*harness.Edge // by place; nil: it is away
	open [][]*harness.Socket
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
		r.restart((at + 1) % len(r.Edges))
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

func (r *presenceRun) restart(at int) {
	r.T.Helper()
	r.KillAndStart(at, r.file, func() { r.set(at, nil) })
	r.set(at, r.Edges[at])
}

// set says which edge is at a place, and ends the connections to the one before: over
// WebTransport they would not know for long.
func (r *presenceRun) set(at int, e *harness.Edge) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs[at] = e
	for _, s := range r.open[at] {
		_ = s.Cut()
	}
	r.open[at] = nil
}

// member is a client that joins and leaves.
type member struct {
	run            *presenceRun
	subject, token string
	random         *rand.Rand
	socket         *harness.Socket // nil: it is not connected
	joined         map[string]bool // channels in which it is, or wants to be
}

// dial connects to some edge over some transport; nil: it is away.
func (m *member) dial() *harness.Socket {
	r, at := m.run, m.random.IntN(len(m.run.open))
	r.mu.Lock()
	e := r.runs[at]
	r.mu.Unlock()
	if e == nil {
		return nil
	}
	open := e.TryOpen
	if m.random.IntN(2) == 0 {
		open = e.TryWebTransport
	}
	s, _, err := open(harness.Handshake{Token: m.token})
	if err != nil || s == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runs[at] != e {
		_ = s.Cut()
		return nil
	}
	r.open[at] = append(r.open[at], s)
	return s
}

// Act does this and that until stop is closed. Then it is where it says, connected.
func (m *member) Act(stop <-chan struct{}) {
	for running := true; running; running = history.PauseRandomly(m.random, 150, stop) {
		if m.socket == nil {
			if m.random.IntN(3) == 0 { // it has forgotten everything
				clear(m.joined)
			}
			m.connect()
			continue
		}
		channel := []string{"room.1", "room.2", "room.3.a", "room.4"}[m.random.IntN(4)]
		switch n := m.random.IntN(20); {
		case n < 8:
			m.joined[channel] = true
			m.ask("JOIN", channel)
		case n < 15:
			delete(m.joined, channel)
			m.ask("LEAVE", channel)
		case n < 17: // it vanishes, or leaves, and perhaps comes back
			if n == 16 {
				_ = m.socket.Leave()
			}
			m.lose()
		case n < 19: // it moves
			old := m.socket
			m.connect()
			_ = old.Cut()
		}
	}
	if m.random.IntN(4) == 0 { // it is gone
		clear(m.joined)
		m.lose()
		return
	}
	m.ask("LEAVE", "room.0") // so it learns that its connection is lost
	for end := time.Now().Add(2 * time.Minute); m.socket == nil; m.connect() {
		if time.Now().After(end) {
			m.run.T.Errorf("%s finds no edge", m.subject)
			return
		}
		history.PauseRandomly(m.random, 50, nil)
	}
}

// lose ends the connection, if there is one.
func (m *member) lose() {
	if m.socket != nil {
		_ = m.socket.Cut()
		m.socket = nil
	}
}

// connect connects to some edge, and joins where the client wants to be.
func (m *member) connect() {
	m.socket = m.dial()
	for channel := range m.joined {
		m.ask("JOIN", channel)
	}
}

// ask sends a line about a channel, and reads until its answer. If the connection is lost,
// there is none any more.
func (m *member) ask(verb, channel string) {
	line := verb + ":" + harness.PresenceTenant + ":" + channel
	for sent := false; m.socket != nil; sent = true {
		if !sent && m.socket.Write(harness.AsText, []byte(line)) != nil {
			m.lose()
			return
		}
		_, message, err := m.socket.Read()
		switch {
		case err != nil:
			m.lose()
		case string(message) == "OK:"+line:
			return
		case !strings.HasPrefix(string(message), "ERR:broker_unavailable"):
			m.run.T.Errorf("%s got %q, want OK:%s", m.subject, message, line)
			m.lose()
		}
	}
}

// watcher is a client of the SDK, at any edge.
type watcher struct {
	*client.Presence
	channels *regexp.Regexp // that its pattern matches
	count    bool
}

// watch starts a watcher, which ends with the test.
func (r *presenceRun) watch(pattern, channels string, options ...client.PresenceOption) {
	r.T.Helper()
	var edges []string
	for _, e := range r.Edges {
		edges = append(edges, e.HttpURL(""))
	}
	c, err := client.Connect(r.T.Context(), edges, client.Options{
		Token: r.Edges[0].SubjectToken("", "", harness.PresenceTenant), Transports: []client.Transport{client.WebSocket},
		KeepAlive: time.Second, MaxBackOff: 500 * time.Millisecond,
	})
	if err != nil {
		r.T.Fatal(err)
	}
	r.T.Cleanup(func() { _ = c.Close() })
	p, err := c.Presence(r.T.Context(), harness.PresenceTenant, pattern, options...)
	if err != nil {
		r.T.Fatal(err)
	}
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
