package presence

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

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
	r := startPresenceRun(t, harness.Seed(t))
	var took []time.Duration
	for round := range harness.SoakCount(t, 1, 100) {
		took = append(took, r.round(round))
		if t.Failed() {
			break
		}
	}
	close(r.stop)
	r.reading.Wait()
	slices.Sort(took)
	t.Logf("%d rounds; all watchers were right after: median %v, p90 %v, longest %v; %d JOINs and LEAVEs were answered",
		len(took), took[len(took)/2], took[len(took)*9/10], took[len(took)-1], r.answers.Load())
}

// presenceRun is edges, each with a link of its own to NATS, clients and watchers.
type presenceRun struct {
	*harness.Overlay
	links    []*natstest.Proxy
	file     string
	random   *rand.Rand
	clients  []*presenceClient
	watchers []*watcher
	answers  atomic.Int64
	stop     chan struct{} // closed: watchers end
	reading  sync.WaitGroup

	mu   sync.Mutex
	runs []*harness.Edge // by place; nil: it is away
	open [][]*harness.Socket
}

var channels = []string{"room.1", "room.2", "room.3.a", "room.4"}

func startPresenceRun(t *testing.T, seed uint64) *presenceRun {
	t.Helper()
	r := &presenceRun{
		Overlay: &harness.Overlay{T: t, Nodes: harness.StartNATS(t, 1)}, file: harness.WithPresence("linger 2s"),
		random: rand.New(rand.NewPCG(seed, 0)), stop: make(chan struct{}), open: make([][]*harness.Socket, 3),
	}
	var urls []string
	for range r.open {
		link := r.Nodes[0].StartProxy(t)
		r.links, urls = append(r.links, link), append(urls, link.URL())
	}
	r.StartEdges(r.file, harness.JoiningBy(urls, 1, ""))
	r.runs = slices.Clone(r.Edges)
	for i := range 14 { // some are the same subject
		c := &presenceClient{run: r, subject: fmt.Sprintf("u%d", i%9), random: rand.New(rand.NewPCG(seed, 100+uint64(i))), joined: map[string]bool{}}
		c.token = r.Edges[0].SubjectToken(c.subject, c.subject, harness.PresenceTenant)
		r.clients = append(r.clients, c)
	}
	token := r.Edges[0].SubjectToken("", "", harness.PresenceTenant)
	for i, pattern := range []string{"room.#", "room.*", "room.1", "room.#:count", "room.2:count", "room.3.#"} {
		pattern, count := strings.CutSuffix(pattern, ":count")
		w := &watcher{run: r, token: token, random: rand.New(rand.NewPCG(seed, 200+uint64(i))), view: harness.NewPresenceView(pattern, count)}
		r.watchers = append(r.watchers, w)
		r.reading.Go(w.Run)
	}
	return r
}

// round lets clients and faults go on for a while, and returns how long it took afterwards
// until all watchers were right.
func (r *presenceRun) round(n int) time.Duration {
	r.T.Helper()
	stop := make(chan struct{})
	var acting sync.WaitGroup
	for _, c := range r.clients {
		acting.Go(func() { c.Act(stop) })
	}
	for range 1 + r.random.IntN(2) {
		history.PauseRandomly(r.random, 500, nil)
		r.play()
	}
	history.PauseRandomly(r.random, 1000, nil)
	close(stop)
	acting.Wait()
	want := map[string]string{}
	for _, c := range r.clients {
		for channel := range c.joined {
			want[channel+" "+c.subject] = fmt.Sprintf(`{"name":"%s"}`, c.subject)
		}
	}
	var wrong []string
	begin := time.Now()
	for ; ; time.Sleep(10 * time.Millisecond) { // of views that change with each frame
		wrong = nil
		for _, w := range r.watchers {
			if text := w.wrong(want); text != "" {
				wrong = append(wrong, text)
			}
		}
		if len(wrong) == 0 || time.Since(begin) > harness.AtLength(2*time.Minute, 10*time.Second) {
			break
		}
	}
	took := time.Since(begin)
	r.T.Logf("round %d: %d members, all watchers right after %v", n, len(want), took)
	for _, text := range wrong {
		r.T.Error(text)
	}
	return took
}

