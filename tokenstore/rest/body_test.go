package rest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

func TestContentType(t *testing.T) {
	for _, test := range []struct {
		types []string
		ok    bool
	}{
		{[]string{"application/json"}, true},
		{[]string{"Application/JSON"}, true},
		{[]string{"application/json; charset=utf-8"}, true},
		{[]string{`application/json;charset="UTF-8"`}, true},
		{nil, false},
		{[]string{""}, false},
		{[]string{"application/json; charset=iso-8859-1"}, false},
		{[]string{"application/json; charset="}, false},
		{[]string{"application/problem+json"}, false},
		{[]string{"application/jsonx"}, false},
		{[]string{"text/plain"}, false},
		{[]string{"application/x-www-form-urlencoded"}, false},
		{[]string{"application/json, text/plain"}, false},
		{[]string{"application/json", "application/json"}, false},
	} {
		t.Run(fmt.Sprint(test.types), func(t *testing.T) {
			e := newEdge(t)
			r := e.valid(Routes[0])
			r.Header["Content-Type"] = test.types
			e.wantAnswer(e.do(r), map[bool]Code{false: CodeUnsupportedMediaType}[test.ok])
		})
	}
	t.Run("compressed", func(t *testing.T) {
		e := newEdge(t)
		r := e.valid(Routes[0])
		r.Header.Set("Content-Encoding", "gzip")
		e.wantProblem(e.do(r), CodeUnsupportedMediaType)
	})
}

// The limit on a real connection: where the server reads from the client.
func TestBodyLimit(t *testing.T) {
	e := newEdge(t)
	e.options.Secure = func(*http.Request) bool { return true }
	server := httptest.NewServer(NewHandler(e.options))
	defer server.Close()
	body := e.issueBody("demo", time.Hour)
	fits := body + strings.Repeat(" ", MaxBody-len(body))

	for _, test := range []struct {
		name, header, body string
		code               Code
		continued          bool // the server asks for the body
	}{
		{"at the limit", fmt.Sprintf("Content-Length: %d", MaxBody), fits, "", false},
		{"one byte too large", fmt.Sprintf("Content-Length: %d", MaxBody+1), fits + " ", CodeBodyTooLarge, false},
		{"1 MB", "Content-Length: 1000000", strings.Repeat(" ", 1000000), CodeBodyTooLarge, false},
		{"too large to wait for", fmt.Sprintf("Content-Length: %d", maxDiscard+1), "", CodeBodyTooLarge, false},
		{"chunked, 1 MB", "Transfer-Encoding: chunked", chunked(strings.Repeat(" ", 1000000)), CodeBodyTooLarge, false},
		{"chunked, at the limit", "Transfer-Encoding: chunked", chunked(fits), "", false},
		{"chunked, too large", "Transfer-Encoding: chunked", chunked(fits + " "), CodeBodyTooLarge, false},
		{"chunked, broken", "Transfer-Encoding: chunked", "zz\r\n", CodeInvalidBody, false},
		{"empty", "Content-Length: 0", "", CodeInvalidBody, false},
		{"expected", fmt.Sprintf("Expect: 100-continue\r\nContent-Length: %d", len(body)), body, "", true},
		{"expected, announced too large", fmt.Sprintf("Expect: 100-continue\r\nContent-Length: %d", MaxBody+1), "", CodeBodyTooLarge, false},
		{"expected, chunked, too large", "Expect: 100-continue\r\nTransfer-Encoding: chunked", chunked(fits + " "), CodeBodyTooLarge, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn, reader := dial(t, server)
			must(t, errorOf(fmt.Fprintf(conn, "POST /v1/get-token HTTP/1.1\r\nHost: edge\r\nContent-Type: application/json\r\n"+
				"Authorization: Bearer %s\r\n%s\r\n\r\n", masterAll, test.header)))
			if test.continued {
				res, err := http.ReadResponse(reader, nil)
				if err != nil || res.StatusCode != http.StatusContinue {
					t.Fatalf("got %v %v, want 100 Continue", res, err)
				}
			}
			// Everything is sent before the answer is read, as simple clients do.
			must(t, errorOf(io.WriteString(conn, test.body)))
			res, err := http.ReadResponse(reader, nil)
			must(t, err)
			defer res.Body.Close()
			e.wantAnswer(res, test.code)
		})
	}
}

// The rest of a body too large is discarded up to a bound, so that the sender
// gets to read the refusal.
func TestDiscard(t *testing.T) {
	for _, test := range []struct{ size, announced, left int }{
		{1 << 20, -1, 0},
		{1 << 20, 1 << 20, 0},
		{3 << 20, -1, 3<<20 - MaxBody - 1 - maxDiscard},
		{3 << 20, 3 << 20, 3 << 20},
	} {
		e := newEdge(t)
		r := e.valid(Routes[0])
		body := strings.NewReader(strings.Repeat(" ", test.size))
		r.Body, r.ContentLength = io.NopCloser(body), int64(test.announced)
		e.wantProblem(e.do(r), CodeBodyTooLarge)
		if body.Len() != test.left {
			t.Errorf("%d bytes, announced as %d: %d left unread, want %d", test.size, test.announced, body.Len(), test.left)
		}
	}
}

func chunked(s string) string { return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(s), s) }

// Whatever body comes, every route answers it with 200 or with one of its
// refusals, and what get-token accepts is listed as it was asked for.
func FuzzBodies(f *testing.F) {
	end := timestamp(time.Date(2030, 1, 31, 13, 0, 0, 0, time.UTC))
	for _, seed := range []string{
		`{}`, `null`, `{"token":"AT_"}`, `{"token_id":"0123456789abcdef0123456789abcdef","expires_at":"` + end + `"}`,
		`{"created_by":"a","right":{"tenant_grants":[{"tenant_ids":["a","a.b"],"allow_channels_pub":["a.(b|c*).#"],"allow_channels_sub":["?.x*"]}],` +
			`"allow_ip_masks":["10.1.2.3/8","::1"],"allow_regions":["EU"],"allowed_ws_origin":["HTTPS://A.b:443","null"],"allow_protocols":["websocket"],` +
			`"ingress_kb_per_sec":1,"egress_kb_per_sec":16384,"expires_at":"` + end + `"}}`,
		`{"created_by":"\u00e9","description":null,"right":{"tenant_grants":[{"tenant_ids":[]},{"tenant_ids":["~"]}],"expires_at":"` + end + `"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e := newEdge(t)
		for _, route := range Routes {
			if !route.TakesBody() {
				continue
			}
			r := request(route.Methods[0], route.Path, masterPaint, string(body))
			r.Header.Set("Content-Type", "application/json")
			res := e.do(r)
			answer, err := io.ReadAll(res.Body)
			must(t, err)
			if res.StatusCode != http.StatusOK {
				var p Problem
				if json.Unmarshal(answer, &p) != nil || Status[Code(p.Code)] != res.StatusCode || res.StatusCode >= 500 {
					t.Fatalf("%s: %d %s", route.Path, res.StatusCode, answer)
				}
			}
		}
		tokens, _, err := e.options.Service().List(t.Context(), &tokenstore.Master{TenantPrefix: "paint."}, tokenstore.ListOptions{})
		must(t, err)
		for _, token := range tokens {
			if len(token.Right.TenantGrants) == 0 || token.Status != tokenstore.StatusValid {
				t.Fatalf("issued %+v", token)
			}
		}
	})
}
