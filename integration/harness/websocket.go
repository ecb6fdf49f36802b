package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

// WebSocket is the link over a WebSocket.
type WebSocket struct{ *websocket.Conn }

// Ws is the connection of a socket that the test has opened over WebSocket.
func (s *Socket) Ws() *websocket.Conn { return s.Link.(WebSocket).Conn }

// Dial opens a WebSocket as a program does, with the token in a header.
func (e *Edge) Dial(token string) *Socket {
	e.T.Helper()
	return e.MustOpen(Handshake{Token: token})
}

func (e *Edge) MustOpen(h Handshake) *Socket {
	e.T.Helper()
	s, refused := e.Open(h)
	if s == nil {
		e.T.Fatalf("the handshake was refused: %d %s", refused.Status, refused.Body)
	}
	return s
}

// Open is tryOpen on an edge that must answer.
func (e *Edge) Open(h Handshake) (*Socket, Answer) {
	e.T.Helper()
	s, a, err := e.TryOpen(h)
	if err != nil {
		e.T.Fatal(err)
	}
	return s, a
}

// TryOpen opens a WebSocket, on the plain HTTP site unless h has a URL. It returns a
// refusal as the answer, and an error if there was no answer. The socket is closed when
// the test ends.
func (e *Edge) TryOpen(h Handshake) (*Socket, Answer, error) {
	e.T.Helper()
	if h.URL == "" {
		h.URL = fmt.Sprintf("ws://localhost:%d/ws", e.HTTP)
	}
	dialer := websocket.Dialer{
		NetDialContext: DialLoopback, Subprotocols: h.Protocols, EnableCompression: true, HandshakeTimeout: WaitTimeout,
	}
	if strings.HasPrefix(h.URL, "wss:") {
		var err error
		if dialer.TLSClientConfig, err = e.TlsConfig(); err != nil {
			e.T.Fatal(err)
		}
	}
	conn, res, err := dialer.DialContext(context.Background(), h.URL, h.Headers())
	if res != nil {
		defer res.Body.Close()
	}
	if err != nil {
		if !errors.Is(err, websocket.ErrBadHandshake) {
			return nil, Answer{}, err
		}
		body := new(bytes.Buffer)
		if _, err := body.ReadFrom(res.Body); err != nil { // gorilla keeps the first 1,024 bytes
			e.T.Fatal(err)
		}
		return nil, Answer{Status: res.StatusCode, Header: res.Header, Body: body.Bytes()}, nil
	}
	if got := res.Header.Get("Sec-WebSocket-Extensions"); got != "" {
		e.T.Errorf("the edge agreed to extensions %q, want none", got)
	}
	want := ""
	if len(h.Protocols) > 0 {
		want = "llps.v1"
	}
	if got := conn.Subprotocol(); got != want {
		e.T.Errorf("got subprotocol %q, want %q", got, want)
	}
	e.T.Cleanup(func() { conn.Close() })
	return &Socket{T: e.T, Link: WebSocket{conn}}, Answer{Status: res.StatusCode, Header: res.Header}, nil
}

func (w WebSocket) Write(kind int, message []byte) error {
	if err := w.SetWriteDeadline(time.Now().Add(WaitTimeout)); err != nil {
		return err
	}
	return w.WriteMessage(kind, message)
}

func (w WebSocket) Read() (kind int, message []byte, err error) {
	if err := w.SetReadDeadline(time.Now().Add(WaitTimeout)); err != nil {
		return 0, nil, err
	}
	kind, message, err = w.ReadMessage()
	var frame *websocket.CloseError
	if errors.As(err, &frame) {
		return 0, nil, &Closed{wire.CloseCode(frame.Code), frame.Text}
	}
	return kind, message, err
}

func (w WebSocket) Leave() error {
	return w.Write(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
}

func (w WebSocket) Cut() error { return w.NetConn().Close() }

// HasInput reports whether something has arrived on a connection that was not read yet. It
// reads nothing and does not wait.
func HasInput(t *testing.T, conn *net.TCPConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Error(err)
		return false
	}
	n := 0
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, _ = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	if err != nil {
		t.Error(err)
	}
	return n > 0
}
