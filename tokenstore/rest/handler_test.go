package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

func TestPathsAreExact(t *testing.T) {
	for _, target := range []string{
		"/", "/v1", "/v1/", "/v2/tokens", "/v1/unknown",
		"/v1/tokens/", "/v1/Tokens", "/V1/tokens", "//v1/tokens", "/v1//tokens",
		"/v1/./tokens", "/v1/%74okens", "/v1%2Ftokens", "/v1/tokens%20", "/v1/tokens;x=1",
	} {
		t.Run(target, func(t *testing.T) {
			e := newEdge(t)
			// NewRequest takes a URL that begins with // for one with a host.
			e.wantProblem(e.do(request(http.MethodGet, "https://edge.example"+target, masterAll, "")), CodeNotFound)
		})
	}
}

// A request with every fault is refused for the first; the repaired one for
// the next, and so on, until it is accepted.
func TestOrderOfRefusals(t *testing.T) {
	e := newEdge(t)
	_, id := e.issue(masterAll, "demo")
	r := request(http.MethodGet, "/v1/refresh-token/", "", "")
	r.TLS.HandshakeComplete = false
	secure := false
	e.options.Secure = func(*http.Request) bool { return secure }
	body := func(s string) {
		fresh := request(http.MethodPut, "/", "", s)
		r.Body, r.ContentLength = fresh.Body, fresh.ContentLength
	}
	from := func(ip string, known bool) {
		e.options.ClientIP = func(*http.Request) (netip.Addr, bool) { return netip.MustParseAddr(ip), known }
	}
	unread := &unreadBody{}
	r.Body, r.ContentLength = unread, MaxBody+1
	r.Header.Set("Expect", "100-continue") // else the rest of a body too large is discarded
	revoke := func() {
		must(t, e.options.Service().RevokeByID(context.Background(), e.options.Service().Overlay(), id))
	}
	steps := []struct {
		code   Code
		repair func()
	}{
		{CodeTooEarly, func() { r.TLS.HandshakeComplete = true; r.Header.Set("Early-Data", "1") }},
		{CodeTooEarly, func() { r.Header["Early-Data"] = []string{"0", ""} }}, // malformed
		{CodeTooEarly, func() { r.Header.Del("Early-Data") }},
		{CodeNotFound, func() { r.URL.Path = "/v1/refresh-token" }},
		{CodeMethodNotAllowed, func() { r.Method = http.MethodPut }},
		{CodeBadMasterToken, func() { r.Header.Set("Authorization", "Bearer "+masterMasked) }},
		{CodeIPNotAllowed, func() { from("::ffff:192.0.2.9", false) }}, // which nobody vouches for
		{CodeIPNotAllowed, func() { from("::ffff:192.0.2.9", true) }},
		{CodeTLSRequired, func() { secure = true }},
		{CodeUnsupportedMediaType, func() { r.Header.Set("Content-Type", "application/json") }},
		{CodeBodyTooLarge, func() { body(`{"token_id":"` + hexB + `"}`) }},
		{CodeInvalidBody, func() { body(e.refreshBody(hexB, time.Hour)) }},
		{CodeUnknownToken, func() { revoke(); body(e.refreshBody(id, time.Hour)) }},
		{CodeTokenRevoked, nil},
	}
	for _, step := range steps {
		e.wantProblem(e.do(r), step.code)
		if unread.reads > 0 {
			t.Fatalf("the body was read before %s", step.code)
		}
		if step.repair != nil {
			step.repair()
		}
	}
}

// unreadBody counts the reads; nobody should.
type unreadBody struct{ reads int }

func (b *unreadBody) Read([]byte) (int, error) {
	b.reads++
	return 0, errors.New("read")
}
func (b *unreadBody) Close() error { return nil }

