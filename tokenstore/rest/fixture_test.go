package rest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

const (
	hexA = "0123456789abcdef0123456789abcdef"
	hexB = "fedcba9876543210fedcba9876543210"

	masterAll    = "MT_" + "00000000000000000000000000000001_" + hexA // no prefix
	masterPaint  = "MT_" + "00000000000000000000000000000002_" + hexA // prefix paint.
	masterMasked = "MT_" + "00000000000000000000000000000003_" + hexA // 192.0.2.0/24 alone
	masterQuota  = "MT_" + "00000000000000000000000000000004_" + hexA // one token
	masterCalls  = "MT_" + "00000000000000000000000000000005_" + hexA // one call a second
)

// edge is a handler over a real service with a memory store, static master
// tokens and a clock that the test moves. Requests come from 198.51.100.1.
type edge struct {
	t       *testing.T
	now     time.Time
	store   *failingStore
	options Options
	logs    *observer.ObservedLogs
}

// failingStore fails every call with err while err is set.
type failingStore struct {
	tokenstore.Store
	err  error
	full bool // changes find no room
}

func (s *failingStore) Update(ctx context.Context, r tokenstore.Record) (uint64, error) {
	if s.full {
		return 0, tokenstore.ErrInsufficientStorage
	}
	return s.Store.Update(ctx, r)
}

func (s *failingStore) Get(ctx context.Context, k tokenstore.Kind, id string) (tokenstore.Record, error) {
	if s.err != nil {
		return tokenstore.Record{}, s.err
	}
	return s.Store.Get(ctx, k, id)
}

func (s *failingStore) Create(ctx context.Context, r tokenstore.Record) (uint64, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.full {
		return 0, tokenstore.ErrInsufficientStorage
	}
	return s.Store.Create(ctx, r)
}

func (s *failingStore) Scan(ctx context.Context, k tokenstore.Kind, after string, fn func(tokenstore.Record) bool) error {
	if s.err != nil {
		return s.err
	}
	return s.Store.Scan(ctx, k, after, fn)
}

func newEdge(t *testing.T) *edge {
	t.Helper()
	e := &edge{
		t:     t,
		now:   time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC),
		store: &failingStore{Store: storetest.NewMemory()},
	}
	index := tokenstore.NewIndex(e.store.Store) // of the inner store, whose reads do not fail
	t.Cleanup(func() {
		index.Close()
		_ = e.store.Close()
	})
	static := func(token string, spec tokenstore.MasterSpec) tokenstore.StaticMaster {
		id, hash, err := tokenstore.ParseStaticMaster(token)
		must(t, err)
		return tokenstore.StaticMaster{ID: id, SecretHash: hash, MasterSpec: spec}
	}
	service, err := tokenstore.NewService(e.store, tokenstore.Config{
		Now:   func() time.Time { return e.now },
		Index: index,
		StaticMasters: []tokenstore.StaticMaster{
			static(masterAll, tokenstore.MasterSpec{Name: "all"}),
			static(masterPaint, tokenstore.MasterSpec{Name: "paint", TenantPrefix: "paint"}),
			static(masterQuota, tokenstore.MasterSpec{Name: "quota", Quota: tokenstore.Quota{MaxTokens: 1}}),
			static(masterCalls, tokenstore.MasterSpec{Name: "calls", Quota: tokenstore.Quota{CallsPerSecond: 1}}),
			static(masterMasked, tokenstore.MasterSpec{Name: "masked", AllowIPMasks: []string{"192.0.2.0/24"}}),
		},
	})
	must(t, err)
	core, logs := observer.New(zap.DebugLevel)
	e.logs = logs
	e.options = Options{
		Service:  func() *tokenstore.Service { return service },
		ClientIP: func(*http.Request) (netip.Addr, bool) { return netip.MustParseAddr("198.51.100.1"), true },
		Log:      zap.New(core),
	}
	return e
}

