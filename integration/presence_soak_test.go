package integration

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

	"github.com/millrace/millrace/internal/natstest"
)

// Random clients join, leave, move, vanish and come back at three edges, over both transports,
// while edges are killed, freeze, are cut off from NATS, and NATS itself is killed. After each
// round everybody who watches, at every edge, sees exactly those who are there.
func TestPresenceSoak(t *testing.T) {
	t.Parallel()
	r := startPresenceRun(t, seed(t))
	var took []time.Duration
	for round := range soakCount(t, 1, 100) {
		took = append(took, r.round(round))
		if t.Failed() {
			break
		}
	}
	r.finish()
	slices.Sort(took)
	t.Logf("%d rounds; all watchers were right after: median %v, p90 %v, longest %v; faults: %v; %d JOINs were answered, %d connections lost; %d frames",
		len(took), took[len(took)/2], took[len(took)*9/10], took[len(took)-1], r.faults, r.joins.Load(), r.lost.Load(), r.frames.Load())
}

// rightAfter is how long watchers may be wrong when all is well again: the linger, 2 s here,
// and how long an edge must be silent until it is taken for gone, 5 s to 6.1 s, go by in it.
var rightAfter = atLength(waitTimeout, 10*time.Second)

// presenceRun is edges, each with a link of its own to NATS, clients and watchers.
type presenceRun struct {
	*overlay
	links    []*natstest.Proxy
	running  []atomic.Pointer[edge] // by place
	file     string
	random   *rand.Rand
	clients  []*presenceClient
	watchers []*presenceWatcher
	faults   map[string]int

	stop    chan struct{} // closed: watchers end
	reading sync.WaitGroup

	joins, lost, frames atomic.Int64

	mu   sync.Mutex
	open map[*edge][]*socket // what was opened there
}

var presenceChannels = []string{"room.1", "room.2", "room.3.a", "room.4"}

func startPresenceRun(t *testing.T, seed uint64) *presenceRun {
	t.Helper()
	const edges = 3
	r := &presenceRun{
		overlay: &overlay{t: t, nodes: startNATS(t, 1)}, running: make([]atomic.Pointer[edge], edges),
		file: withPresence("linger 2s"), random: rand.New(rand.NewPCG(seed, 0)), faults: map[string]int{}, stop: make(chan struct{}),
		open: map[*edge][]*socket{},
	}
	var urls []string
	for range edges {
		link := r.nodes[0].StartProxy(t)
		r.links, urls = append(r.links, link), append(urls, link.URL())
	}
	r.startEdges(r.file, joiningBy(urls, 1, ""))
	for at, e := range r.edges {
		r.running[at].Store(e)
	}
	tokens := map[string]string{}
	for i := range 14 { // some are the same subject
		subject := fmt.Sprintf("u%d", i%9)
		if tokens[subject] == "" {
			tokens[subject] = r.edges[0].subjectToken(subject, subject, presenceTenant)
		}
		r.clients = append(r.clients, &presenceClient{
			presenceRun: r, subject: subject, token: tokens[subject], random: rand.New(rand.NewPCG(seed, 100+uint64(i))), joined: map[string]bool{},
		})
	}
	token := r.edges[0].subjectToken("", "", presenceTenant)
	for i, pattern := range []string{"room.#", "room.*", "room.1", "room.#", "room.#:count", "room.2:count", "room.3.a", "#"} {
		pattern, count := strings.CutSuffix(pattern, ":count")
		if pattern == "#" {
			pattern = "room.3.#"
		}
		w := &presenceWatcher{
			presenceRun: r, token: token, home: i % edges, random: rand.New(rand.NewPCG(seed, 200+uint64(i))), view: newPresenceView(pattern, count),
		}
		r.watchers = append(r.watchers, w)
		r.reading.Go(w.run)
	}
	return r
}

// round lets clients and faults go on for a while, and returns how long it took afterwards
// until all watchers were right.
func (r *presenceRun) round(n int) time.Duration {
	r.t.Helper()
	stop := make(chan struct{})
	var acting sync.WaitGroup
	for _, c := range r.clients {
		acting.Go(func() { c.act(stop) })
	}
	for range 1 + r.random.IntN(2) {
		pauseRandomly(r.random, 500, nil)
		r.play(n)
	}
	pauseRandomly(r.random, 1000, nil)
	close(stop)
	acting.Wait()
	begin := time.Now()
	want := map[string]string{}
	for _, c := range r.clients {
		for channel := range c.joined {
			want[channel+" "+c.subject] = fmt.Sprintf(`{"name":"%s"}`, c.subject)
		}
	}
	wrong := r.awaitAll(want, begin.Add(rightAfter))
	took := time.Since(begin)
	r.t.Logf("round %d: %d members, all watchers right after %v", n, len(want), took)
	for _, text := range wrong {
		r.t.Error(text)
	}
	if len(wrong) == 0 && n%4 == 0 { // and nothing is told any more: what lingers has an end, and beats change nothing
		told := r.told()
		time.Sleep(time.Duration(r.random.IntN(3000)) * time.Millisecond)
		if now := r.told(); !slices.Equal(now, told) {
			r.t.Errorf("all was right, and the watchers were told more: %v events, then %v", told, now)
		}
	}
	return took
}

