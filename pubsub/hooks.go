package pubsub

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/wire"
)

// NamedHook is a hook with the name by which the log calls it.
type NamedHook struct {
	Name string
	Hook any // implements interfaces of package hook
}

// hooks are the current ones, each in the list of what it does, in their order. They do
// not change.
type hooks struct {
	authorizeConnect   []hookOf[hook.ConnectAuthorizer]
	authorizeSubscribe []hookOf[hook.SubscribeAuthorizer]
	authorizePublish   []hookOf[hook.PublishAuthorizer]
	connected          []hookOf[hook.ConnectObserver]
	disconnected       []hookOf[hook.DisconnectObserver]
	subscribed         []hookOf[hook.SubscribeObserver]
	unsubscribed       []hookOf[hook.UnsubscribeObserver]
	joined             []hookOf[hook.JoinObserver]
	left               []hookOf[hook.LeaveObserver]
	refused            []hookOf[hook.RefusalObserver]
	denied             []hookOf[hook.DenialObserver]
	operated           []hookOf[hook.OperationObserver]
}

// hookOf is a hook seen as one of its interfaces.
type hookOf[H any] struct {
	name        string
	hook        H
	readPayload bool // of a PublishAuthorizer
}

// add adds a hook to the list of one interface, if it implements that.
func add[H any](list *[]hookOf[H], n NamedHook) (added bool) {
	h, ok := n.Hook.(H)
	if ok {
		reader, reads := n.Hook.(hook.PayloadReader)
		*list = append(*list, hookOf[H]{n.Name, h, reads && reader.ReadsPayload()})
	}
	return ok
}

// sortHooks lists hooks by what they do.
func sortHooks(list []NamedHook) (*hooks, error) {
	h := new(hooks)
	for _, n := range list {
		connect, subscribe, publish := true, true, true
		if s, ok := n.Hook.(hook.Selector); ok {
			connect, subscribe, publish = s.Asked()
		}
		added := []bool{
			connect && add(&h.authorizeConnect, n), subscribe && add(&h.authorizeSubscribe, n), publish && add(&h.authorizePublish, n),
			add(&h.connected, n), add(&h.disconnected, n), add(&h.subscribed, n), add(&h.unsubscribed, n),
			add(&h.joined, n), add(&h.left, n), add(&h.refused, n), add(&h.denied, n), add(&h.operated, n),
		}
		if !slices.Contains(added, true) {
			return nil, fmt.Errorf("%s: implements no interface of package hook", n.Name)
		}
	}
	return h, nil
}

// CheckHooks returns an error that names the first of the hooks that implements none of
// the interfaces of package hook.
func CheckHooks(list []NamedHook) error {
	_, err := sortHooks(list)
	return err
}

// SetHooks puts hooks into effect, in this order, in place of those before, also for open
// sessions. The list must have passed [CheckHooks].
func (h *Hub) SetHooks(list []NamedHook) {
	sorted, err := sortHooks(list)
	if err != nil {
		panic(err)
	}
	h.hooks.Store(sorted)
}

// panicked is the error of a hook that panicked.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// protect calls a hook, and makes an error of a panic.
func protect(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicked{p, debug.Stack()}
		}
	}()
	return call()
}

// runHooks calls all hooks of a list.
func runHooks[H any](h *Hub, list []hookOf[H], call func(H)) {
	for _, n := range list {
		err := protect(func() error {
			call(n.hook)
			return nil
		})
		if err != nil {
			h.hookFailed(n.name, err)
		}
	}
}

// HookRefusal is a refusal with the name of the hook; empty: the edge could not ask.
type HookRefusal struct {
	hook.Refusal
	Hook string
}

// askHooks calls the hooks of a list until one refuses, and returns its refusal; nil: all of
// them allow it.
func askHooks[H any](ctx context.Context, h *Hub, list []hookOf[H], call func(hookOf[H]) error) *HookRefusal {
	for _, n := range list {
		err := protect(func() error { return call(n) })
		gone := ctx.Err()
		if err == nil && gone == nil {
			continue
		}
		var refusal *hook.Refusal
		if errors.As(err, &refusal) && gone == nil && (refusal.Code == wire.CodePermissionDenied || refusal.Code == wire.CodeTryLater) {
			return &HookRefusal{*refusal, n.name}
		}
		switch {
		case errors.Is(gone, context.Canceled): // nobody waits for the answer
		case gone != nil:
			h.hookFailed(n.name, fmt.Errorf("no answer in %v", hook.AskTimeout))
		default:
			h.hookFailed(n.name, err)
		}
		return &HookRefusal{hook.Refusal{Code: wire.CodeTryLater, Reason: "the edge could not find out whether this is allowed"}, n.name}
	}
	return nil
}

