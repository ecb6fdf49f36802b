package tokens

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// attempt is a token and the answer to a handshake with it.
type attempt struct {
	token  string
	status int // 200: it opens a session
}

// attempts returns an attempt for every answer to a handshake. other is the protocol that
// the handshakes do not use.
func (w *watched) attempts(other string) []attempt {
	w.T.Helper()
	limited := func(field, value string) string {
		request := harness.TokenRequest(harness.AllowAll("room"))
		request["right"].(harness.Object)[field] = []string{value}
		return w.hide("access token with "+field+" "+value, w.IssueAs(w.Master, request).Token)
	}
	valid := w.Issue(harness.AllowAll("room"))
	revoked := w.Issue(harness.AllowAll("room")).Token
	w.Revoke(w.Master, w.hide("revoked access token but for "+other, revoked)).Decode(w.T, 200, new(harness.Object))
	wrong := w.hide("wrong secret but for "+other, "AT_"+valid.TokenID+"_"+harness.RandomHex())
	unknown := w.hide("unknown access token but for "+other, "AT_"+harness.RandomHex()+"_"+harness.RandomHex())
	w.hide("access token but for "+other, valid.Token)
	return []attempt{
		{valid.Token, 200}, {wrong, 401}, {unknown, 401}, {revoked, 401}, {valid.Token + "x", 401}, {w.Master, 401},
		{limited("allow_ip_masks", "10.0.0.0/8"), 403}, {limited("allowed_ws_origin", "https://example.com"), 403},
		{limited("allow_protocols", other), 403}, {limited("allow_regions", "EU"), 403},
	}
}

// shake sends a handshake with the token in the header or among the subprotocols, in
// turns, and records the answer.
func (w *watched) shake(open func(harness.Handshake) (*harness.Socket, harness.Answer), url, token string) (*harness.Socket, harness.Answer) {
	w.T.Helper()
	mark := w.mark()
	h := harness.Handshake{URL: url + "?" + mark}
	switch {
	case token == "":
	case len(w.marks)%2 == 0:
		h.Token = token
	default:
		h.Protocols = []string{"llps.v1", "at." + token}
	}
	s, a := open(h)
	w.answers["handshake "+mark] = a
	w.marks[mark] = a.Status
	return s, a
}

// talk sends everything that a client can send, with the token in it.
func (w *watched) talk(s *harness.Socket, token string) {
	w.T.Helper()
	s.Subscribe("paint.room", token)
	s.Publish("paint.room", token, token)
	s.ExpectDeliver("paint.room", token, token, token)
	s.SendLine("AUTH:" + token)
	s.ExpectText("ERR:bad_request")
	s.SendLine(token)
	s.ExpectText("ERR:bad_request")
	s.SendFrame([]byte("\x07" + token))
	s.ExpectText("ERR:bad_frame")
}

// handshakes opens WebSockets and has them refused, for every reason.
func (w *watched) handshakes() {
	w.T.Helper()
	for _, c := range w.attempts("webtransport") {
		for _, url := range []string{fmt.Sprintf("ws://localhost:%d/ws", w.HTTP), fmt.Sprintf("wss://localhost:%d/ws", w.HTTPS)} {
			s, a := w.shake(w.Open, url, c.token)
			if s == nil && a.Status != c.status || s != nil && c.status != 200 {
				w.T.Errorf("handshake: got status %d, want %d: %s", a.Status, c.status, a.Body)
			}
			if s != nil {
				w.talk(s, c.token)
				s.Close()
			}
		}
	}
}

// webTransports opens WebTransport sessions and has them refused, for every
// reason, in the handshake and with AUTH lines.
func (w *watched) webTransports() {
	w.T.Helper()
	for _, c := range w.attempts("websocket") {
		s, a := w.shake(w.OpenWebTransport, w.HttpsURL("/wt"), c.token)
		if a.Status != c.status {
			w.T.Errorf("handshake: got status %d, want %d: %s", a.Status, c.status, a.Body)
		}
		if s != nil {
			w.talk(s, c.token)
			lines := s.OpenLines()
			s.SubscribeOwn(lines, "paint.room", "own."+c.token)
			lines.Send("AUTH:" + c.token + "\n")
			s.ExpectText("ERR:bad_request")
			s.Close()
		}

		s, a = w.shake(w.OpenWebTransport, w.HttpsURL("/wt"), "")
		if s == nil {
			w.T.Fatalf("a handshake without a token: got status %d: %s", a.Status, a.Body)
		}
		s.SendLine("AUTH:" + c.token)
		_, line, err := s.Read()
		if err != nil {
			w.T.Fatal(err)
		}
		w.answers["AUTH, to be answered as "+http.StatusText(c.status)+" "+a.Header.Get("Date")] = harness.Answer{Body: line}
		switch c.status {
		case 200:
			w.talk(s, c.token)
			s.Close()
		case 401:
			s.ExpectClose(wire.CloseUnauthorized)
		case 403:
			s.ExpectClose(wire.CloseForbidden)
		}
	}
}

// lane is a connection to the edge.
type lane struct {
	name  string
	base  string // of URLs
	proto int    // major version
	http.RoundTripper
}

