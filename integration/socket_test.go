package integration

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

// handshake is one attempt to open a WebSocket.
type handshake struct {
	URL       string      // empty: /ws on the plain HTTP site
	Token     string      // sent in the Authorization header unless empty
	Protocols []string    // offered subprotocols
	Header    http.Header // anything else
}

// socket is an open WebSocket. Its methods fail the test instead of returning
// errors and may be called from the test's goroutine only.
type socket struct {
	t      *testing.T
	conn   *websocket.Conn
	fences int
}

// dial opens a WebSocket as a program does, with the token in a header.
func (e *edge) dial(token string) *socket {
	e.t.Helper()
	return e.mustOpen(handshake{Token: token})
}

// dialBrowser opens a WebSocket as a browser does, with the token among the
// subprotocols.
func (e *edge) dialBrowser(token string) *socket {
	e.t.Helper()
	s := e.mustOpen(handshake{Protocols: []string{"llps.v1", "at." + token}})
	if got := s.conn.Subprotocol(); got != "llps.v1" {
		e.t.Errorf("got subprotocol %q, want llps.v1", got)
	}
	return s
}

func (e *edge) mustOpen(h handshake) *socket {
	e.t.Helper()
	s, refused := e.open(h)
	if s == nil {
		e.t.Fatalf("the handshake was refused: %d %s", refused.Status, refused.Body)
	}
	return s
}

// open opens a WebSocket; a refusal comes back as the answer. The socket is
// closed when the test ends.
func (e *edge) open(h handshake) (*socket, answer) {
	e.t.Helper()
	if h.URL == "" {
		h.URL = fmt.Sprintf("ws://localhost:%d/ws", e.HTTP)
	}
	header := h.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if h.Token != "" {
		header.Set("Authorization", "Bearer "+h.Token)
	}
	dialer := websocket.Dialer{
		NetDialContext: dialLoopback, Subprotocols: h.Protocols, EnableCompression: true, HandshakeTimeout: patience,
	}
	if strings.HasPrefix(h.URL, "wss:") {
		var err error
		if dialer.TLSClientConfig, err = e.tlsConfig(); err != nil {
			e.t.Fatal(err)
		}
	}
	conn, res, err := dialer.DialContext(context.Background(), h.URL, header)
	if res != nil {
		defer res.Body.Close()
	}
	if err != nil {
		if !errors.Is(err, websocket.ErrBadHandshake) {
			e.t.Fatal(err)
		}
		body := new(bytes.Buffer)
		if _, err := body.ReadFrom(res.Body); err != nil { // gorilla keeps the first 1,024 bytes
			e.t.Fatal(err)
		}
		return nil, answer{Status: res.StatusCode, Header: res.Header, Body: body.Bytes()}
	}
	if got := res.Header.Get("Sec-WebSocket-Extensions"); got != "" {
		e.t.Errorf("the edge agreed to extensions %q, want none", got)
	}
	s := &socket{t: e.t, conn: conn}
	e.t.Cleanup(func() { conn.Close() })
	return s, answer{Status: res.StatusCode, Header: res.Header}
}

// sendLine sends a text message.
func (s *socket) sendLine(line string) {
	s.t.Helper()
	s.send(websocket.TextMessage, []byte(line))
}

// sendFrame sends a binary message.
func (s *socket) sendFrame(frame []byte) {
	s.t.Helper()
	s.send(websocket.BinaryMessage, frame)
}

func (s *socket) send(kind int, message []byte) {
	s.t.Helper()
	s.must(s.conn.SetWriteDeadline(time.Now().Add(patience)))
	s.must(s.conn.WriteMessage(kind, message))
}

// publish sends a version 1 frame.
func (s *socket) publish(tenant, channel, payload string) {
	s.t.Helper()
	s.sendFrame(wire.AppendPublish(nil, wire.Publish{
		Tenant: []byte(tenant), Channel: []byte(channel), Payload: []byte(payload),
	}))
}

// subscribe sends SUB lines and awaits the OK of each.
func (s *socket) subscribe(tenant string, patterns ...string) {
	s.t.Helper()
	for _, pattern := range patterns {
		s.sendLine("SUB:" + tenant + ":" + pattern)
		s.expectText("OK:SUB:" + tenant + ":" + pattern)
	}
}

