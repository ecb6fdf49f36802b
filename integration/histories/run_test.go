package histories

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
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
	*harness.Overlay
	seed  uint64
	alive []atomic.Pointer[harness.Edge] // those of Edges that run now; who connects takes any
	check *historycheck.Checker

	publishing, subscribing context.Context // done: no more messages; each resumes once more
	publishers, subscribers sync.WaitGroup
	ends                    map[string]wire.Position // of each tenant, the last message; set before subscribing is done
}

var tenants = []string{"paint.a", "paint.b"}

// part is the random source of one of the run's parts.
func (r *run) part(number int) *rand.Rand { return rand.New(rand.NewPCG(r.seed, uint64(number))) }

// dial connects over a transport; nil: the edge is away.
func (r *run) dial(random *rand.Rand) *harness.Socket {
	e := r.alive[random.IntN(len(r.alive))].Load()
	open := e.TryOpen
	if random.IntN(2) == 0 {
		open = e.TryWebTransport
	}
	s, _, err := open(harness.Handshake{Token: r.Token})
	if err != nil || s == nil {
		return nil
	}
	go func() { // ends with the edge
		<-e.Exited
		_ = s.Cut() // over QUIC it would notice only after the idle timeout
	}()
	return s
}

// start starts everybody. finish ends the run, and reports what is wrong.
func (r *run) start() (finish func()) {
	var endPublishing, endSubscribing func()
	r.publishing, endPublishing = context.WithCancel(context.Background())
	r.subscribing, endSubscribing = context.WithCancel(context.Background())
	r.startClients()
	for i := range 4 {
		r.publishers.Go(func() { r.publish(i, r.part(100+i)) })
	}
	for i := range 8 {
		r.subscribers.Go(func() { r.subscribe(i, r.part(200+i)) })
	}
	return func() {
		r.T.Helper()
		endPublishing()
		r.publishers.Wait()
		r.publishEnds()
		endSubscribing()
		r.subscribers.Wait()
		sum := r.check.Finish()
		for _, fault := range sum.Faults {
			r.T.Error(fault)
		}
		r.T.Logf("%d confirmed, %d received, %d resumed, %d complete, %d gaps, %d had by clients of SDKs",
			sum.Confirmed, sum.Received, sum.Resumed, sum.Complete, sum.Gaps, sum.Had)
		if sum.Confirmed < 100 || sum.Received < 100 || sum.Complete == 0 {
			r.T.Error("the run checked too little")
		}
	}
}

// publishEnds publishes a last message to each tenant, for which clients wait.
func (r *run) publishEnds() {
	r.T.Helper()
	r.ends = map[string]wire.Position{}
	random := r.part(2)
	for _, tenant := range tenants {
		payload := "the end of " + tenant
		r.Edges[0].Poll("the last message to be stored", func() bool {
			s := r.dial(random)
			if s == nil {
				return false
			}
			defer func() { _ = s.Cut() }()
			payload += "."                                                                // what had no answer may be stored
			_ = s.Write(harness.AsFrame, history.Confirmed(1, tenant, "chat.1", payload)) // if it fails, so does what reads the answer
			_, text, err := s.Read()
			line, broken := wire.ParseServerLine(text)
			if err != nil || broken != nil || line.Kind != wire.KindOKPub || !line.Stored {
				return false
			}
			r.check.Confirmed(tenant, "chat.1", payload, line.Position)
			r.ends[tenant] = line.Position
			return true
		})
	}
}

// message is one to publish; with a key it is published until it is confirmed.
type message struct{ tenant, channel, payload, key string }

func (r *run) publish(self int, random *rand.Rand) {
	var repeat []message
	for connection := 0; ; connection++ {
		running := history.PauseRandomly(random, 100, r.publishing.Done())
		s := r.dial(random)
		if s != nil {
			repeat = r.publishOn(s, random, fmt.Sprintf("%d.%d", self, connection), repeat)
		}
		if !running && (s == nil || len(repeat) == 0) {
			return
		}
	}
}

