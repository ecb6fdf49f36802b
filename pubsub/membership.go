package pubsub

import (
	"errors"
	"sync/atomic"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/pubsub/presence"
	"github.com/millrace/millrace/wire"
)

// sessionPresence is where the client of a session is present, and what it watches. Guarded
// by Session.subscribing.
type sessionPresence struct {
	joined  map[presence.Key]struct{}
	watched map[subscriptionKey]*whoReceiver
	wild    int // of these, with wildcards
}

// whoReceiver takes the frames of a WHO.
type whoReceiver struct {
	session *Session
	tenant  []byte
	pattern pattern.Pattern
	watcher *presence.Watcher
	ready   atomic.Bool // OK:WHO is queued
}

func (p *sessionPresence) len() int {
	if p == nil {
		return 0
	}
	return len(p.joined) + len(p.watched)
}

// handlePresence takes a JOIN, LEAVE, WHO or UNWHO line.
func (s *Session) handlePresence(line wire.Line) {
	if s.hub.currentPresences() == nil {
		s.rejectBroken(wire.CodeBadRequest) // as an edge of an earlier version does
		return
	}
	s.broken = 0
	tenant, text := string(line.Tenant), string(line.Pattern)
	if wire.CheckTenant(tenant) != nil {
		s.reject(wire.CodeBadTenant)
		return
	}
	ofChannel := line.Verb == wire.VerbJoin || line.Verb == wire.VerbLeave
	p, err := pattern.Parse(text)
	switch {
	case ofChannel && wire.CheckChannel(text) != nil:
		s.reject(wire.CodeBadChannel)
		return
	case err != nil:
		s.reject(wire.CodeBadPattern)
		return
	}
	key := subscriptionKey{tenant: tenant, pattern: text}
	s.handleCommand(&command{verb: line.Verb, key: key, pattern: p, count: line.Count})
}

// preparePresence is prepare of a JOIN, LEAVE, WHO or UNWHO.
func (s *Session) preparePresence(c *command) bool {
	key := c.key
	if s.presence == nil {
		s.presence = &sessionPresence{joined: map[presence.Key]struct{}{}, watched: map[subscriptionKey]*whoReceiver{}}
	}
	_, joined := s.presence.joined[s.member(key)]
	var refusal wire.Code
	var changes bool
	switch c.verb {
	case wire.VerbJoin:
		if !c.allowed {
			refusal = s.mayJoin(key, c.pattern)
		}
		changes = !joined // otherwise repeated: acknowledged again
		if refusal == "" && changes {
			refusal = s.overLimit(key, c.pattern)
		}
	case wire.VerbWho:
		changes = true
		if refusal = s.mayWatch(c); refusal == "" {
			refusal = s.overLimit(key, c.pattern)
		}
	case wire.VerbLeave:
		changes = joined
	default:
		changes = s.presence.watched[key] != nil
	}
	if refusal == "" && changes {
		return true
	}
	if refusal == wire.CodePermissionDenied {
		s.denyCommand(c, nil)
		return false
	}
	s.answerPresence(c.verb, key, refusal)
	return false
}

// beginPresence carries out what preparePresence has left, and answers it; see begin.
func (s *Session) beginPresence(c *command) {
	var refusal wire.Code
	ps, inForce := s.hub.presences.Load(), s.hub.Presences() != nil
	switch {
	case c.verb == wire.VerbLeave:
		s.leave(ps, c.key)
	case c.verb == wire.VerbUnwho:
		s.unwatchPresence(ps, c.key)
	case !inForce: // since the line was read
		refusal = wire.CodeNoPresence
	case c.verb == wire.VerbJoin:
		refusal = s.join(ps, c.key)
	default:
		refusal = s.watchPresence(ps, c.key, c.pattern, c.count)
	}
	s.answerPresence(c.verb, c.key, refusal)
}

