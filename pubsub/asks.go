package pubsub

import (
	"context"
	"time"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// maxAsks is how many subscriptions hooks are asked about at the same time, on an edge;
// half of it for one token. Each is a goroutine that may wait for [hook.AskTimeout]:
// beyond, the answer is try_later at once.
const maxAsks = 4096

// asks are the questions to hooks about subscriptions of one session that are under way.
// Guarded by Session.subscribing.
type asks struct {
	pending   map[askKey]chan struct{} // closed when the hooks have decided
	roomFreed chan struct{}            // tells the reader that waits for room; has room for one
}

// askKey is what hooks are asked about: a subscription, or of presence a JOIN or a WHO.
type askKey struct {
	subscriptionKey
	presence wire.Verb // VerbJoin or VerbWho; zero: it is a subscription
}

// awaitDecision waits until hooks that are asked about a subscription have decided: what
// concerns one subscription is handled in order. It reports false once the session ends.
// The reader calls it, and holds no mutex.
func (s *Session) awaitDecision(key askKey) bool {
	s.subscribing.Lock()
	decided := s.asks.pending[key]
	s.subscribing.Unlock()
	if decided == nil {
		return true
	}
	select {
	case <-decided:
		return true
	case <-s.done:
		return false
	}
}

// requestSubscription calls subscribe, with the load of the tenant, once the hooks allow it. What
// follows on the connection does not wait for them. The reader calls it, with s.subscribing held, as
// subscribe is called.
func (s *Session) requestSubscription(verb wire.Verb, key askKey, p pattern.Pattern, subscribe func(*cpuAccount)) {
	list := s.hub.hooks.Load().authorizeSubscribe
	if len(list) == 0 {
		subscribe(s.cachedAccount([]byte(key.tenant)))
		return
	}
	if s.asks.pending == nil {
		s.asks = asks{map[askKey]chan struct{}{}, make(chan struct{}, 1)}
	}
	for len(s.asks.pending) >= hook.MaxAsked {
		s.subscribing.Unlock()
		select {
		case <-s.asks.roomFreed:
		case <-s.done:
		}
		s.subscribing.Lock()
		if s.Closing() {
			return
		}
	}
	release, ok := s.takeAsk()
	if !ok {
		s.reject(wire.CodeTryLater, verb.String(), key.tenant, key.pattern)
		return
	}
	decided := make(chan struct{})
	s.asks.pending[key] = decided
	s.hub.Go(func() {
		refusal := s.askSubscribe(list, key, verb)
		release()
		s.subscribing.Lock()
		defer s.subscribing.Unlock()
		delete(s.asks.pending, key)
		close(decided)
		select {
		case s.asks.roomFreed <- struct{}{}:
		default:
		}
		if s.Closing() {
			return
		}
		code := s.overLimit(key.subscriptionKey, p) // the limits may have changed meanwhile
		if refusal != nil {
			code = refusal.Code
		}
		if code != "" {
			s.reject(code, verb.String(), key.tenant, key.pattern)
			return
		}
		subscribe(s.hub.cpuAccountOf([]byte(key.tenant)))
	})
}

func (s *Session) askSubscribe(list []hookOf[hook.SubscribeAuthorizer], key askKey, verb wire.Verb) *hook.Refusal {
	ctx, cancel := context.WithTimeout(sessionContext{s}, hook.AskTimeout)
	defer cancel()
	client, about := s.hookClient(), key.hookSubscription(verb == wire.VerbRsub)
	about.Presence = key.presence != 0
	return askHooks(ctx, s.hub, list, func(n hookOf[hook.SubscribeAuthorizer]) error {
		return n.hook.AuthorizeSubscribe(ctx, client, about)
	})
}

// takeAsk counts a question for the edge and the token, if they have room for one more,
// until release.
func (s *Session) takeAsk() (release func(), ok bool) {
	all, ofToken := &s.hub.asksInFlight, &s.token.asksInFlight
	release = func() {
		all.Add(-1)
		ofToken.Add(-1)
	}
	if n, m := all.Add(1), ofToken.Add(1); n > maxAsks || m > maxAsks/2 {
		release()
		return nil, false
	}
	return release, true
}

// hookSubscription is what hooks see of a subscription.
func (k subscriptionKey) hookSubscription(positions bool) hook.Subscription {
	return hook.Subscription{Tenant: k.tenant, Pattern: k.pattern, OwnStream: k.ownStream, Positions: positions}
}

// runSubscribedHooks and runUnsubscribedHooks tell the hooks of a change of subscriptions. The
// caller holds s.subscribing, so that they hear of changes in order.
func (s *Session) runSubscribedHooks(key subscriptionKey, positions bool) {
	if list := s.hub.hooks.Load().subscribed; len(list) > 0 {
		runHooks(s.hub, list, func(o hook.SubscribeObserver) { o.Subscribed(s.hookClient(), key.hookSubscription(positions)) })
	}
}

func (s *Session) runUnsubscribedHooks(key subscriptionKey, positions bool) {
	if list := s.hub.hooks.Load().unsubscribed; len(list) > 0 {
		runHooks(s.hub, list, func(o hook.UnsubscribeObserver) { o.Unsubscribed(s.hookClient(), key.hookSubscription(positions)) })
	}
}

// sessionContext is done when its session starts to end.
type sessionContext struct{ *Session }

func (sessionContext) Deadline() (time.Time, bool) { return time.Time{}, false }
func (c sessionContext) Done() <-chan struct{}     { return c.done }
func (sessionContext) Value(any) any               { return nil }
func (c sessionContext) Err() error {
	if c.Closing() {
		return context.Canceled
	}
	return nil
}
