package pubsub

import (
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/refusals"
)

// Refusals of [Hub.Admit].
var (
	ErrDraining  = errors.New("this edge is draining: connect to another one")
	ErrStopping  = errors.New("this edge is stopping, which cannot be undone")
	ErrFull      = errors.New("this edge has reached its limit of connections")
	ErrTokenFull = errors.New("this token has reached its limit of connections on this edge")
	// A tenant of the token, or the client's address, has.
	ErrTenantFull  = errors.New("a tenant of this token has reached its limit of connections on this edge")
	ErrAddressFull = errors.New("this address has reached its limit of connections on this edge")
	// The token's issuer has; see Issuers.
	ErrIssuerFull = errors.New("the issuer of this token has reached its share of the connections on this edge")
	// The token's subject has, in one of its tenants.
	ErrSubjectFull = errors.New("the subject of this token has reached its limit of connections on this edge")
	// The edge has no memory for the rights of one more token, or for those of one of its tenants.
	ErrRightsFull = errors.New("the rights of the tokens in use take as much memory as they may on this edge")
)

// Hub holds the sessions of one edge and fans messages out to them. All methods
// are safe for concurrent use.
type Hub struct {
	broker Broker
	log    *zap.Logger
	limits atomic.Pointer[Limits]
	wg     sync.WaitGroup // readers and writers

	count       counters
	epoch       time.Time     // of the hub's clock
	subsVersion atomic.Uint64 // grows with each change of a subscription; see tenant
	outage      atomic.Uint64 // the number of the outage of the broker's link; 0: it is up
	outages     uint64        // until now; Linked's
	tenantsMu   sync.RWMutex
	tenants     map[string]*tenant
	queuedBytes atomic.Int64 // bytes in all queues, in chunks; see Session.countQueue

	tenantCaps    capsRegistry // of those in use
	idleTokenCaps capsRegistry // of tokens without a connection; those of others are in tokens
	patterns      patternCounts
	loads         loads
	linkWatch     linkWatch
	ownMarks      ownMarks
	limitedLines  limitedLog
	hooks         atomic.Pointer[hooks]
	hookFaults    faultLog
	refusals      refusals.Log
	refusalLines  refusals.Budget
	amounts       amounts // of all
	issuers       atomic.Pointer[Issuers]

	histories  atomic.Pointer[histories] // nil: there never were any
	sequencers sequencers
	replays    replays

	presences   atomic.Pointer[presences] // nil: there never were any
	presencesMu sync.Mutex                // held while they are put into effect; taken before all others

	mu              sync.Mutex // guards the rest
	sessions        map[*Session]struct{}
	tokens          map[string]*tokenState
	taken           Cost // by all sessions
	rightBytes      int  // of all tokens
	tenantAccounts  accounts[string]
	issuerAccounts  accounts[string]
	addressAccounts accounts[netip.Addr] // networks
	subjectAccounts accounts[tenantSubject]
	nextID          uint64
	unauthenticated pendingConns // connections that have not authenticated yet, and came without a token
	handshakes      pendingConns // those that came with one, which is being checked
	drainSets       []*drainSet
	draining        *drainSet     // nil: the hub does not drain
	stopping        bool          // it drains for good
	quit            chan struct{} // closed when it drains; Undrain makes another one

	// served is closed when the last client has left for good: no message waits for its
	// tenant's share any more.
	served      chan struct{}
	closeServed func()
}

// NewHub makes a hub that owns broker and joins it.
func NewHub(broker Broker, limits Limits, log *zap.Logger) *Hub {
	h := &Hub{
		broker:          broker,
		log:             log,
		tenants:         map[string]*tenant{},
		sessions:        map[*Session]struct{}{},
		tokens:          map[string]*tokenState{},
		epoch:           time.Now().Add(-1), // no time is zero
		tenantAccounts:  accounts[string]{},
		issuerAccounts:  accounts[string]{},
		addressAccounts: accounts[netip.Addr]{},
		subjectAccounts: accounts[tenantSubject]{},
		refusalLines:    refusals.Budget{Max: refusalLines},
		quit:            make(chan struct{}),
		served:          make(chan struct{}),
	}
	h.closeServed = sync.OnceFunc(func() { close(h.served) })
	h.replays.hub = h
	prepareYield() // before there are clients, who take files, too
	h.SetLimits(limits)
	h.hooks.Store(new(hooks))
	broker.Join(h)
	return h
}