// answerPresence acknowledges a line, or refuses it. The caller holds s.subscribing.
func (s *Session) answerPresence(verb wire.Verb, key subscriptionKey, refusal wire.Code) {
	if refusal != "" {
		s.reject(refusal, verb.String(), key.tenant, key.pattern)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acknowledge(verb, key.tenant, key.pattern)
	if who := s.presence.watched[key]; verb == wire.VerbWho && who != nil {
		who.ready.Store(true)
	}
}

// member is what the client is in a channel.
func (s *Session) member(key subscriptionKey) presence.Key {
	return presence.Key{Tenant: key.tenant, Channel: key.pattern, Subject: s.identity.Subject}
}

// mayJoin returns the code of a refusal of a JOIN; empty: the token allows it.
func (s *Session) mayJoin(key subscriptionKey, p pattern.Pattern) wire.Code {
	switch {
	case !s.maySubscribe(key.tenant, p):
		return wire.CodePermissionDenied
	case s.identity.Subject == "":
		return wire.CodeNoSubject
	}
	return ""
}

// join makes the client a member, or returns the code of a refusal. The caller holds
// s.subscribing.
func (s *Session) join(ps *presences, key subscriptionKey) wire.Code {
	member := s.member(key)
	err := ps.registry.Join(s.token.issuerName, member, s.identity.Info)
	if err == nil {
		s.presence.joined[member] = struct{}{}
		s.patternBytes += int32(len(key.pattern))
	}
	return codeOfPresence(err)
}

// leave undoes join. The caller holds s.subscribing.
func (s *Session) leave(ps *presences, key subscriptionKey) {
	member := s.member(key)
	if _, joined := s.presence.joined[member]; joined {
		delete(s.presence.joined, member)
		s.patternBytes -= int32(len(key.pattern))
		ps.registry.Leave(member, false)
	}
}

// leaveAll undoes all joins of a session that is closing, so that no more follow.
func (s *Session) leaveAll() {
	s.subscribing.Lock()
	defer s.subscribing.Unlock()
	if s.presence == nil {
		return
	}
	ps := s.hub.presences.Load()
	for member := range s.presence.joined {
		s.leave(ps, subscriptionKey{tenant: member.Tenant, pattern: member.Channel})
	}
}

// mayWatch returns the code of a refusal of a WHO; empty: the token allows it, and the client does
// not watch it yet. The caller holds s.subscribing.
func (s *Session) mayWatch(c *command) wire.Code {
	allowed := c.allowed || s.allows(func(r Rights) bool {
		if c.count {
			return r.CanSubscribe(c.key.tenant, c.pattern)
		}
		reader, ok := r.(PresenceReader)
		return ok && reader.CanReadPresence(c.key.tenant, c.pattern)
	})
	switch {
	case !allowed:
		return wire.CodePermissionDenied
	case s.presence.watched[c.key] != nil:
		return wire.CodeBadRequest
	}
	return ""
}

// watchPresence begins to tell the client who is present, or returns the code of a refusal.
// The caller holds s.subscribing.
func (s *Session) watchPresence(ps *presences, key subscriptionKey, p pattern.Pattern, count bool) wire.Code {
	if p.Shape() != 0 && s.presence.wild >= maxWildWatched {
		return wire.CodeTooManyPatterns
	}
	who := &whoReceiver{session: s, tenant: []byte(key.tenant), pattern: p}
	var err error
	if who.watcher, err = ps.registry.Watch(s.token.issuerName, key.tenant, p, count, who); err == nil {
		s.presence.watched[key] = who
		s.countWatched(who, 1)
	}
	return codeOfPresence(err)
}

// maxWildWatched is how many patterns with wildcards a client may watch: a tenant has few of
// them, see package presence.
const maxWildWatched = 32

// countWatched counts a WHO for the limits of the session, or takes that back.
func (s *Session) countWatched(who *whoReceiver, n int) {
	shape := who.pattern.Shape()
	s.patternBytes += int32(n * len(who.pattern.String()))
	if shape != 0 {
		s.presence.wild += n
	}
	if n > 0 {
		s.shapes.add(shape)
	} else {
		s.shapes.remove(shape)
	}
}

// unwatchPresence undoes watchPresence. The caller holds s.subscribing.
func (s *Session) unwatchPresence(ps *presences, key subscriptionKey) {
	if who := s.presence.watched[key]; who != nil {
		ps.registry.Unwatch(who.watcher)
		delete(s.presence.watched, key)
		s.countWatched(who, -1)
	}
}

// endPresence ends all of it with the session. The caller holds s.subscribing.
func (s *Session) endPresence() {
	if s.presence.len() == 0 {
		return
	}
	s.mu.Lock()
	lost := s.closing.errCode != wire.CodeTokenRevoked
	s.mu.Unlock()
	registry := s.hub.presences.Load().registry
	for member := range s.presence.joined {
		registry.Leave(member, lost)
	}
	for _, who := range s.presence.watched {
		registry.Unwatch(who.watcher)
	}
	s.presence = nil
}

// recheckPresence ends what the current presences do not contain any more.
func (s *Session) recheckPresence(set *presence.Set) {
	s.subscribing.Lock()
	defer s.subscribing.Unlock()
	ps := s.hub.presences.Load()
	if s.presence == nil {
		return
	}
	for member := range s.presence.joined {
		if !set.Has(member.Tenant, member.Channel) {
			s.leave(ps, subscriptionKey{tenant: member.Tenant, pattern: member.Channel})
			s.reject(wire.CodeNoPresence, wire.VerbJoin.String(), member.Tenant, member.Channel)
		}
	}
	for key, who := range s.presence.watched {
		if !set.Contains(key.tenant, who.pattern) {
			s.unwatchPresence(ps, key)
			s.reject(wire.CodeNoPresence, wire.VerbWho.String(), key.tenant, key.pattern)
		}
	}
}

// HasRoom implements [presence.Receiver].
func (w *whoReceiver) HasRoom() bool {
	if !w.ready.Load() {
		return false
	}
	s := w.session
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing != nil || s.hasPresenceRoom(presence.MaxFrame+itemOverhead, s.hub.limits.Load())
}

// PushPresence implements [presence.Receiver].
func (w *whoReceiver) PushPresence(data []byte) bool {
	if !w.ready.Load() {
		return false
	}
	s := w.session
	f := &frame{data: data, kind: Binary, kept: true, presence: true, at: s.hub.now()}
	l := s.hub.limits.Load()
	if l.TenantEgressKB > 0 {
		f.caps = s.hub.tenantCapsOf(w.tenant)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing != nil: // to nobody
	case !s.hasPresenceRoom(f.cost(), l):
		return false
	default:
		s.queue.pushPresence(f)
		s.countQueued()
		s.wake()
	}
	return true
}

// maxPresenceQueued is how many bytes may wait for a client when the next frame about presence
// is queued: what it gets later is newer.
const maxPresenceQueued = 32 << 10

// hasPresenceRoom reports whether a frame about presence may be queued that costs n bytes. The
// caller holds s.mu.
func (s *Session) hasPresenceRoom(n int, l *Limits) bool {
	waiting := s.queue.presence
	return (waiting == 0 || waiting+n <= min(l.SendQueue/4, maxPresenceQueued)) && s.fitsShares(n, l)
}

func codeOfPresence(err error) wire.Code {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, presence.ErrFull):
		return wire.CodeTooManyMembers
	case errors.Is(err, presence.ErrTooManyPatterns):
		return wire.CodeTooManyPatterns
	}
	return wire.CodeNoPresence
}
