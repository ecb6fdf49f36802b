package nats

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// memberKept is how long an edge that fell silent without saying that it leaves is shown
// to operators, from its last announcement. At most maxPeers are.
const memberKept = time.Hour

// Members implements [pubsub.Requester].
func (b *Broker) Members() []pubsub.Member { return b.peers.members(b.name, time.Now()) }

// members lists this edge, and then all that it knows or remembers.
func (p *peers) members(own sender, now time.Time) []pubsub.Member {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forgetSilent(now)
	list := make([]pubsub.Member, 1, 1+len(p.others)+len(p.silent))
	list[0] = asMember(&peer{announcement: p.self, name: own})
	for _, other := range p.others {
		member := asMember(other)
		if other.isSilent(now) {
			member.State = pubsub.MemberSilent
		}
		list = append(list, member)
	}
	for _, other := range p.silent {
		member := asMember(other)
		member.State = pubsub.MemberSilent
		list = append(list, member)
	}
	slices.SortFunc(list[1:], func(a, b pubsub.Member) int { return strings.Compare(a.ID, b.ID) })
	return list
}

func asMember(p *peer) pubsub.Member {
	state := pubsub.MemberDraining // also of one that is about to end
	if p.State == stateHere {
		state = pubsub.MemberHere
	}
	return pubsub.Member{ID: p.ID.String(), Name: string(p.name), Host: p.Host, Region: p.Region, State: state, SeenAt: p.seen}
}

// lookup returns the name of another edge that is known, or remembered.
func (p *peers) lookup(id edgeID) (name sender, known bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, list := range []map[edgeID]*peer{p.others, p.silent} {
		if other := list[id]; other != nil {
			return other.name, true
		}
	}
	return "", false
}

// member returns the edge that has sent something just now. Its announcement may still be
// on the way.
func (p *peers) member(id edgeID, from sender, now time.Time) pubsub.Member {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if other := p.others[id]; other != nil && other.name == from {
		return asMember(other)
	}
	return asMember(&peer{announcement{ID: id, State: stateHere}, from, now, now})
}

// rememberSilent keeps an edge that is taken for gone, and has not said so, unless another
// one has replaced it. So one of each name is kept at most. The caller holds p.mu.
func (p *peers) rememberSilent(gone *peer) {
	var oldest *peer
	for _, other := range p.silent {
		if oldest == nil || other.seen.Before(oldest.seen) {
			oldest = other
		}
	}
	for _, other := range p.others {
		if other.replaces(gone) {
			return
		}
	}
	if len(p.silent) >= maxPeers {
		delete(p.silent, oldest.ID)
	}
	p.silent[gone.ID] = gone
}

// forgetSilent drops what has been silent for too long to be remembered. The caller holds
// p.mu.
func (p *peers) forgetSilent(now time.Time) {
	maps.DeleteFunc(p.silent, func(_ edgeID, other *peer) bool { return now.Sub(other.seen) > memberKept })
}

// forgetReplaced forgets that an edge was silent, and those that it has replaced. The caller
// holds p.mu.
func (p *peers) forgetReplaced(by *peer) {
	maps.DeleteFunc(p.silent, func(id edgeID, gone *peer) bool { return id == by.ID || by.replaces(gone) })
}

// replaces reports whether an edge was started in place of one that is gone: it has its name,
// or, where edges have no names, it came later than that one was last heard, and runs on its
// data or announces its host. Several edges may announce one host, such as that of a load
// balancer, and a copied machine has the place of another; these are heard all the time.
func (p *peer) replaces(gone *peer) bool {
	if p.name != "" || gone.name != "" {
		return p.name == gone.name
	}
	return p.first.After(gone.seen) && (p.Place != "" && p.Place == gone.Place || p.Host != "" && p.Host == gone.Host)
}
