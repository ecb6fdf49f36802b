package pubsub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/wire"
)

// recordingHook notes its calls. What it answers and how long it takes is in functions; nil: it
// allows everything at once.
type recordingHook struct {
	mu    sync.Mutex
	calls []string

	connect   func(context.Context) error
	subscribe func(context.Context, hook.Subscription) error
	publish   func(hook.Publication) error
	panics    string // the call in which it does
}

// note notes a call, and panics if it is told to.
func (h *recordingHook) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	call := fmt.Sprintf(format, args...)
	h.calls = append(h.calls, call)
	if h.panics != "" && strings.HasPrefix(call, h.panics) {
		panic("as it was told")
	}
}

// take returns the calls since the last take, once everything is idle.
func (h *recordingHook) take() []string {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	calls := h.calls
	h.calls = nil
	return calls
}

func (h *recordingHook) AuthorizeConnect(ctx context.Context, c hook.Client) error {
	h.note("connect? %s", c.TokenID)
	if h.connect == nil {
		return nil
	}
	return h.connect(ctx)
}

func (h *recordingHook) AuthorizeSubscribe(ctx context.Context, _ hook.Client, s hook.Subscription) error {
	if s.Presence {
		h.note("presence? %s:%s", s.Tenant, s.Pattern)
	} else {
		h.subscription("subscribe?", s)
	}
	if h.subscribe == nil {
		return nil
	}
	return h.subscribe(ctx, s)
}

func (h *recordingHook) AuthorizePublish(_ hook.Client, p hook.Publication) error {
	h.note("publish? %s:%s %d %s", p.Tenant, p.Channel, p.Size, p.Payload)
	if h.publish == nil {
		return nil
	}
	return h.publish(p)
}

func (h *recordingHook) Connected(c hook.Client) { h.note("connected %s", c.TokenID) }
func (h *recordingHook) Disconnected(_ hook.Client, d hook.Disconnection) {
	h.note("disconnected %d %s", d.Code, d.Reason)
}
func (h *recordingHook) Subscribed(_ hook.Client, s hook.Subscription) {
	h.subscription("subscribed", s)
}
func (h *recordingHook) Unsubscribed(_ hook.Client, s hook.Subscription) {
	h.subscription("unsubscribed", s)
}

func (h *recordingHook) subscription(what string, s hook.Subscription) {
	if s.Positions {
		s.Pattern += " positions"
	}
	h.note("%s %s:%s", what, s.Tenant, s.Pattern)
}

func (h *recordingHook) Refused(r hook.RefusedClient) { h.note("refused %s", r.Code) }
func (h *recordingHook) Operated(o hook.Operation)    { h.note("operated %s", o.Name) }

// withHooks puts hooks into effect, which are called a, b and so on.
func (r *rig) withHooks(list ...any) {
	r.Helper()
	var named []NamedHook
	for i, h := range list {
		named = append(named, NamedHook{string(rune('a' + i)), h})
	}
	must(r, CheckHooks(named))
	r.hub.SetHooks(named)
}

func expectCalls(t *testing.T, h *recordingHook, want ...string) {
	t.Helper()
	if got := h.take(); !slices.Equal(got, want) {
		t.Errorf("calls %q\nwant  %q", got, want)
	}
}

func TestHooksAreTold(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		h := new(recordingHook)
		r.withHooks(h)
		c := r.connect("x")
		if refusal := c.Authorize(context.Background()); refusal != nil {
			t.Fatal(refusal)
		}
		c.Connected()
		for _, step := range []struct{ line, want string }{
			{"SUB:t:a.*", "OK:SUB:t:a.*"},
			{"SUB:t:no", "ERR:permission_denied:SUB:t:no"},
			{"SUB:t:a.*", "OK:SUB:t:a.*"},
			{"UNSUB:t:never", "OK:UNSUB:t:never"},
			{"SUB:t:b", "OK:SUB:t:b"},
		} {
			c.answer(step.line, step.want)
		}
		c.publish("t", "a.b", "hello")
		c.expect("t/a.b=hello [a.*]")
		c.publish("t", "no", "hello")
		c.expect("ERR:permission_denied:PUB:t:no")
		c.send("UNSUB:t:a.*")
		c.Session.Revoke()
		expectCalls(t, h, "connect? x", "connected x", "subscribe? t:a.*", "subscribed t:a.*", "subscribe? t:b", "subscribed t:b",
			"publish? t:a.b 5 ", "unsubscribed t:a.*", "disconnected 4403 token_revoked")
		r.hub.Refused(hook.RefusedClient{Code: "unauthorized"})
		r.hub.Operated(hook.Operation{Name: "issue"})
		expectCalls(t, h, "refused unauthorized", "operated issue")
	})
}

