package nats

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub"
)

const (
	announceInterval = 2 * time.Second
	// peerTimeout is how long an edge may be silent before it is taken for gone.
	peerTimeout = 3*announceInterval + time.Second
	// maxAnnouncement bounds what is taken from an edge: it is kept, and listed to
	// clients.
	maxAnnouncement = 4096
	// maxPeers bounds the other edges, and maxPeersOfName those that have one name: one
	// that was started again, and those before it that have not been silent for long.
	maxPeers       = 1000
	maxPeersOfName = 8
	// leaveTimeout is how long an edge that stops waits for its last messages to go.
	leaveTimeout = time.Second
)

// peers are the edges of the overlay that this one has heard of, and itself.
type peers struct {
	mu     sync.RWMutex
	self   announcement
	check  func(host string) error // nil: all hosts are taken
	others map[edgeID]*peer
	ids    []edgeID         // of all, this one first
	silent map[edgeID]*peer // no longer among others; see members.go
}

type peer struct {
	announcement
	name  sender
	first time.Time // when it was heard first
	seen  time.Time // and last
}

// announcement is what an edge says of itself every other second, and when that
// changes.
type announcement struct {
	Version int    `json:"v"`
	ID      edgeID `json:"id"`
	Host    string `json:"host,omitempty"`
	Region  string `json:"region,omitempty"`
	State   string `json:"state"`
	Clock   uint64 `json:"clock,omitempty"` // see clock.go
	Place   string `json:"place,omitempty"` // see replaces
}

const (
	stateHere     = "here"
	stateDraining = "draining"
	stateGone     = "gone"
)

func (p *peers) init(id edgeID, place string, check func(host string) error) {
	p.check = check
	p.self = announcement{Version: version, ID: id, State: stateHere, Place: place}
	p.others, p.silent = map[edgeID]*peer{}, map[edgeID]*peer{}
	p.ids = []edgeID{id}
}

// describe notes what clients have to know of this edge, to choose one.
func (p *peers) describe(e pubsub.Edge) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.self.Host, p.self.Region = e.Host, e.Region
}

// otherIDs returns the ids of the other edges.
func (p *peers) otherIDs() []edgeID {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.Clone(p.ids[1:])
}

// setState notes whether this edge serves, drains, or is about to end.
func (p *peers) setState(state string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.self.State = state
}

// announcement returns what this edge says of itself.
func (p *peers) announcement(clock uint64) []byte {
	p.mu.RLock()
	defer p.mu.RUnlock()
	self := p.self
	self.Clock = clock
	data, err := json.Marshal(self)
	if err != nil {
		panic(err) // JSON can encode all that it has
	}
	return data
}

// The reasons for which an announcement is refused.
var (
	errAnnouncement = errors.New("not an announcement of an edge")
	errNotBroadcast = errors.New("not a broadcast of an edge")
	errNotSender    = errors.New("it names a different edge than its subject")
	errManyPeers    = errors.New("too many edges announce themselves")
)

// handleAnnouncement takes an announcement, and reports whether its edge is new: then
// that edge may not know this one.
func (p *peers) handleAnnouncement(from sender, data []byte, now time.Time) (isNew bool, err error) {
	var a announcement
	if len(data) > maxAnnouncement || json.Unmarshal(data, &a) != nil || a.ID == 0 || a.ID == p.self.ID {
		return false, errAnnouncement
	}
	if a.Version != version {
		return false, versionError(a.Version)
	}
	if !from.owns(a.ID) {
		return false, errNotSender
	}
	if a.Host != "" && p.check != nil {
		if err = p.check(a.Host); err != nil {
			a.Host, err = "", fmt.Errorf("announced host: %w", err) // it still gets messages
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	before, known := p.others[a.ID]
	first := now
	if known {
		first = before.first
	}
	switch {
	case a.State == stateGone:
		delete(p.others, a.ID)
		delete(p.silent, a.ID)
	case known || p.makeRoom(from):
		p.others[a.ID] = &peer{a, from, first, now}
		p.forgetReplaced(p.others[a.ID])
	default:
		return false, errManyPeers
	}
	p.updateIDs()
	return !known && a.State != stateGone, err
}

// makeRoom reports whether there is room for another edge. Of too many with one name,
// the one that has been silent longest is dropped. The caller holds p.mu.
func (p *peers) makeRoom(from sender) bool {
	if from != "" {
		var oldest edgeID
		n := 0
		for id, other := range p.others {
			if !from.owns(id) {
				continue
			}
			if n++; oldest == 0 || other.seen.Before(p.others[oldest].seen) {
				oldest = id
			}
		}
		if n >= maxPeersOfName {
			delete(p.others, oldest)
		}
	}
	return len(p.others) < maxPeers
}

// remove drops an edge that is gone.
func (p *peers) remove(id edgeID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if gone := p.others[id]; gone != nil {
		delete(p.others, id)
		p.rememberSilent(gone)
	}
	p.updateIDs()
}

// expire drops edges that have been silent too long.
func (p *peers) expire(now time.Time) (gone []edgeID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, other := range p.others {
		if other.isSilent(now) {
			delete(p.others, id)
			p.rememberSilent(other)
			gone = append(gone, id)
		}
	}
	p.forgetSilent(now)
	p.updateIDs()
	return gone
}

// isSilent reports whether an edge has been silent too long.
func (p *peer) isSilent(now time.Time) bool { return now.Sub(p.seen) > peerTimeout }

// updateIDs rebuilds ids. The caller holds p.mu.
func (p *peers) updateIDs() {
	p.ids = append(p.ids[:0], p.self.ID)
	for id := range p.others {
		p.ids = append(p.ids, id)
	}
}

// edges returns the edges that clients can choose from, sorted by host. Those that have
// been silent too long are left out, even before expire drops them.
func (p *peers) edges(now time.Time) []pubsub.Edge {
	p.mu.RLock()
	defer p.mu.RUnlock()
	list := []pubsub.Edge{}
	add := func(a announcement) {
		if a.Host != "" && a.State == stateHere {
			list = append(list, pubsub.Edge{Host: a.Host, Region: a.Region})
		}
	}
	add(p.self)
	for _, other := range p.others {
		if !other.isSilent(now) {
			add(other.announcement)
		}
	}
	slices.SortFunc(list, func(a, b pubsub.Edge) int { return strings.Compare(a.Host, b.Host) })
	return slices.CompactFunc(list, func(a, b pubsub.Edge) bool { return a.Host == b.Host })
}

// announce tells the other edges of this one.
func (b *Broker) announce() {
	data := b.peers.announcement(b.clock.now())
	_ = b.enqueue(nil, "", // without a link there is nobody to tell
		func(to []byte) []byte { return append(append(to, b.publishPrefix...), announcements...) },
		func(to []byte) []byte { return append(to, data...) })
}