// read returns the next message.
func (s *socket) read() (kind int, message []byte, err error) {
	s.t.Helper()
	s.must(s.conn.SetReadDeadline(time.Now().Add(patience)))
	return s.conn.ReadMessage()
}

// expectText requires that the next message is this line.
func (s *socket) expectText(want string) {
	s.t.Helper()
	kind, message, err := s.read()
	if err != nil {
		s.t.Fatalf("got %v, want the line %q", err, want)
	}
	if kind != websocket.TextMessage || string(message) != want {
		s.t.Fatalf("got message %q (kind %d), want the line %q", message, kind, want)
	}
}

// expectDeliver requires that the next message is this deliver frame; the
// order of the patterns is free.
func (s *socket) expectDeliver(tenant, channel, payload string, patterns ...string) {
	s.t.Helper()
	kind, message, err := s.read()
	if err != nil {
		s.t.Fatalf("got %v, want a message on %s", err, channel)
	}
	if kind != websocket.BinaryMessage {
		s.t.Fatalf("got the line %q, want a message on %s", message, channel)
	}
	got, err := wire.DecodeDeliver(message)
	if err != nil {
		s.t.Fatalf("%v: %x", err, message)
	}
	gotPatterns := slices.Sorted(slices.Values(got.Patterns))
	slices.Sort(patterns)
	if string(got.Tenant) != tenant || string(got.Channel) != channel || string(got.Payload) != payload ||
		!slices.Equal(gotPatterns, patterns) {
		s.t.Fatalf("got tenant %q, channel %q, payload %q, patterns %q; want %q, %q, %q, %q",
			got.Tenant, got.Channel, got.Payload, gotPatterns, tenant, channel, payload, patterns)
	}
}

// expectClose requires that the edge closes the connection now, with this code.
func (s *socket) expectClose(code wire.CloseCode) {
	s.t.Helper()
	_, message, err := s.read()
	if err == nil {
		s.t.Fatalf("got message %q, want close code %d", message, code)
	}
	var closed *websocket.CloseError
	if !errors.As(err, &closed) || closed.Code != int(code) {
		s.t.Fatalf("got %v, want close code %d", err, code)
	}
}

// fence requires that nothing is on its way to this socket. A publisher first
// fences its own connection, so that its messages are accepted; an OK keeps
// its place among deliveries, so what was accepted stands before the
// subscriber's. (PONG would not do: it overtakes deliveries.)
func (s *socket) fence() {
	s.t.Helper()
	s.fences++
	pair := fmt.Sprintf("fence:n%d", s.fences)
	s.sendLine("UNSUB:" + pair)
	s.expectText("OK:UNSUB:" + pair)
}

// ping requires that the edge answers, and has answered everything before.
func (s *socket) ping() {
	s.t.Helper()
	s.sendLine("PING")
	s.expectText("PONG")
}

// close ends the connection as a well-behaved client does and awaits the
// edge's answer.
func (s *socket) close() {
	s.t.Helper()
	s.send(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
	s.expectClose(wire.CloseNormal)
}

func (s *socket) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// rawPublish is a version 1 frame, built without package wire.
func rawPublish(tenant, channel, payload string) []byte {
	frame := binary.BigEndian.AppendUint16(nil, uint16(len(tenant)))
	frame = append(frame, tenant...)
	frame = binary.BigEndian.AppendUint16(frame, uint16(len(channel)))
	frame = append(frame, channel...)
	return append(frame, payload...)
}

// rawDeliver is a deliver frame, built without package wire.
func rawDeliver(tenant, channel, payload string, patterns ...string) []byte {
	frame := binary.BigEndian.AppendUint16([]byte{0x01}, uint16(len(tenant)))
	frame = append(frame, tenant...)
	frame = binary.BigEndian.AppendUint16(frame, uint16(len(channel)))
	frame = append(frame, channel...)
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(payload)))
	frame = append(frame, payload...)
	frame = binary.BigEndian.AppendUint16(frame, uint16(len(patterns)))
	for _, p := range patterns {
		frame = binary.BigEndian.AppendUint16(frame, uint16(len(p)))
		frame = append(frame, p...)
	}
	return frame
}
