package admission

import (
	"context"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/pubsub/refusals"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
	"github.com/millrace/millrace/wire"
)

// office lets in nobody of the subject "late".
type office struct{}

func (office) AuthorizeConnect(_ context.Context, c hook.Client) error {
	if c.Subject == "late" {
		return hook.Deny("office hours")
	}
	return nil
}

// Operators are told the whole truth of each refusal: the reason, the rule, the token and its
// subject. Clients are told how a token has ended if they have its secret, and no more; and nobody the secret.
func TestReasons(t *testing.T) { synctest.Test(t, reasons) }

func reasons(t *testing.T) {
	g := newGuesses(t, storetest.NewMemory())
	limits := pubsub.DefaultLimits()
	limits.MaxConnectionsPerSubject = 1
	hub := pubsub.NewHub(memory.New(), limits, zap.NewNop())
	defer hub.Close()
	hub.SetHooks([]pubsub.NamedHook{{Name: "office", Hook: office{}}})
	edge := &Edge{Hub: hub, Tokens: g.service, Failures: g.FailureLimiter, Region: "US", Log: zap.NewNop()}
	issue := func(subject string, life time.Duration, change func(*tokenstore.Right)) tokenstore.Issued {
		right := tokenstore.Right{
			TenantGrants: []tokenstore.TenantGrant{{TenantIDs: []string{"room"}}}, ExpiresAt: time.Now().Add(life).Format(time.RFC3339),
		}
		if change != nil {
			change(&right)
		}
		issued, err := g.service.Issue(t.Context(), g.service.Overlay(), tokenstore.IssueRequest{CreatedBy: "test", Subject: subject, Right: right})
		if err != nil {
			t.Fatal(err)
		}
		return issued
	}
	good, revoked, expired, late := issue("ada", time.Hour, nil), issue("ada", time.Hour, nil), issue("ada", time.Second, nil), issue("late", time.Hour, nil)
	if err := g.service.RevokeByID(t.Context(), g.service.Overlay(), revoked.TokenID); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	limit := func(change func(*tokenstore.Right)) tokenstore.Issued { return issue("ada", time.Hour, change) }
	masked := limit(func(r *tokenstore.Right) { r.AllowIPMasks = []string{"10.0.0.0/8"} })
	paged := limit(func(r *tokenstore.Right) { r.AllowedWSOrigin = []string{"https://a.test"} })
	other := limit(func(r *tokenstore.Right) { r.AllowProtocols = []string{tokenstore.ProtocolWebTransport} })
	open := issue("one", time.Hour, nil)
	client := pubsub.Client{IP: netip.MustParseAddr("192.0.2.1"), Transport: tokenstore.ProtocolWebSocket}
	admitted, refused := Candidate{Edge: edge, Client: client, Secure: true}.Open(t.Context(), open.Token)
	if refused != nil {
		t.Fatal(refused)
	}
	defer admitted.Session.Detach()

	_, strange := Candidate{Edge: edge, Client: client, Secure: true}.Open(t.Context(), "")
	wrong := good.Token[:len(good.Token)-32] + strings.Repeat("0", 32)
	for i, c := range []struct {
		token, code, reason, rule, id string
		verified, plain               bool
	}{
		{token: "", code: "unauthorized", reason: "the client sent no token"},
		{token: "AT_short", code: "unauthorized", reason: "is it complete?"},
		{token: "MT" + good.Token[2:], code: "unauthorized", reason: "a master token"},
		{token: madeUp, code: "unauthorized", reason: "there is no token with this id", id: madeUp[3:35]},
		{token: wrong, code: "unauthorized", reason: "the secret of the token is wrong", id: good.TokenID},
		{token: revoked.Token, code: "unauthorized", reason: "the token is revoked", rule: "revoked", id: revoked.TokenID, verified: true},
		{token: expired.Token, code: "unauthorized", reason: "the token expired at ", rule: "right.expires_at ", id: expired.TokenID, verified: true},
		{token: good.Token, plain: true, code: "tls_required", reason: "HTTPS", rule: "allow_plaintext off", id: good.TokenID, verified: true},
		{token: masked.Token, code: "ip_not_allowed", reason: "address, 192.0.2.1", rule: "right.allow_ip_masks [10.0.0.0/8]", id: masked.TokenID, verified: true},
		{token: paged.Token, code: "origin_not_allowed", reason: `origin, ["https://b.test"]`, rule: "right.allowed_ws_origin [https://a.test]", id: paged.TokenID, verified: true},
		{token: other.Token, code: "protocol_not_allowed", reason: "protocol, websocket", rule: "right.allow_protocols [webtransport]", id: other.TokenID, verified: true},
		{token: open.Token, code: "too_many_connections_of_subject", reason: "the subject", rule: "limits max_connections_per_subject", id: open.TokenID, verified: true},
		{token: late.Token, code: "client_not_allowed", reason: "office hours", rule: "hook office", id: late.TokenID, verified: true},
	} {
		client.ConnectionID = wire.ConnectionID(i + 1)
		candidate := Candidate{Edge: edge, Client: client, Origins: []string{"https://b.test"}, Secure: !c.plain}
		_, refused := candidate.Open(t.Context(), c.token)
		if refused == nil {
			t.Fatalf("%s: it is let in", c.reason)
		}
		list, _ := hub.Refusals(refusals.Filter{ConnectionID: client.ConnectionID}, 10)
		if len(list) != 1 {
			t.Fatalf("%s: %d are kept", c.reason, len(list))
		}
		got := list[0]
		if got.Code != c.code || !strings.Contains(got.Reason, c.reason) || !strings.HasPrefix(got.Rule, c.rule) || (c.rule == "") != (got.Rule == "") ||
			got.TokenID != c.id || got.Verified != c.verified || (c.id != "" && c.id != madeUp[3:35]) != (got.Subject != "") {
			t.Errorf("got %+v, want %+v", got, c)
		}
		w := httptest.NewRecorder()
		w.Header().Set(wire.HeaderConnectionID, client.ConnectionID.String())
		refused.Write(w)
		if c.code == "unauthorized" && (strings.Contains(w.Body.String(), c.reason) || c.id != "" && strings.Contains(w.Body.String(), c.id)) {
			t.Errorf("the client is told the reason: %s", w.Body)
		}
		if c.code == "unauthorized" {
			told := strange.Detail
			switch c.id {
			case revoked.TokenID:
				told = "the access token was revoked; connect with a new one"
			case expired.TokenID:
				told = "the access token has expired; connect with a new one"
			}
			if refused.Detail != told {
				t.Errorf("%s: the client is told %q", c.reason, refused.Detail)
			}
		}
		if !strings.Contains(w.Body.String(), `"connection_id":"`+client.ConnectionID.String()+`"`) {
			t.Errorf("the body has not the id: %s", w.Body)
		}
		if len(c.token) > 36 && strings.Contains(got.Reason+got.Rule+w.Body.String(), c.token[36:]) {
			t.Error("a secret is shown")
		}
	}
}
