package rest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// valid is a request that the route answers with 200.
func (e *edge) valid(route Route) *http.Request {
	e.t.Helper()
	return request(route.Methods[0], e.validTarget(route), masterAll, e.validBody(route))
}

// validTarget is the path of valid.
func (e *edge) validTarget(route Route) string {
	if route.Path == "/v1/tokens/{token_id}" {
		_, id := e.issue(masterAll, "demo")
		return "/v1/tokens/" + id
	}
	return route.Path
}

func (e *edge) validBody(route Route) string {
	switch route.Path {
	case "/v1/get-token":
		return e.issueBody("demo", time.Hour)
	case "/v1/refresh-token":
		_, id := e.issue(masterAll, "demo")
		return e.refreshBody(id, 2*time.Hour)
	case "/v1/revoke-token":
		token, _ := e.issue(masterAll, "demo")
		return `{"token":"` + token + `"}`
	case "/v1/tokens":
		if route.Operation == "revoke_subject" {
			e.issueFor(masterAll, "demo", "ada")
			return `{"subject":"ada"}`
		}
		return ""
	case "/v1/tokens/{token_id}":
		return ""
	}
	e.t.Fatalf("no valid body for %s", route.Path)
	return ""
}

// refreshAfter is a refresh of a token that end has ended.
func refreshAfter(end func(e *edge, token string)) func(*edge, Route) *http.Request {
	return func(e *edge, route Route) *http.Request {
		token, id := e.issue(masterAll, "demo")
		end(e, token)
		return request(http.MethodPut, route.Path, masterAll, e.refreshBody(id, time.Hour))
	}
}

// afterChange is the valid request after a change.
func afterChange(change func(e *edge, r *http.Request)) func(*edge, Route) *http.Request {
	return func(e *edge, route Route) *http.Request {
		r := e.valid(route)
		change(e, r)
		return r
	}
}

// refusedBy has one request for each code that makes a route answer with it.
var refusedBy = map[Code]func(*edge, Route) *http.Request{
	CodeTooEarly:       afterChange(func(_ *edge, r *http.Request) { r.TLS.HandshakeComplete = false }),
	CodeTLSRequired:    afterChange(func(_ *edge, r *http.Request) { r.TLS = nil }),
	CodeBadMasterToken: afterChange(func(_ *edge, r *http.Request) { r.Header.Set("Authorization", "Bearer "+masterAll+"0") }),
	CodeTooManyFailures: afterChange(func(e *edge, _ *http.Request) {
		e.options.Authenticate = func(context.Context, *tokenstore.Service, string, netip.Addr) (*tokenstore.Master, error) {
			return nil, tokenstore.ErrTooManyFailures
		}
	}),
	CodeIPNotAllowed:        afterChange(func(_ *edge, r *http.Request) { r.Header.Set("Authorization", "Bearer "+masterMasked) }),
	CodeInternal:            afterChange(func(e *edge, _ *http.Request) { e.store.err = errors.New("disk on fire") }),
	CodeUnavailable:         afterChange(func(e *edge, _ *http.Request) { e.store.err = tokenstore.ErrClosed }),
	CodeReadOnly:            afterChange(func(e *edge, _ *http.Request) { e.store.err = tokenstore.ErrReadOnly }),
	CodeInsufficientStorage: afterChange(func(e *edge, _ *http.Request) { e.store.full = true }),
	CodeQuotaExceeded: afterChange(func(e *edge, r *http.Request) {
		e.issue(masterQuota, "demo")
		r.Header.Set("Authorization", "Bearer "+masterQuota)
	}),
	CodeTooManyRequests: afterChange(func(e *edge, r *http.Request) {
		e.wantOK(e.do(request(http.MethodGet, "/v1/tokens", masterCalls, "")))
		r.Header.Set("Authorization", "Bearer "+masterCalls)
	}),
	CodeUnsupportedMediaType: afterChange(func(_ *edge, r *http.Request) { r.Header.Set("Content-Type", "text/plain") }),
	CodeBodyTooLarge: func(e *edge, route Route) *http.Request {
		return request(route.Methods[0], route.Path, masterAll, e.validBody(route)+strings.Repeat(" ", MaxBody))
	},
	CodeInvalidBody: func(e *edge, route Route) *http.Request {
		switch {
		case route.Path == "/v1/tokens/{token_id}":
			return request(route.Methods[0], "/v1/tokens/0", masterAll, "")
		case !route.TakesBody():
			return request(route.Methods[0], route.Path+"?limit=0", masterAll, "")
		}
		return request(route.Methods[0], route.Path, masterAll, `{}`)
	},
	CodeExpiresAtOutOfRange: func(e *edge, route Route) *http.Request {
		body := e.issueBody("demo", 24*time.Hour+time.Second)
		if route.Path == "/v1/refresh-token" {
			_, id := e.issue(masterAll, "demo")
			body = e.refreshBody(id, 24*time.Hour+time.Second)
		}
		return request(route.Methods[0], route.Path, masterAll, body)
	},
	// The token exists, in another namespace.
	CodeUnknownToken: afterChange(func(_ *edge, r *http.Request) { r.Header.Set("Authorization", "Bearer "+masterPaint) }),
	CodeTokenExpired: refreshAfter(func(e *edge, _ string) { e.now = e.now.Add(time.Hour) }),
	CodeTokenRevoked: refreshAfter(func(e *edge, token string) {
		e.wantOK(e.do(request(http.MethodDelete, "/v1/revoke-token", masterAll, `{"token":"`+token+`"}`)))
	}),
}

