package rest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// answerTimeout is far more than an answer takes that does not wait for the body.
const answerTimeout = 3 * time.Minute

// wrappedServer is a server that puts a reader of its own in r.Body, as Caddy does.
func (e *edge) wrappedServer() *httptest.Server {
	e.options.Secure = func(*http.Request) bool { return true }
	calls := NewHandler(e.options)
	return httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = struct{ io.ReadCloser }{r.Body}
		calls.ServeHTTP(w, r)
	}))
}

// dial opens a connection, which is closed when the test ends.
func dial(t *testing.T, server *httptest.Server) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	must(t, conn.SetDeadline(time.Now().Add(answerTimeout)))
	return conn, bufio.NewReader(conn)
}

// A refusal does not wait for the body that was announced, and the connection ends.
func TestUnreadBody(t *testing.T) {
	outer, e := t, newEdge(t)
	server := e.wrappedServer()
	server.Start()
	defer server.Close()
	var ends []func()
	const jsonType, masterHeader = "Content-Type: application/json\r\n", "Authorization: Bearer " + masterAll + "\r\n"
	for _, c := range []struct {
		name, line, headers, body string
		code                      Code
	}{
		{"no token", "POST /v1/get-token", jsonType + "Content-Length: 50000", "", CodeBadMasterToken},
		{"some of the body", "POST /v1/get-token", jsonType + "Content-Length: 50000", "{}", CodeBadMasterToken},
		{"all of the body", "POST /v1/get-token", jsonType + "Content-Length: 50000", strings.Repeat(" ", 50000), CodeBadMasterToken},
		{"more than net/http would read", "POST /v1/get-token", jsonType + "Content-Length: 1000000", strings.Repeat(" ", 1000000), CodeBadMasterToken},
		{"chunks", "POST /v1/get-token", jsonType + "Transfer-Encoding: chunked", "5\r\nhello\r\n", CodeBadMasterToken},
		{"expected", "POST /v1/get-token", jsonType + "Content-Length: 50000\r\nExpect: 100-continue", "", CodeBadMasterToken},
		{"from elsewhere", "POST /v1/get-token", "Authorization: Bearer " + masterMasked + "\r\n" + jsonType + "Content-Length: 50000", "", CodeIPNotAllowed},
		{"no JSON", "POST /v1/get-token", masterHeader + "Content-Length: 50000", "", CodeUnsupportedMediaType},
		{"another path", "POST /v1/token", masterHeader + jsonType + "Content-Length: 50000", "", CodeNotFound},
		{"another method", "PUT /v1/get-token", masterHeader + jsonType + "Content-Length: 50000", "", CodeMethodNotAllowed},
		{"a call without a body", "GET /v1/tokens", masterHeader + "Content-Length: 50000", "", ""},
		{"early data", "POST /v1/get-token", "Early-Data: 1\r\nContent-Length: 50000", "", CodeTooEarly},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := *e
			e.t = t
			conn, answers := dial(outer, server)
			must(t, errorOf(fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: edge\r\n%s\r\n\r\n%s", c.line, c.headers, c.body)))
			res, err := http.ReadResponse(answers, nil)
			must(t, err)
			defer res.Body.Close()
			e.wantAnswer(res, c.code)
			if !res.Close {
				t.Error("the answer does not say that the connection closes")
			}
			ends = append(ends, func() {
				if rest, err := io.ReadAll(answers); err != nil || len(rest) > 0 {
					t.Errorf("%s: after the answer came %q, %v, want the end", c.name, rest, err)
				}
			})
		})
	}
	for _, end := range ends { // they linger together
		end()
	}
}

// A connection whose bodies are read stays open, also for a refusal.
func TestReadBodyKeepsConnection(t *testing.T) {
	e := newEdge(t)
	server := e.wrappedServer()
	server.Start()
	defer server.Close()
	conn, answers := dial(t, server)
	for _, code := range []Code{CodeInvalidBody, CodeInvalidBody, ""} {
		body := "{}"
		if code == "" {
			body = e.issueBody("demo", time.Hour)
		}
		must(t, errorOf(fmt.Fprintf(conn, "POST /v1/get-token HTTP/1.1\r\nHost: edge\r\nContent-Type: application/json\r\n"+
			"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", masterAll, len(body), body)))
		res, err := http.ReadResponse(answers, nil)
		must(t, err)
		e.wantAnswer(res, code)
		res.Body.Close()
	}
}

// Over HTTP/2 the refusal comes at once, too.
func TestUnreadBodyHTTP2(t *testing.T) {
	e := newEdge(t)
	server := e.wrappedServer()
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	never, stop := io.Pipe()
	defer stop.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1/get-token", never)
	must(t, err)
	client := server.Client()
	client.Timeout = answerTimeout
	res, err := client.Do(r)
	must(t, err)
	defer res.Body.Close()
	if res.ProtoMajor != 2 {
		t.Fatal(res.Proto)
	}
	e.wantProblem(res, CodeBadMasterToken)
}
