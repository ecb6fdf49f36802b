package pubsub

import (
	"slices"

	"github.com/millrace/millrace/wire"
)

// What a session puts off whose client was told to leave: until nothing is on its way
// that the client would lose, or overtake, by going on elsewhere (docs/protocol.md,
// Promises).

// putOff is an UNSUB that waits.
type putOff struct{ key subscriptionKey }

// putOffUnsub puts an UNSUB off, if the client was told to leave, until this edge has
// handed over what others had published to the tenant: the client may have it from
// nobody else, since it has subscribed elsewhere only later. It reports false if there
// is nothing to wait for. The caller holds s.subscribing.
func (s *Session) putOffUnsub(key subscriptionKey) bool {
	catcher, ok := s.hub.broker.(Catcher)
	if !ok || s.subscriptions[key] == nil || !s.isTold() {
		return false
	}
	if s.putOff == nil {
		s.putOff = map[subscriptionKey]*putOff{}
	}
	p := &putOff{key}
	s.putOff[key] = p
	catcher.CatchUp(key.tenant, func() { s.caughtUp(p) })
	return true
}

func (s *Session) isTold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told
}

// caughtUp has an UNSUB done that was put off. It does not block.
func (s *Session) caughtUp(p *putOff) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return
	}
	if s.due = append(s.due, p); len(s.due) == 1 {
		s.hub.Go(s.unsubscribeDue) // the session holds the group open
	}
}

func (s *Session) unsubscribeDue() {
	s.subscribing.Lock()
	defer s.subscribing.Unlock()
	s.mu.Lock()
	due := s.due
	s.due = nil
	s.mu.Unlock()
	for _, p := range due {
		if s.putOff[p.key] == p { // else it was done for another reason
			s.unsubscribe(p.key)
		}
	}
}

const (
	// maxPublishedTo is for how many of the tenants that a client published to last its
	// PINGs wait.
	maxPublishedTo = 16
	// maxPutOffPings is how many PINGs of a session wait.
	maxPutOffPings = 16
)

// putOffPings are the PINGs of a session that wait.
type putOffPings struct {
	open int           // that are not ready, those that were answered all the same included
	list []*putOffPing // that have no PONG yet, oldest first
}

// putOffPing is one that waits for so many tenants.
type putOffPing struct{ tenants int }

// published notes a tenant that the client has published to. The reader calls it.
func (s *Session) published(tenant string) {
	last := len(s.publishedTo) - 1
	if last >= 0 && s.publishedTo[last] == tenant {
		return
	}
	if i := slices.Index(s.publishedTo, tenant); i >= 0 {
		s.publishedTo = slices.Delete(s.publishedTo, i, i+1)
	} else if last+1 == maxPublishedTo {
		s.publishedTo = slices.Delete(s.publishedTo, 0, 1)
	}
	s.publishedTo = append(s.publishedTo, tenant)
}

// answerPing answers a PING: at once or, if the client was told to leave, when other
// edges have what it published before, since what it publishes elsewhere after the
// PONG could come to them earlier. The reader calls it.
func (s *Session) answerPing() {
	catcher, ok := s.hub.broker.(Catcher)
	p := &putOffPing{len(s.publishedTo)}
	if !ok || p.tenants == 0 || !s.putOffPing(p) {
		s.Control(Text, []byte(wire.LinePong))
		return
	}
	for _, tenant := range s.publishedTo {
		catcher.CatchUp(tenant, func() { s.pingCaughtUp(p) })
	}
}

// putOffPing has a PING wait, and reports false if it need not or may not.
func (s *Session) putOffPing(p *putOffPing) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.told || s.gone {
		return false
	}
	if s.pings == nil {
		s.pings = &putOffPings{}
	}
	if s.pings.open == maxPutOffPings { // who sends so many waits for none of them
		s.answerPings(len(s.pings.list))
		return false
	}
	s.pings.open++
	s.pings.list = append(s.pings.list, p)
	return true
}

// pingCaughtUp takes a tenant off a PING, and answers those that are ready. It does not
// block.
func (s *Session) pingCaughtUp(p *putOffPing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.tenants--; p.tenants > 0 || s.gone {
		return
	}
	s.pings.open--
	ready := slices.IndexFunc(s.pings.list, func(p *putOffPing) bool { return p.tenants > 0 })
	if ready < 0 {
		ready = len(s.pings.list)
	}
	s.answerPings(ready)
}

// answerPings answers the first n PINGs. The caller holds s.mu.
func (s *Session) answerPings(n int) {
	s.pings.list = slices.Delete(s.pings.list, 0, n)
	for range n {
		s.control(Text, []byte(wire.LinePong))
	}
}
