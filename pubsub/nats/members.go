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
	list[0] = asMember(&peer{p.self, own, time.Time{}})
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
	return asMember(&peer{announcement{ID: id, State: stateHere}, from, now})
}

// rememberSilent keeps an edge that is taken for gone, and has not said so. One whose name
// another edge has now was started again; so one of each name is kept at most. The caller
// holds p.mu.
func (p *peers) rememberSilent(gone *peer) {
	var oldest *peer
	for _, other := range p.silent {
		if oldest == nil || other.seen.Before(oldest.seen) {
			oldest = other
		}
	}
	for _, other := range p.others {
		if gone.name != "" && other.name == gone.name {
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

// backAgain forgets that an edge was silent, and those of its name, whose place it has
// taken. The caller holds p.mu.
func (p *peers) backAgain(id edgeID, from sender) {
	maps.DeleteFunc(p.silent, func(silent edgeID, other *peer) bool {
		return silent == id || from != "" && other.name == from
	})
}
