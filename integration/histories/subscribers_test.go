package histories

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/internal/historycheck"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// draw draws what to subscribe to.
func (r *traffic) draw(random *rand.Rand) (tenant, text string, p pattern.Pattern) {
	text = []string{"chat.#", "chat.*", "chat.1"}[random.IntN(3)]
	p, err := pattern.Parse(text)
	if err != nil {
		r.T.Error(err)
	}
	return tenants[random.IntN(2)], text, p
}

// comeAndGo lets clients of a subscription come and go until the run ends, and then one more get
// all. visit is one of them, which stays until a time, or, the last one, until it has all. It
// reports whether it was subscribed, and the last one whether it has all.
func (r *traffic) comeAndGo(random *rand.Rand, visit func(stay context.Context, slow time.Duration, last bool) bool) {
	for done := false; !done; {
		last := !history.PauseRandomly(random, 500, r.subscribing.Done())
		stay, slow, cancel := context.Background(), time.Duration(0), func() {}
		if !last { // it leaves even if nothing comes; sometimes it stays longer than a fault of its edge lasts
			limit := []int{1500, 1500, 10_000}[random.IntN(3)]
			stay, cancel = context.WithTimeout(r.subscribing, time.Duration(random.IntN(limit))*time.Millisecond)
			slow = time.Duration(max(0, random.IntN(6000)-3000)) * time.Microsecond
		}
		done = visit(stay, slow, last) && last
		cancel()
	}
}

// subscribe subscribes by the protocol itself, reads for a while, quickly or slowly, leaves and
// resumes.
func (r *traffic) subscribe(self int, random *rand.Rand) {
	tenant, text, p := r.draw(random)
	sub := r.check.Subscriber(fmt.Sprintf("%d %s %s", self, tenant, text), tenant, p)
	r.comeAndGo(random, func(stay context.Context, slow time.Duration, last bool) bool {
		e := r.alive[random.IntN(len(r.alive))].Load()
		open := e.TryOpen
		if random.IntN(2) == 0 {
			open = e.TryWebTransport
		}
		s, _, err := open(harness.Handshake{Token: r.Token})
		if err != nil || s == nil {
			return false // the edge is away
		}
		defer func() { _, _ = s.Leave(), s.Cut() }()
		defer context.AfterFunc(stay, func() { _ = s.Cut() })()
		go func() { // ends with the edge
			<-e.Exited
			_ = s.Cut() // over QUIC it would notice only after the idle timeout
		}()
		return s.Write(harness.AsText, wire.AppendRsub(nil, tenant, text, sub.Begin())) == nil && r.follow(s, sub, slow, last)
	})
}

// follow reads one connection. It reports whether the subscription has caught up.
func (r *traffic) follow(s *harness.Socket, sub *historycheck.Subscriber, slow time.Duration, last bool) bool {
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
		case err == nil && line.Kind == wire.KindErr && line.Code == wire.CodeHistoryUnavailable && r.check.Shared: // OK:RSUB comes when their store is back
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

// subscribeBySDK subscribes by clients of the SDK for Go, one after the other. Queues get full, so
// that clients leave messages at the edge.
func (r *traffic) subscribeBySDK(self int, random *rand.Rand) {
	tenant, text, p := r.draw(random)
	sub := r.check.Client(fmt.Sprintf("SDK %d %s %s", self, tenant, text), tenant, p)
	var at wire.Position // of the last message; zero: none has come
	position := func(text string) wire.Position {
		at, err := wire.ParsePosition(text)
		if err != nil {
			r.T.Errorf("a client of the SDK got the position %q: %v", text, err)
		}
		return at
	}
	r.comeAndGo(random, func(stay context.Context, slow time.Duration, last bool) bool {
		var gaps []string
		closed := make(chan struct{})
		c := r.connect(random, func(e client.Event) {
			switch e := e.(type) {
			case client.Gap:
				gaps = append(gaps, e.Before)
			case client.Closed:
				close(closed)
			}
		})
		if c == nil {
			return false
		}
		defer c.Close()
		from := client.Now
		if at.N > 0 {
			from = client.After(at.String())
		}
		within, cancel := context.WithTimeout(stay, harness.WaitTimeout)
		defer cancel()
		queue := []int{4, 100, 100_000}[random.IntN(3)]
		s, err := c.Subscribe(within, tenant, text, client.WithHistory(from), client.WithQueue(queue, ""))
		if err != nil {
			if !errors.Is(err, client.ErrDisconnected) && stay.Err() == nil { // neither is the edge away, nor did it leave
				r.T.Errorf("a client of the SDK subscribes from %v: %v", at, err)
			}
			return r.T.Failed()
		}
		if at.N > 0 {
			sub.Begin(at)
		}
		defer context.AfterFunc(within, func() { _ = c.Close() })()
		reached := func() bool { return last && at.Epoch == r.ends[tenant].Epoch && at.N >= r.ends[tenant].N }
		for !reached() {
			m, open := <-s.Messages()
			if !open {
				break
			}
			here := position(m.Position)
			if at.N == 0 {
				sub.Begin(wire.Position{Epoch: here.Epoch, N: here.N - 1, T: here.T})
			}
			at = here
			sub.Message(m.Tenant, m.Channel, string(m.Payload), at)
			time.Sleep(slow)
		}
		_ = c.Close()
		<-closed
		for _, before := range gaps {
			if at.N > 0 { // else it has not begun
				sub.Gap(position(before))
			}
		}
		if last && !reached() {
			r.T.Errorf("a client of the SDK is at %v, and does not reach the end, %v", at, r.ends[tenant])
		}
		sub.End(at)
		return true
	})
}