// play plays a fault, which is over when it returns.
func (r *presenceRun) play() {
	r.T.Helper()
	at, length := r.random.IntN(len(r.Edges)), harness.AtLength(2500, 8000)
	fault := []string{"kill", "cut", "hold", "freeze", "node", "together"}[r.random.IntN(6)]
	r.T.Logf("%s: %s %d", time.Now().UTC().Format(time.TimeOnly+".000"), fault, at)
	switch fault {
	case "kill":
		r.restart(at)
	case "cut":
		r.links[at].Cut()
		history.PauseRandomly(r.random, length, nil)
		r.links[at].Resume()
	case "hold":
		r.links[at].Hold()
		history.PauseRandomly(r.random, length, nil)
		r.links[at].Resume()
	case "freeze":
		r.Edges[at].Signal(syscall.SIGSTOP)
		history.PauseRandomly(r.random, length, nil)
		r.Edges[at].Signal(syscall.SIGCONT)
	case "node":
		r.Nodes[0].Kill(r.T)
		history.PauseRandomly(r.random, length/2, nil)
		r.Nodes[0].Restart(r.T)
		r.Overlay.AwaitAll(r.Nodes[0])
	case "together": // an edge is away while another one restarts
		r.links[at].Hold()
		history.PauseRandomly(r.random, length/4, nil)
		r.restart((at + 1) % len(r.Edges))
		history.PauseRandomly(r.random, length/4, nil)
		r.links[at].Resume()
	}
}

func (r *presenceRun) restart(at int) {
	r.T.Helper()
	r.mu.Lock()
	r.runs[at] = nil
	r.mu.Unlock()
	r.KillAndStart(at, r.file, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, s := range r.open[at] { // over WebTransport they would not know for long
			_ = s.Cut()
		}
		r.open[at] = nil
	})
	r.mu.Lock()
	r.runs[at] = r.Edges[at]
	r.mu.Unlock()
}

