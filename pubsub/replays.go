package pubsub

import "sync"

const (
	// maxReplays is how many pages an edge reads from its histories at the same time, and
	// maxReplaysOfOne how many of these are for one tenant, or one token. For one session it
	// is one, and for an issuer its share. What is beyond waits its turn.
	maxReplays      = 32
	maxReplaysOfOne = maxReplays / 2
)

// replays are the pages that are to be read. Tenants take turns, and so do the tokens of a
// tenant, the sessions of a token, and the subscriptions of a session. The pages of an issuer that is a guest in a
// tenant are like those of one more tenant: only the issuer pays for them.
//
// A tenant or an issuer that is over its share of the processors gets no turn until it has paid, or has waited for
// maxLoadDebt. No page of it is under way meanwhile: it would take the place of one of another tenant. And
// whoever comes near its share while others are there has as many pages read at a time as there are processors
// in that: what they cost is known only then.
type replays struct {
	hub *Hub

	mu      sync.Mutex // guards the rest, and all tokenReplays
	tenants map[replaysKey]*tenantReplays
	ready   []*tenantReplays // that may have a page read
	running int              // goroutines, each of which reads one page at a time
}

// replaysKey names a tenant, or a guest in it.
type replaysKey struct {
	tenant string
	guest  *account // the guest's; nil: those who belong there
}

// tenantReplays are those of one tenant, while there are any.
type tenantReplays struct {
	key     replaysKey
	queues  map[*tokenState]*replayQueue
	ready   []*replayQueue // those that are not in tokenReplays.held
	inTurn  bool           // it is in replays.ready
	running int
	cpu     *cpuAccount // see account
	debtor
}

// account returns the tenant's account; nil: it does not pay. To look for it takes a lock of all tenants.
func (t *tenantReplays) account(h *Hub) *cpuAccount {
	if t.key.guest == nil && (t.cpu == nil || t.cpu.removed.Load()) {
		t.cpu = h.cpuAccountOf([]byte(t.key.tenant))
	}
	return t.cpu
}

// debtor is a tenant or an issuer that may be over its share.
type debtor struct {
	paying bool // it waits until it has paid
	waited bool // it has waited: its next page is read, whatever it owes by now
}

// replayQueue is what waits for one token in one tenant. It is not empty.
type replayQueue struct {
	tenant *tenantReplays
	token  *tokenState
	pages  []replay
}

// replay is a page that is to be read.
type replay struct {
	session   *Session
	resumable *resumable
	tenant    *tenantReplays
}

// tokenReplays are those of one token, or one issuer.
type tokenReplays struct {
	running int
	held    []*replayQueue // until there is room for one more
	debtor                 // of an issuer
}

