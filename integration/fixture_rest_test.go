package integration

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// call is one HTTP request.
type call struct {
	Method   string
	URL      string // or a path, taken on the plain HTTP site
	Token    string // sent as a bearer token unless empty
	Header   http.Header
	Body     []byte // sent as application/json unless Header says otherwise; nil: no body
	Protocol string // of an extended CONNECT
}

// answer is the response to a call, read to its end.
type answer struct {
	Status int
	Header http.Header
	Body   []byte
}

func (e *edge) httpURL(path string) string { return fmt.Sprintf("http://localhost:%d%s", e.HTTP, path) }
func (e *edge) httpsURL(path string) string {
	return fmt.Sprintf("https://localhost:%d%s", e.HTTPS, path)
}

// rest sends one request to the plain HTTP site. A string or bytes as the body are sent
// unchanged, nil means no body, anything else is encoded as JSON.
func (e *edge) rest(method, path, token string, body any) answer {
	e.t.Helper()
	return e.do(call{Method: method, URL: path, Token: token, Body: e.encode(body)})
}

func (e *edge) encode(body any) []byte {
	e.t.Helper()
	switch b := body.(type) {
	case nil:
		return nil
	case string:
		return []byte(b)
	case []byte:
		return b
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		e.t.Fatal(err)
	}
	return encoded
}

func (e *edge) do(c call) answer {
	e.t.Helper()
	a, err := e.try(c)
	if err != nil {
		e.t.Fatalf("%s %s: %v", c.Method, c.URL, err)
	}
	return a
}

func (e *edge) try(c call) (answer, error) {
	if strings.HasPrefix(c.URL, "/") {
		c.URL = e.httpURL(c.URL)
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	var body io.Reader
	if c.Body != nil {
		body = bytes.NewReader(c.Body)
	}
	req, err := http.NewRequestWithContext(ctx, c.Method, c.URL, body)
	if err != nil {
		return answer{}, err
	}
	if c.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	transport := &http.Transport{DialContext: dialLoopback, DisableKeepAlives: true}
	if strings.HasPrefix(c.URL, "https:") {
		if transport.TLSClientConfig, err = e.tlsConfig(); err != nil {
			return answer{}, err
		}
	}
	res, err := transport.RoundTrip(req) // follows no redirect
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	read, err := io.ReadAll(res.Body)
	return answer{Status: res.StatusCode, Header: res.Header, Body: read}, err
}

// rootFile is the file with the certificate of the edge's internal certificate authority.
func (e *edge) rootFile() string {
	return filepath.Join(e.Dir, "data/caddy/pki/authorities/local/root.crt")
}

// tlsConfig trusts only the edge's internal certificate authority.
func (e *edge) tlsConfig() (*tls.Config, error) {
	root, err := os.ReadFile(e.rootFile())
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(root) {
		return nil, fmt.Errorf("the edge's root certificate does not parse")
	}
	return &tls.Config{RootCAs: pool}, nil
}

// dialLoopback connects to 127.0.0.1 whatever the name: the sites are named localhost, and
// listen only there.
func dialLoopback(ctx context.Context, network, address string) (net.Conn, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	return d.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
}

// decode reads a JSON answer that must have this status.
func (a answer) decode(t *testing.T, status int, into any) {
	t.Helper()
	if a.Status != status {
		t.Fatalf("got status %d, want %d: %s", a.Status, status, a.Body)
	}
	if got := a.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("got content type %q, want application/json", got)
	}
	if err := json.Unmarshal(a.Body, into); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
}

// problem is the body of a refusal, RFC 9457.
type problem struct {
	Type, Title, Detail, Code string
	Status                    int
}

// problem checks that the answer is a complete problem document with this
// status and, unless it is empty, this code.
func (a answer) problem(t *testing.T, status int, code string) problem {
	t.Helper()
	if a.Status != status {
		t.Fatalf("got status %d, want %d: %s", a.Status, status, a.Body)
	}
	if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("got content type %q, want application/problem+json", got)
	}
	var p problem
	if err := json.Unmarshal(a.Body, &p); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	if p.Type != "about:blank" || p.Title == "" || p.Detail == "" || p.Code == "" || p.Status != status {
		t.Errorf("incomplete problem document: %s", a.Body)
	}
	if code != "" && p.Code != code {
		t.Errorf("got code %q, want %q: %s", p.Code, code, a.Body)
	}
	return p
}

// object is a JSON object under construction.
type object = map[string]any

// grant allows publishing and subscribing by these rules in one tenant.
func grant(tenant string, pub, sub []string) object {
	return object{"tenant_ids": []string{tenant}, "allow_channels_pub": pub, "allow_channels_sub": sub}
}

// allowAll allows everything in each of the tenants.
func allowAll(tenants ...string) object {
	return object{"tenant_ids": tenants, "allow_channels_pub": []string{"#"}, "allow_channels_sub": []string{"#"}}
}

// tokenRequest is the body of a get-token call for a token that is valid for an hour.
// Tests change it as they need.
func tokenRequest(grants ...object) object {
	return object{
		"created_by": "integration",
		"right":      object{"tenant_grants": grants, "expires_at": in(time.Hour)},
	}
}

// in returns the time in d as a client would send it.
func in(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339Nano) }

// issued is the answer of get-token.
type issued struct {
	Token     string `json:"token"`
	TokenID   string `json:"token_id"`
	ExpiresAt string `json:"expires_at"`
}

// issue issues an access token with the edge's default master token.
func (e *edge) issue(grants ...object) issued {
	e.t.Helper()
	return e.issueAs(e.master, tokenRequest(grants...))
}

func (e *edge) issueAs(master string, request object) issued {
	e.t.Helper()
	var got issued
	e.rest("POST", "/v1/get-token", master, request).decode(e.t, http.StatusOK, &got)
	return got
}

func (e *edge) refresh(master, tokenID, expiresAt string) answer {
	e.t.Helper()
	return e.rest("PUT", "/v1/refresh-token", master, object{"token_id": tokenID, "expires_at": expiresAt})
}

func (e *edge) revoke(master, token string) answer {
	e.t.Helper()
	return e.rest("DELETE", "/v1/revoke-token", master, object{"token": token})
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

// wholeSeconds returns a time in the form in which the edge answers it.
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
