package pubsub

import "slices"

// deliver queues a frame with a set of patterns, in the lane own or, if that is nil, in the
// main lane. f is the plain one, if it is encoded already: to look for it here would be a
// twentieth of what a delivery costs. It never blocks.
func (s *Session) deliver(p *publication, f *frame, set *patternSet, own *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, l := s.revalidate(p, f, set, own)
	if f == nil || s.closing != nil {
		s.hub.count.drop(dropClosed, 1)
		return
	}
	if p.limits.Slow == SlowDisconnect && !s.queue.hasRoom(f.cost(), p.limits.SendQueue) {
		s.closeSlow(1, slowQueueFull)
		return
	}
	if n := s.queue.pushDelivery(l, f, p.limits.SendQueue); n > 0 {
		s.droppedTotal.Add(uint64(n))
		s.hub.count.drop(dropQueueFull, uint64(n))
		s.wake() // to say so
	}
	if s.queue.charge-s.queue.countedCharge >= queueChunk && !s.enforceQueueMemory(p.limits, f) {
		return
	}
	if l.stream == nil && !l.writing && s.tryWriter != nil && !s.detached {
		l.writing = true
		p.toFlush = p.toFlush.add(s)
		if s.makesPackets {
			p.woken++
		}
		return
	}
	p.woken++
	s.wakeLane(l)
}

// offer queues frames, each in its lane, and returns how many. That is 0 if the
// queue has no room, or a subscription no credit, and none if the client was told to
// reconnect, unless the message is sent as a last resort.
func (s *Session) offer(p *publication, frames []laneFrame) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reconnectSent != p.lastResort { // a last resort is no second try for the others, which have got later messages meanwhile
		p.leavingFound = p.leavingFound || s.reconnectSent && s.closing == nil
		return 0
	}
	size := 0
	valid := frames[:0]
	var credited []*subscription
	for _, lf := range frames {
		if s.workQueue && lf.lane == nil {
			var ok bool
			if lf.frame, credited, ok = s.frameToOne(p, lf.set); !ok {
				return 0
			}
			lf.lane = &s.queue.mainLane
		} else {
			lf.frame, lf.lane = s.revalidate(p, lf.set.frames[plain], lf.set, lf.lane)
		}
		if lf.frame != nil {
			valid = append(valid, lf)
			size += lf.frame.cost()
		}
	}
	if s.closing != nil || !s.queue.fits(size, p.limits.SendQueue) ||
		s.queue.charge > 0 && s.queue.charge+size-s.queue.countedCharge >= queueChunk && !s.hasQueueRoom(s.queue.charge+size-s.queue.countedCharge, p.limits) {
		return 0
	}
	for _, lf := range valid {
		switch {
		case !lf.frame.kept:
			s.queue.pushDelivery(lf.lane, lf.frame, p.limits.SendQueue)
			s.enforceQueueMemory(p.limits, lf.frame)
		case !s.pushIfRoom(lf.frame, p.limits, keptShare(p.limits)): // it is the first one
			return 0
		}
		s.wakeLane(lf.lane)
	}
	for _, sub := range credited {
		sub.credit--
	}
	return len(valid)
}

// laneFrame is a frame for one lane of a session.
type laneFrame struct {
	lane  *lane // nil: the main lane
	set   *patternSet
	frame *frame
}

// revalidate returns the frame and the lane in which a publisher may queue it now: no
// frame if the subscription has ended since the publisher matched it, and one with other
// patterns if other subscriptions have changed. The caller holds s.mu.
func (s *Session) revalidate(p *publication, f *frame, set *patternSet, own *lane) (*frame, *lane) {
	switch {
	case own != nil && (own.dead || own.closing):
		return nil, nil
	case own != nil:
	case s.subsVersion > p.subsVersion:
		return s.rematch(p), &s.queue.mainLane
	default:
		own = &s.queue.mainLane
	}
	if f == nil || s.variant != plain {
		f = set.frame(p, s.variantFor(p))
	}
	return f, own
}

// rematch matches a publication against the session's own list of subscriptions, which
// may have changed since the publisher looked for subscribers. The caller holds s.mu.
func (s *Session) rematch(p *publication) *frame {
	if patterns := s.matching(p); patterns != nil {
		return p.encode(patterns, s.variantFor(p))
	}
	return nil
}

// matching returns the patterns of the session's own list that match, sorted; nil: there are none. The caller
// holds s.mu.
func (s *Session) matching(p *publication) (patterns []string) {
	for key, sub := range s.subscriptions {
		if !key.ownStream && !sub.isResumable() && key.tenant == string(p.tenant) && sub.interest.pattern.Match(string(p.channel)) {
			patterns = append(patterns, key.pattern)
		}
	}
	p.pace.work.matched(len(s.subscriptions))
	slices.Sort(patterns)
	return patterns
}
