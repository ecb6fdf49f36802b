package tokens

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

// Bodies that are not the JSON that the routes ask for.
func TestRestBodies(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	good, err := json.Marshal(harness.TokenRequest(harness.AllowAll("room")))
	if err != nil {
		t.Fatal(err)
	}
	body := string(good)
	right, _ := strings.CutPrefix(body[strings.Index(body, `"right"`):], `"right":`)
	right = strings.TrimSuffix(right, "}")
	with := func(field string) string { return strings.TrimSuffix(body, "}") + "," + field + "}" }
	inRight := func(field string) string { return strings.TrimSuffix(body, "}}") + "," + field + "}}" }
	padded := func(size int) string { return body + strings.Repeat(" ", size-len(body)) }
	jsonType := "application/json"

	for _, tc := range []struct {
		name, contentType, body string
		status                  int
		code                    string
		path                    string // the JSON path that the detail must name
	}{
		{"as it should be", jsonType, body, 200, "", ""},
		{"charset", "application/json; charset=utf-8", body, 200, "", ""},
		{"charset in capitals", "Application/JSON; charset=UTF-8", body, 200, "", ""},
		{"null is omitted", jsonType, with(`"description":null`), 200, "", ""},
		{"null list is omitted", jsonType, inRight(`"allow_ip_masks":null`), 200, "", ""},
		{"newline behind", jsonType, body + "\n", 200, "", ""},
		{"64 KiB", jsonType, padded(64 << 10), 200, "", ""},

		{"64 KiB and a byte", jsonType, padded(64<<10 + 1), 413, "", ""},
		{"no content type", "", body, 415, "", ""},
		{"form", "application/x-www-form-urlencoded", body, 415, "", ""},
		{"text", "text/plain", body, 415, "", ""},
		{"other charset", "application/json; charset=iso-8859-1", body, 415, "", ""},

		{"no body", jsonType, "", 400, "invalid_body", ""},
		{"broken", jsonType, body[:len(body)-1], 400, "invalid_body", ""},
		{"not JSON", jsonType, "created_by=me", 400, "invalid_body", ""},
		{"null", jsonType, "null", 400, "invalid_body", ""},
		{"array", jsonType, "[" + body + "]", 400, "invalid_body", ""},
		{"string", jsonType, `"x"`, 400, "invalid_body", ""},
		{"two documents", jsonType, body + body, 400, "invalid_body", ""},
		{"trailing data", jsonType, body + "x", 400, "invalid_body", ""},
		{"byte order mark", jsonType, "\xef\xbb\xbf" + body, 400, "invalid_body", ""},
		{"invalid UTF-8", jsonType, with("\"description\":\"\xff\""), 400, "invalid_body", ""},
		{"comment", jsonType, "/* */" + body, 400, "invalid_body", ""},
		{"unknown field", jsonType, with(`"admin":true`), 400, "invalid_body", "unknown key"},
		{"unknown field below", jsonType, inRight(`"admin":true`), 400, "invalid_body", "right: has an unknown key"},
		{"wrong case", jsonType, with(`"Description":"x"`), 400, "invalid_body", "unknown key"},
		{"duplicate key", jsonType, with(`"created_by":"someone else"`), 400, "invalid_body", "created_by"},
		{"duplicate key, escaped", jsonType, with(`"created\u005fby":"someone else"`), 400, "invalid_body", "created_by"},
		{"duplicate key below", jsonType, inRight(`"expires_at":"x"`), 400, "invalid_body", "right.expires_at"},
		{"duplicate object", jsonType, with(`"right":` + right), 400, "invalid_body", "right"},
		{"number for text", jsonType, with(`"description":7`), 400, "invalid_body", "description"},
		{"text for a list", jsonType, inRight(`"allow_regions":"EU"`), 400, "invalid_body", "right.allow_regions"},
		{"text for a number", jsonType, inRight(`"ingress_kb_per_sec":"8"`), 400, "invalid_body", "right.ingress_kb_per_sec"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			header := http.Header{"Content-Type": {tc.contentType}}
			if tc.contentType == "" {
				header = http.Header{"Content-Type": nil}
			}
			e := e.With(t)
			got := e.Do(harness.Call{Method: "POST", URL: "/v1/get-token", Token: e.Master, Header: header, Body: []byte(tc.body)})
			harness.CheckNoStore(t, got)
			if tc.status == 200 {
				got.Decode(t, 200, new(harness.Issued))
				return
			}
			p := got.Problem(t, tc.status, tc.code)
			if !strings.Contains(p.Detail, tc.path) {
				t.Errorf("the detail %q does not hold %q", p.Detail, tc.path)
			}
			harness.CheckSilent(t, p, "someone else")
		})
	}

	// A megabyte, by hand: Go's client would report that it could not write it
	// all, and not the answer that came before.
	megabyte := strings.Repeat(" ", 1<<20)
	sized := "Content-Length: 1048576\r\n\r\n" + megabyte
	chunked := "Transfer-Encoding: chunked\r\n\r\n100000\r\n" + megabyte + "\r\n0\r\n\r\n"
	for _, tc := range []struct{ name, contentType, rest, status string }{
		{"1 MB", jsonType, sized, "413"},
		{"1 MB in chunks", jsonType, chunked, "413"},
		{"1 MB of another type", "text/plain", sized, "415"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := firstLine(e.With(t), "POST /v1/get-token HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+tc.contentType+
				"\r\nAuthorization: Bearer "+e.Master+"\r\n"+tc.rest)
			if !strings.HasPrefix(got, "HTTP/1.1 "+tc.status+" ") {
				t.Errorf("got %q, want status %s", got, tc.status)
			}
		})
	}
}

