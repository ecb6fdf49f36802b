package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
)

// What the tests of this package share: clients of the Go SDK in a process of their own,
// traffic of which every message must come, and measures of the edge's CPU time and of latency.

// together is how many clients connect at a time, with one token.
const together = 50

// patience bounds a wait for something that a load may take long to do.
const patience = 5 * time.Minute

// crowd is clients in a process of their own. They listen to a channel.
type crowd struct {
	Edges     []string // URLs; a client takes the edge that answers first
	Leaves    string   // the edge that N clients must be at, as it dies or freezes; empty: any
	Dies      bool     // that edge dies
	Roots     []byte   // of the edges' certificates
	Tokens    []string
	N         int
	KeepAlive time.Duration
	After     string // the position in a history after which each client begins; empty: no history
	Missed    int    // messages that each gets from there, "1", "2" and so on

	t       *testing.T
	tls     *tls.Config
	mu      sync.Mutex
	clients []*client.Client
	events  map[string]int // by name
	away    int            // clients that had connected to Leaves
	lost    time.Time      // when the first one lost it
	back    latencies
	heard   latencies // from the start until a client had what it had missed
	got     atomic.Int64
}

const (
	crowdTenant  = "paint.room"
	crowdChannel = "chat.crowd"
)

// process is clients in a process of their own, until End.
type process interface {
	Await(word string, within time.Duration)
	Has(word string) bool
	End(lines string)
}

// Start starts the clients of these edges, and returns when they are connected.
func (c *crowd) Start(t *testing.T, edges ...*harness.Edge) process {
	t.Helper()
	for _, e := range edges {
		root, err := os.ReadFile(e.RootFile())
		e.Must(err)
		c.Roots = append(c.Roots, root...)
		c.Edges = append(c.Edges, e.HttpsURL(""))
	}
	for range c.most()/together + 1 {
		grant := harness.AllowAll("room")
		grant["allow_channels_history"] = []string{"#"}
		c.Tokens = append(c.Tokens, edges[0].Issue(grant).Token)
	}
	p := harness.StartSubprocess(t, "TestCrowdProcess", c)
	p.Await("connected", patience)
	return p
}

// most is how many clients there may be until N are at the edge that they leave.
func (c *crowd) most() int {
	if c.Leaves == "" {
		return c.N
	}
	return 3*c.N + together
}