// lanes returns connections to the edge, which are closed when the test ends.
func (w *watched) lanes() []lane {
	w.T.Helper()
	config, err := w.TlsConfig()
	if err != nil {
		w.T.Fatal(err)
	}
	secure := fmt.Sprintf("https://localhost:%d", w.HTTPS)
	one := &http.Transport{DialContext: harness.DialLoopback, TLSClientConfig: config.Clone()}
	two := &http.Transport{DialContext: harness.DialLoopback, TLSClientConfig: config.Clone(), ForceAttemptHTTP2: true}
	three := &http3.Transport{
		TLSClientConfig: config.Clone(),
		Dial: func(ctx context.Context, _ string, t *tls.Config, q *quic.Config) (*quic.Conn, error) {
			return quic.DialAddrEarly(ctx, fmt.Sprintf("127.0.0.1:%d", w.HTTPS), t, q)
		},
	}
	w.T.Cleanup(func() {
		one.CloseIdleConnections()
		two.CloseIdleConnections()
		if err := three.Close(); err != nil {
			w.T.Error(err)
		}
	})
	return []lane{
		{"HTTP/1.1", fmt.Sprintf("http://localhost:%d", w.HTTP), 1, one},
		{"HTTP/1.1 over TLS", secure, 1, one},
		{"HTTP/2", secure, 2, two},
		{"HTTP/3", secure, 3, three},
		{"the redirecting server", fmt.Sprintf("http://localhost:%d", w.redirect), 1, one},
	}
}

// carriers returns the ways in which a request can carry a token. The last one is a
// client's mistake.
func carriers(token string) map[string]http.Header {
	return map[string]http.Header{
		"Authorization":          {"Authorization": {"Bearer " + token}},
		"a subprotocol":          {"Sec-Websocket-Protocol": {"llps.v1,at." + token}},
		"two subprotocols":       {"Sec-Websocket-Protocol": {"at." + token + " , llps.v1", "at." + token}},
		"WebTransport":           {"Wt-Available-Protocols": {`"llps.v1", "at.` + token + `"`}},
		"a subprotocol as it is": {"Sec-Websocket-Protocol": {"llps.v1, " + token}},
	}
}

// exchange sends a request and keeps the answer.
func (w *watched) exchange(l lane, what string, c harness.Call, host string) harness.Answer {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	var body io.Reader
	if c.Body != nil {
		body = strings.NewReader(string(c.Body))
	}
	req, err := http.NewRequestWithContext(ctx, c.Method, l.base+c.URL, body)
	if err != nil {
		w.T.Fatal(err)
	}
	req.Header = c.Header.Clone()
	if c.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Host = host
	if c.Protocol != "" {
		req.Proto = c.Protocol
	}
	what = fmt.Sprintf("%s over %s (%s %s)", what, l.name, c.Method, c.URL)
	res, err := l.RoundTrip(req)
	if err != nil {
		w.T.Fatalf("%s: %v", what, err)
	}
	defer res.Body.Close()
	read, err := io.ReadAll(res.Body)
	if err != nil {
		w.T.Fatalf("%s: %v", what, err)
	}
	if res.ProtoMajor != l.proto {
		w.T.Errorf("%s: the answer came over %s", what, res.Proto)
	}
	a := harness.Answer{Status: res.StatusCode, Header: res.Header, Body: read}
	w.answers[what] = a
	return a
}

// requests sends tokens with well-formed requests to right and wrong places.
func (w *watched) requests() {
	w.T.Helper()
	access := w.hide("travelling access token", w.Issue(harness.AllowAll("room")).Token)
	spare := w.hide("spare access token", w.Issue(harness.AllowAll("room")).Token)
	calls := []struct {
		method, path, host, body string
	}{
		{method: "GET", path: "/ping"},
		{method: "GET", path: "/ws"},
		{method: "POST", path: "/ws", body: access},
		{method: "GET", path: "/WS"},
		{method: "GET", path: "/ws/"},
		{method: "GET", path: "/wt"},
		{method: "POST", path: "/wt/", body: access},
		{method: "GET", path: "/nowhere"},
		{method: "GET", path: "/old/page"},
		{method: "GET", path: "/boom"},
		{method: "GET", path: "/dead"},
		{method: "GET", path: "/ws", host: "other.localhost"},
		{method: "GET", path: "/ws", host: "unknown.localhost"},
		{method: "GET", path: "/v1/tokens"},
		{method: "PUT", path: "/v1/get-token", body: access},
		{method: "POST", path: "/v1/get-token", body: `{"created_by":"` + access + `",`},
		{method: "POST", path: "/V1/get-token", body: `{"created_by":"` + access + `"}`},
		{method: "DELETE", path: "/v1/revoke-token", body: `{"token":"` + spare + `"}`},
		{method: strings.Repeat("LONG", 10), path: "/ws"},
	}
	for _, l := range w.lanes() {
		for _, token := range []string{access, w.Master} {
			held := carriers(token)
			for _, carrier := range slices.Sorted(maps.Keys(held)) {
				for _, c := range calls {
					mark := w.mark()
					request := harness.Call{Method: c.method, URL: c.path + "?" + mark, Header: held[carrier]}
					if c.body != "" {
						request.Body = []byte(c.body)
					}
					a := w.exchange(l, carrier, request, c.host)
					w.marks[mark] = a.Status
					if a.Status == http.StatusOK && len(a.Body) == 0 {
						w.marks[mark] = 0 // that is how Caddy logs that no site has the host
					}
				}
			}
		}
	}
}
