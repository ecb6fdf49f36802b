package pubsub

import "slices"

// deliver queues a frame that matches a subscription, in its lane or, without
// one, the default lane; it never blocks.
func (s *Session) deliver(p *publication, f *frame, l *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, l = s.revalidate(p, f, l); f == nil || s.closing != nil {
		s.hub.count.drop(dropClosed, 1)
		return
	}
	if p.limits.Slow == SlowDisconnect && !s.queue.fits(f.cost(), p.limits.SendQueue) {
		s.closeSlow(1, slowQueueFull)
		return
	}
	if n := s.queue.pushDelivery(l, f, p.limits.SendQueue); n > 0 {
		s.droppedTotal.Add(uint64(n))
		s.hub.count.drop(dropQueueFull, uint64(n))
		s.wake() // to say so
	}
	if s.queue.charge-s.queue.countedCharge >= queueChunk && !s.countQueue(p.limits, f) {
		return
	}
	if l.stream == nil && !l.writing && s.tryWriter != nil && !s.detached {
		l.writing = true
		p.toFlush = p.toFlush.add(s)
		return
	}
	s.wakeLane(l)
}

// tryDeliver queues frames, each in its lane, and says how many: none if the queue is
// full, or the session is leaving, but as a last resort.
func (s *Session) tryDeliver(p *publication, parts []laneFrame) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := 0
	alive := parts[:0]
	for _, part := range parts {
		if part.frame, part.lane = s.revalidate(p, part.frame, part.lane); part.frame != nil {
			alive = append(alive, part)
			size += part.frame.cost()
		}
	}
	if s.reconnectSent != p.lastResort { // a last resort is no second try for others: they have got later ones meanwhile
		p.leavingFound = p.leavingFound || s.reconnectSent && s.closing == nil
		return 0
	}
	if s.closing != nil || !s.queue.fits(size, p.limits.SendQueue) ||
		s.queue.charge > 0 && s.queue.charge+size-s.queue.countedCharge >= queueChunk && !s.hasQueueRoom(s.queue.charge+size-s.queue.countedCharge, p.limits) {
		return 0
	}
	for _, part := range alive {
		s.queue.pushDelivery(part.lane, part.frame, p.limits.SendQueue)
		s.wakeLane(part.lane)
		s.countQueue(p.limits, part.frame)
	}
	return len(alive)
}

// laneFrame is a frame for one lane of a session; nil: the default one.
type laneFrame struct {
	lane  *lane
	frame *frame
}

// revalidate returns what a publisher may queue in place of a frame that it has for
// a lane: nothing if the subscription has ended meanwhile, and another frame if
// others have. The caller holds s.mu.
func (s *Session) revalidate(p *publication, f *frame, l *lane) (*frame, *lane) {
	switch {
	case l != nil && (l.dead || l.closing):
		return nil, nil
	case l != nil:
		return f, l
	case s.subsVersion > p.subsVersion:
		f = s.rematch(p)
	}
	return f, &s.queue.mainLane
}

// rematch matches a publish with the session's own list: the publisher may have
// looked for subscribers before the last change of it. Caller holds s.mu.
func (s *Session) rematch(p *publication) *frame {
	var patterns []string
	for key, sub := range s.subscriptions {
		if !key.ownStream && key.tenant == string(p.tenant) && sub.interest.pattern.Match(string(p.channel)) {
			patterns = append(patterns, key.pattern)
		}
	}
	if patterns == nil {
		return nil
	}
	slices.Sort(patterns)
	return p.encode(patterns)
}