// faultLog bounds what failing hooks log: a hook that fails does so for each client.
type faultLog struct{ next atomic.Int64 } // on the hub's clock

const faultLogEvery = time.Second

// hookFailed counts and logs a fault of a hook; one a second is logged.
func (h *Hub) hookFailed(name string, err error) {
	h.count.hookFaults.Add(1)
	now := int64(h.now())
	next := h.hookFaults.next.Load()
	if now < next || !h.hookFaults.next.CompareAndSwap(next, now+int64(faultLogEvery)) {
		return
	}
	fields := []zap.Field{zap.String("hook", name), zap.Error(err)}
	var p *panicked
	if errors.As(err, &p) {
		fields = append(fields, zap.ByteString("stack", p.stack))
	}
	h.log.Error("hook failed", fields...)
}

// Operated tells the hooks of an operation on tokens.
func (h *Hub) Operated(o hook.Operation) {
	runHooks(h, h.hooks.Load().operated, func(observer hook.OperationObserver) { observer.Operated(o) })
}

// sharedIssuer is the issuer of a token as hooks and brokers see it: empty unless several issuers share.
func (h *Hub) sharedIssuer(name string) string {
	if !h.isDivided() {
		return ""
	}
	return name
}

// hookClient is what hooks see of the session.
func (s *Session) hookClient() hook.Client {
	return hook.Client{
		ID: s.client.ID, ConnectionID: s.client.ConnectionID, TokenID: s.identity.TokenID, Tenants: s.identity.Tenants,
		IP: s.client.IP, Transport: s.client.Transport, Since: s.client.Since,
		Subject: s.identity.Subject, Info: s.identity.Info, Issuer: s.hub.sharedIssuer(s.token.issuerName),
	}
}

// Authorize asks the hooks whether the client may have the session. The caller ends it
// if they refuse. It counts as one of the questions of the token.
func (s *Session) Authorize(ctx context.Context) *HookRefusal {
	list := s.hub.hooks.Load().authorizeConnect
	if len(list) == 0 {
		return nil
	}
	release, ok := s.takeAsk()
	if !ok {
		return &HookRefusal{Refusal: hook.Refusal{Code: wire.CodeTryLater, Reason: "hooks are asked about too many clients"}}
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, hook.AskTimeout)
	defer cancel()
	client := s.hookClient()
	refusal := askHooks(ctx, s.hub, list, func(n hookOf[hook.ConnectAuthorizer]) error {
		return n.hook.AuthorizeConnect(ctx, client)
	})
	if refusal != nil {
		refusal.Reason = oneLine(refusal.Reason)
	}
	return refusal
}

// oneLine is a reason as a client may be told it.
func oneLine(reason string) string {
	reason = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(reason, "?"))
	if len(reason) > hook.MaxReason {
		reason = strings.ToValidUTF8(reason[:hook.MaxReason], "")
	}
	return reason
}

// Connected tells the hooks that the client has its session. It is called once, after
// Authorize and before the transport reads.
func (s *Session) Connected() {
	s.connected = true
	if list := s.hub.hooks.Load().connected; len(list) > 0 {
		runHooks(s.hub, list, func(o hook.ConnectObserver) { o.Connected(s.hookClient()) })
	}
}

// runDisconnectedHooks reports the end of a session to the hooks that know of its begin.
func (s *Session) runDisconnectedHooks() {
	list := s.hub.hooks.Load().disconnected
	if !s.connected || len(list) == 0 {
		return
	}
	code, reason := s.CloseStatus()
	d := hook.Disconnection{Code: code, Reason: reason, After: time.Since(s.client.Since)}
	runHooks(s.hub, list, func(o hook.DisconnectObserver) { o.Disconnected(s.hookClient(), d) })
}

// mayPublish asks the hooks about a publish, and answers one that they refuse.
func (s *Session) mayPublish(p wire.Publish) bool {
	list := s.hub.hooks.Load().authorizePublish
	if len(list) == 0 {
		return true
	}
	s.chargeHandling(&s.handling) // and not what the hooks take
	return s.askPublish(list, p)
}

func (s *Session) askPublish(list []hookOf[hook.PublishAuthorizer], p wire.Publish) bool {
	client := s.hookClient()
	asked := hook.Publication{Tenant: string(p.Tenant), Channel: string(p.Channel), Delivery: p.Delivery, Size: len(p.Payload)}
	refusal := askHooks(context.Background(), s.hub, list, func(n hookOf[hook.PublishAuthorizer]) error {
		asked.Payload = nil
		if n.readPayload {
			asked.Payload = p.Payload
		}
		return n.hook.AuthorizePublish(client, asked)
	})
	if refusal != nil {
		s.denyPublish(p, refusal)
	}
	return refusal == nil
}
