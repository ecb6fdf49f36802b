package tokens

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// An edge says whether clients should come, and why not.
func TestReady(t *testing.T) {
	t.Parallel()
	nodes := harness.StartNATS(t, 1)
	e := harness.StartEdge(t, readyCaddyfile, harness.Joining(nodes, "")[0])
	e.Poll("readiness", func() bool { return string(e.Rest("GET", "/ready", "", nil).Body) == "ready" })
	nodes[0].Kill(t)
	e.Poll("the link to be down", func() bool { return e.Rest("GET", "/ready", "", nil).Status == 503 })
	e.Rest("GET", "/ready", "", nil).Problem(t, 503, "broker_unavailable")
	e.AdminCLI("drain").Want(0, "draining", "")
	a := e.Rest("GET", "/ready", "", nil)
	a.Problem(t, 503, "draining")
	harness.CheckNoStore(t, a)
	if text := string(a.Body); !strings.Contains(text, "the edge drains") || !strings.Contains(text, "the link to the other edges is down") || a.Header.Get("Retry-After") == "" {
		t.Errorf("%s, %v", text, a.Header)
	}
	nodes = harness.StartNATS(t, 1)
	without := harness.StartEdge(t, readyCaddyfile, harness.Joining(nodes, "create off")[0]) // there is no bucket
	without.Rest("GET", "/ready", "", nil).Problem(t, 503, "unavailable")
}

var readyCaddyfile = strings.Replace(harness.DefaultCaddyfile, "\tpubsub\n", "\tpubsub\n\tpubsub_ready\n", 1)

// handshakeCaddyfile is an edge behind a TCP proxy, which names the clients' addresses, and a
// trusted HTTP proxy at 192.0.2.1.
var handshakeCaddyfile = strings.Replace(harness.DefaultCaddyfile, "default_bind {{.Bind}}", `default_bind {{.Bind}}
	servers {
		listener_wrappers {
			proxy_protocol {
				allow 127.0.0.0/8
			}
			tls
		}
		trusted_proxies static 192.0.2.1/32
		trusted_proxies_strict
	}`, 1)

// What a handshake is answered by its token and its address, through all of Caddy; packages
// handler, credentials and edgetest have all of its shapes and rights.
func TestHandshake(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, strings.Replace(handshakeCaddyfile, "\ttrusted_proxies_strict", "", 1))
	token, revoked := e.Issue(harness.AllowAll("room")).Token, e.Issue(harness.AllowAll("room")).Token
	e.Revoke(e.Master, revoked).Decode(t, http.StatusOK, new(harness.Object))
	good, mask := harness.Bearer(token), harness.Bearer(e.Limited(harness.Object{"allow_ip_masks": []string{"203.0.113.0/24"}}))
	const forwarded, near, far, proxy = "X-Forwarded-For: 203.0.113.5", "203.0.113.5", "198.51.100.7", "192.0.2.1"
	byProxy := harness.Upgrade{Peer: proxy, Header: []string{mask, forwarded}}

	// A proxy that passes on any X-Forwarded-For: what it says counts as unknown, and the edge warns.
	warned := func() int { return strings.Count(e.Output(), "a client can forge the address") }
	if e.Upgrade(byProxy).Problem(t, http.StatusForbidden, "ip_not_allowed"); warned() == 0 {
		t.Error("the edge does not warn of a proxy that is not strict")
	}
	before := warned()
	if e.Reload(handshakeCaddyfile); warned() != before {
		t.Error("the edge warns of a strict proxy")
	}
	refusals := map[string]string{} // by code; none tells why a token is no good, but to who has its secret
	for name, c := range map[string]struct {
		u    harness.Upgrade
		want string
	}{
		"header":      {harness.Upgrade{Header: []string{good, "Sec-WebSocket-Extensions: permessage-deflate"}}, "101"},
		"subprotocol": {harness.Upgrade{Header: []string{harness.Offer("chat, at." + token + ", llps.v1")}}, "101 llps.v1"},
		"none":        {harness.Upgrade{}, "401 unauthorized"},
		"wrong":       {harness.Upgrade{Header: []string{harness.Bearer(revoked[:36] + harness.RandomHex())}}, "401 unauthorized"},

		"plain that claims TLS":      {harness.Upgrade{Peer: near, Header: []string{good, "X-Forwarded-Proto: https"}}, "403 tls_required"},
		"in the mask":                {harness.Upgrade{TLS: true, Peer: near, Header: []string{mask, "X-Forwarded-For: " + far}}, "101"},
		"outside, claims the inside": {harness.Upgrade{TLS: true, Peer: far, Header: []string{mask, forwarded}}, "403 ip_not_allowed"},
		"by the trusted proxy":       {byProxy, "101"},
		"by it, forged on the left":  {harness.Upgrade{Peer: proxy, Header: []string{mask, forwarded + ", " + far}}, "403 ip_not_allowed"},
		"the token in the URL":       {harness.Upgrade{Path: "/ws?token=" + token, Header: []string{good}}, "400 token_in_url"},
	} {
		a := e.Upgrade(c.u)
		got := strings.TrimSpace(fmt.Sprint(a.Status, " ", a.Header.Get("Sec-WebSocket-Protocol"), a.Header.Get("Sec-WebSocket-Extensions")))
		if a.Status != http.StatusSwitchingProtocols {
			harness.CheckNoStore(t, a)
			p := a.Problem(t, a.Status, "")
			got = fmt.Sprint(a.Status, " ", p.Code)
			if refusals[p.Code] = cmp.Or(refusals[p.Code], p.Detail); p.Detail != refusals[p.Code] {
				t.Errorf("%s: %q and %q for %s", name, refusals[p.Code], p.Detail, p.Code)
			}
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	if p := e.Upgrade(harness.Upgrade{Header: []string{harness.Bearer(revoked)}}).Problem(t, 401, "unauthorized"); !strings.Contains(p.Detail, "was revoked") {
		t.Errorf("a revoked token: %s", p.Detail)
	}
}
