package handler

import (
	"bufio"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/caddymodule/credentials"
	"github.com/millrace/millrace/caddymodule/takeover"
	"github.com/millrace/millrace/wire"
)

// Frames that come in one packet with the handshake are the connection's first.
func TestUpgradeKeepsWhatCameEarly(t *testing.T) {
	got := make(chan []byte, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, early, err := upgrade(w, r, "")
		if err != nil {
			t.Error(err)
			close(got)
			return
		}
		defer conn.Close()
		got <- early
	}))
	defer server.Close()
	for _, early := range []string{"", "\x81\x80abcd", strings.Repeat("x", 2000)} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"+early); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if b := <-got; res.StatusCode != http.StatusSwitchingProtocols || string(b) != early {
			t.Errorf("%q: status %d, kept %q", early, res.StatusCode, b)
		}
	}
}

// What is no handshake, in the order of the checks (docs/protocol.md, WebSocket).
func TestHandshakeShape(t *testing.T) {
	const twice = "AAECAwQFBgcICQoLDA0ODw=="
	for _, c := range []struct {
		name   string
		change func(r *http.Request)
		status int // 200: the handshake is accepted
	}{
		{"a handshake", func(*http.Request) {}, 200},
		{"several tokens in Connection", func(r *http.Request) { r.Header.Set("Connection", "keep-alive, Upgrade") }, 200},
		{"early data", func(r *http.Request) { r.Header["Early-Data"] = []string{"0", "0"} }, 425},
		{"CONNECT", func(r *http.Request) { r.Method = http.MethodConnect }, 501},
		{"POST", func(r *http.Request) { r.Method = http.MethodPost }, 405},
		{"HEAD", func(r *http.Request) { r.Method = http.MethodHead }, 405},
		{"the method before the rest", func(r *http.Request) { r.Method, r.Header = http.MethodPut, http.Header{} }, 405},
		{"no Upgrade", func(r *http.Request) { r.Header.Del("Upgrade") }, 426},
		{"no Connection", func(r *http.Request) { r.Header.Del("Connection") }, 426},
		{"another Upgrade", func(r *http.Request) { r.Header.Set("Upgrade", "h2c") }, 426},
		{"HTTP/1.0", func(r *http.Request) { r.ProtoMinor = 0 }, 426},
		{"HTTP/2", func(r *http.Request) { r.ProtoMajor, r.ProtoMinor = 2, 0 }, 426},
		{"no version", func(r *http.Request) { r.Header.Del("Sec-Websocket-Version") }, 426},
		{"version 8", func(r *http.Request) { r.Header.Set("Sec-Websocket-Version", "8") }, 426},
		{"no key", func(r *http.Request) { r.Header.Del("Sec-Websocket-Key") }, 400},
		{"a short key", func(r *http.Request) { r.Header.Set("Sec-Websocket-Key", "AAECAwQ=") }, 400},
		{"a key that is not base64", func(r *http.Request) { r.Header.Set("Sec-Websocket-Key", strings.Repeat("_", 24)) }, 400},
		{"two keys", func(r *http.Request) { r.Header["Sec-Websocket-Key"] = []string{twice, twice} }, 400},
		{"a body", func(r *http.Request) { r.ContentLength = 5 }, 400},
		{"a chunked body", func(r *http.Request) { r.ContentLength = -1 }, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "http://localhost/ws", nil)
			r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {twice}}
			c.change(r)
			r, _ = new(credentials.Inspection).TakeTokens(r)
			w := httptest.NewRecorder()
			attempt := begin(w, r, new(app.App), "websocket")
			_, ok := new(WebSocket).checkRequest(&attempt)
			if ok != (c.status == 200) || w.Code != c.status {
				t.Fatalf("accepted: %v; answered %d, want %d", ok, w.Code, c.status)
			}
			h := w.Header()
			if _, known := wire.ParseConnectionID(h.Get("Connection-Id")); !known {
				t.Error("the attempt has no id")
			}
			if c.status != 200 && !strings.Contains(w.Body.String(), `"connection_id":"`+h.Get("Connection-Id")+`"`) {
				t.Errorf("the body has not the id: %s", w.Body)
			}
			if allow := h.Get("Allow"); (allow == "GET") != (c.status == 405) {
				t.Errorf("Allow is %q", allow)
			}
			// What to upgrade to; over HTTP/2 these headers are forbidden.
			if says := h.Get("Upgrade") == "websocket" || h.Get("Sec-Websocket-Version") == "13"; says != (c.status == 426 && r.ProtoMajor == 1) {
				t.Errorf("%d came with %v", c.status, h)
			}
		})
	}
}

// Who cannot see a refused handshake is told inside the connection, which counts as one without a session
// meanwhile.
func TestRefusedInside(t *testing.T) {
	var serving sync.WaitGroup
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serving.Add(1)
		defer serving.Done()
		r, _ = new(credentials.Inspection).TakeTokens(r)
		attempt := begin(w, r, new(app.App), "websocket")
		if _, ok := new(WebSocket).checkRequest(&attempt); ok {
			attempt.refuse(http.StatusForbidden, "client_not_allowed", "office hours")
		}
	}))
	server.Config.ConnState = takeover.CountTCP
	server.Start()
	defer server.Close()
	defer serving.Wait()
	dial := func(offer []string) (*websocket.Conn, *http.Response, error) {
		dialer := websocket.Dialer{Subprotocols: offer}
		return dialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
	}
	const most = 4
	takeover.LimitIdle(most, takeover.MaxIdleQUIC)
	for i := range most + 1 {
		held, _, err := dial([]string{"llps.v1", "refusal.v1"})
		if (err == nil) != (i < most) {
			t.Fatalf("connection %d: %v", i, err)
		}
		if err == nil {
			defer held.Close()
			if _, _, err := held.ReadMessage(); err != nil { // and it does not answer the close
				t.Fatal(err)
			}
		}
	}
	takeover.LimitIdle(math.MaxInt32, takeover.MaxIdleQUIC)

	for i, c := range []struct {
		offer []string
		want  string
	}{
		{[]string{"llps.v1", "refusal.v1"}, "ERR:client_not_allowed:office hours:connection="},
		{[]string{"refusal.v1", "llps.v1", "at.AT_a", "at.AT_b"}, "ERR:bad_handshake:more than one at. entry in Sec-WebSocket-Protocol:connection="},
		{[]string{"llps.v1"}, ""}, {[]string{"refusal.v1"}, ""}, {nil, ""},
	} {
		conn, res, err := dial(c.offer)
		if c.want == "" {
			if !errors.Is(err, websocket.ErrBadHandshake) || res.StatusCode != http.StatusForbidden {
				t.Errorf("%v: %v", c.offer, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		_, message, err := conn.ReadMessage()
		if err != nil || string(message) != c.want+res.Header.Get("Connection-Id") || conn.Subprotocol() != wire.SubprotocolRefusal {
			t.Errorf("%v: got %q, %v, %q", c.offer, message, err, conn.Subprotocol())
		}
		if _, _, err := conn.ReadMessage(); !websocket.IsCloseError(err, [...]int{4403, 1008}[i]) {
			t.Errorf("%v: closed with %v", c.offer, err)
		}
		conn.Close()
	}
}
