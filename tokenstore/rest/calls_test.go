package rest

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// Bodies to the byte; ID stands for 32 hex digits.
func TestAnswers(t *testing.T) {
	e := newEdge(t)
	token, id := e.issue(masterPaint, "eu")
	const list = `{"tokens":\[{"token_id":"ID","created_by":"test","created_at":"2030-01-31T12:00:00Z",` +
		`"expires_at":"2030-01-31T14:00:00Z",("revoked_at":"2030-01-31T12:00:00Z",)?"status":"STATUS",` +
		`"master_id":"00000000000000000000000000000002",` +
		`"right":{"tenant_grants":\[{"tenant_ids":\["paint.eu"\],"allow_channels_sub":\["#"\]}\],"expires_at":"2030-01-31T14:00:00Z"}}\],"next_cursor":""}`
	for _, test := range []struct{ name, method, path, body, want string }{
		{"issue", "POST", "/v1/get-token", strings.Replace(e.issueBody("~", 0), "2030-01-31T12:00:00Z", "2030-01-31T15:30:00.9+02:00", 1),
			`{"token":"AT_ID_ID","token_id":"ID","expires_at":"2030-01-31T13:30:00Z","expires_in":5400}`},
		{"issue for a time", "POST", "/v1/get-token", strings.Replace(e.issueBody("~", 0), `"expires_at":"2030-01-31T12:00:00Z"`, `"expires_in":90000`, 1),
			`{"token":"AT_ID_ID","token_id":"ID","expires_at":"2030-02-01T12:00:00Z","expires_in":86400}`},
		{"refresh", "PUT", "/v1/refresh-token", e.refreshBody(id, 2*time.Hour),
			`{"message":"token refreshed","token_id":"` + id + `","new_expires_at":"2030-01-31T14:00:00Z","expires_in":7200}`},
		{"refresh for a time", "PUT", "/v1/refresh-token", `{"token_id":"` + id + `","expires_in":7200}`,
			`{"message":"token refreshed","token_id":"` + id + `","new_expires_at":"2030-01-31T14:00:00Z","expires_in":7200}`},
		{"list", "GET", "/v1/tokens?tenant=paint.eu", "", strings.Replace(list, "STATUS", "valid", 1)},
		{"revoke", "DELETE", "/v1/revoke-token", `{"token":"` + token + `"}`, `{"message":"token revoked","token_id":"` + id + `"}`},
		{"revoke again", "DELETE", "/v1/revoke-token", `{"token":"` + token + `"}`, `{"message":"token revoked","token_id":"` + id + `"}`},
		{"list revoked", "GET", "/v1/tokens?tenant=paint.eu", "", strings.Replace(list, "STATUS", "revoked", 1)},
		{"nothing", "GET", "/v1/tokens?tenant=other", "", `{"tokens":\[\],"next_cursor":""}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			res := e.do(request(test.method, test.path, masterPaint, test.body))
			body, err := io.ReadAll(res.Body)
			must(t, err)
			want := regexp.MustCompile("^" + strings.ReplaceAll(test.want, "ID", "[0-9a-f]{32}") + "$")
			if res.StatusCode != http.StatusOK || !want.Match(body) {
				t.Errorf("got %d %s\nwant %s", res.StatusCode, body, want)
			}
			equal(t, "Content-Type", res.Header.Get("Content-Type"), "application/json")
		})
	}
	t.Run("revoke expired", func(t *testing.T) {
		e := newEdge(t)
		token, _ := e.issue(masterAll, "demo")
		e.now = e.now.Add(2 * time.Hour)
		e.wantOK(e.do(request(http.MethodDelete, "/v1/revoke-token", masterAll, `{"token":"`+token+`"}`)))
	})
}

// Unknown id, wrong secret and another namespace get one answer, to the byte.
func TestUnknownTokenTellsNothing(t *testing.T) {
	e := newEdge(t)
	token, id := e.issue(masterAll, "demo")
	wrong := "AT_" + id + "_" + hexB
	details := map[string]bool{}
	for _, test := range []struct{ master, token string }{
		{masterAll, "AT_" + hexB + "_" + hexB},
		{masterAll, wrong},
		{masterPaint, token},
		{masterPaint, wrong},
	} {
		r := request(http.MethodDelete, "/v1/revoke-token", test.master, `{"token":"`+test.token+`"}`)
		details[e.wantProblem(e.do(r), CodeUnknownToken)] = true
	}
	if len(details) != 1 {
		t.Errorf("the answers differ: %v", details)
	}
}

// Refused bodies: where the fault is, and nothing of what was sent. TestIssueRefuses of
// tokenstore has every rule, TestDecodeStrictRefuses every way to write none.
func TestInvalidBodies(t *testing.T) {
	const get, refresh, revoke = "POST /v1/get-token", "PUT /v1/refresh-token", "DELETE /v1/revoke-token"
	grant := func(inner string) string {
		return `{"created_by":"c","right":{"tenant_grants":[{"tenant_ids":["a"],` + inner + `}],"expires_at":"2030-01-31T13:00:00Z"}}`
	}
	right := func(inner string) string {
		return `{"created_by":"c","right":{"tenant_grants":[{"tenant_ids":["a"]}],"expires_at":"2030-01-31T13:00:00Z",` + inner + `}}`
	}
	for _, test := range []struct{ name, call, body, at string }{
		{"no label", get, strings.Replace(right(`"allow_regions":[]`), `"created_by":"c",`, "", 1), "created_by"},
		{"no right", get, `{"created_by":"c"}`, "right.tenant_grants"},
		{"duplicate key", get, right(`"expires_at":"s3cret"`), "right.expires_at: is given more than once"},
		{"wrong type", get, grant(`"allow_channels_sub":["a",5]`), "right.tenant_grants[0].allow_channels_sub[1]: must be a string"},
		{"? in a publish rule", get, grant(`"allow_channels_pub":["s3cret.?"]`), "right.tenant_grants[0].allow_channels_pub[0]"},
		{"129-byte tenant with prefix", get, strings.Replace(right(`"allow_regions":[]`), `"a"`, `"`+strings.Repeat("x", 123)+`"`, 1), "right.tenant_grants[0].tenant_ids[0]"},
		{"region", get, right(`"allow_regions":["US","s3cret"]`), "right.allow_regions[1]"},
		{"cap with fraction", get, right(`"egress_kb_per_sec":8.0`), "right.egress_kb_per_sec: must be an integer"},
		{"date without zone", refresh, `{"token_id":"` + hexB + `","expires_at":"2030-01-31T13:00:00"}`, "expires_at"},
		{"upper-case id", refresh, `{"token_id":"` + strings.ToUpper(hexB) + `","expires_at":"2030-01-31T13:00:00Z"}`, "token_id"},
		{"whole token as id", refresh, `{"token_id":"AT_s3cret","expires_at":"2030-01-31T13:00:00Z"}`, "token_id"},
		{"not a token", revoke, `{"token":"s3cret"}`, "token"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEdge(t)
			method, path, _ := strings.Cut(test.call, " ")
			detail := e.wantProblem(e.do(request(method, path, masterPaint, test.body)), CodeInvalidBody)
			if !strings.HasPrefix(detail, test.at) {
				t.Errorf("detail = %q, want it at %q", detail, test.at)
			}
			if strings.Contains(detail, "s3cret") || strings.Contains(detail, hexB) {
				t.Errorf("the detail quotes the request: %q", detail)
			}
		})
	}
}

// What GET /v1/tokens takes, and what operators search by beyond that. Both are refused alike,
// at a place and without what was sent.
func TestListQueries(t *testing.T) {
	e := newEdge(t)
	service := e.options.Service()
	var ids []string
	for _, tenant := range []string{"demo", "other"} {
		_, id := e.issue(masterAll, tenant)
		ids = append(ids, id)
	}
	slices.Sort(ids)
	id := ids[0]
	for _, test := range []struct {
		query, at string
		found     int
	}{
		{"", "", 2}, {"limit=1", "", 1}, {"limit=1000", "", 2}, {"cursor=" + id, "", 1}, {"tenant=demo", "", 1}, {"tenant=~", "", 0},
		{"limit=5&tenant=other&cursor=" + ids[1], "", 0},
		{"limit=0", "limit", 0}, {"limit=1001", "limit", 0}, {"limit=-1", "limit", 0}, {"limit=%2B1", "limit", 0}, {"limit=01", "limit", 0},
		{"limit=1.0", "limit", 0}, {"limit=x", "limit", 0}, {"limit=", "limit", 0}, {"limit", "limit", 0},
		{"limit=99999999999999999999", "limit", 0}, {"limit=1&limit=1", "limit", 0},
		{"cursor=", "cursor", 0}, {"cursor=s3cret", "cursor", 0}, {"cursor=a&cursor=b", "cursor", 0},
		{"tenant=", "tenant", 0}, {"tenant=s3cret:x", "tenant", 0}, {"tenant=%ff", "tenant", 0}, {"tenant=a&tenant=a", "tenant", 0},
		{"Limit=1", "query", 0}, {"s3cret=1", "query: has an unknown parameter; allowed: limit, cursor, tenant, subject", 0}, {"s3cret", "query", 0},
		{"limit=%zz", "query", 0}, {"limit=1;cursor=s3cret", "query", 0},
		// Operators alone.
		{"id=" + id, "", 1}, {"id=" + id[:31], "", 1},
		{"created_by=test", "", 2}, {"created_by=tes", "", 0}, {"created_by=" + url.QueryEscape(`s3cret"\<`), "", 0},
		{"status=valid", "", 2}, {"status=expired", "", 0}, {"status=revoked&tenant=demo&id=0&created_by=test", "", 0},
		{"id=", "id", 0}, {"id=S3CRET", "id", 0}, {"id=" + id + "0", "id", 0}, {"id=AT_" + id, "id", 0}, {"id=a&id=a", "id", 0},
		{"created_by=", "created_by", 0}, {"created_by=%ff", "created_by", 0}, {"created_by=" + strings.Repeat("x", 257), "created_by", 0},
		{"status=s3cret", "status", 0}, {"status=Valid", "status", 0}, {"status=", "status", 0}, {"status=valid&status=valid", "status", 0},
		{"id=a;status=s3cret", "query", 0}, {"ID=a", "query", 0},
	} {
		answer, err := ListAll(t.Context(), service, []byte(test.query))
		res := e.do(request(http.MethodGet, "/v1/tokens?"+test.query, masterAll, ""))
		if test.at != "" {
			var invalid *tokenstore.InvalidError
			if !errors.As(err, &invalid) || !strings.HasPrefix(invalid.Error(), test.at) || strings.Contains(invalid.Error(), "s3cret") {
				t.Errorf("%s: error %v, want it at %s and without what was sent", test.query, err, test.at)
			}
			detail := e.wantProblem(res, CodeInvalidBody)
			if !operators.MatchString(test.query) && !strings.HasPrefix(detail, test.at) || strings.Contains(detail, "s3cret") {
				t.Errorf("%s: detail %q, want it at %s and without what was sent", test.query, detail, test.at)
			}
			continue
		}
		must(t, err)
		if found := len(answer.Tokens); found != test.found {
			t.Errorf("%s: found %d, want %d", test.query, found, test.found)
		}
		if operators.MatchString(test.query) {
			e.wantProblem(res, CodeInvalidBody)
		} else if tokens, _ := e.wantOK(res)["tokens"].([]any); len(tokens) != test.found {
			t.Errorf("GET /v1/tokens?%s: %v, want %d", test.query, tokens, test.found)
		}
	}
	// A page names where the next one begins.
	if next := e.wantOK(e.do(request(http.MethodGet, "/v1/tokens?limit=1", masterAll, "")))["next_cursor"]; next != id {
		t.Errorf("next_cursor = %v, want %s", next, id)
	}
}

// operators are the parameters that GET /v1/tokens does not take.
var operators = regexp.MustCompile(`(^|[&;])(id|created_by|status)=`)
