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
// round everybody who watches, at every edge, sees exactly those who are there.
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
	r.Finish()
	slices.Sort(took)
	t.Logf("%d rounds; all watchers were right after: median %v, p90 %v, longest %v; faults: %v; %d JOINs were answered, %d connections lost; %d frames",
		len(took), took[len(took)/2], took[len(took)*9/10], took[len(took)-1], r.faults, r.joins.Load(), r.lost.Load(), r.frames.Load())
}

// rightAfter is how long watchers may be wrong when all is well again: the linger, 2 s here,
// and how long an edge must be silent until it is taken for gone, 5 s to 6.1 s, go by in it.
var rightAfter = harness.AtLength(harness.WaitTimeout, 10*time.Second)

// presenceRun is edges, each with a link of its own to NATS, clients and watchers.
type presenceRun struct {
	*harness.Overlay
	links    []*natstest.Proxy
	running  []atomic.Pointer[harness.Edge] // by place
	file     string
	random   *rand.Rand
	clients  []*presenceClient
	watchers []*presenceWatcher
	faults   map[string]int

	stop    chan struct{} // closed: watchers end
	reading sync.WaitGroup

	joins, lost, frames atomic.Int64

	mu   sync.Mutex
	open map[*harness.Edge][]*harness.Socket // what was opened there
}

var presenceChannels = []string{"room.1", "room.2", "room.3.a", "room.4"}

func startPresenceRun(t *testing.T, seed uint64) *presenceRun {
	t.Helper()
	const edges = 3
	r := &presenceRun{
		Overlay: &harness.Overlay{T: t, Nodes: harness.StartNATS(t, 1)}, running: make([]atomic.Pointer[harness.Edge], edges),
		file: harness.WithPresence("linger 2s"), random: rand.New(rand.NewPCG(seed, 0)), faults: map[string]int{}, stop: make(chan struct{}),
		open: map[*harness.Edge][]*harness.Socket{},
	}
	var urls []string
	for range edges {
		link := r.Nodes[0].StartProxy(t)
		r.links, urls = append(r.links, link), append(urls, link.URL())
	}
	r.StartEdges(r.file, harness.JoiningBy(urls, 1, ""))
	for at, e := range r.Edges {
		r.running[at].Store(e)
	}
	tokens := map[string]string{}
	for i := range 14 { // some are the same subject
		subject := fmt.Sprintf("u%d", i%9)
		if tokens[subject] == "" {
			tokens[subject] = r.Edges[0].SubjectToken(subject, subject, harness.PresenceTenant)
		}
		r.clients = append(r.clients, &presenceClient{
			presenceRun: r, subject: subject, token: tokens[subject], random: rand.New(rand.NewPCG(seed, 100+uint64(i))), joined: map[string]bool{},
		})
	}
	token := r.Edges[0].SubjectToken("", "", harness.PresenceTenant)
	for i, pattern := range []string{"room.#", "room.*", "room.1", "room.#", "room.#:count", "room.2:count", "room.3.a", "#"} {
		pattern, count := strings.CutSuffix(pattern, ":count")
		if pattern == "#" {
			pattern = "room.3.#"
		}
		w := &presenceWatcher{
			presenceRun: r, token: token, home: i % edges, random: rand.New(rand.NewPCG(seed, 200+uint64(i))), view: harness.NewPresenceView(pattern, count),
		}
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
		r.play(n)
	}
	history.PauseRandomly(r.random, 1000, nil)
	close(stop)
	acting.Wait()
	begin := time.Now()
	want := map[string]string{}
	for _, c := range r.clients {
		for channel := range c.joined {
			want[channel+" "+c.subject] = fmt.Sprintf(`{"name":"%s"}`, c.subject)
		}
	}
	wrong := r.AwaitAll(want, begin.Add(rightAfter))
	took := time.Since(begin)
	r.T.Logf("round %d: %d members, all watchers right after %v", n, len(want), took)
	for _, text := range wrong {
		r.T.Error(text)
	}
	if len(wrong) == 0 && n%4 == 0 { // and nothing is told any more: what lingers has an end, and beats change nothing
		told := r.Told()
		time.Sleep(time.Duration(r.random.IntN(3000)) * time.Millisecond)
		if now := r.Told(); !slices.Equal(now, told) {
			r.T.Errorf("all was right, and the watchers were told more: %v events, then %v", told, now)
		}
	}
	return took
}