// SetLimits replaces the limits for all that follows, also on open sessions.
func (h *Hub) SetLimits(l Limits) {
	old := h.limits.Swap(&l)
	if old == nil {
		return
	}
	if old.TenantShare != l.TenantShare || old.IssuerShare != l.IssuerShare {
		h.resetCPUAccounts()
	}
	if old.TenantIngressKB != l.TenantIngressKB {
		h.tenantCaps.setIngress(kb(l.TenantIngressKB))
	}
	if old.TokenIngressKB != l.TokenIngressKB {
		rate := kb(l.TokenIngressKB)
		h.idleTokenCaps.setIngress(rate)
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, t := range h.tokens {
			t.caps.ingress.setRate(rate)
		}
	}
}

// Available reports whether the edge takes new connections at all: nil,
// [ErrDraining] or [ErrFull].
func (h *Hub) Available() error { return h.AvailableFor(Cost{}) }

// AvailableFor is Available for connections of a cost, for which there may be no room:
// [ErrFilesFull] or [ErrMemoryFull].
func (h *Hub) AvailableFor(cost Cost) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.available(cost)
}

func (h *Hub) available(cost Cost) error {
	l := h.limits.Load()
	switch {
	case h.draining != nil:
		return ErrDraining
	case l.MaxConnections > 0 && len(h.sessions) >= l.MaxConnections:
		return ErrFull
	}
	return cost.check(h.taken, l.Room)
}

// Admit registers a session under its token. From here on a revocation reaches
// it. The caller then reads the token's record again, and either attaches a
// transport or calls Detach.
func (h *Hub) Admit(id Identity, client Client) (*Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.available(client.Cost); err != nil {
		return nil, err
	}
	if n := len(id.Tenants); n > MaxTenantsCounted {
		id.Tenants = id.Tenants[:MaxTenantsCounted]
	}
	if err := h.checkShares(&id, &client); err != nil {
		return nil, err
	}
	h.nextID++
	client.ID, client.Since = h.nextID, time.Now()
	s := &Session{
		hub:           h,
		identity:      id,
		client:        client,
		subscriptions: map[subscriptionKey]*subscription{},
		done:          make(chan struct{}),
		resume:        make(chan struct{}, 1),
		kick:          make(chan struct{}, 1),
	}
	h.sessions[s] = struct{}{}
	h.taken.add(client.Cost, 1)
	s.token = h.tokens[id.TokenID]
	if s.token == nil {
		s.token = &tokenState{
			sessions: map[*Session]struct{}{}, caps: h.idleTokenCaps.take(id.TokenID), tenants: id.Tenants,
			subject: id.Subject, sender: senderOf(id), rightBytes: id.RightBytes,
			issuerName: id.Issuer, issuer: h.issuerAccounts.acquire(id.Issuer),
		}
		if s.token.caps == nil {
			s.token.caps = new(byteCaps)
		}
		s.token.accounts = append(s.token.accounts, &s.token.own, s.token.issuer)
		for _, tenant := range id.Tenants {
			s.token.accounts = append(s.token.accounts, h.tenantAccounts.acquire(tenant))
			if id.Subject != "" {
				s.token.subjectAccounts = append(s.token.subjectAccounts, h.subjectAccounts.acquire(tenantSubject{tenant, id.Subject}))
			}
		}
		h.countRight(s.token, 1)
		h.tokens[id.TokenID] = s.token
	}
	s.token.sessions[s] = struct{}{}
	h.countSession(s)
	h.wg.Add(1) // taken back by removeSession
	s.Renew(id.ExpiresAt, id.Version)
	return s, nil
}

// removeSession forgets a session that is detached.
func (h *Hub) removeSession(s *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.sessions[s]; !known {
		return
	}
	delete(h.sessions, s)
	h.taken.add(s.client.Cost, -1)
	s.mu.Lock()
	s.uncountSession()
	s.mu.Unlock()
	h.releaseToken(s)
	if s.address != nil {
		ip, _ := s.client.network()
		h.addressAccounts.release(ip)
	}
	h.leaveDrainSets(s)
	h.wg.Done()
}

// now is the time on the hub's clock, which is never set.
func (h *Hub) now() time.Duration { return time.Since(h.epoch) }

// Go runs a transport's goroutine; [Hub.Close] waits for it.
func (h *Hub) Go(f func()) { h.wg.Go(f) }

// Close drains the hub, waits for all its goroutines, and closes the broker. How long the drain
// takes is bounded by [Limits.Drain] and closeGrace, whatever the clients do.
func (h *Hub) Close() error {
	<-h.Shutdown()
	h.closeServed()
	h.stopFollowing()
	h.stopPresences()
	h.wg.Wait()
	h.closePresences()
	return h.broker.Close()
}
