package tokens

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// restCaddyfile has master tokens of several namespaces, and one that must not be used from
// this address.
const restCaddyfile = "{" + harness.GlobalOptions + "\tpubsub {" + harness.PubsubStore + harness.DefaultMaster + harness.FastBandwidth + `
		master_token {env.MASTER_TWIN} {
			name twin
			tenant_prefix paint
		}
		master_token {env.MASTER_NESTED} {
			name nested
			tenant_prefix paint.eu.
		}
		master_token {env.MASTER_OTHER} {
			name other
			tenant_prefix painter
		}
		master_token {env.MASTER_ALL} {
			name all
		}
		master_token {env.MASTER_ELSEWHERE} {
			name elsewhere
			allow_ip_masks 10.0.0.0/8 2001:db8::/32
		}
	}
}
` + harness.Sites

// masters are the tokens that restCaddyfile takes from the environment.
type masters struct{ twin, nested, other, all, elsewhere string }

func startRestEdge(t *testing.T) (*harness.Edge, masters) {
	t.Helper()
	m := masters{harness.NewMasterToken(), harness.NewMasterToken(), harness.NewMasterToken(), harness.NewMasterToken(), harness.NewMasterToken()}
	e := harness.StartEdge(t, restCaddyfile,
		harness.WithEnv("MASTER_TWIN="+m.twin), harness.WithEnv("MASTER_NESTED="+m.nested), harness.WithEnv("MASTER_OTHER="+m.other),
		harness.WithEnv("MASTER_ALL="+m.all), harness.WithEnv("MASTER_ELSEWHERE="+m.elsewhere))
	return e, m
}

func TestPing(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	for _, tc := range []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/ping", 200, "pong"},
		{"GET", "/ping?x=1", 200, "pong"},
		{"HEAD", "/ping", 200, ""},
		{"OPTIONS", "/ping", 204, ""},
	} {
		got := e.Rest(tc.method, tc.path, "", nil)
		if got.Status != tc.status || string(got.Body) != tc.body {
			t.Errorf("%s %s: got %d %q, want %d %q", tc.method, tc.path, got.Status, got.Body, tc.status, tc.body)
		}
		for name, want := range map[string]string{
			"Access-Control-Allow-Origin": "*", "Timing-Allow-Origin": "*", "Cache-Control": "no-store",
		} {
			if value := got.Header.Get(name); value != want {
				t.Errorf("%s %s: got %s %q, want %q", tc.method, tc.path, name, value, want)
			}
		}
		if kind := got.Header.Get("Content-Type"); tc.status == 200 && !strings.HasPrefix(kind, "text/plain") {
			t.Errorf("%s %s: got content type %q, want text/plain", tc.method, tc.path, kind)
		}
	}

	refused := e.Rest("POST", "/ping", "", "{}")
	refused.Problem(t, http.StatusMethodNotAllowed, "")
	harness.CheckAllow(t, refused, "GET", "HEAD", "OPTIONS")
	for _, path := range []string{"/ping/", "/PING", "/Ping"} {
		if got := e.Rest("GET", path, "", nil); got.Status != http.StatusNotFound {
			t.Errorf("GET %s: got %d %q, want 404", path, got.Status, got.Body)
		}
	}
}

