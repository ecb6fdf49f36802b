package pubsub

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/pubsub/presence"
	"github.com/millrace/millrace/wire"
)

// PresenceReader is [Rights] that can allow a client to see who is present. Rights that are
// none allow nobody to; WHO … count needs none.
type PresenceReader interface {
	// CanReadPresence reports whether the client may see the members of all that a pattern
	// matches.
	CanReadPresence(tenant string, p pattern.Pattern) bool
}

// PresenceCarrier is a [Broker] that carries messages about presence between edges: small
// ones, up to some 50 KiB; any may be lost. With other brokers, an edge knows the
// members of its own clients alone.
type PresenceCarrier interface {
	// SendPresence hands a message to the edge of this ID, or to all others if it is empty.
	// It does not block, keeps the message, and may lose it.
	SendPresence(edge string, message []byte)
	// HandlePresence sets what takes such messages of other edges, one call at a time for
	// each edge. An error says that a message is not one that this version sends; the broker
	// counts it as rejected. Nothing is received before, and nothing is kept of message.
	// name is whose edge it is, which the broker vouches for; empty: it does not know.
	HandlePresence(take func(name, edge string, message []byte) error)
}

// presences are those of a hub, once it has had any.
type presences struct {
	registry *presence.Registry
	stop     context.CancelFunc

	mu  sync.Mutex
	set *presence.Set // current; nil: JOIN and WHO are not known
}

// SetPresences puts presences into effect, in place of those before. Members of channels that
// none has any more are gone, and whoever watched them is told with ERR:no_presence.
func (h *Hub) SetPresences(set *presence.Set) {
	h.presencesMu.Lock()
	defer h.presencesMu.Unlock()
	ps := h.presences.Load()
	if ps == nil {
		if set.Len() == 0 {
			return
		}
		ps = h.newPresences()
		h.presences.Store(ps)
	}
	ps.mu.Lock()
	ps.set = set
	ps.mu.Unlock()
	ps.registry.SetDefinitions(set)
	for _, s := range h.listSessions() {
		s.recheckPresence(set)
	}
}

func (h *Hub) newPresences() *presences {
	o := presence.Options{
		Joined: h.runJoinedHooks, Left: h.runLeftHooks, Patterns: h.watchedPatterns,
		Worked: h.presenceWorked, Owner: h.sharedOwnerOf,
		Share: func(all int) int { return h.issuerShareOf(all, h.limits.Load()) },
	}
	carrier, carries := h.broker.(PresenceCarrier)
	if carries {
		o.Link = carrier
	}
	ps := &presences{registry: presence.New(o)}
	if carries {
		carrier.HandlePresence(ps.registry.Receive)
	}
	var ctx context.Context
	ctx, ps.stop = context.WithCancel(context.Background())
	h.Go(func() { ps.registry.Run(ctx) })
	return ps
}

// watchedPatterns are the limits of patterns, which hold for those of WHOs beside those of
// subscriptions.
func (h *Hub) watchedPatterns() (all, ofTenant int) {
	l := h.limits.Load()
	all, ofTenant = l.MaxPatterns, l.patternsOf(l.MaxPatternsPerTenant)
	if all == 0 {
		all = math.MaxInt
	}
	if ofTenant == 0 {
		ofTenant = math.MaxInt
	}
	return all, ofTenant
}

// presenceWorked charges to a tenant, and its owner, what it took to tell its watchers.
func (h *Hub) presenceWorked(tenant, owner string, used time.Duration) {
	by := payers{tenant: h.cpuAccountOf([]byte(tenant))}
	if owner != "" {
		by.issuer = h.cpuAccountIn(&h.loads.issuers, []byte(owner))
	}
	h.charge(by, h.now(), used)
}

// stopPresences ends what the hub runs for presences.
func (h *Hub) stopPresences() {
	h.presencesMu.Lock()
	defer h.presencesMu.Unlock()
	if ps := h.presences.Load(); ps != nil {
		ps.stop()
	}
}

// closePresences ends the members of this edge. All sessions and goroutines have ended.
func (h *Hub) closePresences() {
	if ps := h.presences.Load(); ps != nil {
		ps.registry.Close()
	}
}

// currentPresences returns what the hub has while presences are in effect, or nil.
func (h *Hub) currentPresences() *presences {
	if h.Presences() == nil {
		return nil
	}
	return h.presences.Load()
}

// Presences returns the current ones; nil: there are none.
func (h *Hub) Presences() *presence.Set {
	ps := h.presences.Load()
	if ps == nil {
		return nil
	}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.set.Len() == 0 {
		return nil
	}
	return ps.set
}

// Members lists who is present, and CountMembers counts them, as [presence.Registry.Members]
// and [presence.Registry.Count] do: nobody where the edge has no presence.
func (h *Hub) Members(q presence.Query) (list []presence.Member, next uint64) {
	if ps := h.currentPresences(); ps != nil {
		return ps.registry.Members(q)
	}
	return nil, 0
}

// CountMembers belongs to Members.
func (h *Hub) CountMembers(tenant string, p pattern.Pattern) (members, channels int) {
	if ps := h.currentPresences(); ps != nil {
		return ps.registry.Count(tenant, p)
	}
	return 0, 0
}

// PresenceUsage lists the tenants that have members, in no order, by presence.
func (h *Hub) PresenceUsage() []presence.Usage {
	if ps := h.currentPresences(); ps != nil {
		return ps.registry.Usage()
	}
	return nil
}

func (h *Hub) runJoinedHooks(key presence.Key, user string, info []byte) {
	if list := h.hooks.Load().joined; len(list) > 0 {
		runHooks(h, list, func(o hook.JoinObserver) {
			o.Joined(hook.Member{
				Tenant: key.Tenant, Channel: key.Channel, Subject: key.Subject, Info: info, Issuer: h.sharedIssuer(user),
			})
		})
	}
}

func (h *Hub) runLeftHooks(key presence.Key, user string) {
	if list := h.hooks.Load().left; len(list) > 0 {
		runHooks(h, list, func(o hook.LeaveObserver) {
			o.Left(hook.Member{Tenant: key.Tenant, Channel: key.Channel, Subject: key.Subject, Issuer: h.sharedIssuer(user)})
		})
	}
}

// featuresLine is the answer to FEATURES.
func (h *Hub) featuresLine() []byte {
	line := wire.LineFeaturesSender
	if h.currentHistories() != nil {
		line += "," + wire.FeatureHistory
	}
	if h.currentPresences() != nil {
		line += "," + wire.FeaturePresence
	}
	return []byte(line)
}
