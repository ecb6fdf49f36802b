package rest

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
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
			`{"token":"AT_ID_ID","token_id":"ID","expires_at":"2030-01-31T13:30:00Z"}`},
		{"refresh", "PUT", "/v1/refresh-token", e.refreshBody(id, 2*time.Hour),
			`{"message":"token refreshed","token_id":"` + id + `","new_expires_at":"2030-01-31T14:00:00Z"}`},
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
			if got := res.Header.Get("Content-Type"); got != "application/json" {
				t.Errorf("Content-Type = %q", got)
			}
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

// Every refused body: where the fault is, and nothing of what was sent.
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
		{"null label", get, strings.Replace(right(`"allow_regions":[]`), `"c"`, "null", 1), "created_by"},
		{"long description", get, strings.Replace(right(`"allow_regions":[]`), `"c"`, `"c","description":"`+strings.Repeat("é", 513)+`"`, 1), "description"},
		{"no right", get, `{"created_by":"c"}`, "right.tenant_grants"},
		{"unknown key", get, right(`"s3cret":1`), "right: has an unknown key"},
		{"wrong case", get, right(`"Allow_regions":[]`), "right: has an unknown key"},
		{"duplicate key", get, right(`"expires_at":"s3cret"`), "right.expires_at: is given more than once"},
		{"wrong type", get, grant(`"allow_channels_sub":["a",5]`), "right.tenant_grants[0].allow_channels_sub[1]: must be a string"},
		{"bad rule", get, grant(`"allow_channels_sub":["a","b","s3cret#s3cret"]`), "right.tenant_grants[0].allow_channels_sub[2]"},
		{"? in a publish rule", get, grant(`"allow_channels_pub":["s3cret.?"]`), "right.tenant_grants[0].allow_channels_pub[0]"},
		{"empty tenant", get, strings.Replace(right(`"allow_regions":[]`), `"a"`, `""`, 1), "right.tenant_grants[0].tenant_ids[0]"},
		{"129-byte tenant with prefix", get, strings.Replace(right(`"allow_regions":[]`), `"a"`, `"`+strings.Repeat("x", 123)+`"`, 1), "right.tenant_grants[0].tenant_ids[0]"},
		{"mask with zone", get, right(`"allow_ip_masks":["fe80::1%s3cret"]`), "right.allow_ip_masks[0]"},
		{"region", get, right(`"allow_regions":["US","s3cret"]`), "right.allow_regions[1]"},
		{"origin with path", get, right(`"allowed_ws_origin":["https://s3cret/x"]`), "right.allowed_ws_origin[0]"},
		{"protocol", get, right(`"allow_protocols":["s3cret"]`), "right.allow_protocols[0]"},
		{"cap 0", get, right(`"ingress_kb_per_sec":0`), "right.ingress_kb_per_sec"},
		{"cap over the maximum", get, right(`"egress_kb_per_sec":16385`), "right.egress_kb_per_sec"},
		{"cap with fraction", get, right(`"egress_kb_per_sec":8.0`), "right.egress_kb_per_sec: must be an integer"},
		{"date without zone", refresh, `{"token_id":"` + hexB + `","expires_at":"2030-01-31T13:00:00"}`, "expires_at"},
		{"second 60", refresh, `{"token_id":"` + hexB + `","expires_at":"2030-01-31T12:59:60Z"}`, "expires_at"},
		{"no end", refresh, `{"token_id":"` + hexB + `"}`, "expires_at"},
		{"upper-case id", refresh, `{"token_id":"` + strings.ToUpper(hexB) + `","expires_at":"2030-01-31T13:00:00Z"}`, "token_id"},
		{"whole token as id", refresh, `{"token_id":"AT_s3cret","expires_at":"2030-01-31T13:00:00Z"}`, "token_id"},
		{"not a token", revoke, `{"token":"s3cret"}`, "token"},
		{"id alone", revoke, `{"token":"` + hexB + `"}`, "token"},
		{"no token", revoke, `{}`, "token"},
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

func TestListQuery(t *testing.T) {
	for _, test := range []struct{ query, at string }{
		{"", ""}, {"limit=1", ""}, {"limit=1000", ""}, {"cursor=" + hexB, ""}, {"tenant=~", ""},
		{"tenant=a&limit=5&cursor=" + hexB, ""},
		{"limit=0", "limit"}, {"limit=1001", "limit"}, {"limit=-1", "limit"}, {"limit=%2B1", "limit"},
		{"limit=01", "limit"}, {"limit=1.0", "limit"}, {"limit=x", "limit"}, {"limit=", "limit"}, {"limit", "limit"},
		{"limit=99999999999999999999", "limit"}, {"limit=1&limit=1", "limit"},
		{"cursor=", "cursor"}, {"cursor=s3cret", "cursor"}, {"cursor=a&cursor=b", "cursor"},
		{"tenant=", "tenant"}, {"tenant=s3cret:x", "tenant"}, {"tenant=%ff", "tenant"}, {"tenant=a&tenant=a", "tenant"},
		{"Limit=1", "query"}, {"s3cret=1", "query"}, {"s3cret", "query"},
		{"limit=%zz", "query"}, {"limit=1;cursor=s3cret", "query"},
	} {
		t.Run(test.query, func(t *testing.T) {
			e := newEdge(t)
			res := e.do(request(http.MethodGet, "/v1/tokens?"+test.query, masterAll, ""))
			if test.at == "" {
				e.wantOK(res)
				return
			}
			detail := e.wantProblem(res, CodeInvalidBody)
			if !strings.HasPrefix(detail, test.at+": ") || strings.Contains(detail, "s3cret") {
				t.Errorf("detail = %q, want it at %s and without what was sent", detail, test.at)
			}
		})
	}
}

func TestListPages(t *testing.T) {
	e := newEdge(t)
	var want []string
	for range 101 {
		_, id := e.issue(masterAll, "demo")
		want = append(want, id)
	}
	slices.Sort(want)
	var got, sizes = []string{}, []int{}
	page := func(query string) (next string) {
		body := e.wantOK(e.do(request(http.MethodGet, "/v1/tokens"+query, masterAll, "")))
		tokens, _ := body["tokens"].([]any)
		for _, token := range tokens {
			info, _ := token.(map[string]any)
			id, _ := info["token_id"].(string)
			got = append(got, id)
		}
		sizes = append(sizes, len(tokens))
		next, _ = body["next_cursor"].(string)
		return next
	}
	if next := page("?cursor=" + page("")); next != "" {
		t.Errorf("next_cursor of the last page = %q", next)
	}
	if !slices.Equal(got, want) || !slices.Equal(sizes, []int{100, 1}) {
		t.Errorf("pages of %v tokens, want 100 and 1 in ascending order", sizes)
	}
}
