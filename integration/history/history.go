package history

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/historycheck"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// Caddyfile is an edge with the history chat; options are of that block.
func Caddyfile(store string, options ...string) string {
	return strings.Replace(harness.DefaultCaddyfile, "drain 7s", `drain 7s
		history chat {
			channels chat.#
			`+strings.Join(options, "\n\t\t\t")+`
		}
		history_store `+store, 1)
}

// AllowHistory allows everything, the past included, in each of the tenants.
func AllowHistory(tenants ...string) harness.Object {
	g := harness.AllowAll(tenants...)
	g["allow_channels_history"] = []string{"#"}
	return g
}

// Run is a random run of publishers and subscribers, over both transports, that
// internal/historycheck watches.
type Run struct {
	t       *testing.T
	seed    uint64
	token   string
	Edges   []atomic.Pointer[harness.Edge] // that run now; who connects takes any
	Check   *historycheck.Checker
	publish chan struct{} // closed: publishers stop
	resume  chan struct{} // closed: subscribers resume once more, and stop

	publishers, subscribers sync.WaitGroup

	clients int                      // subscribers that are clients of SDKs
	ends    map[string]wire.Position // of each tenant, the last message, for which they wait; set before resume is closed
}

// NewHistoryRun makes a run on edges that share their tokens.
func NewHistoryRun(t *testing.T, seed uint64, edges ...*harness.Edge) *Run {
	r := &Run{
		t: t, seed: seed, token: edges[0].Issue(AllowHistory("paint.a", "paint.b")).Token, Check: historycheck.New(),
		Edges: make([]atomic.Pointer[harness.Edge], len(edges)), publish: make(chan struct{}), resume: make(chan struct{}),
	}
	r.Check.Shared = len(edges) > 1
	for i, e := range edges {
		r.Edges[i].Store(e)
	}
	return r
}

// Random is the random source of one of the run's parts.
func (r *Run) Random(part int) *rand.Rand { return rand.New(rand.NewPCG(r.seed, uint64(part))) }

// Dial connects over a transport; nil: the edge is away.
func (r *Run) Dial(random *rand.Rand) *harness.Socket {
	e := r.Edges[random.IntN(len(r.Edges))].Load()
	open := e.TryOpen
	if random.IntN(2) == 0 {
		open = e.TryWebTransport
	}
	s, _, err := open(harness.Handshake{Token: r.token})
	if err != nil || s == nil {
		return nil
	}
	return s
}

// Start starts everybody.
func (r *Run) Start(publishers, subscribers int) {
	for i := range publishers {
		r.publishers.Go(func() { r.runPublisher(i, r.Random(100+i)) })
	}
	for i := range subscribers {
		r.subscribers.Go(func() { r.runSubscriber(i, r.Random(200+i)) })
	}
}

// Finish waits for the end, and reports what is wrong.
func (r *Run) Finish() historycheck.Summary {
	r.t.Helper()
	close(r.publish)
	r.publishers.Wait()
	if r.clients > 0 {
		r.publishEnds()
	}
	close(r.resume)
	r.subscribers.Wait()
	sum := r.Check.Finish()
	for _, fault := range sum.Faults {
		r.t.Error(fault)
	}
	r.t.Logf("%d confirmed, %d received, %d resumed, %d complete, %d gaps, %d had by clients of SDKs",
		sum.Confirmed, sum.Received, sum.Resumed, sum.Complete, sum.Gaps, sum.Had)
	if sum.Confirmed < 100 || sum.Received < 100 || sum.Complete == 0 {
		r.t.Error("the run checked too little")
	}
	return sum
}

// PauseRandomly waits for up to n ms, or until stop is closed, and then reports false.
func PauseRandomly(random *rand.Rand, n int, stop <-chan struct{}) bool {
	select {
	case <-stop:
		return false
	case <-time.After(time.Duration(random.IntN(n)) * time.Millisecond):
		return true
	}
}

// keyed is a publish that is repeated until it is confirmed.
type keyed struct{ tenant, channel, payload, key string }

func (r *Run) runPublisher(self int, random *rand.Rand) {
	var repeat []keyed
	for connection := 0; ; connection++ {
		s := r.Dial(random)
		if s == nil {
			if !PauseRandomly(random, 100, r.publish) {
				return
			}
			continue
		}
		var again bool
		repeat, again = r.publishOn(s.Link, random, fmt.Sprintf("%d.%d", self, connection), repeat)
		_ = s.Leave()
		if !again && len(repeat) == 0 {
			return
		}
	}
}

