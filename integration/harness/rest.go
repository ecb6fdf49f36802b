package harness

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// Call is one HTTP request.
type Call struct {
	Method string
	URL    string // or a path, taken on the plain HTTP site
	Token  string // sent as a bearer token unless empty
	Header http.Header
	Body   any               // a string is sent unchanged, nil is no body, anything else becomes JSON
	Over   http.RoundTripper // nil: HTTP/1.1 on a connection of its own
}

// Answer is the response to a call, read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

func (e *Edge) HttpURL(path string) string { return fmt.Sprintf("http://localhost:%d%s", e.HTTP, path) }

func (e *Edge) HttpsURL(path string) string {
	return fmt.Sprintf("https://localhost:%d%s", e.HTTPS, path)
}

// Rest sends one request to the plain HTTP site.
func (e *Edge) Rest(method, path, token string, body any) Answer {
	e.T.Helper()
	return e.Do(Call{Method: method, URL: path, Token: token, Body: body})
}

func (e *Edge) Do(c Call) Answer {
	e.T.Helper()
	a, err := e.Try(c)
	if err != nil {
		e.T.Fatalf("%s %s: %v", c.Method, c.URL, err)
	}
	return a
}

func (e *Edge) Try(c Call) (Answer, error) {
	if strings.HasPrefix(c.URL, "/") {
		c.URL = e.HttpURL(c.URL)
	}
	text, isText := c.Body.(string)
	if !isText && c.Body != nil {
		encoded, err := json.Marshal(c.Body)
		if err != nil {
			return Answer{}, err
		}
		text = string(encoded)
	}
	ctx, cancel := context.WithTimeout(context.Background(), WaitTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, c.Method, c.URL, strings.NewReader(text))
	if err != nil {
		return Answer{}, err
	}
	if c.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(req.Header, c.Header)
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if c.Over == nil {
		transport := &http.Transport{DialContext: DialLoopback, DisableKeepAlives: true}
		if req.URL.Scheme == "https" {
			if transport.TLSClientConfig, err = e.TlsConfig(); err != nil {
				return Answer{}, err
			}
		}
		c.Over = transport
	}
	res, err := c.Over.RoundTrip(req) // follows no redirect
	if err != nil {
		return Answer{}, err
	}
	return answerOf(res)
}

// answerOf reads a response to its end; the protocol after an upgrade is not read.
func answerOf(res *http.Response) (Answer, error) {
	defer res.Body.Close()
	if res.StatusCode == http.StatusSwitchingProtocols {
		return Answer{Status: res.StatusCode, Header: res.Header}, nil
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		err = fmt.Errorf("%s with a body that breaks off: %w", res.Status, err)
	}
	return Answer{Status: res.StatusCode, Header: res.Header, Body: body}, err
}

// Http3 is a plain HTTP/3 client of the HTTPS site, closed when the test ends.
func (e *Edge) Http3() *http3.Transport {
	e.T.Helper()
	transport := &http3.Transport{
		TLSClientConfig: value(e.TlsConfig())(e.T),
		Dial: func(ctx context.Context, _ string, t *tls.Config, q *quic.Config) (*quic.Conn, error) {
			return quic.DialAddr(ctx, e.udpAddress().String(), t, q)
		},
	}
	e.T.Cleanup(func() { e.Must(transport.Close()) })
	return transport
}

// Http2 is an HTTP/2 client of the HTTPS site.
func (e *Edge) Http2() *http.Transport {
	e.T.Helper()
	transport := &http.Transport{DialContext: DialLoopback, TLSClientConfig: value(e.TlsConfig())(e.T), ForceAttemptHTTP2: true}
	e.T.Cleanup(transport.CloseIdleConnections)
	return transport
}

// RootFile is the file with the certificate of the edge's internal certificate authority.
func (e *Edge) RootFile() string {
	return filepath.Join(e.Dir, "data/caddy/pki/authorities/local/root.crt")
}

// TlsConfig trusts only the edge's internal certificate authority.
func (e *Edge) TlsConfig() (*tls.Config, error) {
	root, err := os.ReadFile(e.RootFile())
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(root) && err == nil {
		err = fmt.Errorf("%s has no certificate: %q", e.RootFile(), root)
	}
	return &tls.Config{RootCAs: pool}, err
}

// DialLoopback connects to 127.0.0.1 whatever the name: the sites are named localhost, and
// listen only there.
func DialLoopback(ctx context.Context, network, address string) (net.Conn, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
}