// publishOn publishes on one connection, many messages at a time, and returns those with keys
// that were not confirmed.
func (r *run) publishOn(s *harness.Socket, random *rand.Rand, name string, repeat []message) []message {
	defer func() { _ = s.Cut() }()
	for i, alive, running := 0, true, true; alive && running; i++ {
		batch := append(repeat, drawMessages(random, fmt.Sprintf("%s.%d", name, i))...)
		for id, m := range batch {
			alive = alive && s.Write(harness.AsFrame, wire.AppendPublish(nil, wire.Publish{
				Confirm: true, ID: uint32(id), Key: []byte(m.key),
				Tenant: []byte(m.tenant), Channel: []byte(m.channel), Payload: []byte(m.payload),
			})) == nil
		}
		if random.IntN(100) == 0 {
			_ = s.Cut()
		}
		again := map[int]bool{}
		for id, m := range batch {
			again[id] = m.key != ""
		}
		for range batch {
			kind, text, err := s.Read()
			if alive = err == nil; !alive {
				if errors.Is(err, os.ErrDeadlineExceeded) {
					r.T.Errorf("a publish has no answer: %v", err)
				}
				break
			}
			line, err := wire.ParseServerLine(text)
			if kind != harness.AsText || err != nil {
				r.T.Errorf("a publisher got %q (%v)", text, err)
			}
			switch id, refused := line.RefusedID(); {
			case line.Kind == wire.KindOKPub:
				m := batch[line.ID]
				r.check.Confirmed(m.tenant, m.channel, m.payload, line.Position)
				again[int(line.ID)] = false
			case refused && line.Code != wire.CodeUnconfirmed:
				again[int(id)] = false // it is not stored, or nobody is told that it is
			}
		}
		repeat = nil
		for id, m := range batch {
			if again[id] {
				repeat = append(repeat, m)
			}
		}
		running = history.PauseRandomly(random, 20, r.publishing.Done())
	}
	return repeat
}

// drawMessages draws a batch. Both tenants have the same keys.
func drawMessages(random *rand.Rand, name string) (batch []message) {
	for i := range random.IntN(50) {
		m := message{
			tenant: tenants[random.IntN(2)], channel: fmt.Sprintf("chat.%d", random.IntN(5)),
			payload: fmt.Sprintf("%s.%d %s", name, i, strings.Repeat("x", random.IntN(300))),
		}
		if random.IntN(3) == 0 {
			m.key = fmt.Sprintf("%s.%d", name, i/2)
			m.payload = m.key
			switch random.IntN(4) {
			case 0:
				batch = append(batch, m) // a repeat, though the first one was not lost
			case 1:
				batch = append(batch, message{tenants[random.IntN(2)], m.channel, m.payload, m.key})
			}
		}
		batch = append(batch, m)
	}
	return batch
}

// draw draws what to subscribe to.
func (r *run) draw(random *rand.Rand) (tenant, text string, p pattern.Pattern) {
	text = []string{"chat.#", "chat.*", "chat.1"}[random.IntN(3)]
	p, err := pattern.Parse(text)
	if err != nil {
		r.T.Error(err)
	}
	return tenants[random.IntN(2)], text, p
}

// stay is how long a subscriber stays: sometimes longer than a fault of its edge lasts.
func stay(random *rand.Rand) int {
	if random.IntN(3) == 0 {
		return 10_000
	}
	return 1500
}

// subscribe subscribes, reads for a while, quickly or slowly, leaves, sleeps and resumes, until
// it has all in the end.
func (r *run) subscribe(self int, random *rand.Rand) {
	tenant, text, p := r.draw(random)
	sub := r.check.Subscriber(fmt.Sprintf("%d %s %s", self, tenant, text), tenant, p)
	for done := false; !done; {
		last := !history.PauseRandomly(random, 500, r.subscribing.Done())
		if s := r.dial(random); s != nil {
			done = s.Write(harness.AsText, wire.AppendRsub(nil, tenant, text, sub.Begin())) == nil && r.follow(s, sub, random, last) && last
			_ = s.Leave()
			_ = s.Cut()
		}
	}
}

// follow reads one connection. It reports whether the subscription has caught up.
func (r *run) follow(s *harness.Socket, sub *historycheck.Subscriber, random *rand.Rand, last bool) bool {
	var slow time.Duration
	if !last { // it leaves even if nothing comes
		slow = time.Duration(max(0, random.IntN(6000)-3000)) * time.Microsecond
		until, cancel := context.WithTimeout(r.subscribing, time.Duration(random.IntN(stay(random)))*time.Millisecond)
		defer cancel()
		defer context.AfterFunc(until, func() { _ = s.Cut() })()
	}
	for {
		kind, message, err := s.Read()
		if err != nil {
			return false
		}
		if kind == harness.AsFrame {
			d, err := wire.DecodeDeliver(message)
			if err != nil {
				r.T.Error(err)
				return false
			}
			sub.Message(d)
			time.Sleep(slow) // a client that reads slowly: there is nothing to wait for
			continue
		}
		line, err := wire.ParseServerLine(message)
		switch {
		case err == nil && line.Kind == wire.KindErr && line.Code == wire.CodeEgressLimited, err == nil && line.Kind == wire.KindReconnect:
		case err == nil && line.Kind == wire.KindErr && line.Code == wire.CodeHistoryUnavailable && len(r.alive) > 1: // OK:RSUB comes when their store is back
		case err != nil || line.Kind != wire.KindOKRsub && line.Kind != wire.KindGap && line.Kind != wire.KindAt:
			r.T.Errorf("a subscriber got %q (%v)", message, err)
			return false
		default:
			if sub.Line(line); line.Kind == wire.KindOKRsub && last {
				return true
			}
		}
	}
}
