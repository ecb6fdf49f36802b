package pubsub

import "sync/atomic"

// Tokens, tenants and connections cost whoever issues the tokens nothing: shares among them divide an
// edge among the guests of one party. So an edge also accounts for issuers, one level higher: where
// there are several, none has more than its share of the whole (Limits.IssuerShare). With one
// issuer, nothing is divided. The reasons are in docs/decisions/0031-issuers.md.

// Issuers knows who issues the tokens of an edge. All methods may be called concurrently, and do not
// block.
type Issuers interface {
	// SeveralIssuers reports whether there is more than one.
	SeveralIssuers() bool
	// OwnerOf returns the issuer that a tenant belongs to by its name, whoever uses it; empty: that
	// is not known.
	OwnerOf(tenant string) string
	// Generation returns another number, never 0, whenever the others may return something else than before;
	// no two Issuers of a process have the same.
	Generation() uint64
}

// SetIssuers says who knows the issuers from now on. Before, there is one.
func (h *Hub) SetIssuers(i Issuers) { h.issuers.Store(&i) }

// severalIssuers reports whether there is more than one issuer.
func (h *Hub) severalIssuers() bool {
	i := h.issuers.Load()
	return i != nil && (*i).SeveralIssuers()
}

// ownerOf returns whom a tenant belongs to: by its name or, where that says nothing, a user of it.
func (h *Hub) ownerOf(tenant, user string) string {
	if i := h.issuers.Load(); i != nil {
		if owner := (*i).OwnerOf(tenant); owner != "" {
			return owner
		}
	}
	return user
}

// sharedOwnerOf is ownerOf where there are shares of issuers; empty: it does not matter.
func (h *Hub) sharedOwnerOf(tenant, user string) string {
	if !h.isDivided() {
		return ""
	}
	return h.ownerOf(tenant, user)
}

// isGuest reports whether a tenant belongs to another issuer, by its name, and shares of issuers hold.
func (h *Hub) isGuest(issuer, tenant string) bool {
	owner := h.sharedOwnerOf(tenant, "")
	return owner != "" && owner != issuer
}

// owner is the issuer whom a tenant in use belongs to. The zero value is nobody.
type owner struct{ of atomic.Pointer[ownerAccount] }

// ownerAccount is an owner with its account, so that nobody sees one with that of another.
type ownerAccount struct {
	name string                     // static
	cpu  atomic.Pointer[cpuAccount] // nil: not looked up yet; may have been removed
}

// use says that a token of an issuer uses a tenant: the first one is its owner, unless its name says
// who is, which a new master token may change. What the operator's own tokens use is still to be had.
func (o *owner) use(h *Hub, tenant string, issuer string) {
	old := o.of.Load()
	if old != nil && old.name != "" {
		issuer = old.name
	}
	if name := h.ownerOf(tenant, issuer); old == nil || old.name != name {
		o.of.Store(&ownerAccount{name: name})
	}
}

// sharingIssuer is who published a message, where there are shares of issuers.
func (h *Hub) sharingIssuer(p *pace) string {
	if p.payers.issuer == nil {
		return ""
	}
	return h.sharedIssuer(p.payers.issuer.name)
}

// OwnerOf implements [OwnerTeller] for the broker.
func (h *Hub) OwnerOf(tenant string) string {
	if !h.isDivided() {
		return ""
	}
	if t := h.tenant([]byte(tenant)); t != nil {
		if of := t.owner.of.Load(); of != nil {
			return of.name
		}
	}
	return h.ownerOf(tenant, "")
}

// is reports whether an issuer is the owner.
func (o *owner) is(issuer string) bool {
	of := o.of.Load()
	return of != nil && of.name == issuer
}

// cpuAccount returns the account of the owner; nil: there is none.
func (o *owner) cpuAccount(h *Hub) *cpuAccount {
	of := o.of.Load()
	if of == nil {
		return nil
	}
	return keptAccount(h, &h.loads.issuers, &of.cpu, of.name)
}

// issuerShareOf is what one issuer may take of what an edge has; 0: no limit.
func (h *Hub) issuerShareOf(all int, l *Limits) int {
	if percent := l.issuerShare(); percent > 0 && all > 0 && h.severalIssuers() {
		return max(1, all/100*percent+all%100*percent/100)
	}
	return 0
}

// isDivided reports whether there are shares of issuers.
func (h *Hub) isDivided() bool { return h.limits.Load().issuerShare() > 0 && h.severalIssuers() }

// division is the generation of the issuers while there are shares of them; 0: there are none. What is derived from it
// has to be derived again with another one.
func (h *Hub) division() uint64 {
	if !h.isDivided() {
		return 0
	}
	return (*h.issuers.Load()).Generation()
}

// issuerShare is Limits.IssuerShare; 0: no limit.
func (l *Limits) issuerShare() int {
	if l.IssuerShare > 0 && l.IssuerShare < 100 {
		return l.IssuerShare
	}
	return 0
}

// divided is something with a limit for all together, and each token and each issuer take a part.
type divided int

const (
	dividedAsks     divided = iota // questions to hooks about sessions and subscriptions that are under way
	dividedCommands                // bytes of commands that wait for hooks
	dividedAdmitted                // connections that hooks are asked about, and are still pending
	dividedThings
)

// amounts are what somebody has of each.
type amounts [dividedThings]atomic.Int64

// takeShare adds n to what all have of a limit, and to what a token and its issuer have, if none of
// these then has more than is left: alone one can have half, as one of two that want all of it a
// third. So something is left for whoever comes next. A negative n gives back.
func (h *Hub) takeShare(t *tokenState, of divided, n, limit int64) bool {
	all, token, issuer := &h.amounts[of], &t.own.amounts[of], &t.issuer.amounts[of]
	a, o, i := all.Add(n), token.Add(n), issuer.Add(n)
	if n < 0 || o <= limit-a && (i <= limit-a || !h.isDivided()) {
		return true
	}
	all.Add(-n)
	token.Add(-n)
	issuer.Add(-n)
	return false
}
