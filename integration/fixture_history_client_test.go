package integration

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/historycheck"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// historyKinds is the SDKs whose clients take part in random runs; browsers would cost too
// much.
func historyKinds() (kinds []sdkKind) {
	for _, k := range sdkKinds {
		if !k.inBrowser() && !sdkLacks("histories") {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// startClients starts a subscriber of each of these kinds, before everybody else.
func (r *historyRun) startClients(kinds []sdkKind) {
	r.t.Helper()
	lab := &sdkLab{}
	r.clients = len(kinds)
	var edges []*edge
	for at := range r.edges {
		edges = append(edges, r.edges[at].Load())
	}
	var clients []*historyClient
	for i, kind := range kinds {
		random := r.random(300 + i)
		f := &historyClient{
			r: r, s: lab.stage(r.t, kind, edges...), random: random,
			tenant: []string{"paint.a", "paint.b"}[random.IntN(2)], pattern: []string{"chat.#", "chat.*", "chat.1"}[random.IntN(3)],
		}
		p, err := pattern.Parse(f.pattern)
		if err != nil {
			r.t.Fatal(err)
		}
		f.sub = r.check.Client(fmt.Sprintf("%s %s %s", kind, f.tenant, f.pattern), f.tenant, p)
		f.s.host(kind)
		clients = append(clients, f)
	}
	for _, f := range clients { // when nothing can fail any more
		r.subscribers.Go(f.run)
	}
}

// historyClient is a subscription of clients of an SDK, one after the other.
type historyClient struct {
	r               *historyRun
	s               *sdkStage
	random          *rand.Rand
	tenant, pattern string
	sub             *historycheck.Client

	mu    sync.Mutex // for what reports change while a client lives
	begun bool
	at    wire.Position   // where the next client goes on
	early []wire.Position // gaps that were told before it was seen where the first client began
}

// run lets clients come and go until the run ends, and then one more get all.
func (f *historyClient) run() {
	for last := false; ; {
		if !last && !pauseRandomly(f.random, 500, f.r.resume) {
			last = true
		}
		if f.visit(last) && last {
			return
		}
	}
}

// visit is one client. It reports whether it was subscribed, and in the end has all.
func (f *historyClient) visit(last bool) bool {
	c := f.s.client()
	ended := newMailbox() // behind the last message, and behind the last event
	c.hear(func(r sdkReport) {
		switch r.Event {
		case "answer":
			c.answers.put(r)
		case "message":
			f.message(r)
		case "gap":
			f.gap(r)
		case "subscriptionEnded", "closed":
			ended.put(r)
		}
	})
	// Queues that get full, so that clients leave messages at the edge, in a soak.
	queues := atLength([]int{100_000}, []int{0, 4, 100})
	options := sdkOptions{Token: f.r.token, ConnectTimeout: 3000, MaxBackOff: 500, Queue: queues[f.random.IntN(len(queues))]}
	if _, err := f.try(c, f.s.connecting(f.s.kind, options, f.addresses()...)); err != nil {
		return false // the edge is away
	}
	from := any("now")
	if f.begun {
		from = historyAfter{f.at.String()}
		f.begin(f.at)
	}
	_, command := c.subscription("iterate", f.tenant, f.pattern, &sdkOptions{History: from})
	if _, err := f.try(c, command); err != nil {
		if err.Code != "disconnected" && err.Code != "timeout" { // as when the edge is away
			f.r.t.Errorf("%s: subscribing from %v: %v", f.s.kind, from, err)
		}
		_, _ = f.try(c, sdkCommand{Cmd: "close"})
		return false
	}
	if at, ok := f.position(c, command.Sub); ok {
		f.mu.Lock()
		if !f.begun {
			f.begin(at)
		}
		f.mu.Unlock()
	}
	switch {
	case !last:
		stay := 1500
		if f.random.IntN(3) == 0 { // longer than the edge is away
			stay = 10_000
		}
		pauseRandomly(f.random, stay, f.r.resume)
	default:
		f.await(c, command.Sub)
	}
	if _, err := f.try(c, sdkCommand{Cmd: "close"}); err != nil {
		f.r.t.Errorf("%s: closing: %v", f.s.kind, err)
	}
	for _, event := range []string{"subscriptionEnded", "closed"} {
		if _, ok := ended.take(func(r sdkReport) bool { return r.Event == event }); !ok {
			f.r.t.Errorf("%s: no %s %s", f.s.kind, event, ended.why())
		}
	}
	return true
}

// addresses are those that the next client knows: of one edge, or of all, so that it changes
// edges by itself.
func (f *historyClient) addresses() []string {
	all := f.s.addresses(f.s.edges...)
	if f.random.IntN(2) == 0 {
		return all
	}
	at := f.random.IntN(len(all))
	return all[at : at+1]
}

// try carries out a command, which may have to wait for a fault to end.
func (f *historyClient) try(c *sdkClient, command sdkCommand) (sdkReport, *sdkError) {
	id := c.tell(command)
	for range 3 {
		if r, ok := c.answers.take(func(r sdkReport) bool { return r.ID == id }); ok {
			return r, r.Error
		}
	}
	err := &sdkError{Code: "no answer", Text: c.answers.why()}
	f.r.t.Errorf("%s: %s: %v", f.s.kind, command.Cmd, err)
	return sdkReport{}, err
}

// begin begins with all behind a position. The caller holds f.mu.
func (f *historyClient) begin(at wire.Position) {
	f.begun, f.at = true, at
	f.sub.Begin(at)
	for _, before := range f.early {
		f.sub.Gap(before)
	}
	f.early = nil
}

func (f *historyClient) message(r sdkReport) {
	at, err := wire.ParsePosition(r.Position)
	if err != nil || r.Late || r.Pattern != f.pattern {
		f.r.t.Errorf("%s: got %v", f.s.kind, r)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.begun { // it comes before the answer
		f.begin(wire.Position{Epoch: at.Epoch, N: at.N - 1, T: at.T})
	}
	f.sub.Message(r.Tenant, r.Channel, string(r.Payload), at)
	f.at = at
}

func (f *historyClient) gap(r sdkReport) {
	before, err := wire.ParsePosition(r.Before)
	if err != nil || r.Tenant != f.tenant || r.Pattern != f.pattern {
		f.r.t.Errorf("%s: got %v", f.s.kind, r)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.begun { // the event may overtake the messages before it
		f.early = append(f.early, before)
		return
	}
	f.sub.Gap(before)
}

// position is where the application is.
func (f *historyClient) position(c *sdkClient, sub string) (wire.Position, bool) {
	r, err := f.try(c, sdkCommand{Cmd: "position", Sub: sub})
	if err != nil {
		f.r.t.Errorf("%s: the position: %v", f.s.kind, err)
	}
	at, broken := wire.ParsePosition(r.Position)
	return at, broken == nil
}

// await returns when the client has all that publishers were told of.
func (f *historyClient) await(c *sdkClient, sub string) {
	want := f.r.ends[f.tenant]
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(2 * waitTimeout); ; {
		at, ok := f.position(c, sub)
		if ok && at.Epoch == want.Epoch && at.N >= want.N {
			f.sub.End(at)
			return
		}
		if time.Now().After(deadline) {
			f.r.t.Errorf("%s: is at %v, and does not reach the end, %v; events: %v", f.s.kind, at, want, c.events.rest())
			return
		}
		<-tick.C
	}
}

// publishEnds publishes a last message to each tenant, for which clients wait.
func (r *historyRun) publishEnds() {
	r.t.Helper()
	r.ends = map[string]wire.Position{}
	random := r.random(2)
	for deadline := time.Now().Add(waitTimeout); len(r.ends) < 2; {
		if time.Now().After(deadline) {
			r.t.Fatal("nobody stores the last messages")
		}
		s := r.dial(random)
		if s == nil {
			continue
		}
		for i, tenant := range []string{"paint.a", "paint.b"} {
			payload := "the end of " + tenant + " " + randomHex()
			_ = s.write(asFrame, confirmed(uint32(i), tenant, "chat.1", payload)) // if it fails, so does what reads the answer
			_, text, err := s.read()
			if err != nil {
				break
			}
			line, err := wire.ParseServerLine(text)
			if err == nil && line.Kind == wire.KindErr && len(r.edges) > 1 { // the edge does not have its store back
				break
			}
			if err != nil || line.Kind != wire.KindOKPub || !line.Stored {
				r.t.Fatalf("the last message is answered %q", text)
			}
			r.check.Confirmed(tenant, "chat.1", payload, line.Position)
			r.ends[tenant] = line.Position
		}
		_ = s.leave()
		_ = s.cut()
	}
}