// request is an HTTPS request with the bearer token, and with the JSON content
// type when there is a body.
func request(method, target, token, body string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.TLS = &tls.ConnectionState{HandshakeComplete: true}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

func (e *edge) do(r *http.Request) *http.Response {
	e.t.Helper()
	rec := httptest.NewRecorder()
	NewHandler(e.options).ServeHTTP(rec, r)
	equal(e.t, "Cache-Control", rec.Header().Get("Cache-Control"), "no-store")
	equal(e.t, "Access-Control-Allow-Origin", rec.Header().Get("Access-Control-Allow-Origin"), "")
	return rec.Result()
}

// issue returns a new token, good for an hour, of the tenant.
func (e *edge) issue(master, tenant string) (token, id string) {
	e.t.Helper()
	body := e.wantOK(e.do(request(http.MethodPost, "/v1/get-token", master, e.issueBody(tenant, time.Hour))))
	token, _ = body["token"].(string)
	id, _ = body["token_id"].(string)
	return token, id
}

// issueFor is issue for a subject.
func (e *edge) issueFor(master, tenant, subject string) (id string) {
	e.t.Helper()
	body := strings.Replace(e.issueBody(tenant, time.Hour), `{`, `{"subject":"`+subject+`","info":{"a":[1]},`, 1)
	id, _ = e.wantOK(e.do(request(http.MethodPost, "/v1/get-token", master, body)))["token_id"].(string)
	return id
}

func (e *edge) issueBody(tenant string, lifetime time.Duration) string {
	return `{"created_by":"test","right":{"tenant_grants":[{"tenant_ids":["` + tenant +
		`"],"allow_channels_sub":["#"]}],"expires_at":"` + timestamp(e.now.Add(lifetime)) + `"}}`
}

func (e *edge) refreshBody(id string, lifetime time.Duration) string {
	return `{"token_id":"` + id + `","expires_at":"` + timestamp(e.now.Add(lifetime)) + `"}`
}

func (e *edge) wantOK(res *http.Response) map[string]any {
	e.t.Helper()
	var body map[string]any
	must(e.t, json.NewDecoder(res.Body).Decode(&body))
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/json" {
		e.t.Fatalf("got %d %s %v, want 200 application/json", res.StatusCode, res.Header.Get("Content-Type"), body)
	}
	return body
}

// wantAnswer is wantProblem, or wantOK without a code.
func (e *edge) wantAnswer(res *http.Response, code Code) {
	e.t.Helper()
	if code == "" {
		e.wantOK(res)
	} else {
		e.wantProblem(res, code)
	}
}

// wantProblem checks the whole shape of a refusal and returns its detail.
func (e *edge) wantProblem(res *http.Response, code Code) string {
	e.t.Helper()
	dec := json.NewDecoder(res.Body)
	dec.DisallowUnknownFields()
	var p Problem
	if err := dec.Decode(&p); err != nil {
		e.t.Fatalf("status %d, body: %v", res.StatusCode, err)
	}
	want := Problem{
		Type: "about:blank", Title: http.StatusText(Status[code]), Status: Status[code],
		Detail: p.Detail, Code: string(code),
	}
	if p != want || res.StatusCode != p.Status || p.Detail == "" {
		e.t.Fatalf("got %d %+v, want %+v with a detail", res.StatusCode, p, want)
	}
	equal(e.t, "Content-Type", res.Header.Get("Content-Type"), "application/problem+json")
	challenge := ""
	if p.Status == http.StatusUnauthorized {
		challenge = "Bearer"
	}
	equal(e.t, "WWW-Authenticate", res.Header.Get("WWW-Authenticate"), challenge)
	retry := map[Code]string{CodeTooManyFailures: "1", CodeTooManyRequests: "1", CodeInsufficientStorage: "30"}[code]
	equal(e.t, "Retry-After", res.Header.Get("Retry-After"), retry)
	return p.Detail
}

var must = testcheck.Must

// errorOf is the error of a call that returns something else, too.
func errorOf[T any](_ T, err error) error { return err }

// equal compares what a test has got with what it wants.
func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