// The order of the checks, on every route: 404 for the path, 405, 401, 403, and
// none of them reads the body.
func TestRestRefusesBeforeTheBody(t *testing.T) {
	t.Parallel()
	e, m := startRestEdge(t)
	issued := e.Issue(harness.AllowAll("room"))
	routes := []struct {
		method, path string
		allow        []string
	}{
		{"POST", "/v1/get-token", []string{"POST"}},
		{"PUT", "/v1/refresh-token", []string{"PUT"}},
		{"DELETE", "/v1/revoke-token", []string{"DELETE"}},
		{"GET", "/v1/tokens", []string{"GET", "HEAD", "DELETE"}},
		{"DELETE", "/v1/tokens/" + issued.TokenID, []string{"DELETE"}},
	}
	unknown := harness.NewMasterToken()
	wrongSecret := e.Master[:len(e.Master)-32] + harness.RandomHex()
	bad := map[string]string{
		"none":         "",
		"other scheme": "Basic " + e.Master,
		"no scheme":    e.Master,
		"unknown":      "Bearer " + unknown,
		"wrong secret": "Bearer " + wrongSecret,
		"malformed":    "Bearer MT_x",
		"upper case":   "Bearer MT_" + strings.ToUpper(e.Master[3:]),
		"access token": "Bearer " + issued.Token,
	}
	for _, route := range routes {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			if slices.Contains(route.allow, method) {
				continue
			}
			got := e.Do(harness.Call{Method: method, URL: route.path})
			if got.Status != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: got status %d, want 405", method, route.path, got.Status)
			}
			harness.CheckAllow(t, got, route.allow...)
			if cors := got.Header.Get("Access-Control-Allow-Origin"); cors != "" {
				t.Errorf("%s %s: got Access-Control-Allow-Origin %q, want none", method, route.path, cors)
			}
		}
		for name, authorization := range bad {
			t.Run(route.path+" "+name, func(t *testing.T) {
				c := harness.Call{Method: route.method, URL: route.path, Header: http.Header{}}
				if authorization != "" {
					c.Header.Set("Authorization", authorization)
				}
				var got harness.Answer
				e.With(t).Poll("an answer that does not count failures", func() bool { // more than 20 in a second are 429
					got = e.With(t).Do(c)
					return got.Status != http.StatusTooManyRequests
				})
				got.Problem(t, http.StatusUnauthorized, "bad_master_token")
				harness.CheckNoStore(t, got)
			})
		}
		for name, header := range map[string]http.Header{
			"peer outside the masks":        {},
			"X-Forwarded-For is a claim":    {"X-Forwarded-For": {"10.1.2.3"}},
			"X-Real-Ip is a claim":          {"X-Real-Ip": {"10.1.2.3"}},
			"Forwarded is a claim":          {"Forwarded": {"for=10.1.2.3"}},
			"X-Forwarded-For, IPv6, claims": {"X-Forwarded-For": {"2001:db8::1"}},
		} {
			t.Run(route.path+" "+name, func(t *testing.T) {
				got := e.With(t).Do(harness.Call{Method: route.method, URL: route.path, Token: m.elsewhere, Header: header})
				got.Problem(t, http.StatusForbidden, "ip_not_allowed")
				harness.CheckNoStore(t, got)
			})
		}
		for _, path := range []string{route.path + "/", strings.ToUpper(route.path), "/v1" + route.path} {
			got := e.Do(harness.Call{Method: route.method, URL: path, Token: e.Master})
			if got.Status != http.StatusNotFound {
				t.Errorf("%s %s: got status %d, want 404: %s", route.method, path, got.Status, got.Body)
			}
		}
	}
	e.Rest("GET", "/v1/nothing", e.Master, nil).Problem(t, http.StatusNotFound, "")

	// A client that asks first is refused before it sends its megabyte.
	for _, tc := range []struct {
		name, request string
		status        string
	}{
		{"405", "POST /v1/refresh-token HTTP/1.1\r\nContent-Type: application/json\r\n", "405"},
		{"401", "POST /v1/get-token HTTP/1.1\r\nContent-Type: application/json\r\n", "401"},
		{"403", "POST /v1/get-token HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer " + m.elsewhere + "\r\n", "403"},
		{"415", "POST /v1/get-token HTTP/1.1\r\nContent-Type: text/plain\r\nAuthorization: Bearer " + e.Master + "\r\n", "415"},
	} {
		t.Run("no body read before "+tc.name, func(t *testing.T) {
			var got string
			e.With(t).Poll("an answer that does not count failures", func() bool {
				got = firstLine(e.With(t), tc.request+"Host: localhost\r\nContent-Length: 1048576\r\nExpect: 100-continue\r\n\r\n")
				return !strings.HasPrefix(got, "HTTP/1.1 429 ")
			})
			if want := "HTTP/1.1 " + tc.status + " "; !strings.HasPrefix(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// The caller's address is the one that Caddy finds behind its trusted proxies.
func TestRestTrustedProxy(t *testing.T) {
	t.Parallel()
	m := harness.NewMasterToken()
	caddyfile := strings.Replace(restCaddyfile, "default_bind {{.Bind}}", `default_bind {{.Bind}}
	servers {
		trusted_proxies static 127.0.0.1/32
		trusted_proxies_strict
	}`, 1)
	others := []harness.Option{harness.WithEnv("MASTER_ELSEWHERE=" + m)}
	for _, name := range []string{"TWIN", "NESTED", "OTHER", "ALL"} {
		others = append(others, harness.WithEnv("MASTER_"+name+"="+harness.NewMasterToken()))
	}
	e := harness.StartEdge(t, caddyfile, others...)
	for address, status := range map[string]int{
		"10.1.2.3": 200, "2001:db8::1": 200, "::ffff:10.1.2.3": 200,
		"11.1.2.3": 403, "2001:db9::1": 403, "10.1.2.3, 11.1.2.3": 403, "11.1.2.3, 10.1.2.3": 200,
	} {
		got := e.Do(harness.Call{Method: "GET", URL: "/v1/tokens", Token: m, Header: http.Header{"X-Forwarded-For": {address}}})
		if got.Status != status {
			t.Errorf("X-Forwarded-For %q: got status %d, want %d: %s", address, got.Status, status, got.Body)
		}
	}
}

// Without strict parsing a client can forge its address, which then counts as unknown.
func TestRestForgedAddress(t *testing.T) {
	t.Parallel()
	m := harness.NewMasterToken()
	caddyfile := strings.Replace(restCaddyfile, "default_bind {{.Bind}}", `default_bind {{.Bind}}
	servers {
		trusted_proxies static 127.0.0.1/32
	}`, 1)
	all := harness.NewMasterToken()
	others := []harness.Option{harness.WithEnv("MASTER_ELSEWHERE=" + m), harness.WithEnv("MASTER_ALL=" + all)}
	for _, name := range []string{"TWIN", "NESTED", "OTHER"} {
		others = append(others, harness.WithEnv("MASTER_"+name+"="+harness.NewMasterToken()))
	}
	e := harness.StartEdge(t, caddyfile, others...)
	for _, address := range []string{"10.1.2.3", "10.1.2.3, 203.0.113.5", "2001:db8::1", "nonsense, 10.1.2.3"} {
		e.Do(harness.Call{Method: "GET", URL: "/v1/tokens", Token: m, Header: http.Header{"X-Forwarded-For": {address}}}).
			Problem(t, http.StatusForbidden, "ip_not_allowed")
	}
	// Tokens without masks work as ever.
	got := e.Do(harness.Call{Method: "GET", URL: "/v1/tokens", Token: all, Header: http.Header{"X-Forwarded-For": {"10.1.2.3"}}})
	if got.Status != http.StatusOK {
		t.Errorf("without masks: got status %d: %s", got.Status, got.Body)
	}
}