// AwaitAll returns when all watchers see these members, or what is wrong at the deadline.
func (r *presenceRun) AwaitAll(want map[string]string, deadline time.Time) (wrong []string) {
	for {
		wrong = nil
		for _, w := range r.watchers {
			if text := w.wrong(want); text != "" {
				wrong = append(wrong, text)
			}
		}
		if len(wrong) == 0 || time.Now().After(deadline) {
			return wrong
		}
		time.Sleep(10 * time.Millisecond) // of views that change with each frame
	}
}

// Told returns how many events each watcher has been told.
func (r *presenceRun) Told() (list []int) {
	for _, w := range r.watchers {
		w.mu.Lock()
		list = append(list, len(w.view.Events))
		w.mu.Unlock()
	}
	return list
}

// play plays a fault, which is over when it returns.
func (r *presenceRun) play(round int) {
	r.T.Helper()
	at := r.random.IntN(len(r.Edges))
	kinds := []string{"kill", "cut", "hold", "kill", "cut", "freeze", "node", "together"}
	fault := kinds[r.random.IntN(len(kinds))]
	r.faults[fault]++
	r.T.Logf("round %d, %s: %s %d", round, time.Now().UTC().Format(time.TimeOnly+".000"), fault, at)
	length := harness.AtLength(2500, 8000)
	switch fault {
	case "kill":
		r.restart(at)
	case "cut", "hold":
		if fault == "cut" {
			r.links[at].Cut()
		} else {
			r.links[at].Hold()
		}
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
	r.KillAndStart(at, r.file, func() {
		r.mu.Lock()
		gone := r.open[r.Edges[at]]
		delete(r.open, r.Edges[at])
		r.mu.Unlock()
		for _, s := range gone { // over WebTransport they would not know for long
			_ = s.Cut()
		}
		history.PauseRandomly(r.random, 500, nil)
	})
	r.running[at].Store(r.Edges[at])
}

func (r *presenceRun) Finish() {
	r.T.Helper()
	close(r.stop)
	r.reading.Wait()
	for _, c := range r.clients {
		if c.Socket != nil {
			_ = c.Cut()
		}
	}
}

// Dial connects over a transport to an edge; nil: it is away.
func (r *presenceRun) Dial(at int, token string, random *rand.Rand) *harness.Socket {
	e := r.running[at].Load()
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
	if r.running[at].Load() != e || ended(e) {
		_ = s.Cut()
		return nil
	}
	r.open[e] = append(r.open[e], s)
	return s
}

// ended reports whether the process has ended.
func ended(e *harness.Edge) bool {
	select {
	case <-e.Exited:
		return true
	default:
		return false
	}
}

// presenceClient is a client that joins and leaves.
type presenceClient struct {
	*presenceRun
	*harness.Socket // nil: it is not connected
	subject         string
	token           string
	random          *rand.Rand
	joined          map[string]bool // channels in which it is, or wants to be
}

// Act does this and that until stop is closed. Then it is where it says, connected.
func (c *presenceClient) Act(stop <-chan struct{}) {
	for running := true; running; running = history.PauseRandomly(c.random, 150, stop) {
		if c.Socket == nil {
			if c.random.IntN(3) == 0 { // it has forgotten everything
				clear(c.joined)
			}
			c.Connect()
			continue
		}
		channel := presenceChannels[c.random.IntN(len(presenceChannels))]
		switch n := c.random.IntN(20); {
		case n < 8:
			c.joined[channel] = true
			c.say("JOIN", channel)
		case n < 15:
			delete(c.joined, channel)
			c.say("LEAVE", channel)
		case n < 16: // it vanishes, and perhaps comes back
			_ = c.Cut()
			c.Socket = nil
		case n < 17:
			_ = c.Socket.Leave()
			_ = c.Cut()
			c.Socket = nil
		case n < 19: // it moves
			old := c.Socket
			c.Connect()
			_ = old.Cut()
		}
	}
	if c.random.IntN(4) == 0 { // it is gone
		clear(c.joined)
		if c.Socket != nil {
			_ = c.Cut()
			c.Socket = nil
		}
		return
	}
	for deadline := time.Now().Add(2 * harness.WaitTimeout); c.Socket == nil || !c.alive(); c.Connect() {
		if time.Now().After(deadline) {
			c.presenceRun.T.Errorf("%s finds no edge", c.subject)
			return
		}
		c.Socket = nil
		history.PauseRandomly(c.random, 50, nil)
	}
}

// Connect connects to some edge, and joins where the client wants to be.
func (c *presenceClient) Connect() {
	c.Socket = c.Dial(c.random.IntN(len(c.running)), c.token, c.random)
	for channel := range c.joined {
		if c.Socket != nil {
			c.say("JOIN", channel)
		}
	}
}

// say sends a line, and awaits its answer.
func (c *presenceClient) say(verb, channel string) {
	if c.Write(harness.AsText, []byte(verb+":"+harness.PresenceTenant+":"+channel)) != nil || !c.Await("OK:"+verb+":"+harness.PresenceTenant+":"+channel) {
		return
	}
	c.joins.Add(1)
}

// Await reads until this line comes; if the connection is lost, there is none any more.
func (c *presenceClient) Await(want string) bool {
	for {
		kind, message, err := c.Read()
		if err != nil {
			c.lost.Add(1)
			_ = c.Cut()
			c.Socket = nil
			return false
		}
		switch line := string(message); {
		case kind == harness.AsText && line == want:
			return true
		case kind == harness.AsText && (strings.HasPrefix(line, "ERR:broker_unavailable") || strings.HasPrefix(line, "RECONNECT")):
		default:
			c.presenceRun.T.Errorf("%s got %q, want %q", c.subject, message, want)
			return false
		}
	}
}

func (c *presenceClient) alive() bool {
	return c.Write(harness.AsText, []byte("PING")) == nil && c.Await("PONG")
}

// presenceWatcher is a client that watches, wherever it is connected.
type presenceWatcher struct {
	*presenceRun
	token  string
	home   int // the edge at which it begins
	random *rand.Rand

	mu    sync.Mutex
	view  *harness.PresenceView
	on    bool // it is connected, and OK:WHO has come
	place int
}

func (w *presenceWatcher) Run() {
	at := w.home
	for {
		if s := w.Dial(at, w.token, w.random); s != nil {
			w.follow(at, s)
		}
		w.mu.Lock()
		w.on = false
		w.mu.Unlock()
		if !history.PauseRandomly(w.random, 100, w.stop) {
			return
		}
		at = w.random.IntN(len(w.running))
	}
}

// follow watches by one connection, for a while or until it ends.
func (w *presenceWatcher) follow(at int, s *harness.Socket) {
	ended, stopped := make(chan struct{}), make(chan struct{})
	stay := time.Duration(5+w.random.IntN(40)) * time.Second
	go func() { // ends with the call
		defer close(stopped)
		select {
		case <-time.After(stay): // it moves
		case <-w.stop:
		case <-ended:
		}
		_ = s.Cut()
	}()
	defer func() { close(ended); <-stopped }()
	who := "WHO:" + harness.PresenceTenant + ":" + w.view.Pattern
	if w.view.Count {
		who += ":count"
	}
	if s.Write(harness.AsText, []byte(who)) != nil {
		return
	}
	t := &harness.Watching{Socket: s, Tenant: harness.PresenceTenant, Views: map[string]*harness.PresenceView{w.view.Pattern: w.view}}
	slow := time.Duration(w.random.IntN(20)) * time.Millisecond
	for {
		kind, message, err := s.Read()
		if err != nil {
			return
		}
		w.mu.Lock()
		if kind == harness.AsFrame {
			w.frames.Add(1)
			if err := t.Take(message); err != nil {
				w.presenceRun.T.Errorf("a watcher at edge %d: %v", at, err)
			}
		} else if strings.HasPrefix(string(message), "OK:WHO:") {
			w.on, w.place = true, at
		}
		w.mu.Unlock()
		time.Sleep(slow) // it reads slowly: there is nothing to wait for
	}
}

// wrong says in what the watcher is wrong, or nothing.
func (w *presenceWatcher) wrong(want map[string]string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.view
	if !w.on || v.Next != nil || !v.Synced {
		return fmt.Sprintf("the watcher of %s is connected: %v, synced: %v", v.Pattern, w.on, v.Synced && v.Next == nil)
	}
	all, counts := map[string]string{}, map[string]uint32{}
	for key, info := range want {
		channel, _, _ := strings.Cut(key, " ")
		matches := channel == v.Pattern || v.Pattern == "room.#" || v.Pattern == "room.*" && strings.Count(channel, ".") == 1 ||
			v.Pattern == "room.3.#" && strings.HasPrefix(channel, "room.3")
		if matches {
			all[key] = info
			counts[channel]++
		}
	}
	if v.Count {
		if !maps.Equal(v.Counts, counts) {
			return fmt.Sprintf("the watcher of counts of %s at edge %d has %v, want %v", v.Pattern, w.place, v.Counts, counts)
		}
		return ""
	}
	if maps.Equal(v.Members, all) {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "the watcher of %s at edge %d:", v.Pattern, w.place)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if v.Members[key] != all[key] {
			fmt.Fprintf(&text, " has %q for %s;", v.Members[key], key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(v.Members)) {
		if _, is := all[key]; !is {
			fmt.Fprintf(&text, " has %s, who is gone;", key)
		}
	}
	return text.String()
}