// add has a page read for a subscription of a session that has no other one under way. The
// caller holds the session's mutex.
func (g *replays) add(s *Session, r *resumable) {
	key := replaysKey{tenant: r.key.tenant}
	if g.hub.isGuest(s.token.issuerName, key.tenant) {
		key.guest = s.token.issuer
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.tenants[key]
	if t == nil {
		if g.tenants == nil {
			g.tenants = map[replaysKey]*tenantReplays{}
		}
		t = &tenantReplays{key: key, queues: map[*tokenState]*replayQueue{}}
		g.tenants[key] = t
	}
	q := t.queues[s.token]
	if q == nil {
		q = &replayQueue{tenant: t, token: s.token}
		t.queues[s.token] = q
		t.ready = append(t.ready, q)
	}
	q.pages = append(q.pages, replay{s, r, t})
	g.makeReady(t)
	g.start() // the session holds the group open
}

// makeReady gives a tenant its turn, if it may have one. The caller holds g.mu.
func (g *replays) makeReady(t *tenantReplays) {
	if !t.inTurn && !t.paying && len(t.ready) > 0 && t.running < g.most(maxReplaysOfOne, t.account(g.hub)) {
		t.inTurn = true
		g.ready = append(g.ready, t)
	}
}

// start starts a goroutine that reads pages, if there is work for it. The caller holds
// g.mu, and the hub's group open.
func (g *replays) start() {
	if g.running < maxReplays && len(g.ready) > 0 {
		g.running++
		g.hub.Go(g.run)
	}
}

// run reads pages until none may be read.
func (g *replays) run() {
	for {
		g.mu.Lock()
		p, ok := g.next()
		if !ok {
			g.running--
			g.mu.Unlock()
			return
		}
		g.start()
		g.mu.Unlock()

		p.session.readPage(p.resumable)

		g.mu.Lock()
		g.done(p)
		g.mu.Unlock()
	}
}

// next takes the page whose turn it is. The caller holds g.mu.
func (g *replays) next() (p replay, ok bool) {
	for len(g.ready) > 0 {
		t := takeFirst(&g.ready)
		t.inTurn = false
		if g.awaitPaid(payers{tenant: t.account(g.hub)}, &t.debtor, func() { g.makeReady(t) }) {
			g.releaseFor(t.ready[0].token) // it was its turn; those of other tenants do not wait for this one
			continue
		}
		q := takeFirst(&t.ready)
		token, issuer := &q.token.replays, &q.token.issuer.replays
		if full := g.full(q.token); full != nil {
			full.held = append(full.held, q)
			g.makeReady(t)
			continue
		}
		p = takeFirst(&q.pages)
		if len(q.pages) > 0 {
			t.ready = append(t.ready, q)
		} else {
			delete(t.queues, q.token)
		}
		token.running++
		issuer.running++
		t.running++
		g.makeReady(t)
		return p, true
	}
	return p, false
}

// most is how many pages may be under way for a tenant, or an issuer, of so many at most; nil: one that does not pay.
func (g *replays) most(share int, l *cpuAccount) int {
	if l != nil && g.hub.isNearShare(l, g.hub.now()) {
		return min(share, l.most)
	}
	return share
}

// mostOfIssuer is most for the issuer of a token.
func (g *replays) mostOfIssuer(token *tokenState) int {
	share := g.hub.issuerShareOf(maxReplays, g.hub.limits.Load())
	if share == 0 {
		return maxReplays
	}
	return g.most(share, g.hub.issuerCPU(token))
}

// full returns which of a token and its issuer can have no more pages read now; nil: neither.
func (g *replays) full(token *tokenState) *tokenReplays {
	issuer := &token.issuer.replays
	switch {
	case token.replays.running >= maxReplaysOfOne:
		return &token.replays
	case issuer.paying, issuer.running >= g.mostOfIssuer(token),
		g.awaitPaid(payers{issuer: g.hub.issuerCPU(token)}, &issuer.debtor, func() { g.release(issuer, g.mostOfIssuer(token)) }):
		return issuer
	}
	return nil
}

// done makes room for those that wait for a page to be done. The caller holds g.mu.
func (g *replays) done(p replay) {
	token, issuer := &p.session.token.replays, &p.session.token.issuer.replays
	token.running--
	issuer.running--
	p.tenant.running--
	g.releaseFor(p.session.token)
	g.makeReady(p.tenant)
	g.forgetIdle(p.tenant)
}

// releaseFor is release for a token, and its issuer.
func (g *replays) releaseFor(token *tokenState) {
	g.release(&token.replays, maxReplaysOfOne)
	g.release(&token.issuer.replays, g.mostOfIssuer(token))
}

// release makes as many queues ready of those that are held as may have pages read. Those whose tenant is paying
// do not count: they wait for that, and those of other tenants have their room. The caller holds g.mu.
func (g *replays) release(of *tokenReplays, most int) {
	for n := most - of.running; n > 0 && len(of.held) > 0 && !of.paying; {
		q := takeFirst(&of.held)
		q.tenant.ready = append(q.tenant.ready, q)
		g.makeReady(q.tenant)
		if !q.tenant.paying {
			n--
		}
	}
}

// awaitPaid reports whether a tenant or an issuer has to wait, since it is over its share: it is paying then,
// and goes on when it has paid, or has waited for long enough. The caller holds g.mu, and the hub's group open.
func (g *replays) awaitPaid(by payers, d *debtor, goOn func()) bool {
	h := g.hub
	if d.waited || h.debtOf(by, h.now()) == 0 {
		d.waited = false
		return false
	}
	d.paying = true
	h.Go(func() {
		p := pace{hub: h, payers: by, chargedUntil: h.now(), canceled: h.served}
		p.waitUntilPaid(by.tenant, nil)
		p.waitUntilPaid(by.issuer, nil)
		g.mu.Lock()
		defer g.mu.Unlock()
		d.paying, d.waited = false, true
		goOn()
		g.start()
	})
	return true
}

// forgetIdle forgets a tenant for which nothing waits. The caller holds g.mu.
func (g *replays) forgetIdle(t *tenantReplays) {
	if len(t.queues) == 0 && t.running == 0 {
		delete(g.tenants, t.key)
	}
}

// takeFirst takes the first one out of a list. It moves nothing: thousands may wait.
func takeFirst[T any](list *[]T) (first T) {
	var none T
	first, (*list)[0] = (*list)[0], none
	if *list = (*list)[1:]; len(*list) == 0 {
		*list = nil
	}
	return first
}
