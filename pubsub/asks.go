package pubsub

import (
	"context"
	"time"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/wire"
)

// maxAsks is how many sessions and subscriptions hooks are asked about at the same time, on an
// edge; for the share of a token see takeShare. Each is a goroutine that may wait for [hook.AskTimeout]:
// beyond, the answer is try_later at once.
const maxAsks = 4096

// hooksDecide reports whether there are hooks to be asked about a command.
func (s *Session) hooksDecide(c *command) bool {
	switch c.verb {
	case wire.VerbUnsub, wire.VerbLeave, wire.VerbUnwho:
		return false
	}
	return len(s.hub.hooks.Load().authorizeSubscribe) > 0
}

// startAsk counts a question about a command, or refuses the command if too many are under way. The
// caller holds s.subscribing.
func (s *Session) startAsk(c *command) (ok bool) {
	if c.release, ok = s.takeAsk(); !ok {
		s.reject(wire.CodeTryLater, c.verb.String(), c.key.tenant, c.key.pattern)
		return false
	}
	s.commands.asking++
	return true
}

func (s *Session) askSubscribe(c *command) *HookRefusal {
	ctx, cancel := context.WithTimeout(sessionContext{s}, hook.AskTimeout)
	defer cancel()
	client, about := s.hookClient(), c.key.hookSubscription(c.verb == wire.VerbRsub)
	about.Presence = c.queue().presence != 0
	return askHooks(ctx, s.hub, s.hub.hooks.Load().authorizeSubscribe, func(n hookOf[hook.SubscribeAuthorizer]) error {
		return n.hook.AuthorizeSubscribe(ctx, client, about)
	})
}

// conclude carries out a command that the hooks have decided about.
func (s *Session) conclude(c *command, refusal *HookRefusal) {
	if refusal == nil { // the share is waited for before the lock is taken
		if pace, ok := s.beginPaced(c.key.tenant, 0, s.hub.now()); ok {
			defer pace.end()
		}
	}
	s.subscribing.Lock()
	defer s.subscribing.Unlock()
	if s.Closing() {
		return
	}
	s.commands.asking--
	switch {
	case refusal != nil:
		s.denyCommand(c, refusal)
	case s.prepare(c): // the limits may have changed meanwhile
		s.begin(c)
	}
}

// takeAsk counts a question for the edge, the token and its issuer, if they have room for one more,
// until release.
func (s *Session) takeAsk() (release func(), ok bool) {
	h, t := s.hub, s.token
	return func() { h.takeShare(t, dividedAsks, -1, 0) }, h.takeShare(t, dividedAsks, 1, maxAsks)
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
