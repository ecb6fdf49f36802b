package rest

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/millrace/millrace/tokenstore"
)

// Operators search by more than callers of GET /v1/tokens can, and are refused as these are.
func TestListAll(t *testing.T) {
	e := newEdge(t)
	service := e.options.Service()
	_, id := e.issue(masterPaint, "eu")
	e.issue(masterAll, "demo")
	for _, test := range []struct {
		query, at string
		found     int
	}{
		{"", "", 2}, {"limit=1", "", 1}, {"tenant=demo", "", 1}, {"id=" + id, "", 1}, {"id=" + id[:31], "", 1},
		{"created_by=test", "", 2}, {"created_by=tes", "", 0}, {"created_by=" + url.QueryEscape(`s3cret"\<`), "", 0},
		{"status=valid", "", 2}, {"status=expired", "", 0}, {"status=revoked&tenant=demo&id=0&created_by=test", "", 0},
		{"limit=01", "limit", 0}, {"cursor=s3cret", "cursor", 0}, {"tenant=s3cret:x", "tenant", 0},
		{"id=", "id", 0}, {"id=S3CRET", "id", 0}, {"id=" + id + "0", "id", 0}, {"id=AT_" + id, "id", 0}, {"id=a&id=a", "id", 0},
		{"created_by=", "created_by", 0}, {"created_by=%ff", "created_by", 0}, {"created_by=" + strings.Repeat("x", 257), "created_by", 0},
		{"status=s3cret", "status", 0}, {"status=Valid", "status", 0}, {"status=", "status", 0}, {"status=valid&status=valid", "status", 0},
		{"s3cret=1", "query: has an unknown parameter; allowed: limit, cursor, tenant, subject, id, created_by, status", 0}, {"ID=a", "query", 0},
		{"id=%zz", "query", 0}, {"id=a;status=s3cret", "query", 0},
	} {
		answer, err := ListAll(t.Context(), service, []byte(test.query))
		if test.at != "" {
			var invalid *tokenstore.InvalidError
			if !errors.As(err, &invalid) || !strings.HasPrefix(invalid.Error(), test.at) || strings.Contains(invalid.Error(), "s3cret") {
				t.Errorf("%s: error %v, want it at %s and without what was sent", test.query, err, test.at)
			}
			continue
		}
		text, err2 := json.Marshal(answer)
		if found := strings.Count(string(text), `"token_id"`); err != nil || err2 != nil || found != test.found {
			t.Errorf("%s: found %d, want %d; errors %v, %v", test.query, found, test.found, err, err2)
		}
	}
	for _, parameter := range []string{"id=" + id, "created_by=test", "status=valid"} {
		e.wantProblem(e.do(request("GET", "/v1/tokens?"+parameter, masterAll, "")), CodeInvalidBody)
	}
}
