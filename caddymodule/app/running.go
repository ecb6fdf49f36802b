package app

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/caddymodule/overlay"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/tokenstore"
)

// Running is what handlers work with between Start and Stop. It may be used
// concurrently, and by requests that outlast Stop.
type Running struct {
	Hub     *pubsub.Hub
	Service *tokenstore.Service

	edge      *edge
	history   *sharedHistory // nil: none
	histories *history.Set
}

// CountSession counts a session that has begun, by its transport, a Protocol of package
// tokenstore.
func (r *Running) CountSession(transport string) { r.edge.memory.noteSession(transport) }

// IsMemoryShort reports whether the process is so near its limit of memory that it should take
// no more connections. It waits for nothing.
func (r *Running) IsMemoryShort() bool {
	short := isMemoryShort(debug.SetMemoryLimit(-1))
	if short {
		r.edge.memory.noteShort()
	}
	return short
}

// Edges are those that announce themselves over the broker; none where it is no
// [pubsub.Directory].
func (r *Running) Edges() []pubsub.Edge {
	if d, ok := r.edge.broker.(pubsub.Directory); ok {
		return d.Edges()
	}
	return []pubsub.Edge{}
}

// Overlay is the edges that operators administer from this one.
func (r *Running) Overlay() *overlay.Overlay { return r.edge.others }

// RemoveOptions says how a member is removed.
type RemoveOptions = guest.RemoveOptions

// Removal is what became of the removal of a member.
type Removal = guest.Removal

// MemberError is why a member is not removed.
type MemberError = guest.MemberError

// RemoveMember takes a member out of the cluster of the NATS servers inside edges, see
// [guest.MemberKeeper].
func (r *Running) RemoveMember(ctx context.Context, name string, how RemoveOptions) (Removal, error) {
	if a := r.edge.inForce(); a != nil {
		return a.RemoveMember(ctx, name, how)
	}
	return Removal{}, guest.ErrNoMembers
}

// Writable reports whether the token store takes changes, as far as it knows.
func (r *Running) Writable() bool { return r.edge.store.writable() }

// Usable returns nil if tokens can be checked, as far as the store knows, or why not.
func (r *Running) Usable() error {
	if s, ok := r.edge.store.Store.(tokenstore.HealthReporter); ok {
		return s.Usable()
	}
	return nil
}

// LinkTroubles says for strangers what is wrong with the connections of broker and stores to
// their servers, by whose they are: "broker", "tokens", "history".
func (r *Running) LinkTroubles() map[string]string {
	troubles := map[string]string{}
	for _, link := range r.edge.links() {
		if link.Trouble != nil {
			troubles[link.Of] = link.Trouble.Reason
		}
	}
	return troubles
}

// Running returns what handlers work with, nil before the app has started. It waits for
// nothing.
func (a *App) Running() *Running {
	select {
	case <-a.started:
		return a.running
	default:
		return nil
	}
}

// Await is Running for a request: Caddy starts its apps in random order, and one that
// comes before the start of this one waits for it, until ctx ends or 10 s; nil: in vain.
func (a *App) Await(ctx context.Context) *Running {
	if running := a.Running(); running != nil {
		return running
	}
	select {
	case <-a.started:
		return a.running
	case <-ctx.Done():
	case <-time.After(startTimeout):
	}
	return nil
}

const startTimeout = 10 * time.Second