// TestCrowdProcess is the process of a crowd. It says what has happened to the clients.
func TestCrowdProcess(t *testing.T) {
	t.Parallel()
	c := &crowd{t: t, events: map[string]int{}}
	if !harness.IsSubprocess(t, c) {
		return
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(c.Roots)
	c.tls = &tls.Config{RootCAs: pool}
	defer func() {
		for _, one := range c.clients {
			_ = one.Close()
		}
	}()
	begin := time.Now()
	for i := 0; c.fewer(i); i += together {
		var opening sync.WaitGroup
		for range min(together, c.most()-i) {
			opening.Go(func() { c.Connect(c.Tokens[i/together], begin) })
		}
		opening.Wait()
		if t.Failed() {
			t.FailNow()
		}
	}
	fmt.Println("connected")
	c.await("all have what they missed", func() bool { return c.Missed == 0 || c.heard.Count() == c.N })
	if c.Leaves != "" {
		c.await("all know how often messages come", func() bool { return c.got.Load() > int64(20*len(c.clients)) })
		c.await("all are back", func() bool { return c.back.Count() >= c.away })
	}
	harness.AwaitParent()
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Printf("crowd: %d clients, events %v; back after %v; had what they missed after %v\n", len(c.clients), c.events, &c.back, &c.heard)
	if !c.Dies && c.events["Disconnected"] > 0 || c.events["Closed"] > 0 {
		t.Errorf("clients were disconnected: %v", c.events)
	}
}

// fewer reports whether there must be more than these clients.
func (c *crowd) fewer(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Leaves == "" {
		return n < c.N
	}
	if n >= c.most() && c.away < c.N {
		c.t.Fatalf("of %d clients, %d are at %s", n, c.away, c.Leaves)
	}
	return c.away < c.N
}

// await says when something is so, unless the parent ends the process before.
func (c *crowd) await(what string, is func() bool) {
	go func() { // ends with the process
		for ; ; time.Sleep(10 * time.Millisecond) { // of thousands of clients; no single event ends it
			c.mu.Lock()
			so := is()
			c.mu.Unlock()
			if so {
				fmt.Println(what)
				return
			}
		}
	}()
}

func (c *crowd) Connect(token string, begin time.Time) {
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	one, err := client.Connect(ctx, c.Edges, client.Options{ // the process has many clients, and little time for each
		Token: token, Transports: []client.Transport{client.WebSocket}, TLS: c.tls, KeepAlive: c.KeepAlive,
		PongTimeout: time.Minute, ConnectTimeout: time.Minute, OnEvent: c.Event,
	})
	var opts []client.SubscribeOption
	if c.After != "" {
		opts = append(opts, client.WithHistory(client.After(c.After)))
	}
	next := 1
	if err == nil {
		_, err = one.SubscribeFunc(ctx, crowdTenant, crowdChannel, func(m client.Message) {
			c.got.Add(1)
			if c.Missed == 0 || next > c.Missed {
				return
			}
			if string(m.Payload) != strconv.Itoa(next) {
				c.t.Errorf("got message %s in place of %d", m.Payload, next)
			}
			if next++; next > c.Missed {
				c.heard.Add(time.Since(begin))
			}
		}, opts...)
	}
	if err != nil {
		c.t.Error(err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clients = append(c.clients, one)
}

func (c *crowd) Event(e client.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events[strings.TrimPrefix(fmt.Sprintf("%T", e), "client.")]++
	switch e := e.(type) {
	case client.Connected:
		if e.Edge == c.Leaves {
			c.away++
		}
	case client.Disconnected:
		if e.Edge != c.Leaves {
			c.t.Errorf("a client has lost %s, to which nothing happened: %v", e.Edge, e.Err)
		}
		if c.lost.IsZero() {
			c.lost = time.Now()
		}
	case client.Reconnected:
		c.back.Add(time.Since(c.lost))
	}
}

// traffic is publishers and subscribers of rooms. A subscriber requires every message.
type traffic struct {
	t                *testing.T
	quit             func()
	stop             chan struct{}
	parties          sync.WaitGroup
	got              atomic.Int64
	apart            atomic.Bool // what comes now is measured apart
	usual, meanwhile latencies
}

// startTraffic publishes at one edge, and subscribes at another one or the same, each of so
// many to each room. It returns when messages come.
func startTraffic(t *testing.T, from, to *harness.Edge, rooms, each int, every time.Duration) *traffic {
	t.Helper()
	l := &traffic{t: t, stop: make(chan struct{})}
	l.quit = sync.OnceFunc(func() { close(l.stop) })
	t.Cleanup(l.End)
	request := harness.TokenRequest(harness.AllowAll("room"))
	request["right"].(harness.Object)["expires_at"] = harness.In(12 * time.Hour) // after any soak
	token := from.IssueAs(from.Master, request).Token
	for i := range rooms * each {
		s := enter(to, harness.Handshake{Token: token, URL: fmt.Sprintf("ws://localhost:%d/ws", to.HTTP)}, i%each > 0 && i%each == each-1)
		s.Subscribe(crowdTenant, fmt.Sprintf("room.%d", i/each))
		l.parties.Go(func() { l.follow(s.Link) })
	}
	for i := range rooms {
		p := from.Dial(token)
		l.parties.Go(func() { l.publish(p.Link, fmt.Sprintf("room.%d", i), every) })
		go func() { // ends with the connection: who reads nothing answers no ping
			for err := error(nil); err == nil; {
				_, _, err = p.Ws().ReadMessage()
			}
		}()
	}
	l.AwaitMore(3 * rooms * each)
	return l
}

// AwaitMore returns when n more messages have come.
func (l *traffic) AwaitMore(n int) {
	l.t.Helper()
	before := l.got.Load()
	await(l.t, fmt.Sprintf("%d more messages", n), func() bool { return l.got.Load() >= before+int64(n) })
}

// End requires all messages until now.
func (l *traffic) End() {
	l.quit()
	l.parties.Wait()
}

func (l *traffic) publish(to harness.Link, room string, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n, last := 0, false; !last; n++ {
		select {
		case <-l.stop:
			last = true
		case <-tick.C:
		}
		text := fmt.Sprintf("%d %d %v", n, time.Now().UnixNano(), last)
		if err := to.Write(harness.AsFrame, harness.RawPublish(crowdTenant, room, text)); err != nil {
			l.t.Errorf("%s: message %d: %v", room, n, err)
			return
		}
	}
}

func (l *traffic) follow(from harness.Link) {
	for want, last := -1, false; !last; {
		_, frame, err := from.Read()
		if err != nil {
			l.t.Errorf("in place of message %d: %v", want, err)
			return
		}
		n, at := 0, int64(0)
		if _, err := fmt.Sscan(string(harness.PayloadOf(frame)), &n, &at, &last); err != nil || want >= 0 && n != want {
			l.t.Errorf("got message %q in place of %d", frame, want)
			return
		}
		want = n + 1
		l.got.Add(1)
		if took := time.Since(time.Unix(0, at)); l.apart.Load() {
			l.meanwhile.Add(took)
		} else {
			l.usual.Add(took)
		}
	}
}

// latencies are times that something took.
type latencies struct {
	mu   sync.Mutex
	list []time.Duration
}

func (l *latencies) Add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, d)
}

func (l *latencies) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)
}

func (l *latencies) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.list)
	if n == 0 {
		return "never"
	}
	slices.Sort(l.list)
	return fmt.Sprintf("p50 %v, p99 %v, longest %v (%d)", l.list[n/2], l.list[n*99/100], l.list[n-1], n)
}

// await polls for what sends no event.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%v in vain for %s", patience, what)
		}
	}
}

// cpuTime is what the edge has used of the processors.
func cpuTime(e *harness.Edge) time.Duration {
	e.T.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", e.Cmd.Process.Pid))
	e.Must(err)
	_, rest, _ := strings.Cut(string(stat), ") ")
	total := 0
	for _, field := range strings.Fields(rest)[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.Atoi(field)
		e.Must(err)
		total += n
	}
	return time.Duration(total) * 10 * time.Millisecond
}

// measure logs what the edge spends while do runs.
func measure(e *harness.Edge, what string, do func()) {
	e.T.Helper()
	cpu, begin := cpuTime(e), time.Now()
	do()
	used, took := cpuTime(e)-cpu, time.Since(begin)
	e.T.Logf("%s: %v, CPU of the edge %v, %.3f cores; resident %d MiB", what, took.Round(time.Millisecond), used, used.Seconds()/took.Seconds(), e.ResidentMiB())
}
