package integration

import (
	"cmp"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// hookedCaddyfile has every hook that comes with an edge, and that of examples/plugin,
// which refuses all publishes to the tenant paint.closed.
const hookedCaddyfile = "{" + globalOptions + "\tpubsub {" + pubsubStore + defaultMaster + fastBandwidth + `
		hook audit
		hook webhook {$HOOK_URL} {
			secret {env.HOOK_SECRET}
			ca {$HOOK_CA}
			batch_delay 10ms
			ask connect subscribe {
				on_silence refuse
				timeout 4s
			}
		}
		hook office_hours {
			days {$HOOK_DAY}
			tenants paint.closed
		}
	}
}
` + sites

// hookBackend is a backend that an edge asks. It refuses tokens and patterns, and says
// nothing to others, as it is told.
type hookBackend struct {
	*httptest.Server
	t *testing.T

	mu     sync.Mutex
	denied map[string]string      // token id or pattern → reason; empty: silence
	down   map[string]bool        // token ids of which it can say nothing
	asked  map[string][]time.Time // by token id, when it was asked about connections
	events []string               // of connections and members, in order
}

const hookSecret = "a secret of some length"

func startHookBackend(t *testing.T) *hookBackend {
	b := &hookBackend{
		t: t, denied: map[string]string{"denied": "no entry: not here", "silent": ""}, down: map[string]bool{}, asked: map[string][]time.Time{},
	}
	b.Server = httptest.NewTLSServer(b)
	t.Cleanup(b.Close)
	return b
}

type hookEvent struct {
	Event   string `json:"event"`
	TokenID string `json:"token_id"`
	Pattern string `json:"pattern"`
	Reason  string `json:"reason"`
	Subject string `json:"subject"`
	Channel string `json:"channel"`
}

func (b *hookBackend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Ask    *hookEvent  `json:"ask"`
		Events []hookEvent `json:"events"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return
	}
	b.mu.Lock()
	for _, e := range body.Events {
		b.events = append(b.events, fmt.Sprint(cmp.Or(e.TokenID, e.Subject), " ", e.Event, " ", e.Pattern, e.Reason, e.Channel))
	}
	reason, refused, down := "", false, false
	if body.Ask != nil {
		about := body.Ask.Pattern
		if body.Ask.Event == "connect" {
			about = body.Ask.TokenID
			b.asked[about] = append(b.asked[about], time.Now())
			down = b.down[about]
		}
		reason, refused = b.denied[about]
	}
	b.mu.Unlock()
	if down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if refused && reason == "" {
		<-r.Context().Done() // until the edge has lost patience
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"allow": !refused, "reason": reason})
}

// refuse makes the backend refuse connections of a token; with no reason, it is silent.
func (b *hookBackend) refuse(tokenID, reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.denied[tokenID] = reason
}

// setDown makes the backend fail when it is asked about connections of a token, or not any
// more.
func (b *hookBackend) setDown(tokenID string, down bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down[tokenID] = down
}

// askedOf returns when the backend was asked about connections of a token.
func (b *hookBackend) askedOf(tokenID string) []time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.asked[tokenID])
}

// eventsOf are those of a token, or of a member by its subject, until now, in order.
func (b *hookBackend) eventsOf(tokenID string) (list []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if about, found := strings.CutPrefix(e, tokenID+" "); found {
			list = append(list, strings.TrimSpace(about))
		}
	}
	return list
}

// startHookedEdge starts an edge with [hookedCaddyfile] and its backend.
func startHookedEdge(t *testing.T, options ...option) (*edge, *hookBackend) {
	t.Helper()
	b := startHookBackend(t)
	closed := strings.ToLower(time.Now().UTC().AddDate(0, 0, 3).Weekday().String()[:3]) // neither today nor about midnight
	return startEdge(t, hookedCaddyfile, append(append(options, withPlugin(t), withEnv("HOOK_DAY="+closed)), b.options()...)...), b
}

// options are what an edge needs to send to the backend.
func (b *hookBackend) options() []option {
	b.t.Helper()
	ca := filepath.Join(b.t.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.Certificate().Raw})
	if err := os.WriteFile(ca, certificate, 0o600); err != nil {
		b.t.Fatal(err)
	}
	return []option{withEnv("HOOK_URL=" + b.URL), withEnv("HOOK_CA=" + ca), withEnv("HOOK_SECRET=" + hookSecret)}
}

// What hooks refuse is refused over both transports, and they are told of the rest.
func TestHooks(t *testing.T) {
	t.Parallel()
	e, b := startHookedEdge(t)
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			c := &stage{t, e.with(t), tr, nil}
			c.run("subscribe and publish", func(c *stage) { hooksDecide(c, b) })
			c.run("connect", func(c *stage) { hooksDecideConnections(c, b) })
		})
	}
	t.Run("AUTH", func(t *testing.T) { hooksDecideAuth(e.with(t), b) })
	for _, secret := range []string{hookSecret, e.master[len(e.master)-32:]} {
		if strings.Contains(e.output(), secret) {
			t.Error("the edge wrote a secret")
		}
	}
	if n := e.metrics()["millrace_hook_faults_total"]; n != 0 {
		t.Errorf("%v calls of hooks failed", n)
	}
	e.reload(defaultCaddyfile) // and then nobody is asked
	token := e.issue(allowAll("room", "closed"))
	b.refuse(token.TokenID, "not any more")
	s := e.dial(token.Token)
	s.subscribe("paint.room", "denied")
	s.subscribe("paint.closed", "a")
	s.publish("paint.closed", "a", "x")
	s.expectDeliver("paint.closed", "a", "x", "a")
}

func hooksDecide(c *stage, b *hookBackend) {
	token := c.issue(allowAll("room", "closed"))
	s := c.dial(token.Token)
	s.subscribe("paint.room", "a.#")
	s.sendLine("SUB:paint.room:denied")
	s.expectText("ERR:permission_denied:SUB:paint.room:denied")
	s.sendLine("SUB:paint.room:silent")
	s.ping() // the connection goes on meanwhile
	s.publish("paint.room", "a.b", "x")
	s.expectDeliver("paint.room", "a.b", "x", "a.#")
	s.expectText("ERR:try_later:SUB:paint.room:silent")
	s.publish("paint.closed", "a", "x")
	s.expectText("ERR:permission_denied:PUB:paint.closed:a")
	s.sendLine("UNSUB:paint.room:a.#")
	s.expectText("OK:UNSUB:paint.room:a.#")
	c.revoke(c.master, token.Token).decode(c.t, http.StatusOK, new(object))
	s.expectText("ERR:token_revoked")

	want := []string{"connect", "subscribe a.#", "unsubscribe a.#", "disconnect token_revoked"}
	c.poll("the backend to hear of the end", func() bool { return len(b.eventsOf(token.TokenID)) >= len(want) })
	if got := b.eventsOf(token.TokenID); !slices.Equal(got, want) {
		c.t.Errorf("the backend heard of %q, want %q", got, want)
	}
	c.wantAudited("connected", token.TokenID)
	c.wantAudited("disconnected", token.TokenID, `"reason":"token_revoked"`)
	c.wantAudited("token operation", token.TokenID, `"operation":"issue"`, `"status":200`, "paint.room")
	c.wantAudited("token operation", token.TokenID, `"operation":"revoke"`)
	if strings.Contains(c.output(), token.Token) || strings.Contains(c.output(), token.Token[len(token.Token)-32:]) {
		c.t.Error("the edge wrote a token")
	}
}

// wantAudited requires a record of the hook audit with all of these.
func (e *edge) wantAudited(message string, parts ...string) {
	e.t.Helper()
	e.poll("a record of "+message, func() bool {
		for line := range strings.Lines(e.output()) {
			if strings.Contains(line, `"logger":"pubsub.hooks.audit"`) && strings.Contains(line, `"msg":"`+message+`"`) &&
				!slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
				return true
			}
		}
		return false
	})
}

const hookReason = "closed: come back at 9"

func hooksDecideConnections(c *stage, b *hookBackend) {
	for _, row := range []struct {
		reason string // empty: silence
		status int
		code   string
		detail string
	}{
		{hookReason, http.StatusForbidden, "client_not_allowed", hookReason},
		{"", http.StatusServiceUnavailable, "try_later", "the backend that has to allow it does not answer"},
	} {
		token := c.issue(allowAll("room"))
		b.refuse(token.TokenID, row.reason)
		s, refused := c.open(handshake{Token: token.Token})
		if s != nil {
			c.t.Fatalf("the client has a session")
		}
		if p := refused.problem(c.t, row.status, row.code); p.Detail != row.detail {
			c.t.Errorf("got the detail %q, want %q", p.Detail, row.detail)
		}
		if later := refused.Header.Get("Retry-After"); (later != "") != (row.status == http.StatusServiceUnavailable) {
			c.t.Errorf("%d came with Retry-After %q", row.status, later)
		}
		c.wantAudited("refused", token.TokenID, row.code, c.name)
	}
}

// Over AUTH the reason stands in the line.
func hooksDecideAuth(e *edge, b *hookBackend) {
	token := e.issue(allowAll("room"))
	b.refuse(token.TokenID, hookReason)
	s := e.mustOpenWebTransport(handshake{})
	s.sendLine("AUTH:" + token.Token)
	s.expectText("ERR:forbidden:client:" + hookReason)
	s.expectClose(wire.CloseForbidden)

	b.refuse(token.TokenID, "")
	s = e.mustOpenWebTransport(handshake{})
	s.sendLine("AUTH:" + token.Token)
	s.expectClose(wire.CloseTryLater)
}

// What an SDK makes of the refusals of hooks; see docs/clients.md.
func sdkHooks(s *sdkStage) {
	b := s.backend
	c := s.connect(sdkOptions{})
	c.subscribe(s.tenant, "fine")
	for pattern, want := range map[string]string{"denied": "permission_denied", "silent": "try_later"} {
		if _, err := c.trySubscribe("iterate", s.tenant, pattern, nil); err.ErrorCode() != want || err.Pattern != pattern {
			s.t.Errorf("subscribing to %s: %v, want %s", pattern, err, want)
		}
	}
	closed := s.connect(sdkOptions{Token: s.edges[0].issue(allowAll("closed")).Token})
	closed.publish("paint.closed", "a", "x")
	if e := closed.event("publishError"); e.Code != "permission_denied" || e.Channel != "a" {
		s.t.Errorf("got %v, want permission_denied for the channel a", e)
	}

	token := s.edges[0].issue(allowAll(s.room))
	b.refuse(token.TokenID, hookReason)
	refused := s.client()
	_, err := refused.try(s.connecting(s.kind, sdkOptions{Token: token.Token}))
	want, text := "client_not_allowed", hookReason
	if s.kind.blind() {
		want, text = "refused", ""
	}
	if err.ErrorCode() != want || !strings.Contains(err.Text, text) {
		s.t.Errorf("connecting: %v, want %s with the reason %q", err, want, text)
	}
	refused.never("connected", "reconnecting")
	c.never("disconnected", "subscriptionError", "edgeError")
}
