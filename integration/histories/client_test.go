package histories

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/historycheck"
	"github.com/millrace/millrace/wire"
)

// StartClients starts a subscriber of each SDK, before everybody else; but in a soak of one,
// since each is a process. Browsers would cost too much.
func (r *run) StartClients() {
	r.t.Helper()
	kinds := slices.DeleteFunc(slices.Clone(sdk.Kinds), func(k sdk.Kind) bool { return k.InBrowser() || history.SdkLacks("histories") })
	if !harness.Soaking {
		at := r.Random(3).IntN(len(kinds))
		kinds = kinds[at : at+1]
	}
	r.clients = len(kinds)
	var edges []*harness.Edge
	for at := range r.edges {
		edges = append(edges, r.edges[at].Load())
	}
	lab := &sdk.Lab{}
	var clients []*historyClient
	for i, kind := range kinds {
		random := r.Random(300 + i)
		tenant, text, p := r.draw(random)
		f := &historyClient{r: r, s: lab.Stage(r.t, kind, edges...), random: random, tenant: tenant, pattern: text}
		f.sub = r.check.Client(fmt.Sprintf("%s %s %s", kind, tenant, text), tenant, p)
		f.s.Host(kind)
		clients = append(clients, f)
	}
	for _, f := range clients { // when nothing can fail any more
		r.subscribers.Go(f.Run)
	}
}

// historyClient is a subscription of clients of an SDK, one after the other.
type historyClient struct {
	r               *run
	s               *sdk.Stage
	random          *rand.Rand
	tenant, pattern string
	sub             *historycheck.Client

	mu    sync.Mutex // for what reports change while a client lives
	begun bool
	at    wire.Position   // where the next client goes on
	early []wire.Position // gaps that were told before it was seen where the first client began
}

// Run lets clients come and go until the run ends, and then one more get all.
func (f *historyClient) Run() {
	for last := false; ; {
		if !last && !history.PauseRandomly(f.random, 500, f.r.resume) {
			last = true
		}
		if f.visit(last) && last {
			return
		}
	}
}

// visit is one client. It reports whether it was subscribed, and in the end has all.
func (f *historyClient) visit(last bool) bool {
	c := f.s.Client()
	ended := sdk.NewMailbox() // behind the last message, and behind the last event
	c.Hear(func(r sdk.Report) {
		switch r.Event {
		case "answer":
			c.Answers.Put(r)
		case "message":
			f.message(r)
		case "gap":
			f.gap(r)
		case "subscriptionEnded", "closed":
			ended.Put(r)
		}
	})
	// Queues that get full, so that clients leave messages at the edge, in a soak.
	queues := harness.AtLength([]int{100_000}, []int{0, 4, 100})
	options := sdk.Options{Token: f.r.token, ConnectTimeout: 3000, MaxBackOff: 500, Queue: queues[f.random.IntN(len(queues))]}
	if _, err := f.Try(c, f.s.Connecting(f.s.Kind, options, f.Addresses()...)); err != nil {
		return false // the edge is away
	}
	from := any("now")
	if f.begun {
		from = history.After{After: f.at.String()}
		f.begin(f.at)
	}
	_, command := c.Subscription("iterate", f.tenant, f.pattern, &sdk.Options{History: from})
	if _, err := f.Try(c, command); err != nil {
		if err.Code != "disconnected" && err.Code != "timeout" { // as when the edge is away
			f.r.t.Errorf("%s: subscribing from %v: %v", f.s.Kind, from, err)
		}
		_, _ = f.Try(c, sdk.Command{Cmd: "close"})
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
		history.PauseRandomly(f.random, stay, f.r.resume)
	default:
		f.Await(c, command.Sub)
	}
	if _, err := f.Try(c, sdk.Command{Cmd: "close"}); err != nil {
		f.r.t.Errorf("%s: closing: %v", f.s.Kind, err)
	}
	for _, event := range []string{"subscriptionEnded", "closed"} {
		if _, ok := ended.Take(func(r sdk.Report) bool { return r.Event == event }); !ok {
			f.r.t.Errorf("%s: no %s %s", f.s.Kind, event, ended.Why())
		}
	}
	return true
}

// Addresses are those that the next client knows: of one edge, or of all, so that it changes
// edges by itself.
func (f *historyClient) Addresses() []string {
	all := f.s.Addresses(f.s.Edges...)
	if f.random.IntN(2) == 0 {
		return all
	}
	at := f.random.IntN(len(all))
	return all[at : at+1]
}

// Try carries out a command, which may have to wait for a fault to end.
func (f *historyClient) Try(c *sdk.Client, command sdk.Command) (sdk.Report, *sdk.Error) {
	id := c.Tell(command)
	for range 3 {
		if r, ok := c.Answers.Take(func(r sdk.Report) bool { return r.ID == id }); ok {
			return r, r.Error
		}
	}
	err := &sdk.Error{Code: "no answer", Text: c.Answers.Why()}
	f.r.t.Errorf("%s: %s: %v", f.s.Kind, command.Cmd, err)
	return sdk.Report{}, err
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

func (f *historyClient) message(r sdk.Report) {
	at, err := wire.ParsePosition(r.Position)
	if err != nil || r.Late || r.Pattern != f.pattern {
		f.r.t.Errorf("%s: got %v", f.s.Kind, r)
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

func (f *historyClient) gap(r sdk.Report) {
	before, err := wire.ParsePosition(r.Before)
	if err != nil || r.Tenant != f.tenant || r.Pattern != f.pattern {
		f.r.t.Errorf("%s: got %v", f.s.Kind, r)
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
func (f *historyClient) position(c *sdk.Client, sub string) (wire.Position, bool) {
	r, err := f.Try(c, sdk.Command{Cmd: "position", Sub: sub})
	if err != nil {
		f.r.t.Errorf("%s: the position: %v", f.s.Kind, err)
	}
	at, broken := wire.ParsePosition(r.Position)
	return at, broken == nil
}

// Await returns when the client has all that publishers were told of.
func (f *historyClient) Await(c *sdk.Client, sub string) {
	want := f.r.ends[f.tenant]
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(2 * harness.WaitTimeout); ; {
		at, ok := f.position(c, sub)
		if ok && at.Epoch == want.Epoch && at.N >= want.N {
			f.sub.End(at)
			return
		}
		if time.Now().After(deadline) {
			f.r.t.Errorf("%s: is at %v, and does not reach the end, %v; events: %v", f.s.Kind, at, want, c.Events.Rest())
			return
		}
		<-tick.C
	}
}

// publishEnds publishes a last message to each tenant, for which clients wait.
func (r *run) publishEnds() {
	r.t.Helper()
	r.ends = map[string]wire.Position{}
	random := r.Random(2)
	for deadline := time.Now().Add(harness.WaitTimeout); len(r.ends) < 2; {
		if time.Now().After(deadline) {
			r.t.Fatal("nobody stores the last messages")
		}
		s := r.Dial(random)
		if s == nil {
			continue
		}
		for i, tenant := range []string{"paint.a", "paint.b"} {
			payload := "the end of " + tenant + " " + harness.RandomHex()
			_ = s.Write(harness.AsFrame, history.Confirmed(uint32(i), tenant, "chat.1", payload)) // if it fails, so does what reads the answer
			_, text, err := s.Read()
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
		_ = s.Leave()
		_ = s.Cut()
	}
}