// A session that was refused was never connected.
func TestHooksAreNotToldOfTheRefused(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		h := &recordingHook{connect: func(context.Context) error { return hook.Deny("not\ntoday\x7f" + strings.Repeat("é", 200)) }}
		r.withHooks(h)
		c := r.connect("x")
		refusal := c.Authorize(context.Background())
		want := "not today " + strings.Repeat("é", (hook.MaxReason-10)/2)
		if refusal == nil || refusal.Code != wire.CodePermissionDenied || refusal.Reason != want {
			t.Errorf("got %+v, want the reason %q", refusal, want)
		}
		c.Session.Revoke()
		expectCalls(t, h, "connect? x")
	})
}

// The first that refuses ends the asking.
func TestHooksAreAskedInOrder(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		first, last := new(recordingHook), new(recordingHook)
		denies := &recordingHook{
			subscribe: func(_ context.Context, s hook.Subscription) error {
				if s.Pattern == "later" {
					return fmt.Errorf("wrapped: %w", hook.TryLater("busy"))
				}
				return hook.Deny("no")
			},
			publish: func(hook.Publication) error { return hook.Deny("no") },
		}
		r.withHooks(first, denies, last)
		c := r.connect("x")
		c.answer("SUB:t:a", "ERR:permission_denied:SUB:t:a")
		c.answer("SUB:t:later", "ERR:try_later:SUB:t:later")
		c.publish("t", "a", "x")
		c.expect("ERR:permission_denied:PUB:t:a")
		expectCalls(t, first, "subscribe? t:a", "subscribe? t:later", "publish? t:a 1 ")
		expectCalls(t, denies, "subscribe? t:a", "subscribe? t:later", "publish? t:a 1 ")
		expectCalls(t, last)
		equal(t, "refusals counted", r.hub.Metrics().Refused[wire.CodePermissionDenied], 2)
	})
}

// payloadHook asks for payloads.
type payloadHook struct{ recordingHook }

func (*payloadHook) ReadsPayload() bool { return true }

func TestHooksSeeThePayloadTheyAskFor(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		without, with, behind := new(recordingHook), new(payloadHook), new(recordingHook)
		r.withHooks(without, with, behind)
		r.connect("x").publish("t", "a", "secret")
		expectCalls(t, without, "publish? t:a 6 ")
		expectCalls(t, &with.recordingHook, "publish? t:a 6 secret")
		expectCalls(t, behind, "publish? t:a 6 ")
	})
}

// While hooks decide about a subscription the connection goes on, except for what
// concerns the same subscription, which is handled in order.
func TestAskingDoesNotHoldUpTheConnection(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		r.withHooks(&recordingHook{subscribe: func(_ context.Context, s hook.Subscription) error {
			if s.Pattern == "slow" {
				time.Sleep(time.Second)
			}
			return nil
		}})
		c := r.connect("x")
		c.send("SUB:t:slow", "SUB:t:fast")
		synctest.Wait()
		c.answer("PING", "OK:SUB:t:fast", "PONG")
		c.send("UNSUB:t:slow")
		c.answer("PING", "PONG")
		c.after(time.Second, "OK:SUB:t:slow", "OK:UNSUB:t:slow")
	})
}

// A hook that does not answer is a fault, and so is one that fails.
func TestHooksThatFail(t *testing.T) {
	for _, c := range []struct {
		name      string
		subscribe func(context.Context, hook.Subscription) error
		panics    string
		after     time.Duration
	}{
		{"an error", func(context.Context, hook.Subscription) error { return errors.New("broken") }, "", 0},
		{"a panic", nil, "subscribe?", 0},
		{"a strange code", func(context.Context, hook.Subscription) error {
			return &hook.Refusal{Code: wire.CodeTokenRevoked}
		}, "", 0},
		{"silence", func(ctx context.Context, _ hook.Subscription) error { <-ctx.Done(); return nil }, "", hook.AskTimeout},
		{"too late", func(context.Context, hook.Subscription) error { time.Sleep(hook.AskTimeout + time.Second); return nil }, "", hook.AskTimeout + time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, fastLimits(), func(r *rig) {
				core, logs := observer.New(zap.ErrorLevel)
				r.hub.log = zap.New(core)
				r.withHooks(&recordingHook{subscribe: c.subscribe, panics: c.panics})
				cl := r.connect("x")
				cl.send("SUB:t:a")
				cl.after(c.after, "ERR:try_later:SUB:t:a")
				equal(t, "faults", r.hub.Metrics().HookFaults, 1)
				equal(t, "log lines", logs.FilterMessage("hook failed").Len(), 1)
				cl.answer("PING", "PONG")
			})
		})
	}
}

// A panic in a hook that is told, or asked about a publish, takes nothing with it, and a
// hook that always fails does not fill the log.
func TestHooksThatPanic(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		core, logs := observer.New(zap.ErrorLevel)
		r.hub.log = zap.New(core)
		behind := new(recordingHook)
		r.withHooks(&recordingHook{panics: "connected"}, &recordingHook{panics: "subscribed"}, &recordingHook{panics: "publish?"},
			&recordingHook{panics: "unsubscribed"}, &recordingHook{panics: "disconnected"}, behind)
		c := r.connect("x")
		c.Connected()
		c.send("SUB:t:a")
		synctest.Wait()
		c.repeat(100, "t", "a", "x")
		c.ask("UNSUB:t:a")
		c.Session.Revoke()
		expectCalls(t, behind, "connected x", "subscribe? t:a", "subscribed t:a", "unsubscribed t:a", "disconnected 4403 token_revoked")
		equal(t, "faults", r.hub.Metrics().HookFaults, 104)
		equal(t, "log lines in no time", logs.Len(), 1)
	})
}

