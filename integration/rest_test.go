package integration

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// restCaddyfile has master tokens of several namespaces, and one that may not
// be used from here.
const restCaddyfile = "{" + globalOptions + "\tpubsub {" + pubsubStore + defaultMaster + fastBandwidth + `
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
` + sites

// masters are the tokens that restCaddyfile takes from the environment.
type masters struct{ twin, nested, other, all, elsewhere string }

func startRestEdge(t *testing.T) (*edge, masters) {
	t.Helper()
	m := masters{newMasterToken(), newMasterToken(), newMasterToken(), newMasterToken(), newMasterToken()}
	e := startEdge(t, restCaddyfile,
		withEnv("MASTER_TWIN="+m.twin), withEnv("MASTER_NESTED="+m.nested), withEnv("MASTER_OTHER="+m.other),
		withEnv("MASTER_ALL="+m.all), withEnv("MASTER_ELSEWHERE="+m.elsewhere))
	return e, m
}

func TestPing(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
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
		got := e.rest(tc.method, tc.path, "", nil)
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

	refused := e.rest("POST", "/ping", "", "{}")
	refused.problem(t, http.StatusMethodNotAllowed, "")
	checkAllow(t, refused, "GET", "HEAD", "OPTIONS")
	for _, path := range []string{"/ping/", "/PING", "/Ping"} {
		if got := e.rest("GET", path, "", nil); got.Status != http.StatusNotFound {
			t.Errorf("GET %s: got %d %q, want 404", path, got.Status, got.Body)
		}
	}
}