// Decode reads a JSON answer that must have this status.
func (a Answer) Decode(t *testing.T, status int, into any) {
	t.Helper()
	if a.Status != status {
		t.Fatalf("got status %d, want %d: %s", a.Status, status, a.Body)
	}
	want := "application/json"
	if status >= 400 {
		want = "application/problem+json"
	}
	if got := a.Header.Get("Content-Type"); got != want {
		t.Errorf("got content type %q, want %s", got, want)
	}
	if err := json.Unmarshal(a.Body, into); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
}

// Problem is the body of a refusal, RFC 9457.
type Problem struct {
	Type, Title, Detail, Code string
	Status                    int
}

// Problem checks that the answer is a complete problem document with this
// status and, unless it is empty, this code.
func (a Answer) Problem(t *testing.T, status int, code string) (p Problem) {
	t.Helper()
	a.Decode(t, status, &p)
	if p.Type != "about:blank" || p.Title == "" || p.Detail == "" || p.Code == "" || p.Status != status {
		t.Errorf("incomplete problem document: %s", a.Body)
	}
	if code != "" && p.Code != code {
		t.Errorf("got code %q, want %q: %s", p.Code, code, a.Body)
	}
	return p
}

// Object is a JSON object under construction.
type Object = map[string]any

// Grant allows publishing and subscribing by these rules in one tenant.
func Grant(tenant string, pub, sub []string) Object {
	return Object{"tenant_ids": []string{tenant}, "allow_channels_pub": pub, "allow_channels_sub": sub}
}

// AllowAll allows everything in each of the tenants.
func AllowAll(tenants ...string) Object {
	return Object{"tenant_ids": tenants, "allow_channels_pub": []string{"#"}, "allow_channels_sub": []string{"#"}}
}

// TokenRequest is the body of a get-token call for a token that is valid for an hour.
// Tests change it as they need.
func TokenRequest(grants ...Object) Object {
	return Object{
		"created_by": "integration",
		"right":      Object{"tenant_grants": grants, "expires_at": In(time.Hour)},
	}
}

// In returns the time in d as a client would send it.
func In(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339Nano) }

// Issued is the answer of get-token.
type Issued struct {
	Token   string `json:"token"`
	TokenID string `json:"token_id"`
}

// Issue issues an access token with the edge's default master token.
func (e *Edge) Issue(grants ...Object) Issued {
	e.T.Helper()
	return e.IssueAs(e.Master, TokenRequest(grants...))
}

func (e *Edge) IssueAs(master string, request Object) (got Issued) {
	e.T.Helper()
	e.Rest("POST", "/v1/get-token", master, request).Decode(e.T, http.StatusOK, &got)
	return got
}

func (e *Edge) Refresh(master, tokenID, expiresAt string) Answer {
	e.T.Helper()
	return e.Rest("PUT", "/v1/refresh-token", master, Object{"token_id": tokenID, "expires_at": expiresAt})
}

func (e *Edge) Revoke(master, token string) Answer {
	e.T.Helper()
	return e.Rest("DELETE", "/v1/revoke-token", master, Object{"token": token})
}

// Status returns the status of a token as the list has it, or "".
func (e *Edge) Status(master, tokenID string) string {
	e.T.Helper()
	for _, token := range e.List(master, "limit=1000").Tokens {
		if token.TokenID == tokenID {
			return token.Status
		}
	}
	return ""
}

func CheckNoStore(t *testing.T, a Answer) {
	t.Helper()
	if got := a.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("got Cache-Control %q, want no-store", got)
	}
}

// TokenList is the answer of GET /v1/tokens.
type TokenList struct {
	Tokens []struct {
		TokenID   string `json:"token_id"`
		CreatedBy string `json:"created_by"`
		Status    string
	}
	NextCursor string `json:"next_cursor"`
}

func (e *Edge) List(master, query string) (list TokenList) {
	e.T.Helper()
	got := e.Rest("GET", "/v1/tokens?"+query, master, nil)
	CheckNoStore(e.T, got)
	got.Decode(e.T, http.StatusOK, &list)
	return list
}

// Limited returns a token for the tenant room whose right also has these fields.
func (e *Edge) Limited(right Object) string {
	e.T.Helper()
	request := TokenRequest(AllowAll("room"))
	maps.Copy(request["right"].(Object), right)
	return e.IssueAs(e.Master, request).Token
}

var MasterToken = regexp.MustCompile(`MT_([0-9a-f]{32})_[0-9a-f]{32}`)
