package tokens

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

// tokensInTargets sends tokens in the URL or Host, where none belongs.
func (w *watched) tokensInTargets() {
	w.T.Helper()
	token := w.hide("access token in a URL", w.Issue(harness.AllowAll("room")).Token)
	encoded := func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
		return b.String()
	}
	for _, l := range w.lanes() {
		for _, target := range []string{
			"/" + token, "/x/" + token + "/y", "/ws;" + token, "/ws%23" + token, "/ws" + token,
			"/ws?token=" + token, "/ws?token=at." + token, "/ws?a&b&" + token, "/ws?a%3D" + token, "/ws?x" + token,
			"/ws?t=%41" + token[1:], "/ws?t=AT%5F" + token[3:], "/ws?t=" + encoded(token), "/" + encoded(token),
			"/ws?t=" + strings.ReplaceAll(encoded(token), "%", "%25"), "/ws?bad=%zz&t=" + encoded(token),
			"/ws?t=" + w.Master, "/ws?t=" + strings.ToLower(token),
		} {
			w.exchange(l, "a token in the URL", harness.Call{Method: "GET", URL: target, Header: http.Header{}}, "").Problem(w.T, 400, "token_in_url")
			w.targets++
		}
		for _, host := range []string{token, "at." + token + ".localhost", token + ":80"} {
			w.exchange(l, "a token as host", harness.Call{Method: "GET", URL: "/", Header: http.Header{}}, host).Problem(w.T, 400, "token_in_url")
			w.targets++
		}
		if l.proto == 3 {
			w.exchange(l, "a token as :protocol", harness.Call{Method: "CONNECT", URL: "/wt", Header: http.Header{}, Protocol: token}, "").
				Problem(w.T, 400, "token_in_url")
			w.targets++
		}
	}
}