// dial connects to some edge over some transport; nil: it is away.
func (r *presenceRun) dial(token string, random *rand.Rand) *harness.Socket {
	at := random.IntN(len(r.open))
	r.mu.Lock()
	e := r.runs[at]
	r.mu.Unlock()
	if e == nil {
		return nil
	}
	open := e.TryOpen
	if random.IntN(2) == 0 {
		open = e.TryWebTransport
	}
	s, _, err := open(harness.Handshake{Token: token})
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

// presenceClient is a client that joins and leaves.
type presenceClient struct {
	run            *presenceRun
	socket         *harness.Socket // nil: it is not connected
	subject, token string
	random         *rand.Rand
	joined         map[string]bool // channels in which it is, or wants to be
}

// Act does this and that until stop is closed. Then it is where it says, connected.
func (c *presenceClient) Act(stop <-chan struct{}) {
	for running := true; running; running = history.PauseRandomly(c.random, 150, stop) {
		if c.socket == nil {
			if c.random.IntN(3) == 0 { // it has forgotten everything
				clear(c.joined)
			}
			c.connect()
			continue
		}
		channel := channels[c.random.IntN(len(channels))]
		switch n := c.random.IntN(20); {
		case n < 8:
			c.joined[channel] = true
			c.say("JOIN", channel)
		case n < 15:
			delete(c.joined, channel)
			c.say("LEAVE", channel)
		case n < 17: // it vanishes, or leaves, and perhaps comes back
			if n == 16 {
				_ = c.socket.Leave()
			}
			c.lose()
		case n < 19: // it moves
			old := c.socket
			c.connect()
			_ = old.Cut()
		}
	}
	if c.random.IntN(4) == 0 { // it is gone
		clear(c.joined)
		c.lose()
		return
	}
	for end := time.Now().Add(2 * time.Minute); c.socket == nil || !c.ask("PING", "PONG"); c.connect() {
		if time.Now().After(end) {
			c.run.T.Errorf("%s finds no edge", c.subject)
			return
		}
		history.PauseRandomly(c.random, 50, nil)
	}
}

func (c *presenceClient) lose() {
	if c.socket != nil {
		_ = c.socket.Cut()
		c.socket = nil
	}
}

// connect connects to some edge, and joins where the client wants to be.
func (c *presenceClient) connect() {
	c.socket = c.run.dial(c.token, c.random)
	for channel := range c.joined {
		if c.socket != nil {
			c.say("JOIN", channel)
		}
	}
}

func (c *presenceClient) say(verb, channel string) {
	line := verb + ":" + harness.PresenceTenant + ":" + channel
	if c.ask(line, "OK:"+line) {
		c.run.answers.Add(1)
	}
}

// ask sends a line, and reads until this answer comes. If the connection is lost, there is none
// any more.
func (c *presenceClient) ask(line, want string) bool {
	err := c.socket.Write(harness.AsText, []byte(line))
	for err == nil {
		var message []byte
		if _, message, err = c.socket.Read(); err == nil && string(message) == want {
			return true
		}
		if err == nil && !strings.HasPrefix(string(message), "ERR:broker_unavailable") {
			c.run.T.Errorf("%s got %q, want %q", c.subject, message, want)
			return false
		}
	}
	c.lose()
	return false
}

// watcher is a client that watches, wherever it is connected.
type watcher struct {
	run    *presenceRun
	token  string
	random *rand.Rand
	mu     sync.Mutex
	view   *harness.PresenceView
	on     bool // it is connected, and OK:WHO has come
}

func (w *watcher) Run() {
	for {
		if s := w.run.dial(w.token, w.random); s != nil {
			w.follow(s)
		}
		w.mu.Lock()
		w.on = false
		w.mu.Unlock()
		if !history.PauseRandomly(w.random, 100, w.run.stop) {
			return
		}
	}
}

// follow watches by one connection, for a while or until it ends.
func (w *watcher) follow(s *harness.Socket) {
	ended, stopped := make(chan struct{}), make(chan struct{})
	stay := time.Duration(5+w.random.IntN(40)) * time.Second
	go func() { // ends with the call
		defer close(stopped)
		select {
		case <-time.After(stay): // it moves
		case <-w.run.stop:
		case <-ended:
		}
		_ = s.Cut()
	}()
	defer func() { close(ended); <-stopped }()
	who := "WHO:" + harness.PresenceTenant + ":" + w.view.Pattern
	if w.view.Count {
		who += ":count"
	}
	err := s.Write(harness.AsText, []byte(who))
	views := &harness.Watching{Socket: s, Tenant: harness.PresenceTenant, Views: map[string]*harness.PresenceView{w.view.Pattern: w.view}}
	slow := time.Duration(w.random.IntN(20)) * time.Millisecond
	for err == nil {
		var kind int
		var message []byte
		kind, message, err = s.Read()
		w.mu.Lock()
		if err == nil && kind == harness.AsFrame {
			if err := views.Take(message); err != nil {
				w.run.T.Errorf("a watcher: %v", err)
			}
		} else if strings.HasPrefix(string(message), "OK:WHO:") {
			w.on = true
		}
		w.mu.Unlock()
		time.Sleep(slow) // it reads slowly: there is nothing to wait for
	}
}

// wrong says in what the watcher is wrong, or nothing.
func (w *watcher) wrong(want map[string]string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.view
	if !w.on || v.Next != nil || !v.Synced {
		return fmt.Sprintf("the watcher of %s is connected: %v, synced: %v", v.Pattern, w.on, v.Synced && v.Next == nil)
	}
	all, counts := map[string]string{}, map[string]uint32{}
	for key, info := range want {
		channel, _, _ := strings.Cut(key, " ")
		if channel == v.Pattern || v.Pattern == "room.#" || v.Pattern == "room.*" && strings.Count(channel, ".") == 1 ||
			v.Pattern == "room.3.#" && strings.HasPrefix(channel, "room.3") {
			all[key] = info
			counts[channel]++
		}
	}
	if v.Count && !maps.Equal(v.Counts, counts) {
		return fmt.Sprintf("the watcher of counts of %s has %v, want %v", v.Pattern, v.Counts, counts)
	}
	if !v.Count && !maps.Equal(v.Members, all) {
		return fmt.Sprintf("the watcher of %s has %v, want %v", v.Pattern, v.Members, all)
	}
	return ""
}