// The order of the checks, on every route: 404 for the path, 405, 401, 403, and
// none of them reads the body.
func TestRestRefusesBeforeTheBody(t *testing.T) {
	t.Parallel()
	e, m := startRestEdge(t)
	issued := e.issue(allowAll("room"))
	routes := []struct {
		method, path string
		allow        []string
	}{
		{"POST", "/v1/get-token", []string{"POST"}},
		{"PUT", "/v1/refresh-token", []string{"PUT"}},
		{"DELETE", "/v1/revoke-token", []string{"DELETE"}},
		{"GET", "/v1/tokens", []string{"GET", "HEAD"}},
	}
	unknown := newMasterToken()
	wrongSecret := e.master[:len(e.master)-32] + randomHex()
	bad := map[string]string{
		"none":         "",
		"other scheme": "Basic " + e.master,
		"no scheme":    e.master,
		"unknown":      "Bearer " + unknown,
		"wrong secret": "Bearer " + wrongSecret,
		"malformed":    "Bearer MT_x",
		"upper case":   "Bearer MT_" + strings.ToUpper(e.master[3:]),
		"access token": "Bearer " + issued.Token,
	}
	for _, route := range routes {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
			if slices.Contains(route.allow, method) {
				continue
			}
			got := e.do(call{Method: method, URL: route.path})
			if got.Status != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: got status %d, want 405", method, route.path, got.Status)
			}
			checkAllow(t, got, route.allow...)
			if cors := got.Header.Get("Access-Control-Allow-Origin"); cors != "" {
				t.Errorf("%s %s: got Access-Control-Allow-Origin %q, want none", method, route.path, cors)
			}
		}
		for name, authorization := range bad {
			t.Run(route.path+" "+name, func(t *testing.T) {
				c := call{Method: route.method, URL: route.path, Header: http.Header{}}
				if authorization != "" {
					c.Header.Set("Authorization", authorization)
				}
				var got answer
				e.with(t).poll("an answer that does not count failures", func() bool { // more than 20 in a second are 429
					got = e.with(t).do(c)
					return got.Status != http.StatusTooManyRequests
				})
				got.problem(t, http.StatusUnauthorized, "bad_master_token")
				checkNoStore(t, got)
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
				got := e.with(t).do(call{Method: route.method, URL: route.path, Token: m.elsewhere, Header: header})
				got.problem(t, http.StatusForbidden, "ip_not_allowed")
				checkNoStore(t, got)
			})
		}
		for _, path := range []string{route.path + "/", strings.ToUpper(route.path), "/v1" + route.path} {
			got := e.do(call{Method: route.method, URL: path, Token: e.master})
			if got.Status != http.StatusNotFound {
				t.Errorf("%s %s: got status %d, want 404: %s", route.method, path, got.Status, got.Body)
			}
		}
	}
	e.rest("GET", "/v1/nothing", e.master, nil).problem(t, http.StatusNotFound, "")

	// A client that asks first is refused before it sends its megabyte.
	for _, tc := range []struct {
		name, request string
		status        string
	}{
		{"405", "POST /v1/refresh-token HTTP/1.1\r\nContent-Type: application/json\r\n", "405"},
		{"401", "POST /v1/get-token HTTP/1.1\r\nContent-Type: application/json\r\n", "401"},
		{"403", "POST /v1/get-token HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer " + m.elsewhere + "\r\n", "403"},
		{"415", "POST /v1/get-token HTTP/1.1\r\nContent-Type: text/plain\r\nAuthorization: Bearer " + e.master + "\r\n", "415"},
	} {
		t.Run("no body read before "+tc.name, func(t *testing.T) {
			var got string
			e.with(t).poll("an answer that does not count failures", func() bool {
				got = e.with(t).firstLine(tc.request + "Host: localhost\r\nContent-Length: 1048576\r\nExpect: 100-continue\r\n\r\n")
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
	m := newMasterToken()
	caddyfile := strings.Replace(restCaddyfile, "default_bind {{.Bind}}", `default_bind {{.Bind}}
	servers {
		trusted_proxies static 127.0.0.1/32
		trusted_proxies_strict
	}`, 1)
	others := []option{withEnv("MASTER_ELSEWHERE=" + m)}
	for _, name := range []string{"TWIN", "NESTED", "OTHER", "ALL"} {
		others = append(others, withEnv("MASTER_"+name+"="+newMasterToken()))
	}
	e := startEdge(t, caddyfile, others...)
	for address, status := range map[string]int{
		"10.1.2.3": 200, "2001:db8::1": 200, "::ffff:10.1.2.3": 200,
		"11.1.2.3": 403, "2001:db9::1": 403, "10.1.2.3, 11.1.2.3": 403, "11.1.2.3, 10.1.2.3": 200,
	} {
		got := e.do(call{Method: "GET", URL: "/v1/tokens", Token: m, Header: http.Header{"X-Forwarded-For": {address}}})
		if got.Status != status {
			t.Errorf("X-Forwarded-For %q: got status %d, want %d: %s", address, got.Status, status, got.Body)
		}
	}
}

// Without strict parsing the address is the client's to forge, and counts as unknown.
func TestRestForgedAddress(t *testing.T) {
	t.Parallel()
	m := newMasterToken()
	caddyfile := strings.Replace(restCaddyfile, "default_bind {{.Bind}}", `default_bind {{.Bind}}
	servers {
		trusted_proxies static 127.0.0.1/32
	}`, 1)
	all := newMasterToken()
	others := []option{withEnv("MASTER_ELSEWHERE=" + m), withEnv("MASTER_ALL=" + all)}
	for _, name := range []string{"TWIN", "NESTED", "OTHER"} {
		others = append(others, withEnv("MASTER_"+name+"="+newMasterToken()))
	}
	e := startEdge(t, caddyfile, others...)
	for _, address := range []string{"10.1.2.3", "10.1.2.3, 203.0.113.5", "2001:db8::1", "nonsense, 10.1.2.3"} {
		e.do(call{Method: "GET", URL: "/v1/tokens", Token: m, Header: http.Header{"X-Forwarded-For": {address}}}).
			problem(t, http.StatusForbidden, "ip_not_allowed")
	}
	// Tokens without masks work as ever.
	got := e.do(call{Method: "GET", URL: "/v1/tokens", Token: all, Header: http.Header{"X-Forwarded-For": {"10.1.2.3"}}})
	if got.Status != http.StatusOK {
		t.Errorf("without masks: got status %d: %s", got.Status, got.Body)
	}
}

func TestRefreshToken(t *testing.T) {
	t.Parallel()
	e, m := startRestEdge(t)
	valid := e.issue(allowAll("room"))
	revoked := e.issue(allowAll("room"))
	e.revoke(e.master, revoked.Token).decode(t, http.StatusOK, new(object))
	expired := e.issueExpired()
	nested := e.issueAs(m.nested, tokenRequest(allowAll("room")))

	for _, tc := range []struct {
		name, master, id, expires string
		status                    int
		code                      string
	}{
		{"own", e.master, valid.TokenID, in(2 * time.Hour), 200, ""},
		{"of the twin namespace", m.twin, valid.TokenID, in(2 * time.Hour), 200, ""},
		{"by the whole overlay", m.all, valid.TokenID, in(2 * time.Hour), 200, ""},
		{"of a nested namespace", e.master, nested.TokenID, in(2 * time.Hour), 200, ""},
		{"of the namespace around", m.nested, valid.TokenID, in(time.Hour), 404, "unknown_token"},
		{"of a name with the same letters", m.other, valid.TokenID, in(time.Hour), 404, "unknown_token"},
		{"unknown", e.master, randomHex(), in(time.Hour), 404, "unknown_token"},
		{"expired", e.master, expired.TokenID, in(time.Hour), 409, "token_expired"},
		{"revoked", e.master, revoked.TokenID, in(time.Hour), 409, "token_revoked"},
		{"expired, of another namespace", m.other, expired.TokenID, in(time.Hour), 404, "unknown_token"},
		{"upper case id", e.master, strings.ToUpper(valid.TokenID[:31]) + "A", in(time.Hour), 400, "invalid_body"},
		{"short id", e.master, valid.TokenID[:31], in(time.Hour), 400, "invalid_body"},
		{"empty id", e.master, "", in(time.Hour), 400, "invalid_body"},
		{"whole token for an id", e.master, valid.Token, in(time.Hour), 400, "invalid_body"},
		{"in the past", e.master, valid.TokenID, in(-time.Second), 400, "expires_at_out_of_range"},
		{"too far", e.master, valid.TokenID, in(25 * time.Hour), 400, "expires_at_out_of_range"},
		{"no zone", e.master, valid.TokenID, time.Now().Add(time.Hour).Format("2006-01-02T15:04:05"), 400, "invalid_body"},
		{"the body before the token", e.master, randomHex(), "soon", 400, "invalid_body"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := e.with(t).refresh(tc.master, tc.id, tc.expires)
			checkNoStore(t, got)
			if tc.status != 200 {
				p := got.problem(t, tc.status, tc.code)
				checkSilent(t, p, tc.id, tc.expires)
				return
			}
			body := make(map[string]string)
			got.decode(t, 200, &body)
			want := map[string]string{
				"message": "token refreshed", "token_id": tc.id, "new_expires_at": wholeSeconds(t, tc.expires),
			}
			if !maps.Equal(body, want) {
				t.Errorf("got %v, want %v", body, want)
			}
		})
	}
}

func TestRevokeToken(t *testing.T) {
	t.Parallel()
	e, m := startRestEdge(t)
	first, second, third := e.issue(allowAll("room")), e.issue(allowAll("room")), e.issue(allowAll("room"))
	expired := e.issueExpired()

	for _, tc := range []struct {
		name, master, token string
		status              int
		code                string
	}{
		{"of a name with the same letters", m.other, first.Token, 404, "unknown_token"},
		{"of the namespace around", m.nested, first.Token, 404, "unknown_token"},
		{"wrong secret", e.master, "AT_" + first.TokenID + "_" + randomHex(), 404, "unknown_token"},
		{"unknown", e.master, "AT_" + randomHex() + "_" + randomHex(), 404, "unknown_token"},
		{"own", e.master, first.Token, 200, ""},
		{"again", e.master, first.Token, 200, ""},
		{"by the twin", m.twin, second.Token, 200, ""},
		{"by the whole overlay", m.all, third.Token, 200, ""},
		{"expired", e.master, expired.Token, 200, ""},
		{"id alone", e.master, first.TokenID, 400, "invalid_body"},
		{"upper case", e.master, "AT_" + strings.ToUpper(first.Token[3:]), 400, "invalid_body"},
		{"empty", e.master, "", 400, "invalid_body"},
		{"a master token", e.master, e.master, 400, "invalid_body"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := e.with(t).revoke(tc.master, tc.token)
			checkNoStore(t, got)
			if tc.status != 200 {
				checkSilent(t, got.problem(t, tc.status, tc.code), tc.token)
				return
			}
			body := make(map[string]string)
			got.decode(t, 200, &body)
			want := map[string]string{"message": "token revoked", "token_id": strings.Split(tc.token, "_")[1]}
			if !maps.Equal(body, want) {
				t.Errorf("got %v, want %v", body, want)
			}
		})
	}
	for _, token := range []string{first.Token, second.Token, third.Token, expired.Token} {
		_, refused := e.open(handshake{Token: token})
		refused.problem(t, http.StatusUnauthorized, "")
	}
}

// issueExpired returns a token that has expired.
func (e *edge) issueExpired() issued {
	e.t.Helper()
	request := tokenRequest(allowAll("room"))
	request["right"].(object)["expires_at"] = in(2 * time.Second)
	got := e.issueAs(e.master, request)
	e.poll("the token to expire", func() bool { return e.status(e.master, got.TokenID) == "expired" })
	return got
}

// status returns the status of a token as the list has it, or "".
func (e *edge) status(master, tokenID string) string {
	e.t.Helper()
	for _, token := range e.list(master, "limit=1000").Tokens {
		if token.TokenID == tokenID {
			return token.Status
		}
	}
	return ""
}

func checkAllow(t *testing.T, a answer, methods ...string) {
	t.Helper()
	var got []string
	for _, method := range strings.Split(strings.Join(a.Header.Values("Allow"), ","), ",") {
		got = append(got, strings.TrimSpace(method))
	}
	slices.Sort(got)
	slices.Sort(methods)
	if !slices.Equal(got, methods) {
		t.Errorf("got Allow %q, want %q", got, methods)
	}
}

func checkNoStore(t *testing.T, a answer) {
	t.Helper()
	if got := a.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("got Cache-Control %q, want no-store", got)
	}
}

// checkSilent checks that a problem quotes none of the values of the request.
func checkSilent(t *testing.T, p problem, values ...string) {
	t.Helper()
	for _, value := range values {
		if value != "" && strings.Contains(p.Detail, value) {
			t.Errorf("the detail quotes the request: %s", p.Detail)
		}
	}
}

// wholeSeconds returns a time as the edge answers it.
func wholeSeconds(t *testing.T, rfc3339 string) string {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.UTC().Truncate(time.Second).Format("2006-01-02T15:04:05Z")
}

// tokenList is the answer of GET /v1/tokens.
type tokenList struct {
	Tokens     []listedToken `json:"tokens"`
	NextCursor string        `json:"next_cursor"`
}

type listedToken struct {
	TokenID     string          `json:"token_id"`
	CreatedBy   string          `json:"created_by"`
	Description string          `json:"description"`
	CreatedAt   string          `json:"created_at"`
	ExpiresAt   string          `json:"expires_at"`
	RevokedAt   string          `json:"revoked_at"`
	Status      string          `json:"status"`
	Right       json.RawMessage `json:"right"`
}

func (e *edge) list(master, query string) tokenList {
	e.t.Helper()
	got := e.rest("GET", "/v1/tokens?"+query, master, nil)
	checkNoStore(e.t, got)
	var list tokenList
	got.decode(e.t, http.StatusOK, &list)
	return list
}
