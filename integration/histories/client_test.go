package histories

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/historycheck"
	"github.com/millrace/millrace/wire"
)

// startClients starts a subscriber of each SDK, before everybody else; but in a soak of one,
// since each is a process. Browsers would cost too much.
func (r *run) startClients() {
	r.T.Helper()
	kinds := slices.DeleteFunc(slices.Clone(sdk.Kinds), sdk.Kind.InBrowser)
	if !harness.Soaking {
		at := r.part(3).IntN(len(kinds))
		kinds = kinds[at : at+1]
	}
	lab := &sdk.Lab{}
	var clients []*follower
	for i, kind := range kinds {
		random := r.part(300 + i)
		tenant, text, p := r.draw(random)
		check := r.check.Client(fmt.Sprintf("%s %s %s", kind, tenant, text), tenant, p)
		f := &follower{run: r, stage: lab.Stage(r.T, kind, r.Edges...), random: random, tenant: tenant, pattern: text, check: check}
		f.stage.Host(kind)
		clients = append(clients, f)
	}
	for _, f := range clients { // when nothing can fail any more
		r.subscribers.Go(f.follow)
	}
}

// follower is a subscription of clients of an SDK, one after the other.
type follower struct {
	run             *run
	stage           *sdk.Stage
	random          *rand.Rand
	tenant, pattern string
	check           *historycheck.Client

	begun bool
	at    wire.Position // where the next client goes on
}

// follow lets clients come and go until the run ends, and then one more get all.
func (f *follower) follow() {
	for done := false; !done; {
		last := !history.PauseRandomly(f.random, 500, f.run.subscribing.Done())
		done = f.visit(last) && last
	}
}

// visit is one client. It reports whether it was subscribed.
func (f *follower) visit(last bool) bool {
	c := f.stage.Client()
	// Queues that get full, so that clients leave messages at the edge, in a soak.
	queues := harness.AtLength([]int{100_000}, []int{0, 4, 100})
	options := sdk.Options{Token: f.run.Token, ConnectTimeout: 3000, MaxBackOff: 500, Queue: queues[f.random.IntN(len(queues))]}
	addresses := f.stage.Addresses(f.stage.Edges...) // of all edges, among which it changes by itself, or of one
	if f.random.IntN(2) == 0 {
		at := f.random.IntN(len(addresses))
		addresses = addresses[at : at+1]
	}
	if _, err := c.Try(f.stage.Connecting(f.stage.Kind, options, addresses...)); err != nil {
		return false // the edge is away
	}
	from := any("now")
	if f.begun {
		from = history.After{After: f.at.String()}
	}
	sub, command := c.Subscription("iterate", f.tenant, f.pattern, &sdk.Options{History: from})
	if _, err := c.Try(command); err != nil {
		if err.Code != "disconnected" && err.Code != "timeout" { // as when the edge is away
			f.run.T.Errorf("%s: subscribing from %v: %v", f.stage.Kind, from, err)
		}
		_, _ = c.Try(sdk.Command{Cmd: "close"})
		return false
	}
	if f.begun {
		f.check.Begin(f.at)
	}
	if want := f.run.ends[f.tenant]; last {
		for f.at.Epoch != want.Epoch || f.at.N < want.N {
			if r := f.next(sub.Messages); r.Event != "message" {
				f.run.T.Errorf("%s: is at %v, and does not reach the end, %v; events: %v", f.stage.Kind, f.at, want, c.Events.Rest())
				return true
			}
		}
		f.check.End(f.at)
	} else {
		history.PauseRandomly(f.random, stay(f.random), f.run.subscribing.Done())
	}
	if _, err := c.Try(sdk.Command{Cmd: "close"}); err != nil {
		f.run.T.Errorf("%s: closing: %v", f.stage.Kind, err)
	}
	for f.next(sub.Messages).Event == "message" {
	}
	for r := (sdk.Report{}); r.Event != "closed" && !f.run.T.Failed(); {
		r = f.next(c.Events)
	}
	return true
}

// next takes the next message or event, and notes it. An event "" has not come.
func (f *follower) next(of *sdk.Mailbox) sdk.Report {
	r, ok := of.Next()
	at, err := wire.ParsePosition(r.Position + r.Before)
	switch {
	case !ok:
		f.run.T.Errorf("%s: nothing more came %s", f.stage.Kind, of.Why())
	case r.Event == "message":
		if err != nil || r.Late || r.Pattern != f.pattern {
			f.run.T.Errorf("%s: got %v", f.stage.Kind, r)
		}
		if !f.begun {
			f.begun = true
			f.check.Begin(wire.Position{Epoch: at.Epoch, N: at.N - 1, T: at.T})
		}
		f.check.Message(r.Tenant, r.Channel, string(r.Payload), at)
		f.at = at
	case r.Event == "gap":
		if err != nil || r.Tenant != f.tenant || r.Pattern != f.pattern {
			f.run.T.Errorf("%s: got %v", f.stage.Kind, r)
		}
		if f.begun {
			f.check.Gap(at)
		}
	}
	return r
}