// awaitAll returns when all watchers see these members, or what is wrong at the deadline.
func (r *presenceRun) awaitAll(want map[string]string, deadline time.Time) (wrong []string) {
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

// told returns how many events each watcher has been told.
func (r *presenceRun) told() (list []int) {
	for _, w := range r.watchers {
		w.mu.Lock()
		list = append(list, len(w.view.events))
		w.mu.Unlock()
	}
	return list
}

// play plays a fault, which is over when it returns.
func (r *presenceRun) play(round int) {
	r.t.Helper()
	at := r.random.IntN(len(r.edges))
	kinds := []string{"kill", "cut", "hold", "kill", "cut", "freeze", "node", "together"}
	fault := kinds[r.random.IntN(len(kinds))]
	r.faults[fault]++
	r.t.Logf("round %d, %s: %s %d", round, time.Now().UTC().Format(time.TimeOnly+".000"), fault, at)
	length := atLength(2500, 8000)
	switch fault {
	case "kill":
		r.restart(at)
	case "cut", "hold":
		if fault == "cut" {
			r.links[at].Cut()
		} else {
			r.links[at].Hold()
		}
		pauseRandomly(r.random, length, nil)
		r.links[at].Resume()
	case "freeze":
		r.edges[at].signal(syscall.SIGSTOP)
		pauseRandomly(r.random, length, nil)
		r.edges[at].signal(syscall.SIGCONT)
	case "node":
		r.nodes[0].Kill(r.t)
		pauseRandomly(r.random, length/2, nil)
		r.nodes[0].Restart(r.t)
		r.overlay.awaitAll(r.nodes[0])
	case "together": // an edge is away while another one restarts
		r.links[at].Hold()
		pauseRandomly(r.random, length/4, nil)
		r.restart((at + 1) % len(r.edges))
		pauseRandomly(r.random, length/4, nil)
		r.links[at].Resume()
	}
}

func (r *presenceRun) restart(at int) {
	r.t.Helper()
	r.killAndStart(at, r.file, func() {
		r.mu.Lock()
		gone := r.open[r.edges[at]]
		delete(r.open, r.edges[at])
		r.mu.Unlock()
		for _, s := range gone { // over WebTransport they would not know for long
			_ = s.cut()
		}
		pauseRandomly(r.random, 500, nil)
	})
	r.running[at].Store(r.edges[at])
}

func (r *presenceRun) finish() {
	r.t.Helper()
	close(r.stop)
	r.reading.Wait()
	for _, c := range r.clients {
		if c.socket != nil {
			_ = c.cut()
		}
	}
}

// dial connects over a transport to an edge; nil: it is away.
func (r *presenceRun) dial(at int, token string, random *rand.Rand) *socket {
	e := r.running[at].Load()
	open := e.tryOpen
	if random.IntN(2) == 0 {
		open = e.tryWebTransport
	}
	s, _, err := open(handshake{Token: token})
	if err != nil || s == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running[at].Load() != e || e.ended() {
		_ = s.cut()
		return nil
	}
	r.open[e] = append(r.open[e], s)
	return s
}

// ended reports whether the process has ended.
func (e *edge) ended() bool {
	select {
	case <-e.exited:
		return true
	default:
		return false
	}
}

// presenceClient is a client that joins and leaves.
type presenceClient struct {
	*presenceRun
	*socket // nil: it is not connected
	subject string
	token   string
	random  *rand.Rand
	joined  map[string]bool // channels in which it is, or wants to be
}

// act does this and that until stop is closed. Then it is where it says, connected.
func (c *presenceClient) act(stop <-chan struct{}) {
	for running := true; running; running = pauseRandomly(c.random, 150, stop) {
		if c.socket == nil {
			if c.random.IntN(3) == 0 { // it has forgotten everything
				clear(c.joined)
			}
			c.connect()
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
			_ = c.cut()
			c.socket = nil
		case n < 17:
			_ = c.socket.leave()
			_ = c.cut()
			c.socket = nil
		case n < 19: // it moves
			old := c.socket
			c.connect()
			_ = old.cut()
		}
	}
	if c.random.IntN(4) == 0 { // it is gone
		clear(c.joined)
		if c.socket != nil {
			_ = c.cut()
			c.socket = nil
		}
		return
	}
	for deadline := time.Now().Add(2 * waitTimeout); c.socket == nil || !c.alive(); c.connect() {
		if time.Now().After(deadline) {
			c.presenceRun.t.Errorf("%s finds no edge", c.subject)
			return
		}
		c.socket = nil
		pauseRandomly(c.random, 50, nil)
	}
}

// connect connects to some edge, and joins where the client wants to be.
func (c *presenceClient) connect() {
	c.socket = c.dial(c.random.IntN(len(c.running)), c.token, c.random)
	for channel := range c.joined {
		if c.socket != nil {
			c.say("JOIN", channel)
		}
	}
}

// say sends a line, and awaits its answer.
func (c *presenceClient) say(verb, channel string) {
	if c.write(asText, []byte(verb+":"+presenceTenant+":"+channel)) != nil || !c.await("OK:"+verb+":"+presenceTenant+":"+channel) {
		return
	}
	c.joins.Add(1)
}

// await reads until this line comes; if the connection is lost, there is none any more.
func (c *presenceClient) await(want string) bool {
	for {
		kind, message, err := c.read()
		if err != nil {
			c.lost.Add(1)
			_ = c.cut()
			c.socket = nil
			return false
		}
		switch line := string(message); {
		case kind == asText && line == want:
			return true
		case kind == asText && (strings.HasPrefix(line, "ERR:broker_unavailable") || strings.HasPrefix(line, "RECONNECT")):
		default:
			c.presenceRun.t.Errorf("%s got %q, want %q", c.subject, message, want)
			return false
		}
	}
}

func (c *presenceClient) alive() bool {
	return c.write(asText, []byte("PING")) == nil && c.await("PONG")
}

// presenceWatcher is a client that watches, wherever it is connected.
type presenceWatcher struct {
	*presenceRun
	token  string
	home   int // the edge at which it begins
	random *rand.Rand

	mu    sync.Mutex
	view  *presenceView
	on    bool // it is connected, and OK:WHO has come
	place int
}

func (w *presenceWatcher) run() {
	at := w.home
	for {
		if s := w.dial(at, w.token, w.random); s != nil {
			w.follow(at, s)
		}
		w.mu.Lock()
		w.on = false
		w.mu.Unlock()
		if !pauseRandomly(w.random, 100, w.stop) {
			return
		}
		at = w.random.IntN(len(w.running))
	}
}

// follow watches by one connection, for a while or until it ends.
func (w *presenceWatcher) follow(at int, s *socket) {
	ended, stopped := make(chan struct{}), make(chan struct{})
	stay := time.Duration(5+w.random.IntN(40)) * time.Second
	go func() { // ends with the call
		defer close(stopped)
		select {
		case <-time.After(stay): // it moves
		case <-w.stop:
		case <-ended:
		}
		_ = s.cut()
	}()
	defer func() { close(ended); <-stopped }()
	who := "WHO:" + presenceTenant + ":" + w.view.pattern
	if w.view.count {
		who += ":count"
	}
	if s.write(asText, []byte(who)) != nil {
		return
	}
	t := &watching{s, presenceTenant, map[string]*presenceView{w.view.pattern: w.view}}
	slow := time.Duration(w.random.IntN(20)) * time.Millisecond
	for {
		kind, message, err := s.read()
		if err != nil {
			return
		}
		w.mu.Lock()
		if kind == asFrame {
			w.frames.Add(1)
			if err := t.take(message); err != nil {
				w.presenceRun.t.Errorf("a watcher at edge %d: %v", at, err)
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
	if !w.on || v.next != nil || !v.synced {
		return fmt.Sprintf("the watcher of %s is connected: %v, synced: %v", v.pattern, w.on, v.synced && v.next == nil)
	}
	all, counts := map[string]string{}, map[string]uint32{}
	for key, info := range want {
		channel, _, _ := strings.Cut(key, " ")
		matches := channel == v.pattern || v.pattern == "room.#" || v.pattern == "room.*" && strings.Count(channel, ".") == 1 ||
			v.pattern == "room.3.#" && strings.HasPrefix(channel, "room.3")
		if matches {
			all[key] = info
			counts[channel]++
		}
	}
	if v.count {
		if !maps.Equal(v.counts, counts) {
			return fmt.Sprintf("the watcher of counts of %s at edge %d has %v, want %v", v.pattern, w.place, v.counts, counts)
		}
		return ""
	}
	if maps.Equal(v.members, all) {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "the watcher of %s at edge %d:", v.pattern, w.place)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if v.members[key] != all[key] {
			fmt.Fprintf(&text, " has %q for %s;", v.members[key], key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(v.members)) {
		if _, is := all[key]; !is {
			fmt.Fprintf(&text, " has %s, who is gone;", key)
		}
	}
	return text.String()
}
