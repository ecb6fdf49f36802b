package tokens

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// restCaddyfile has master tokens of nested namespaces, one for the addresses 10.0.0.0/8
// alone, and the optional routes. It believes what a proxy on loopback says.
const restCaddyfile = "{" + harness.GlobalOptions + `
	servers {
		trusted_proxies static 127.0.0.0/8
		trusted_proxies_strict
	}
	pubsub {` + harness.PubsubStore + harness.DefaultMaster + `
		master_token {env.MASTER_NESTED} {
			tenant_prefix paint.eu
		}
		master_token {env.MASTER_ALL}
		master_token {env.MASTER_ELSEWHERE} {
			allow_ip_masks 10.0.0.0/8
		}
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

func startRESTEdge(t *testing.T, caddyfile string) (e *harness.Edge, nested, all, elsewhere string) {
	t.Helper()
	nested, all, elsewhere = harness.NewMasterToken(), harness.NewMasterToken(), harness.NewMasterToken()
	e = harness.StartEdge(t, caddyfile, harness.WithEnv("MASTER_NESTED="+nested), harness.WithEnv("MASTER_ALL="+all), harness.WithEnv("MASTER_ELSEWHERE="+elsewhere))
	return e, nested, all, elsewhere
}

// behind is the header by which a proxy names the client's address.
func behind(address string) http.Header { return http.Header{"X-Forwarded-For": {address}} }

func TestREST(t *testing.T) {
	t.Parallel()
	e, nested, all, elsewhere := startRESTEdge(t, restCaddyfile)

	t.Run("namespaces", func(t *testing.T) {
		e := e.With(t)
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
	})

	t.Run("masks of master tokens", func(t *testing.T) {
		for address, status := range map[string]int{"": 403, "10.1.2.3": 200, "11.1.2.3": 403, "10.1.2.3, 11.1.2.3": 403} {
			if got := e.With(t).Do(harness.Call{Method: "GET", URL: "/v1/tokens", Token: elsewhere, Header: behind(address)}); got.Status != status {
				t.Errorf("%q: %d %s, want %d", address, got.Status, got.Body, status)
			}
		}
	})

	t.Run("ping", func(t *testing.T) {
		e := e.With(t)
		for method, status := range map[string]int{"GET": 200, "HEAD": 200, "OPTIONS": 204, "POST": 405} {
			got := e.Rest(method, "/ping?x=1", "", nil)
			if cors := got.Header.Get("Access-Control-Allow-Origin"); got.Status != status || cors != "*" || (string(got.Body) == "pong") != (method == "GET") {
				t.Errorf("%s: %d %q, Access-Control-Allow-Origin %q", method, got.Status, got.Body, cors)
			}
		}
	})

	// A body that never comes: over HTTP/1.1, tokenstore/rest has the test.
	for name, client := range map[string]http.RoundTripper{"HTTP/2": e.Http2(), "HTTP/3": e.Http3()} {
		t.Run("refused before the body over "+name, func(t *testing.T) {
			never, stop := io.Pipe()
			defer stop.Close()
			ctx, cancel := context.WithTimeout(t.Context(), harness.WaitTimeout)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.HttpsURL("/v1/get-token"), never)
			if err != nil {
				t.Fatal(err)
			}
			res, err := client.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if _, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusUnauthorized {
				t.Errorf("got status %d, %v", res.StatusCode, err)
			}
		})
	}

	t.Run("the description is opt-in", func(t *testing.T) {
		e := e.With(t)
		for _, path := range []string{"/api-docs/openapi.json", "/swagger-ui"} {
			if with, without := e.Do(harness.Call{Method: "GET", URL: e.HttpsURL(path)}), e.Rest("GET", path, "", nil); with.Status != http.StatusOK || string(without.Body) != "" {
				t.Errorf("%s: %d where it is on, and %q where not", path, with.Status, without.Body)
			}
		}
	})
}

// An edge warns if it trusts proxies that pass on any X-Forwarded-For. What they say of the
// address then counts as unknown.
func TestForgeableAddressWarning(t *testing.T) {
	t.Parallel()
	e, _, all, elsewhere := startRESTEdge(t, strings.Replace(restCaddyfile, "\ttrusted_proxies_strict", "", 1))
	warned := func() int { return strings.Count(e.Output(), "a client can forge the address") }
	if warned() == 0 {
		t.Error("the edge does not warn")
	}
	for token, status := range map[string]int{elsewhere: 403, all: 200} {
		if got := e.Do(harness.Call{Method: "GET", URL: "/v1/tokens", Token: token, Header: behind("10.1.2.3")}); got.Status != status {
			t.Errorf("%d %s, want %d", got.Status, got.Body, status)
		}
	}
	before := warned()
	e.Reload(restCaddyfile)
	if warned() != before {
		t.Error("the edge warns of a strict proxy")
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

// Guesses are limited by address; who has a token is not, whatever the address.
func TestGuessesAreLimited(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, handshakeCaddyfile)
	guess := harness.Upgrade{Peer: "203.0.113.77", Header: []string{harness.Bearer("AT_x")}}
	good := harness.Upgrade{TLS: true, Header: []string{harness.Bearer(e.Issue(harness.AllowAll("room")).Token)}}
	for name, f := range map[string]func() harness.Answer{
		"handshakes":    func() harness.Answer { return e.Upgrade(guess) },
		"master tokens": func() harness.Answer { return e.Rest("GET", "/v1/tokens", harness.NewMasterToken(), nil) },
	} {
		held, failures := harness.GuessUntilLimited(t, f)
		held.Problem(t, http.StatusTooManyRequests, "too_many_failures")
		if failures < 20 || held.Header.Get("Retry-After") != "1" {
			t.Errorf("%s: held up after %d failures with Retry-After %q, want 20 to be answered, and 1", name, failures, held.Header.Get("Retry-After"))
		}
	}
	for _, good.Peer = range []string{"203.0.113.77", "203.0.113.78", "127.0.0.1"} {
		if got := e.Upgrade(good); got.Status != http.StatusSwitchingProtocols {
			t.Errorf("%s with a valid token got %d %s", good.Peer, got.Status, got.Body)
		}
	}
	e.List(e.Master, "")
	e.Poll("the address to be heard again", func() bool { return e.Upgrade(guess).Status == http.StatusUnauthorized })
}

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

// What a handshake is answered, by its shape, its address and its token, through all of Caddy.
func TestHandshake(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, handshakeCaddyfile)
	token, revoked := e.Issue(harness.AllowAll("room")).Token, e.Issue(harness.AllowAll("room")).Token
	e.Revoke(e.Master, revoked).Decode(t, http.StatusOK, new(harness.Object))
	masked := e.Limited(harness.Object{"allow_ip_masks": []string{"203.0.113.0/24"}})
	unknown := "AT_" + harness.RandomHex() + "_" + harness.RandomHex()
	good, offered, mask := harness.Bearer(token), harness.Offer("chat, at."+token+", llps.v1"), harness.Bearer(masked)
	const forwarded, near, far, proxy = "X-Forwarded-For: 203.0.113.5", "203.0.113.5", "198.51.100.7", "192.0.2.1"
	unauthorized := map[string]bool{}
	for n, c := range []struct {
		name   string
		u      harness.Upgrade
		status int
		code   string
	}{
		{"header", harness.Upgrade{Header: []string{good, "Sec-WebSocket-Extensions: permessage-deflate"}}, 101, ""},
		{"subprotocol", harness.Upgrade{Header: []string{offered}}, 101, ""},
		{"header before subprotocol", harness.Upgrade{Header: []string{harness.Bearer(unknown), offered}}, 401, "unauthorized"},
		{"revoked", harness.Upgrade{Header: []string{harness.Bearer(revoked)}}, 401, "unauthorized"},
		{"malformed", harness.Upgrade{Header: []string{harness.Bearer("AT_x")}}, 401, "unauthorized"},
		{"a master token", harness.Upgrade{Header: []string{harness.Bearer(e.Master)}}, 401, "unauthorized"},
		{"none", harness.Upgrade{}, 401, "unauthorized"},
		{"token before TLS", harness.Upgrade{Peer: near, Header: []string{harness.Bearer(unknown)}}, 401, "unauthorized"},

		{"plain from afar", harness.Upgrade{Peer: near, Header: []string{good}}, 403, "tls_required"},
		{"plain that claims TLS", harness.Upgrade{Peer: near, Header: []string{good, "X-Forwarded-Proto: https"}}, 403, "tls_required"},
		{"TLS from afar", harness.Upgrade{TLS: true, Peer: near, Header: []string{good}}, 101, ""},
		{"in the mask", harness.Upgrade{TLS: true, Peer: near, Header: []string{mask, "X-Forwarded-For: " + far}}, 101, ""},
		{"outside the mask", harness.Upgrade{TLS: true, Peer: far, Header: []string{mask}}, 403, "ip_not_allowed"},
		{"outside, claims the inside", harness.Upgrade{TLS: true, Peer: far, Header: []string{mask, forwarded}}, 403, "ip_not_allowed"},
		{"by the trusted proxy", harness.Upgrade{Peer: proxy, Header: []string{mask, forwarded}}, 101, ""},
		{"by the trusted proxy, forged on the left", harness.Upgrade{Peer: proxy, Header: []string{mask, forwarded + ", " + far}}, 403, "ip_not_allowed"},

		{"shape before token", harness.Upgrade{Method: "POST"}, 405, "method_not_allowed"},
		{"no Upgrade", harness.Upgrade{Without: "Upgrade", Header: []string{good}}, 426, "upgrade_required"},
		{"a body that never comes", harness.Upgrade{Header: []string{good, "Content-Length: 3"}}, 400, "bad_handshake"},
		{"at. alone", harness.Upgrade{Header: []string{harness.Offer("at." + token)}}, 400, "bad_handshake"},
		{"two Authorization", harness.Upgrade{Header: []string{good, good}}, 400, "bad_handshake"},
		{"the token in the URL", harness.Upgrade{Path: "/ws?token=" + token, Header: []string{good}}, 400, "token_in_url"},
		{"early data of a proxy", harness.Upgrade{Header: []string{"Early-Data: 1", good}}, 425, "too_early"},
		{"a trailing slash", harness.Upgrade{Path: "/ws/", Header: []string{good}}, 404, "not_found"},
	} {
		t.Run(fmt.Sprint(n, " ", c.name), func(t *testing.T) {
			got := e.With(t).Upgrade(c.u)
			if all := fmt.Sprint(got.Header, string(got.Body)); strings.Contains(all, token[36:]) {
				t.Errorf("the answer repeats the token: %s", all)
			}
			if c.status != http.StatusSwitchingProtocols {
				got.Problem(t, c.status, c.code)
				harness.CheckNoStore(t, got)
				if c.status == http.StatusUnauthorized {
					got.Header.Del("Date")
					unauthorized[fmt.Sprint(got.Header, string(got.Body))] = true
				}
				return
			}
			want := ""
			if c.u.Header[0] == offered {
				want = "llps.v1"
			}
			// The accept is that of the key that Upgrade sends: RFC 6455, section 1.3.
			if h := got.Header; got.Status != c.status || h.Get("Sec-WebSocket-Accept") != "Bz3qJYTGdOe8gUSpLosEdiLKDrk=" || h.Get("Sec-WebSocket-Protocol") != want || h.Get("Sec-WebSocket-Extensions") != "" {
				t.Errorf("got %d %s, %v", got.Status, got.Body, h)
			}
		})
	}
	if len(unauthorized) != 1 {
		t.Errorf("it can be told why a token is no good: %v", unauthorized)
	}
}
