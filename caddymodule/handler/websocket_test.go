package handler

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Frames that come in one packet with the handshake are the connection's first.
func TestUpgradeKeepsWhatCameEarly(t *testing.T) {
	got := make(chan []byte, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, early, err := upgrade(w, r, false)
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