// publishOn publishes on one connection, and returns the publishes with keys that were not
// confirmed; again: the run goes on.
func (r *Run) publishOn(l harness.Link, random *rand.Rand, name string, repeat []keyed) (left []keyed, again bool) {
	var mu sync.Mutex
	open := map[uint32]keyed{}
	answered := make(chan struct{}, 1)
	ended := make(chan struct{})
	go func() { // ends with the connection
		defer close(ended)
		for {
			kind, message, err := l.Read()
			if err != nil {
				return
			}
			if kind != harness.AsText {
				r.t.Errorf("a publisher got a frame")
				return
			}
			line, err := wire.ParseServerLine(message)
			if err != nil {
				r.t.Error(err)
				return
			}
			mu.Lock()
			switch line.Kind {
			case wire.KindOKPub:
				m := open[line.ID]
				delete(open, line.ID)
				r.Check.Confirmed(m.tenant, m.channel, m.payload, line.Position)
			case wire.KindErr:
				id, _ := line.RefusedID()
				if m := open[id]; line.Code == wire.CodeUnconfirmed && m.key != "" {
					left = append(left, m)
				}
				delete(open, id) // others are not stored, or nobody is told that they are
			}
			mu.Unlock()
			select {
			case answered <- struct{}{}:
			default:
			}
		}
	}()
	id := uint32(0)
	send := func(m keyed) bool {
		id++
		mu.Lock()
		open[id] = m
		mu.Unlock()
		return l.Write(harness.AsFrame, wire.AppendPublish(nil, wire.Publish{
			Confirm: true, ID: id, Key: []byte(m.key), Tenant: []byte(m.tenant), Channel: []byte(m.channel), Payload: []byte(m.payload),
		})) == nil
	}
	for _, m := range repeat {
		send(m)
	}
	alive, running := true, true
	for i := 0; alive && running; i++ {
		m := keyed{
			tenant: []string{"paint.a", "paint.b"}[random.IntN(2)], channel: fmt.Sprintf("chat.%d", random.IntN(5)),
			payload: fmt.Sprintf("%s.%d %s", name, i, strings.Repeat("x", random.IntN(300))),
		}
		if random.IntN(3) == 0 { // both tenants have the same keys
			m.key = fmt.Sprintf("%s.%d", name, i/2)
			m.payload = m.key
		}
		alive = send(m)
		if m.key != "" {
			switch random.IntN(4) {
			case 0:
				alive = send(m) // a repeat, though the first one was not lost
			case 1:
				m.tenant = map[string]string{"paint.a": "paint.b", "paint.b": "paint.a"}[m.tenant]
				alive = send(m) // the same key, and none of that tenant
			}
		}
		switch n := random.IntN(1000); {
		case n < 3:
			_ = l.Cut()
		case n < 50:
			running = PauseRandomly(random, 20, r.publish)
		}
	}
	if alive && !running { // until all are answered
		for deadline := time.After(harness.WaitTimeout); alive; {
			mu.Lock()
			n := len(open)
			mu.Unlock()
			if n == 0 {
				break
			}
			select {
			case <-answered:
			case <-ended:
				alive = false
			case <-deadline:
				r.t.Errorf("%d publishes have no answer", n)
				alive = false
			}
		}
	}
	_ = l.Cut()
	<-ended
	for _, m := range open {
		if m.key != "" {
			left = append(left, m)
		}
	}
	return left, running
}

// runSubscriber subscribes, reads for a while, quickly or slowly, leaves, sleeps and
// resumes, until it has all in the end.
func (r *Run) runSubscriber(self int, random *rand.Rand) {
	text := []string{"chat.#", "chat.*", "chat.1"}[random.IntN(3)]
	p, err := pattern.Parse(text)
	if err != nil {
		r.t.Error(err)
		return
	}
	tenant := []string{"paint.a", "paint.b"}[random.IntN(2)]
	sub := r.Check.Subscriber(fmt.Sprintf("%d %s %s", self, tenant, text), tenant, p)
	for last := false; ; {
		if !last && !PauseRandomly(random, 500, r.resume) {
			last = true
		}
		s := r.Dial(random)
		if s == nil {
			continue
		}
		done := r.follow(s.Link, sub, random, wire.AppendRsub(nil, tenant, text, sub.Begin()), last)
		_ = s.Leave()
		_ = s.Cut()
		if done && last {
			return
		}
	}
}

var errSubscriber = errors.New("not what a subscriber should get")

// follow reads one connection. It reports whether the subscription has caught up.
func (r *Run) follow(l harness.Link, sub *historycheck.Subscriber, random *rand.Rand, rsub []byte, last bool) (caughtUp bool) {
	if l.Write(harness.AsText, rsub) != nil {
		return false
	}
	var slow time.Duration
	if !last && random.IntN(2) == 0 {
		slow = time.Duration(random.IntN(3000)) * time.Microsecond
	}
	if !last { // even if nothing comes
		stay := 1500
		if random.IntN(3) == 0 { // longer than a fault of its edge lasts
			stay = 10_000
		}
		stay = random.IntN(stay)
		ended, stopped := make(chan struct{}), make(chan struct{})
		go func() { // ends with the call
			defer close(stopped)
			select {
			case <-time.After(time.Duration(stay) * time.Millisecond):
			case <-r.resume:
			case <-ended:
			}
			_ = l.Cut()
		}()
		defer func() { close(ended); <-stopped }()
	}
	for {
		kind, message, err := l.Read()
		if err != nil {
			return false
		}
		if kind == harness.AsFrame {
			d, err := wire.DecodeDeliver(message)
			if err != nil {
				r.t.Error(err)
				return false
			}
			sub.Message(d)
			time.Sleep(slow) // a client that reads slowly: there is nothing to wait for
			continue
		}
		line, err := wire.ParseServerLine(message)
		switch {
		case err != nil:
			r.t.Error(err)
			return false
		case line.Kind == wire.KindErr && line.Code == wire.CodeEgressLimited, line.Kind == wire.KindReconnect:
		case line.Kind == wire.KindErr && line.Code == wire.CodeHistoryUnavailable && len(r.Edges) > 1: // OK:RSUB comes when their store is back
		case line.Kind != wire.KindOKRsub && line.Kind != wire.KindGap && line.Kind != wire.KindAt:
			r.t.Errorf("%v: %q", errSubscriber, message)
			return false
		default:
			sub.Line(line)
			if line.Kind == wire.KindOKRsub && last {
				return true
			}
		}
	}
}