// The other routes read their bodies as strictly.
func TestRestBodiesOfOtherRoutes(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room"))
	refresh := func(s string) string {
		return fmt.Sprintf(s, token.TokenID, harness.In(time.Hour))
	}
	for _, tc := range []struct {
		name, method, path, body string
		status                   int
	}{
		{"refresh without body", "PUT", "/v1/refresh-token", "", 400},
		{"refresh without id", "PUT", "/v1/refresh-token", `{"expires_at":"` + harness.In(time.Hour) + `"}`, 400},
		{"refresh without time", "PUT", "/v1/refresh-token", `{"token_id":"` + token.TokenID + `"}`, 400},
		{"refresh, unknown field", "PUT", "/v1/refresh-token", refresh(`{"token_id":%q,"expires_at":%q,"x":1}`), 400},
		{"refresh, wrong case", "PUT", "/v1/refresh-token", refresh(`{"Token_id":%q,"expires_at":%q}`), 400},
		{"refresh, trailing data", "PUT", "/v1/refresh-token", refresh(`{"token_id":%q,"expires_at":%q}]`), 400},
		{"refresh, too big", "PUT", "/v1/refresh-token", strings.Repeat(" ", 64<<10+1), 413},
		{"revoke without body", "DELETE", "/v1/revoke-token", "", 400},
		{"revoke, empty object", "DELETE", "/v1/revoke-token", "{}", 400},
		{"revoke, duplicate key", "DELETE", "/v1/revoke-token", `{"token":"x","token":"` + token.Token + `"}`, 400},
		{"revoke, unknown field", "DELETE", "/v1/revoke-token", `{"token":"` + token.Token + `","x":1}`, 400},
		{"revoke, too big", "DELETE", "/v1/revoke-token", strings.Repeat(" ", 64<<10+1), 413},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code := map[int]string{400: "invalid_body"}[tc.status]
			p := e.With(t).Rest(tc.method, tc.path, e.Master, []byte(tc.body)).Problem(t, tc.status, code)
			harness.CheckSilent(t, p, token.Token, token.TokenID)
		})
	}
	if got := e.Status(e.Master, token.TokenID); got != "valid" {
		t.Errorf("after the refused calls the token is %q, want valid", got)
	}
}

// A refusal comes at once, whatever body was announced, and the connection ends.
func TestRestUnreadBody(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	for _, c := range []struct{ name, header, status string }{
		{"without a token", "Content-Type: application/json", "401"},
		{"of another type", "Authorization: Bearer " + e.Master, "415"},
		{"early data", "Early-Data: 1", "425"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", e.HTTP))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(harness.WaitTimeout)); err != nil {
				t.Fatal(err)
			}
			_, err = fmt.Fprintf(conn, "POST /v1/get-token HTTP/1.1\r\nHost: localhost:%d\r\n%s\r\nContent-Length: 50000\r\n\r\n{", e.HTTP, c.header)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(conn) // to the end of the connection
			if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 "+c.status+" ") {
				t.Errorf("got %q, %v, want status %s and the end", got, err, c.status)
			}
		})
	}
	for name, client := range map[string]http.RoundTripper{"HTTP/2": e.Http2(), "HTTP/3": e.Http3()} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), harness.WaitTimeout)
			defer cancel()
			never, stop := io.Pipe()
			defer stop.Close()
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.HttpsURL("/v1/get-token"), never)
			if err != nil {
				t.Fatal(err)
			}
			res, err := client.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if body, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusUnauthorized || len(body) == 0 {
				t.Errorf("got status %d, %q, %v", res.StatusCode, body, err)
			}
		})
	}
}

// firstLine writes bytes to a new connection of the plain HTTP site and returns
// the first line that comes back.
func firstLine(e *harness.Edge, request string) string {
	e.T.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", e.HTTP))
	if err != nil {
		e.T.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(harness.WaitTimeout)); err != nil {
		e.T.Fatal(err)
	}
	request = strings.Replace(request, "Host: localhost\r\n", fmt.Sprintf("Host: localhost:%d\r\n", e.HTTP), 1)
	written := make(chan struct{})
	go func() { // the edge may answer and close before it has read all
		defer close(written)
		_, _ = conn.Write([]byte(request))
	}()
	line, err := bufio.NewReader(conn).ReadString('\n')
	conn.Close()
	<-written
	if err != nil {
		e.T.Fatal(err)
	}
	return strings.TrimSpace(line)
}
