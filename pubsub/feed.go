package pubsub

import (
	"sync/atomic"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// feed is one distinct pattern of subscriptions with positions, in one history and tenant.
type feed struct {
	pattern     pattern.Pattern
	shape       pattern.Shape
	token       *tokenState // that had it first
	subscribers atomic.Pointer[members]
}

// addSubscriber adds a subscription with positions, or returns the code of a refusal.
func (q *sequencer) addSubscriber(s *Session, r *resumable) (*subscription, wire.Code) {
	q.feedsMu.Lock()
	defer q.feedsMu.Unlock()
	f, known := q.feeds.Get(r.pattern)
	if !known {
		f = &feed{pattern: r.pattern, shape: r.pattern.Shape()}
		f.subscribers.Store(new(members))
		if !q.hub.hasPatternRoom(q.feeds.Len(), &q.shapes, f.shape, s.token, &q.owner) {
			return nil, wire.CodeTooManyPatterns
		}
	}
	all := f.subscribers.Load()
	sub := &subscription{index: all.len(), resumable: r}
	r.feed = f
	f.subscribers.Store(all.with(member{s, nil, sub}))
	if !known {
		q.feeds.Insert(r.pattern, f)
		if q.all == nil {
			q.all = map[*feed]struct{}{}
		}
		q.all[f] = struct{}{}
		f.token = s.token
		q.hub.countPattern(&q.shapes, f.shape, s.token)
	}
	return sub, ""
}

// removeSubscriber removes a subscription. Its sequencer may be forgotten.
func (q *sequencer) removeSubscriber(sub *subscription) {
	q.feedsMu.Lock()
	f := sub.resumable.feed
	left, moved := f.subscribers.Load().without(sub.index)
	moved.index = sub.index
	f.subscribers.Store(left)
	if left.len() == 0 {
		q.feeds.Delete(f.pattern)
		delete(q.all, f)
		q.hub.uncountPattern(&q.shapes, f.shape, f.token)
	}
	q.feedsMu.Unlock()
	if q.shared != nil {
		q.shared.Unfollow(q.id.history)
	}
	q.release()
}

// members lists the subscriptions, in no order.
func (q *sequencer) members() (list []member) {
	q.feedsMu.Lock()
	defer q.feedsMu.Unlock()
	for f := range q.all {
		for part := range f.subscribers.Load().chunks {
			list = append(list, part...)
		}
	}
	return list
}
