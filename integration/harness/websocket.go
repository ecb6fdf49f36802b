package harness

import (
	"errors"
	"fmt"
	"strings"
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
	return e.accepted(e.TryOpen(h))
}

// Open is TryOpen on an edge that must answer.
func (e *Edge) Open(h Handshake) (*Socket, Answer) {
	e.T.Helper()
	return e.answered(e.TryOpen(h))
}

func (e *Edge) answered(s *Socket, a Answer, err error) (*Socket, Answer) {
	e.T.Helper()
	e.Must(err)
	return s, a
}

func (e *Edge) accepted(s *Socket, a Answer, err error) *Socket {
	e.T.Helper()
	if s == nil {
		e.T.Fatalf("the handshake was refused: %d %s, %v", a.Status, a.Body, err)
	}
	return s
}

// wantSubprotocol requires that the edge has chosen the subprotocol if there were any.
func (e *Edge) wantSubprotocol(h Handshake, got string) {
	e.T.Helper()
	want := ""
	if len(h.Protocols) > 0 {
		want = wire.Subprotocol
	}
	if got != want {
		e.T.Errorf("got subprotocol %q, want %q", got, want)
	}
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
		dialer.TLSClientConfig = value(e.TlsConfig())(e.T)
	}
	conn, res, err := dialer.Dial(h.URL, h.Headers())
	if errors.Is(err, websocket.ErrBadHandshake) {
		return nil, value(answerOf(res))(e.T), nil // gorilla keeps the first 1,024 bytes of the body
	}
	if err != nil {
		return nil, Answer{}, err
	}
	if got := res.Header.Get("Sec-WebSocket-Extensions"); got != "" {
		e.T.Errorf("the edge agreed to extensions %q, want none", got)
	}
	e.wantSubprotocol(h, conn.Subprotocol())
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
