package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/wire"
)

// The vector of the Standard Webhooks specification.
func TestSignature(t *testing.T) {
	t.Setenv("TEST_WEBHOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	key, err := secretKey("{env.TEST_WEBHOOK_SECRET}")
	if err != nil {
		t.Fatal(err)
	}
	got := signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEvents(t *testing.T) {
	r := newReceiver(t)
	h := r.open(func(h *Webhook) { h.BatchDelay, h.BatchSize = caddy.Duration(time.Minute), 4 })
	c := client(7, "id")
	c.Subject, c.Info = "ada", json.RawMessage(`{"plan":"pro"}`)
	h.Connected(c)
	h.Subscribed(c, hook.Subscription{Tenant: "t", Pattern: "a.#", OwnStream: true})
	h.Unsubscribed(c, hook.Subscription{Tenant: "t", Pattern: "a.#"})
	h.Disconnected(c, goodbye)
	r.await(1)
	if err := h.worker.Destruct(); err != nil { // waits for the answer
		t.Fatal(err)
	}
	h.worker = newWorker(h.worker.options, h.worker.log) // for the end of the test
	batches := r.taken()
	if len(batches) != 1 || len(batches[0].Events) != 4 || batches[0].Lost != 0 {
		t.Fatalf("got %+v", batches)
	}
	var got []string
	for _, e := range batches[0].Events {
		if e.Connection != 7 || e.TokenID != "id" || e.Subject != "ada" || e.IP != "192.0.2.1" || e.Transport != "websocket" || time.Since(e.Time).Abs() > time.Minute {
			t.Errorf("got %+v", e)
		}
		got = append(got, fmt.Sprintf("%s%v%s%s%s%v%d%s%v", e.Event, e.Tenants, e.Info, e.Tenant, e.Pattern, e.OwnStream, e.CloseCode, e.Reason, e.Seconds))
	}
	want := []string{`connect[t]{"plan":"pro"}false00`, "subscribe[]ta.#true00", "unsubscribe[]ta.#false00", "disconnect[]false4403token_revoked1.5"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Joins and leaves concern no connection.
func TestMemberEvents(t *testing.T) {
	r := newReceiver(t)
	h := r.open(func(h *Webhook) { h.BatchDelay, h.BatchSize = caddy.Duration(time.Minute), 2 })
	h.Joined(hook.Member{Tenant: "t", Channel: "room.a", Subject: "ada", Info: []byte(`{"plan":"pro"}`)})
	h.Left(hook.Member{Tenant: "t", Channel: "room.a", Subject: "ada"})
	r.await(1)
	var body struct{ Events []map[string]any }
	var err error
	r.set(func() { err = json.Unmarshal(r.bodies[0], &body) })
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range body.Events {
		if at, err := time.Parse(time.RFC3339, fmt.Sprint(e["time"])); err != nil || time.Since(at).Abs() > time.Minute {
			t.Errorf("got %v", e)
		}
		delete(e, "time")
	}
	want := "[map[channel:room.a event:join info:map[plan:pro] subject:ada tenant:t] map[channel:room.a event:leave subject:ada tenant:t]]"
	if got := fmt.Sprint(body.Events); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Only the events that are configured are sent.
func TestChosenEvents(t *testing.T) {
	r := newReceiver(t)
	h := r.open(func(h *Webhook) { h.Events = []string{"disconnect"} })
	h.Connected(client(1, "id"))
	h.Subscribed(client(1, "id"), hook.Subscription{})
	h.Unsubscribed(client(1, "id"), hook.Subscription{})
	h.Joined(hook.Member{Subject: "ada"})
	h.Left(hook.Member{Subject: "ada"})
	h.Disconnected(client(1, "id"), goodbye)
	r.await(1)
	if n := len(h.worker.waiting); n > 1 {
		t.Errorf("%d events, want 1", n)
	}
}

// A batch that is not taken is sent again, the same with the same id, until it is; no
// redirect is followed.
func TestRetries(t *testing.T) {
	r := newReceiver(t)
	followed := false
	elsewhere := newReceiver(t)
	elsewhere.server.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true })
	r.statuses = []int{http.StatusInternalServerError, http.StatusTemporaryRedirect, http.StatusNoContent}
	r.header.Set("Location", elsewhere.server.URL)
	h := r.open(nil)
	h.Connected(client(1, "id"))
	r.await(3)
	if followed {
		t.Error("a redirect was followed")
	}
	if r.ids[0] != r.ids[1] || r.ids[1] != r.ids[2] {
		t.Errorf("the ids are %q", r.ids)
	}
}

// A server that is gone gets what waits when it is back.
func TestServerIsGone(t *testing.T) {
	r := newReceiver(t)
	address := r.server.Listener.Addr().String()
	h := r.open(nil)
	r.server.CloseClientConnections()
	r.server.Listener.Close()
	h.Connected(client(1, "id"))
	failed := func() []observer.LoggedEntry { return r.logs.FilterMessage("the backend did not take a batch").All() }
	awaitTrue(t, "an attempt fails", func() bool { return len(failed()) > 0 })
	if text := fmt.Sprint(failed()[0].ContextMap()); strings.Contains(text, "secret") {
		t.Errorf("the log holds the path of the URL: %s", text)
	}
	back := listenTLS(t, address, r)
	defer back.Close()
	r.await(1)
}

// What finds no room is lost, and the next batch says how many; one token has half of
// the room, and so has one subject.
func TestQueueIsBounded(t *testing.T) {
	for name, add := range map[string]func(h *Webhook, by string, i int){
		"token": func(h *Webhook, by string, i int) { h.Connected(client(uint64(i+1), by)) },
		"subject": func(h *Webhook, by string, i int) {
			h.Joined(hook.Member{Tenant: "t", Channel: fmt.Sprint(i), Subject: by})
		},
	} {
		t.Run(name, func(t *testing.T) { testQueue(t, add) })
	}
}

func testQueue(t *testing.T, add func(h *Webhook, by string, i int)) {
	r := newReceiver(t)
	r.block = make(chan struct{})
	h := r.open(func(h *Webhook) { h.Queue, h.BatchSize = 10, 1 })
	h.Connected(client(0, "first"))
	r.await(1) // it is on its way, and holds its place
	for i := range 20 {
		add(h, "greedy", i)
	}
	h.worker.mu.Lock()
	if n := len(h.worker.waiting); n != 6 {
		t.Errorf("%d events wait, want 1 and half of 10", n)
	}
	h.worker.mu.Unlock()
	for i := range 20 {
		add(h, fmt.Sprint("other", i), i)
	}
	h.worker.mu.Lock()
	if n := len(h.worker.waiting); n != 10 {
		t.Errorf("%d events wait, want 10", n)
	}
	h.worker.mu.Unlock()
	close(r.block)
	r.set(func() { r.block = nil })
	r.await(9)
	awaitTrue(t, "ten batches", func() bool { return len(r.taken()) == 10 })
	var lost uint64
	events := 0
	for _, b := range r.taken() {
		lost += b.Lost
		events += len(b.Events)
	}
	if events != 10 || lost != 31 {
		t.Errorf("got %d events and %d lost, want 10 and 31", events, lost)
	}
	awaitTrue(t, "no token to be counted any more", func() bool {
		h.worker.mu.Lock()
		defer h.worker.mu.Unlock()
		return len(h.worker.perCause) == 0 && len(h.worker.waiting) == 0
	})
}

// What the backend does not take in time is lost, and told.
func TestGivenUp(t *testing.T) {
	r := newReceiver(t)
	h := r.open(func(h *Webhook) { h.RetryFor = caddy.Duration(time.Second) })
	r.set(func() { r.statuses = slices.Repeat([]int{http.StatusServiceUnavailable}, 2) })
	r.header.Set("Retry-After", "60")
	h.Connected(client(1, "id"))
	h.Subscribed(client(1, "id"), hook.Subscription{})
	awaitTrue(t, "giving up", func() bool {
		h.worker.mu.Lock()
		defer h.worker.mu.Unlock()
		return h.worker.lost > 0 && len(h.worker.waiting) == 0
	})
	r.set(func() { r.statuses = nil })
	h.Disconnected(client(1, "id"), goodbye)
	awaitTrue(t, "the next batch", func() bool { return len(r.taken()) == 1 })
	if b := r.taken()[0]; b.Lost != 2 || len(b.Events) != 1 {
		t.Errorf("got %+v, want 2 lost", b)
	}
}

// The last events are sent before the hook ends.
func TestDestructSendsWhatWaits(t *testing.T) {
	r := newReceiver(t)
	h := r.open(func(h *Webhook) { h.BatchDelay = caddy.Duration(time.Minute) })
	for i := range 250 {
		h.Connected(client(uint64(i), "id"))
	}
	if err := h.worker.Destruct(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, b := range r.taken() {
		n += len(b.Events)
	}
	if n != 250 {
		t.Errorf("%d events were sent, want 250", n)
	}
	h.Connected(client(1, "id")) // too late: lost, and no panic
	h.worker = newWorker(h.worker.options, h.worker.log)
}

func asking(before ...string) func(*Webhook) {
	return func(h *Webhook) {
		h.Ask = &Ask{Before: before, OnSilence: "refuse", Timeout: caddy.Duration(4 * time.Second)} // the longest: machines are busy
	}
}

func TestAsk(t *testing.T) {
	r := newReceiver(t)
	h := r.open(asking("connect", "subscribe"))
	c := client(1, "id")
	if err := h.AuthorizeConnect(context.Background(), c); err != nil {
		t.Error(err)
	}
	r.answer = `{"allow":false,"reason":"not you"}`
	err := h.AuthorizeSubscribe(context.Background(), c, hook.Subscription{Tenant: "t", Pattern: "a"})
	var refusal *hook.Refusal
	if !errors.As(err, &refusal) || refusal.Code != wire.CodePermissionDenied || refusal.Reason != "not you" {
		t.Errorf("got %v", err)
	}
	if len(r.asked) != 2 || r.asked[0].Event != "connect" || r.asked[1].Event != "subscribe" || r.asked[1].Pattern != "a" {
		t.Errorf("asked %+v", r.asked)
	}
	for _, row := range []struct {
		before             []string
		connect, subscribe bool
	}{{nil, false, false}, {[]string{"connect"}, true, false}, {[]string{"subscribe"}, false, true}} {
		var change func(*Webhook)
		if row.before != nil {
			change = asking(row.before...)
		}
		if connect, subscribe, publish := r.open(change).Asked(); connect != row.connect || subscribe != row.subscribe || publish {
			t.Errorf("before %q it is asked %v, %v, %v", row.before, connect, subscribe, publish)
		}
	}
}

// Whatever is no proper answer in time is silence, which means what the option says; but not that
// there were too many questions, which clients can bring about.
func TestSilence(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(*receiver)
	}{
		{"status", func(r *receiver) { r.statuses = []int{http.StatusForbidden} }},
		{"unavailable", func(r *receiver) { r.statuses = []int{http.StatusServiceUnavailable} }},
		{"too many", func(r *receiver) { r.statuses = []int{http.StatusTooManyRequests} }},
		{"redirect", func(r *receiver) { r.statuses = []int{http.StatusFound}; r.header.Set("Location", "/") }},
		{"no JSON", func(r *receiver) { r.answer = "yes" }},
		{"no allow", func(r *receiver) { r.answer = `{"reason":"x"}` }},
		{"late", func(r *receiver) { r.block = make(chan struct{}) }},
		{"gone", func(r *receiver) { r.server.CloseClientConnections(); r.server.Listener.Close() }},
	} {
		for _, meaning := range []string{"allow", "refuse"} {
			t.Run(c.name+" "+meaning, func(t *testing.T) {
				r := newReceiver(t)
				h := r.open(func(h *Webhook) {
					asking("connect")(h)
					h.Ask.OnSilence = meaning
					if c.name == "late" {
						h.Ask.Timeout = caddy.Duration(100 * time.Millisecond)
					}
				})
				c.make(r)
				err := h.AuthorizeConnect(context.Background(), client(1, "id"))
				var refusal *hook.Refusal
				if allowed := err == nil; allowed != (meaning == "allow" && c.name != "too many") || !allowed && (!errors.As(err, &refusal) || refusal.Code != wire.CodeTryLater) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

// The tokens of an issuer have half of the questions at most, one that asks for little gets the next turn,
// and half of the queue of events is the issuer's, too.
func TestIssuersShareQuestions(t *testing.T) {
	r := newReceiver(t)
	r.block = make(chan struct{})
	h := r.open(func(h *Webhook) {
		asking("connect")(h)
		h.Ask.MaxInFlight, h.Ask.Timeout = 4, caddy.Duration(4*time.Second)
		h.Queue = 10
		h.BatchDelay = caddy.Duration(time.Minute)
	})
	h.worker.ask.timeout = 3 * time.Minute // nobody gives up on a slow machine
	of := func(issuer, token string) hook.Client {
		c := client(1, token)
		c.Issuer = issuer
		return c
	}
	done := make(chan error, 100)
	ask := func(issuer, token string) {
		go func() { done <- h.AuthorizeConnect(context.Background(), of(issuer, token)) }()
	}
	for i := range 20 {
		ask("greedy", fmt.Sprint(i))
	}
	r.await(2)
	awaitTrue(t, "18 that wait", func() bool {
		h.worker.slots.mu.Lock()
		defer h.worker.slots.mu.Unlock()
		return len(h.worker.slots.byToken) == 20
	})
	for _, token := range []string{"a", "b", "c"} {
		ask("other", token)
	}
	r.await(2)
	h.worker.slots.mu.Lock()
	if s := h.worker.slots; s.taken != 4 || s.byIssuer["greedy"].taken != 2 {
		t.Errorf("%d are asked, %d of one issuer; want 4 and 2", s.taken, s.byIssuer["greedy"].taken)
	}
	h.worker.slots.mu.Unlock()
	for i := range 20 {
		h.Connected(of("greedy", fmt.Sprint(i)))
	}
	h.worker.mu.Lock()
	if n := len(h.worker.waiting); n != 5 {
		t.Errorf("%d events of one issuer wait in a queue of 10", n)
	}
	h.worker.mu.Unlock()
	close(r.block)
	for range 23 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if s := h.worker.slots; s.taken != 0 || len(s.byToken)+len(s.byIssuer) != 0 || s.turns.Len() != 0 {
		t.Errorf("left over: %d, %v, %v, %d", s.taken, s.byToken, s.byIssuer, s.turns.Len())
	}
}

// One token takes half of the questions at most; the others wait.
func TestQuestionsAreBounded(t *testing.T) {
	r := newReceiver(t)
	r.block = make(chan struct{})
	h := r.open(func(h *Webhook) {
		asking("connect")(h)
		h.Ask.MaxInFlight = 4
	})
	done := make(chan error, 100)
	ask := func(token string, n int) {
		for range n {
			go func() { done <- h.AuthorizeConnect(context.Background(), client(1, token)) }()
		}
	}
	ask("greedy", 10)
	r.await(2)
	ask("other", 1)
	r.await(1)
	h.worker.slots.mu.Lock()
	if s := h.worker.slots; s.taken != 3 || s.byToken["greedy"].taken != 2 {
		t.Errorf("%d are asked, %d of one token; want 3 and 2", s.taken, s.byToken["greedy"].taken)
	}
	h.worker.slots.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.AuthorizeConnect(ctx, client(1, "greedy")); !errors.Is(err, context.Canceled) {
		t.Errorf("of a client that is gone: %v", err)
	}
	close(r.block)
	for range 11 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if s := h.worker.slots; s.taken != 0 || len(s.byToken) != 0 || s.turns.Len() != 0 {
		t.Errorf("left over: %d, %v, %d", s.taken, s.byToken, s.turns.Len())
	}
}
