package overlay

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/millrace/millrace/pubsub"
)

// Patience is how long another edge has for an answer.
const Patience = 2 * time.Second

// Policy is what operators of other edges may do at this one.
type Policy string

// The policies.
const (
	Manage Policy = "manage" // see, disconnect and drain
	View   Policy = "view"   // see
	Off    Policy = "off"    // nothing
)

// local is the ID of this edge where the broker knows no others; everywhere it names this
// edge.
const local = "local"

// Overlay is the edges that operators administer from this one. All methods may be called
// concurrently.
type Overlay struct {
	hub       *pubsub.Hub
	requester pubsub.Requester // nil: there are no other edges
	self      func() string    // the ID of this edge
	source    Source
	recorder  *recorder
	policy    atomic.Pointer[Policy]
	shared    singleflight.Group // the rounds of Edges and Overview
	rounds    chan struct{}      // a place for each round of requests that only read
}

// What operators may ask the other edges at a time: at most maxRounds*maxAsked requests that
// only read, so that there is room for those that change something.
const (
	maxRounds = 3
	maxAsked  = 16 // of a round
)

// New makes the overlay of a hub with its broker, and answers other edges from then on, with
// the policy [Manage]. The caller calls Close, before it closes the hub.
func New(hub *pubsub.Hub, broker pubsub.Broker, source Source) *Overlay {
	o := &Overlay{hub: hub, source: source, recorder: newRecorder(source.Counts), rounds: make(chan struct{}, maxRounds)}
	o.self = sync.OnceValue(func() string { return o.members()[0].ID })
	o.SetPolicy(Manage)
	if r, ok := broker.(pubsub.Requester); ok {
		o.requester = r
		r.HandleRequests(o.answer)
	}
	return o
}

// SetPolicy says what operators of other edges may do here from now on.
func (o *Overlay) SetPolicy(p Policy) { o.policy.Store(&p) }

// Close stops the recorder, and refuses requests of other edges from then on.
func (o *Overlay) Close() {
	if o.requester != nil {
		o.requester.HandleRequests(nil)
	}
	o.recorder.close()
}

// members lists the edges, this one first.
func (o *Overlay) members() []pubsub.Member {
	if o.requester != nil {
		return o.requester.Members()
	}
	return []pubsub.Member{{ID: local, State: pubsub.MemberHere}}
}

// member finds an edge by its ID, or else by its name or host, which another one may claim,
// too: the error is ErrAmbiguousEdge then.
func (o *Overlay) member(edge string) (m pubsub.Member, self bool, err error) {
	members := o.members()
	at := slices.IndexFunc(members, func(m pubsub.Member) bool { return m.ID == edge })
	if at < 0 && edge == local {
		at = 0
	}
	for i, m := range members {
		if at < 0 && edge != "" && (m.Name == edge || m.Host == edge) {
			if slices.ContainsFunc(members[i+1:], func(m pubsub.Member) bool { return m.Name == edge || m.Host == edge }) {
				return m, false, ErrAmbiguousEdge
			}
			at = i
		}
	}
	if at < 0 {
		return m, false, ErrUnknownEdge
	}
	return members[at], at == 0, nil
}

// isSelf reports whether a member is this edge.
func (o *Overlay) isSelf(m pubsub.Member) bool { return m.ID == o.self() }

// nameOf is what people know an edge by.
func nameOf(m pubsub.Member, self bool) string {
	if self && m.Host == "" && m.Name == "" && m.ID == local {
		return "this edge"
	}
	return cmp.Or(m.Host, m.Name, m.ID)
}
