package tokens

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// restCaddyfile has master tokens of nested namespaces, and the optional routes at one site.
const restCaddyfile = "{" + harness.GlobalOptions + `
	pubsub {` + harness.PubsubStore + harness.DefaultMaster + `
		master_token {env.MASTER_NESTED} {
			tenant_prefix paint.eu
		}
		master_token {env.MASTER_ALL}
	}
}
http://localhost:{{.HTTP}} {
	pubsub
}
https://localhost:{{.HTTPS}} {
	tls internal
	pubsub
	pubsub_openapi
}
`

func TestREST(t *testing.T) {
	t.Parallel()
	nested, all := harness.NewMasterToken(), harness.NewMasterToken()
	e := harness.StartEdge(t, restCaddyfile, harness.WithEnv("MASTER_NESTED="+nested), harness.WithEnv("MASTER_ALL="+all))

	ours, below := e.Issue(harness.AllowAll("room")), e.IssueAs(nested, harness.TokenRequest(harness.AllowAll("room")))
	other := e.IssueAs(all, harness.TokenRequest(harness.AllowAll("room")))
	for master, want := range map[string][]harness.Issued{e.Master: {ours, below}, nested: {below}, all: {ours, below, other}} {
		var got, ids []string
		for cursor := "limit=1"; cursor != ""; {
			page := e.List(master, cursor)
			for _, token := range page.Tokens {
				got = append(got, token.TokenID)
			}
			if cursor = ""; page.NextCursor != "" {
				cursor = "limit=1&cursor=" + page.NextCursor
			}
		}
		for _, token := range want {
			ids = append(ids, token.TokenID)
		}
		if slices.Sort(ids); !slices.Equal(got, ids) { // in order
			t.Errorf("listed %q, want %q", got, ids)
		}
	}
	e.Refresh(nested, ours.TokenID, harness.In(1e12)).Problem(t, http.StatusNotFound, "unknown_token")
	e.Revoke(nested, ours.Token).Problem(t, http.StatusNotFound, "unknown_token")
	e.Refresh(e.Master, below.TokenID, harness.In(1e12)).Decode(t, http.StatusOK, new(harness.Object))

	one, two := e.Dial(e.Issue(harness.AllowAll("eu.room")).Token), e.Dial(below.Token) // of one physical tenant
	two.Subscribe("paint.eu.room", "x")
	one.Publish("paint.eu.room", "x", "hello")
	two.ExpectDeliver("paint.eu.room", "x", "hello", "x")
	two.SendLine("SUB:room:x")
	two.ExpectText("ERR:permission_denied:SUB:room:x")
	e.Revoke(all, below.Token).Decode(t, http.StatusOK, new(harness.Object))
	two.ExpectText("ERR:token_revoked")
	_, refused := e.Open(harness.Handshake{Token: below.Token})
	refused.Problem(t, http.StatusUnauthorized, "unauthorized")

	for method, status := range map[string]int{"GET": 200, "HEAD": 200, "OPTIONS": 204, "POST": 405} {
		got := e.Rest(method, "/ping?x=1", "", nil)
		if cors := got.Header.Get("Access-Control-Allow-Origin"); got.Status != status || cors != "*" || (string(got.Body) == "pong") != (method == "GET") {
			t.Errorf("%s: %d %q, Access-Control-Allow-Origin %q", method, got.Status, got.Body, cors)
		}
	}

	for _, path := range []string{"/api-docs/openapi.json", "/swagger-ui"} { // opt-in
		if with, without := e.Do(harness.Call{Method: "GET", URL: e.HttpsURL(path)}), e.Rest("GET", path, "", nil); with.Status != http.StatusOK || string(without.Body) != "" {
			t.Errorf("%s: %d where it is on, and %q where not", path, with.Status, without.Body)
		}
	}
}

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
	unauthorized := map[string]bool{}
	for name, c := range map[string]struct {
		u    harness.Upgrade
		code string // empty: a session
	}{
		"header":         {harness.Upgrade{Header: []string{good, "Sec-WebSocket-Extensions: permessage-deflate"}}, ""},
		"subprotocol":    {harness.Upgrade{Header: []string{harness.Offer("chat, at." + token + ", llps.v1")}}, ""},
		"revoked":        {harness.Upgrade{Header: []string{harness.Bearer(revoked)}}, "unauthorized"},
		"malformed":      {harness.Upgrade{Header: []string{harness.Bearer("AT_x")}}, "unauthorized"},
		"a master token": {harness.Upgrade{Header: []string{harness.Bearer(e.Master)}}, "unauthorized"},
		"none":           {harness.Upgrade{}, "unauthorized"},

		"plain that claims TLS":      {harness.Upgrade{Peer: near, Header: []string{good, "X-Forwarded-Proto: https"}}, "tls_required"},
		"in the mask":                {harness.Upgrade{TLS: true, Peer: near, Header: []string{mask, "X-Forwarded-For: " + far}}, ""},
		"outside, claims the inside": {harness.Upgrade{TLS: true, Peer: far, Header: []string{mask, forwarded}}, "ip_not_allowed"},
		"by the trusted proxy":       {byProxy, ""},
		"by it, forged on the left":  {harness.Upgrade{Peer: proxy, Header: []string{mask, forwarded + ", " + far}}, "ip_not_allowed"},
		"the token in the URL":       {harness.Upgrade{Path: "/ws?token=" + token, Header: []string{good}}, "token_in_url"},
	} {
		got := e.Upgrade(c.u)
		if c.code == "" {
			h := got.Header
			if got.Status != http.StatusSwitchingProtocols || h.Get("Sec-WebSocket-Extensions") != "" ||
				(h.Get("Sec-WebSocket-Protocol") == "llps.v1") != (name == "subprotocol") {
				t.Errorf("%s: got %d %s, %v", name, got.Status, got.Body, h)
			}
			continue
		}
		harness.CheckNoStore(t, got)
		if got.Problem(t, cmp.Or(map[string]int{"unauthorized": 401, "token_in_url": 400}[c.code], 403), c.code); c.code == "unauthorized" {
			got.Header.Del("Date")
			unauthorized[fmt.Sprint(got.Header, string(got.Body))] = true
		}
	}
	if len(unauthorized) != 1 {
		t.Errorf("it can be told why a token is no good: %v", unauthorized)
	}
}