// malformedRequests writes requests that no HTTP client sends.
func (w *watched) malformedRequests() {
	w.T.Helper()
	token := w.hide("access token in a malformed request", w.Issue(harness.AllowAll("room")).Token)
	held := "Connection: close\r\nSec-WebSocket-Protocol: llps.v1, at." + token + "\r\nAuthorization: Bearer " + token + "\r\n"
	for _, c := range []struct {
		what, request string // MARK in it is in the log
		target        bool   // it is logged as a token in the target
	}{
		{what: "no Host", request: "GET /ws?LOST HTTP/1.1\r\n" + held + "\r\n"},
		{what: "an empty Host", request: "GET /ws?MARK HTTP/1.1\r\nHost:\r\n" + held + "\r\n"},
		{what: "a Host of dots", request: "GET /ws?MARK HTTP/1.1\r\nHost: ...\r\n" + held + "\r\n"},
		{what: "a broken Host", request: "GET /ws?LOST HTTP/1.1\r\nHost: a b\r\n" + held + "\r\n"},
		{what: "two Hosts", request: "GET /ws?LOST HTTP/1.1\r\nHost: a\r\nHost: b\r\n" + held + "\r\n"},
		{what: "HTTP/1.0", request: "GET /ws?MARK HTTP/1.0\r\n" + held + "\r\n"},
		{what: "HTTP/3.7", request: "GET /ws HTTP/3.7\r\nHost: localhost\r\n" + held + "\r\n"},
		{what: "an absolute target", request: "GET http://localhost/ws?MARK HTTP/1.1\r\nHost: x\r\n" + held + "\r\n"},
		{what: "an absolute target with a token", target: true, request: "GET http://localhost/" + token + " HTTP/1.1\r\nHost: localhost\r\n" + held + "\r\n"},
		{what: "a token as a user", target: true, request: "GET http://" + token + "@localhost/ HTTP/1.1\r\nHost: localhost\r\n" + held + "\r\n"},
		{what: "CONNECT to a token", target: true, request: "CONNECT " + token + ":443 HTTP/1.1\r\nHost: " + token + ":443\r\n" + held + "\r\n"},
		{what: "a fragment", target: true, request: "GET /#" + token + " HTTP/1.1\r\nHost: localhost\r\n" + held + "\r\n"},
		{what: "a token as the method", target: true, request: token + " /ws HTTP/1.1\r\nHost: localhost\r\n" + held + "\r\n"},
		{what: "a folded header", request: "GET /ws?MARK HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nSec-WebSocket-Protocol: llps.v1,\r\n at." + token + "\r\n\r\n"},
		{what: "a header in other case", request: "GET /ws?MARK HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nsEC-wEBSOCKET-pROTOCOL: at." + token + "\r\n\r\n"},
		{what: "a token in the Referer", request: "GET /favicon.ico?MARK HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nReferer: http://localhost/?t=" + token + "\r\n\r\n"},
		{what: "a token in a header of its own", request: "GET /ws?MARK HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Api-Key: " + w.Master + "\r\n\r\n"},
		{what: "an illegal header", request: "GET /ws HTTP/1.1\r\nHost: localhost\r\n" + held + "Sec-WebSocket-Protocol : at." + token + "\r\n\r\n"},
		{what: "no version", request: "GET /" + token + "\r\n\r\n"},
		{what: "an encoding that ends early", request: "GET /" + token + "%4 HTTP/1.1\r\nHost: localhost\r\n" + held + "\r\n"},
		{what: "half a head", request: "GET /ws HTTP/1.1\r\nHost: localhost\r\n" + held},
		{what: "a token", request: token + "\r\n\r\n"},
		{what: "*", request: "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n" + held + "\r\n"},
		{what: "the preface of HTTP/2", request: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + token},
		{what: "an upgrade to HTTP/2", request: "GET /nowhere?MARK HTTP/1.1\r\nHost: localhost\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n" + held + "\r\n"},
	} {
		for _, port := range []int{w.HTTP, w.HTTPS, w.redirect} {
			for _, secure := range []bool{false, true} {
				mark := w.mark()
				what := fmt.Sprintf("%s on port %d, TLS %t, %s", c.what, port, secure, mark)
				status := w.raw(what, port, secure, strings.ReplaceAll(c.request, "MARK", mark))
				if status == http.StatusOK && strings.Contains(string(w.answers[what].Body), "Content-Length: 0") {
					status = 0 // no site has the host, as above
				}
				switch {
				case secure != (port == w.HTTPS): // TLS where none is, or the other way round
				case strings.Contains(c.request, "MARK"):
					w.marks[mark] = status
				case c.target:
					w.targets++
				}
			}
		}
	}
}

// raw sends bytes and returns the status of the answer; zero: it was not HTTP.
func (w *watched) raw(what string, port int, secure bool, request string) (status int) {
	w.T.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		w.T.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(harness.WaitTimeout)); err != nil {
		w.T.Fatal(err)
	}
	stream := conn.(interface {
		io.ReadWriter
		CloseWrite() error
	})
	if secure {
		config, err := w.TlsConfig()
		if err != nil {
			w.T.Fatal(err)
		}
		config.ServerName = "localhost"
		over := tls.Client(conn, config)
		if err := over.Handshake(); err != nil {
			if port == w.HTTPS {
				w.T.Fatalf("%s: %v", what, err)
			}
			return 0
		}
		stream = over
	}
	// The edge may refuse before it has read all, and reset the connection.
	if _, err := io.WriteString(stream, request); err != nil {
		return 0
	}
	_ = stream.CloseWrite() // the answer, or its absence, tells what became of it
	read, _ := io.ReadAll(stream)
	w.answers[what] = harness.Answer{Body: read, Header: http.Header{}}
	if _, err := fmt.Sscanf(string(read), "HTTP/1.1 %d", &status); err != nil {
		if _, err := fmt.Sscanf(string(read), "HTTP/1.0 %d", &status); err != nil {
			return 0
		}
	}
	return status
}
