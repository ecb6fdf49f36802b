package rest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// observed makes a request and returns the operations that the observer got.
func (e *edge) observed(r *http.Request) (ops []Operation) {
	e.t.Helper()
	options := e.options
	rec := httptest.NewRecorder()
	options.Observe = func(op Operation) {
		if rec.Body.Len() > 0 {
			e.t.Error("the answer was written before the observer was told")
		}
		ops = append(ops, op)
	}
	NewHandler(options).ServeHTTP(rec, r)
	for _, op := range ops {
		equal(e.t, "the status of the operation, and of the answer", op.Status, rec.Code)
	}
	return ops
}

// wantObserved checks that a request is observed once, and as what.
func (e *edge) wantObserved(r *http.Request, want Operation) {
	e.t.Helper()
	if got := e.observed(r); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		e.t.Errorf("observed %+v\nwant %+v", got, want)
	}
}

// withoutSecret fails if a field of an operation holds one of the secrets.
func withoutSecret(t *testing.T, op Operation, secrets ...string) {
	t.Helper()
	text := fmt.Sprintf("%+v", op)
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("%s holds the secret %s", text, secret)
		}
	}
}

const (
	idAll   = "00000000000000000000000000000001"
	idPaint = "00000000000000000000000000000002"
)

var clientAddr = netip.MustParseAddr("198.51.100.1")

func TestObserveSuccess(t *testing.T) {
	e := newEdge(t)
	issue := strings.Replace(e.issueBody("eu", time.Hour), `["eu"]`, `["eu","paint.us","eu"]`, 1)
	ops := e.observed(request(http.MethodPost, "/v1/get-token", masterPaint, issue))
	if len(ops) != 1 || !tokenstore.IsID(ops[0].TokenID) {
		t.Fatalf("observed %+v", ops)
	}
	want := Operation{
		Name: "issue", Master: idPaint, IP: clientAddr, Status: 200,
		TokenID: ops[0].TokenID, Tenants: []string{"paint.eu", "paint.us"}, ExpiresAt: e.now.Add(time.Hour),
	}
	if !reflect.DeepEqual(ops[0], want) {
		t.Errorf("observed %+v\nwant %+v", ops[0], want)
	}

	token, id := e.issue(masterAll, "demo")
	e.wantObserved(request(http.MethodPut, "/v1/refresh-token", masterAll, e.refreshBody(id, 2*time.Hour)), Operation{
		Name: "refresh", Master: idAll, IP: clientAddr, Status: 200, TokenID: id, ExpiresAt: e.now.Add(2 * time.Hour),
	})
	e.wantObserved(request(http.MethodDelete, "/v1/revoke-token", masterAll, `{"token":"`+token+`"}`), Operation{
		Name: "revoke", Master: idAll, IP: clientAddr, Status: 200, TokenID: id,
	})
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		e.wantObserved(request(method, "/v1/tokens", masterAll, ""), Operation{Name: "list", Master: idAll, IP: clientAddr, Status: 200})
	}
	e.options.ClientIP = nil
	e.wantObserved(request(http.MethodGet, "/v1/tokens", masterAll, ""), Operation{Name: "list", Master: idAll, Status: 200})
}