func TestRoutes(t *testing.T) {
	for _, route := range Routes {
		t.Run(route.Methods[0]+route.Path, func(t *testing.T) {
			for _, method := range route.Methods {
				e := newEdge(t)
				r := e.valid(route)
				r.Method = method
				e.wantOK(e.do(r))
			}
			for _, code := range route.Refusals {
				t.Run(string(code), func(t *testing.T) {
					e := newEdge(t)
					refused, known := refusedBy[code]
					if !known {
						t.Fatal("no request makes the route answer with this code")
					}
					r := refused(e, route)
					var ops []Operation
					e.options.Observe = func(op Operation) { ops = append(ops, op) }
					e.wantProblem(e.do(r), code)
					if len(ops) != 1 || ops[0].Name != route.Operation || ops[0].Code != code || ops[0].Status != Status[code] || ops[0].IP != clientAddr {
						t.Fatalf("observed %+v", ops)
					}
					if ops[0].Tenants != nil || !ops[0].ExpiresAt.IsZero() {
						t.Errorf("a refusal with a result: %+v", ops[0])
					}
					withoutSecret(t, ops[0], hexA)
				})
			}
			t.Run("other methods", func(t *testing.T) {
				allowed := route.Methods
				if route.Path == "/v1/tokens" {
					allowed = []string{"GET", "HEAD", "DELETE"}
				}
				for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get"} {
					if slices.Contains(allowed, method) {
						continue
					}
					e := newEdge(t)
					res := e.do(request(method, strings.Replace(route.Path, "{token_id}", hexA, 1), "", ""))
					e.wantProblem(res, CodeMethodNotAllowed)
					if got, want := res.Header.Get("Allow"), strings.Join(allowed, ", "); got != want {
						t.Errorf("%s: Allow = %q, want %q", method, got, want)
					}
				}
			})
		})
	}
}

func TestWriteProblem(t *testing.T) {
	for _, test := range []struct {
		name string
		in   Problem
		want string
	}{
		{"defaults", Problem{Status: 409, Detail: "the access token has expired", Code: "token_expired"},
			`{"type":"about:blank","title":"Conflict","status":409,"detail":"the access token has expired","code":"token_expired"}`},
		{"all given", Problem{Type: "t", Title: "T", Status: 400, Detail: "d", Code: "c"},
			`{"type":"t","title":"T","status":400,"detail":"d","code":"c"}`},
		{"a subject that is being revoked", ProblemFor(tokenstore.ErrSubjectClosing, nil),
			`{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"the tokens of this subject are being revoked; try again","code":"unavailable"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			rec := httptest.NewRecorder()
			WriteProblem(rec, test.in)
			if rec.Code != test.in.Status || rec.Body.String() != test.want {
				t.Errorf("got %d %s\nwant %d %s", rec.Code, rec.Body, test.in.Status, test.want)
			}
			for name, want := range map[string]string{
				"Content-Type":           "application/problem+json",
				"Cache-Control":          "no-store",
				"X-Content-Type-Options": "nosniff",
				"Retry-After":            map[int]string{http.StatusServiceUnavailable: "1"}[test.in.Status],
			} {
				if got := rec.Header().Get(name); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
		})
	}
}

// Titles are the phrases of the statuses, so every status needs one.
func TestStatusesHavePhrases(t *testing.T) {
	if len(Status) == 0 {
		t.Fatal("no codes")
	}
	for code, status := range Status {
		if status < 400 || http.StatusText(status) == "" {
			t.Errorf("%s has status %d", code, status)
		}
	}
}