// A session that ends while hooks are asked about it ends the asking, and gets nothing
// more.
func TestSessionEndsWhileHooksAreAsked(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		h := &recordingHook{subscribe: func(ctx context.Context, _ hook.Subscription) error { <-ctx.Done(); return nil }}
		r.withHooks(h)
		c := r.connect("x")
		c.Connected()
		c.send("SUB:t:a")
		synctest.Wait()
		c.Session.Revoke()
		expectCalls(t, h, "connected x", "subscribe? t:a", "disconnected 4403 token_revoked")
		equal(t, "faults", r.hub.Metrics().HookFaults, 0)
		equal(t, "questions that are still counted", r.hub.amounts[dividedAsks].Load(), 0)
	})
}

// What one connection, one token and all of them can have hooks asked at once is bounded.
func TestAskingIsBounded(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		release := make(chan struct{})
		var under, most int
		var mu sync.Mutex
		r.withHooks(&recordingHook{subscribe: func(context.Context, hook.Subscription) error {
			mu.Lock()
			under++
			most = max(most, under)
			mu.Unlock()
			<-release
			mu.Lock()
			under--
			mu.Unlock()
			return nil
		}})
		busy := r.connect("x")
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 2 * hook.MaxAsked {
				busy.send(fmt.Sprintf("SUB:t:a.%d", i))
			}
		}()
		synctest.Wait()
		equal(t, "questions of one connection", most, hook.MaxAsked)

		// No token takes more than is left: one token half, and two tokens a third each.
		same, other := r.connect("x"), r.connect("y")
		for _, full := range []int64{maxAsks / 2, maxAsks / 3, maxAsks} {
			r.hub.amounts[dividedAsks].Store(maxAsks - full)
			r.hub.tokens["x"].own.amounts[dividedAsks].Store(full)
			same.answer("SUB:t:b", "ERR:try_later:SUB:t:b")
		}
		r.hub.amounts[dividedAsks].Store(maxAsks)
		other.answer("SUB:t:b", "ERR:try_later:SUB:t:b")
		r.hub.amounts[dividedAsks].Store(hook.MaxAsked)
		r.hub.tokens["x"].own.amounts[dividedAsks].Store(hook.MaxAsked)
		other.send("SUB:t:c")
		close(release)
		<-done
		other.expect("OK:SUB:t:c")
		equal(t, "answers", len(busy.take()), 2*hook.MaxAsked)
		equal(t, "questions that are still counted", r.hub.amounts[dividedAsks].Load(), 0)
	})
}

// Subscriptions that hooks are asked about count for the limits of the connection.
func TestAskedSubscriptionsCount(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.MaxSubscriptions = 2 }), func(r *rig) {
		r.withHooks(&recordingHook{subscribe: func(context.Context, hook.Subscription) error { time.Sleep(time.Second); return nil }})
		c := r.connect("x")
		c.send("SUB:t:a", "SUB:t:b", "SUB:t:c")
		c.expect("ERR:too_many_subscriptions:SUB:t:c")
		time.Sleep(time.Second)
		got := c.take()
		slices.Sort(got)
		if want := []string{"OK:SUB:t:a", "OK:SUB:t:b"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// choosyHook is asked about publishes alone.
type choosyHook struct{ recordingHook }

func (*choosyHook) Asked() (connect, subscribe, publish bool) { return false, false, true }

func TestHooksAreAskedWhatTheySelect(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		h := new(choosyHook)
		r.withHooks(h)
		c := r.connect("x")
		equal(t, "refusal", c.Authorize(context.Background()), nil)
		c.send("SUB:t:a")
		c.publish("t", "a", "x") // the subscription was decided at once
		c.expect("OK:SUB:t:a", "t/a=x [a]")
		expectCalls(t, &h.recordingHook, "subscribed t:a", "publish? t:a 1 ")
	})
}

func TestCheckHooks(t *testing.T) {
	err := CheckHooks([]NamedHook{{"fine", new(recordingHook)}, {"empty", new(struct{})}})
	if err == nil || !strings.HasPrefix(err.Error(), "empty: ") {
		t.Errorf("got %v, want an error that names the hook", err)
	}
}

// Hooks that replace others apply to open sessions, too.
func TestSetHooks(t *testing.T) {
	inBubble(t, fastLimits(), func(r *rig) {
		old, next := new(recordingHook), new(recordingHook)
		r.withHooks(old)
		c := r.connect("x")
		c.Connected()
		r.withHooks(next)
		c.publish("t", "a", "x")
		c.Session.Revoke()
		expectCalls(t, old, "connected x")
		expectCalls(t, next, "publish? t:a 1 ", "disconnected 4403 token_revoked")
	})
}