// A refused call says which token it was about, if that is known.
func TestObserveRefusedToken(t *testing.T) {
	e := newEdge(t)
	token, id := e.issue(masterAll, "demo")
	secret := token[len(token)-32:]
	other := token[:len(token)-32] + hexB
	refresh := func(id string) string { return e.refreshBody(id, time.Hour) }
	revoke := func(token string) string { return `{"token":"` + token + `"}` }
	for _, test := range []struct {
		name, method, path, body string
		code                     Code
		tokenID                  string
	}{
		{"refresh of another namespace", "PUT", "/v1/refresh-token", refresh(id), CodeUnknownToken, id},
		{"refresh of an unknown token", "PUT", "/v1/refresh-token", refresh(hexB), CodeUnknownToken, hexB},
		{"refresh too far", "PUT", "/v1/refresh-token", e.refreshBody(id, 25*time.Hour), CodeExpiresAtOutOfRange, id},
		{"refresh with the whole token", "PUT", "/v1/refresh-token", refresh(token), CodeInvalidBody, ""},
		{"refresh with half an id", "PUT", "/v1/refresh-token", refresh(id[:16]), CodeInvalidBody, ""},
		{"refresh with another key", "PUT", "/v1/refresh-token", `{"id":"` + id + `"}`, CodeInvalidBody, ""},
		{"revoke of another namespace", "DELETE", "/v1/revoke-token", revoke(token), CodeUnknownToken, id},
		{"revoke with a wrong secret", "DELETE", "/v1/revoke-token", revoke(other), CodeUnknownToken, id},
		{"revoke by the id", "DELETE", "/v1/revoke-token", revoke(id), CodeInvalidBody, ""},
		{"revoke by the secret", "DELETE", "/v1/revoke-token", revoke(secret), CodeInvalidBody, ""},
		{"issue", "POST", "/v1/get-token", e.issueBody("", time.Hour), CodeInvalidBody, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e.t = t
			r := request(test.method, test.path, masterPaint, test.body)
			ops := e.observed(r)
			if len(ops) != 1 || ops[0].Code != test.code || ops[0].TokenID != test.tokenID || ops[0].Master != idPaint {
				t.Fatalf("observed %+v, want %s with the token id %q", ops, test.code, test.tokenID)
			}
			withoutSecret(t, ops[0], hexA, secret)
			if test.tokenID != hexB {
				withoutSecret(t, ops[0], hexB)
			}
		})
	}
}

// The master token is known only when it authenticated.
func TestObserveMaster(t *testing.T) {
	for token, want := range map[string]string{
		"": "", "MT_x": "", masterMasked: "", masterAll[:len(masterAll)-1] + "0": "", "MT_" + hexB + "_" + hexB: "", masterAll: idAll,
	} {
		e := newEdge(t)
		r := request(http.MethodGet, "/v1/tokens", token, "")
		r.TLS = nil // refused in any case
		ops := e.observed(r)
		if len(ops) != 1 || ops[0].Master != want || ops[0].Code == "" {
			t.Errorf("observed %+v, want the master token %q", ops, want)
		}
	}
	e := newEdge(t)
	e.options.Service = func() *tokenstore.Service { return nil }
	e.wantObserved(request(http.MethodGet, "/v1/tokens", masterAll, ""),
		Operation{Name: "list", IP: clientAddr, Status: 503, Code: CodeUnavailable})
}

// A request that is no call of a route is not observed, not in early data either.
func TestObserveNothing(t *testing.T) {
	e := newEdge(t)
	for _, early := range []bool{false, true} {
		for _, r := range []*http.Request{
			request(http.MethodGet, "/v1/unknown", masterAll, ""),
			request(http.MethodGet, "/v1/tokens/", masterAll, ""),
			request(http.MethodPost, "/v1/tokens", masterAll, "{}"),
			request(http.MethodGet, "/v1/get-token", masterAll, ""),
		} {
			r.TLS.HandshakeComplete = !early
			if ops := e.observed(r); len(ops) != 0 {
				t.Errorf("%s %s: observed %+v", r.Method, r.URL, ops)
			}
			want := CodeTooEarly
			switch {
			case early:
			case r.URL.Path == "/v1/tokens", r.URL.Path == "/v1/get-token":
				want = CodeMethodNotAllowed
			default:
				want = CodeNotFound
			}
			e.wantProblem(e.do(r), want)
		}
	}
}

// Other front ends find the same facts in the answer.
func TestIssueAnswer(t *testing.T) {
	e := newEdge(t)
	s := e.options.Service()
	answer, err := Issue(t.Context(), s, s.Overlay(), []byte(e.issueBody("demo", time.Hour)))
	must(t, err)
	if !tokenstore.IsID(answer.TokenID) || !reflect.DeepEqual(answer.Tenants, []string{"demo"}) || !answer.ExpiresAt.Equal(e.now.Add(time.Hour)) {
		t.Errorf("answer %+v", answer)
	}
	if answer, err := Issue(t.Context(), s, s.Overlay(), []byte("{}")); err == nil || !reflect.DeepEqual(answer, IssueAnswer{}) {
		t.Errorf("refused: %+v, %v", answer, err)
	}
}
