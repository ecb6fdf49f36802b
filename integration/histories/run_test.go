package histories

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
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/internal/historycheck"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// run is a random run of publishers and subscribers, over both transports, that
// internal/historycheck watches.
type run struct {
	t       *testing.T
	seed    uint64
	token   string
	edges   []atomic.Pointer[harness.Edge] // that run now; who connects takes any
	check   *historycheck.Checker
	publish chan struct{} // closed: publishers stop
	resume  chan struct{} // closed: subscribers resume once more, and stop

	publishers, subscribers sync.WaitGroup

	clients int                      // subscribers that are clients of SDKs
	ends    map[string]wire.Position // of each tenant, the last message, for which they wait; set before resume is closed
}

// newRun makes a run on edges that share their tokens.
func newRun(t *testing.T, seed uint64, edges ...*harness.Edge) *run {
	r := &run{
		t: t, seed: seed, token: edges[0].Issue(history.AllowHistory("paint.a", "paint.b")).Token, check: historycheck.New(),
		edges: make([]atomic.Pointer[harness.Edge], len(edges)), publish: make(chan struct{}), resume: make(chan struct{}),
	}
	r.check.Shared = len(edges) > 1
	for i, e := range edges {
		r.edges[i].Store(e)
	}
	return r
}

// Random is the random source of one of the run's parts.
func (r *run) Random(part int) *rand.Rand { return rand.New(rand.NewPCG(r.seed, uint64(part))) }

// Dial connects over a transport; nil: the edge is away.
func (r *run) Dial(random *rand.Rand) *harness.Socket {
	e := r.edges[random.IntN(len(r.edges))].Load()
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
func (r *run) Start(publishers, subscribers int) {
	for i := range publishers {
		r.publishers.Go(func() { r.runPublisher(i, r.Random(100+i)) })
	}
	for i := range subscribers {
		r.subscribers.Go(func() { r.runSubscriber(i, r.Random(200+i)) })
	}
}

// Finish waits for the end, and reports what is wrong.
func (r *run) Finish() historycheck.Summary {
	r.t.Helper()
	close(r.publish)
	r.publishers.Wait()
	if r.clients > 0 {
		r.publishEnds()
	}
	close(r.resume)
	r.subscribers.Wait()
	sum := r.check.Finish()
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

// keyed is a publish that is repeated until it is confirmed.
type keyed struct{ tenant, channel, payload, key string }

func (r *run) runPublisher(self int, random *rand.Rand) {
	var repeat []keyed
	for connection := 0; ; connection++ {
		s := r.Dial(random)
		if s == nil {
			if !history.PauseRandomly(random, 100, r.publish) {
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
func (r *run) publishOn(l harness.Link, random *rand.Rand, name string, repeat []keyed) (left []keyed, again bool) {
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
				r.check.Confirmed(m.tenant, m.channel, m.payload, line.Position)
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
			running = history.PauseRandomly(random, 20, r.publish)
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
func (r *run) runSubscriber(self int, random *rand.Rand) {
	tenant, text, p := r.draw(random)
	sub := r.check.Subscriber(fmt.Sprintf("%d %s %s", self, tenant, text), tenant, p)
	for last := false; ; {
		if !last && !history.PauseRandomly(random, 500, r.resume) {
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

// draw draws what to subscribe to.
func (r *run) draw(random *rand.Rand) (tenant, text string, p pattern.Pattern) {
	text = []string{"chat.#", "chat.*", "chat.1"}[random.IntN(3)]
	p, err := pattern.Parse(text)
	if err != nil {
		r.t.Error(err)
	}
	return []string{"paint.a", "paint.b"}[random.IntN(2)], text, p
}

var errSubscriber = errors.New("not what a subscriber should get")

// follow reads one connection. It reports whether the subscription has caught up.
func (r *run) follow(l harness.Link, sub *historycheck.Subscriber, random *rand.Rand, rsub []byte, last bool) (caughtUp bool) {
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
		case line.Kind == wire.KindErr && line.Code == wire.CodeHistoryUnavailable && len(r.edges) > 1: // OK:RSUB comes when their store is back
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
