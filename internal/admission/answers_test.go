package admission

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/wire"
)

func TestAllowPeer(t *testing.T) {
	client, proxy := netip.MustParseAddr("203.0.113.5"), netip.MustParseAddr("10.0.0.1")
	masks := func(ip netip.Addr) bool { return netip.MustParsePrefix("203.0.113.0/24").Contains(ip) }
	if allowPeer(nil, client, client) != nil || allowPeer(nil, client, proxy) != nil {
		t.Error("a token without masks is held to an address")
	}
	for _, c := range []struct {
		name  string
		peer  netip.Addr
		now   string
		allow bool
	}{
		{"direct, inside", client, "203.0.113.77", true},
		{"direct, outside", client, "10.0.0.1", false},
		{"by a proxy, there still", proxy, "10.0.0.1", true},
		{"by a proxy, there still, mapped", proxy, "::ffff:10.0.0.1", true},
		{"by a proxy, at another", proxy, "10.0.0.2", false},
		{"by a proxy, inside the masks", proxy, "203.0.113.5", false},
	} {
		if got := allowPeer(masks, client, c.peer)(netip.MustParseAddr(c.now)); got != c.allow {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Nobody is admitted while memory is short.
func TestMemoryIsShort(t *testing.T) {
	hub := pubsub.NewHub(memory.New(), pubsub.DefaultLimits(), zap.NewNop())
	defer hub.Close()
	short := true
	c := Candidate{Edge: &Edge{Hub: hub, MemoryShort: func() bool { return short }}}
	if _, refused := c.Await(); refused == nil || refused.Code != "too_many_connections" || refused.RetryAfter == "" {
		t.Errorf("got %+v", refused)
	}
	short = false
	p, refused := c.Await()
	if refused != nil {
		t.Fatalf("got %+v", refused)
	}
	p.Release()
}

// TestRefusalOfAUTH keeps the answers to an AUTH line in step with those to a
// handshake (docs/protocol.md, WebTransport).
func TestRefusalOfAUTH(t *testing.T) {
	for _, c := range []struct {
		name   string
		f      *Refusal
		status int
		line   string
		code   wire.CloseCode
	}{
		{"token", Candidate{}.refuseToken(tokenstore.ErrUnauthorized), 401, "ERR:unauthorized", wire.CloseUnauthorized},
		{"expired", Candidate{}.refuseToken(&tokenstore.UnauthorizedError{Ended: tokenstore.EndedExpired}), 401, "ERR:unauthorized:expired", wire.CloseUnauthorized},
		{"revoked", Candidate{}.refuseToken(&tokenstore.UnauthorizedError{Ended: tokenstore.EndedRevoked}), 401, "ERR:unauthorized:revoked", wire.CloseUnauthorized},
		{"address", &Refusal{Status: 403, forbiddenWhat: "ip"}, 403, "ERR:forbidden:ip", wire.CloseForbidden},
		{"draining", RefusedByHub(pubsub.ErrDraining), 503, "", wire.CloseTryLater},
		{"full", RefusedByHub(pubsub.ErrFull), 503, "", wire.CloseTryLater},
		{"per token", RefusedByHub(pubsub.ErrTokenFull), 503, "", wire.CloseTryLater},
		{"rights", RefusedByHub(pubsub.ErrRightsFull), 503, "", wire.CloseTryLater},
		{"per tenant", RefusedByHub(pubsub.ErrTenantFull), 503, "", wire.CloseTryLater},
		{"per address", RefusedByHub(pubsub.ErrAddressFull), 503, "", wire.CloseTryLater},
		{"per subject", RefusedByHub(pubsub.ErrSubjectFull), 503, "", wire.CloseTryLater},
		{"failures", Candidate{}.refuseToken(tokenstore.ErrTooManyFailures), 429, "", wire.CloseTryLater},
		{"unauthenticated", RefusedByHub(pubsub.ErrTooManyPending), 503, "", wire.CloseTryLater},
		{"unauthenticated of one address", RefusedByHub(pubsub.ErrTooManyPendingPerIP), 429, "", wire.CloseTryLater},
	} {
		w := httptest.NewRecorder()
		c.f.Write(w)
		if _, of, limited := strings.Cut(c.name, "per "); limited && !strings.Contains(w.Body.String(), `"too_many_connections_of_`+of+`"`) {
			t.Errorf("%s: %s", c.name, w.Body)
		}
		if w.Code != c.status || (w.Header().Get("Retry-After") != "") != (c.code == wire.CloseTryLater) {
			t.Errorf("%s: answered %d with %v", c.name, w.Code, w.Header())
		}
		closed := c.f.WebTransport()
		if string(closed.Line) != c.line || closed.Code != c.code {
			t.Errorf("%s: %q, close %d", c.name, closed.Line, closed.Code)
		}
		line, code := c.f.WebSocket(7)
		if want := fmt.Sprintf("ERR:%s:%s:connection=0000000000000007", c.f.Code, c.f.Detail); string(line) != want || code != c.code {
			t.Errorf("%s: inside a WebSocket %q, close %d", c.name, line, code)
		}
	}
	line, code := (&Refusal{Status: 400, Code: "bad_handshake", Detail: strings.Repeat("é", wire.MaxLine)}).WebSocket(7)
	if code != wire.ClosePolicy || len(line) > wire.MaxLine || !utf8.Valid(line) || !bytes.HasSuffix(line, []byte(":connection=0000000000000007")) {
		t.Errorf("a long one: %q, close %d", line, code)
	}
}