func TestAuthorization(t *testing.T) {
	other := masterAll[:len(masterAll)-1] + "0"
	tests := []struct {
		name    string
		headers []string
		ok      bool
	}{
		{"bearer", []string{"Bearer " + masterAll}, true},
		{"scheme in another case", []string{"bEARER " + masterAll}, true},
		{"more spaces", []string{"Bearer   " + masterAll}, true},
		{"none", nil, false},
		{"empty", []string{""}, false},
		{"scheme alone", []string{"Bearer"}, false},
		{"no token", []string{"Bearer "}, false},
		{"other scheme", []string{"Basic " + masterAll}, false},
		{"token alone", []string{masterAll}, false},
		{"tab", []string{"Bearer\t" + masterAll}, false},
		{"two headers", []string{"Bearer " + masterAll, "Bearer " + masterAll}, false},
		{"two headers, one empty", []string{"Bearer " + masterAll, ""}, false},
		{"two in one", []string{"Bearer " + masterAll + ", Bearer " + masterAll}, false},
		{"something behind", []string{"Bearer " + masterAll + " x"}, false},
		{"wrong secret", []string{"Bearer " + other}, false},
		{"unknown", []string{"Bearer MT_" + hexB + "_" + hexB}, false},
		{"access token", []string{"Bearer AT_" + hexB + "_" + hexB}, false},
		{"upper case", []string{"Bearer " + strings.ToUpper(masterAll)}, false},
	}
	var refusal string // one answer for all
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := newEdge(t)
			r := request(http.MethodGet, "/v1/tokens", "", "")
			for _, h := range test.headers {
				r.Header.Add("Authorization", h)
			}
			res := e.do(r)
			if test.ok {
				e.wantOK(res)
				return
			}
			detail := e.wantProblem(res, CodeBadMasterToken)
			if refusal == "" {
				refusal = detail
			}
			equal(t, "the detail", detail, refusal)
		})
	}
}

// The zero Options refuse rather than allow.
func TestDefaults(t *testing.T) {
	e := newEdge(t)
	e.options = Options{Service: e.options.Service}
	e.wantProblem(e.do(request(http.MethodGet, "/v1/tokens", masterMasked, "")), CodeIPNotAllowed)
	e.wantOK(e.do(request(http.MethodGet, "/v1/tokens", masterAll, "")))
	plain := request(http.MethodGet, "/v1/tokens", masterAll, "")
	plain.TLS = nil
	e.wantProblem(e.do(plain), CodeTLSRequired)
	e.options.Service = func() *tokenstore.Service { return nil }
	e.wantProblem(e.do(request(http.MethodGet, "/v1/tokens", masterAll, "")), CodeUnavailable)
}

func TestFaultsAreLogged(t *testing.T) {
	for _, test := range []struct {
		err  error
		code Code
		logs int
	}{
		{errors.New("disk on fire"), CodeInternal, 1},
		{fmt.Errorf("reading: %w", tokenstore.ErrClosed), CodeUnavailable, 1},
		{fmt.Errorf("reading: %w", tokenstore.ErrUnavailable), CodeUnavailable, 1},
		{context.DeadlineExceeded, CodeUnavailable, 1},
		{context.Canceled, CodeUnavailable, 0},
	} {
		t.Run(test.err.Error(), func(t *testing.T) {
			e := newEdge(t)
			e.store.err = test.err
			detail := e.wantProblem(e.do(request(http.MethodGet, "/v1/tokens?tenant=t3nant", masterAll, "")), test.code)
			if strings.Contains(detail, test.err.Error()) {
				t.Errorf("the answer tells the fault: %q", detail)
			}
			entries := e.logs.All()
			if len(entries) != test.logs {
				t.Fatalf("%d log entries, want %d", len(entries), test.logs)
			}
			for _, entry := range entries {
				text := fmt.Sprint(entry.Message, entry.ContextMap())
				if !strings.Contains(text, test.err.Error()) || !strings.Contains(text, "/v1/tokens") {
					t.Errorf("the log does not tell the fault and the route: %s", text)
				}
				if regexp.MustCompile(`MT_|AT_|t3nant`).MatchString(text) {
					t.Errorf("the log holds a part of the request: %s", text)
				}
			}
		})
	}
}
