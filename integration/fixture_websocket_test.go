package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

// webSocket is the link over a WebSocket.
type webSocket struct{ *websocket.Conn }

// ws is the connection of a socket that the test has opened over WebSocket.
func (s *socket) ws() *websocket.Conn { return s.link.(webSocket).Conn }

// dial opens a WebSocket as a program does, with the token in a header.
func (e *edge) dial(token string) *socket {
	e.t.Helper()
	return e.mustOpen(handshake{Token: token})
}

func (e *edge) mustOpen(h handshake) *socket {
	e.t.Helper()
	s, refused := e.open(h)
	if s == nil {
		e.t.Fatalf("the handshake was refused: %d %s", refused.Status, refused.Body)
	}
	return s
}

// open is tryOpen on an edge that must answer.
func (e *edge) open(h handshake) (*socket, answer) {
	e.t.Helper()
	s, a, err := e.tryOpen(h)
	if err != nil {
		e.t.Fatal(err)
	}
	return s, a
}

// tryOpen opens a WebSocket, on the plain HTTP site unless h has a URL. It returns a
// refusal as the answer, and an error if there was no answer. The socket is closed when
// the test ends.
func (e *edge) tryOpen(h handshake) (*socket, answer, error) {
	e.t.Helper()
	if h.URL == "" {
		h.URL = fmt.Sprintf("ws://localhost:%d/ws", e.HTTP)
	}
	dialer := websocket.Dialer{
		NetDialContext: dialLoopback, Subprotocols: h.Protocols, EnableCompression: true, HandshakeTimeout: waitTimeout,
	}
	if strings.HasPrefix(h.URL, "wss:") {
		var err error
		if dialer.TLSClientConfig, err = e.tlsConfig(); err != nil {
			e.t.Fatal(err)
		}
	}
	conn, res, err := dialer.DialContext(context.Background(), h.URL, h.header())
	if res != nil {
		defer res.Body.Close()
	}
	if err != nil {
		if !errors.Is(err, websocket.ErrBadHandshake) {
			return nil, answer{}, err
		}
		body := new(bytes.Buffer)
		if _, err := body.ReadFrom(res.Body); err != nil { // gorilla keeps the first 1,024 bytes
			e.t.Fatal(err)
		}
		return nil, answer{Status: res.StatusCode, Header: res.Header, Body: body.Bytes()}, nil
	}
	if got := res.Header.Get("Sec-WebSocket-Extensions"); got != "" {
		e.t.Errorf("the edge agreed to extensions %q, want none", got)
	}
	want := ""
	if len(h.Protocols) > 0 {
		want = "llps.v1"
	}
	if got := conn.Subprotocol(); got != want {
		e.t.Errorf("got subprotocol %q, want %q", got, want)
	}
	e.t.Cleanup(func() { conn.Close() })
	return &socket{t: e.t, link: webSocket{conn}}, answer{Status: res.StatusCode, Header: res.Header}, nil
}

func (w webSocket) write(kind int, message []byte) error {
	if err := w.SetWriteDeadline(time.Now().Add(waitTimeout)); err != nil {
		return err
	}
	return w.WriteMessage(kind, message)
}

func (w webSocket) read() (kind int, message []byte, err error) {
	if err := w.SetReadDeadline(time.Now().Add(waitTimeout)); err != nil {
		return 0, nil, err
	}
	kind, message, err = w.ReadMessage()
	var frame *websocket.CloseError
	if errors.As(err, &frame) {
		return 0, nil, &closed{wire.CloseCode(frame.Code), frame.Text}
	}
	return kind, message, err
}

func (w webSocket) leave() error {
	return w.write(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
}

func (w webSocket) cut() error { return w.NetConn().Close() }
