package integration

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

// The kinds of messages. A WebSocket names the kind of each message; over WebTransport the
// first byte shows it.
const (
	asText  = websocket.TextMessage
	asFrame = websocket.BinaryMessage
)

// socket is an open session over either transport. Its methods fail the test instead of
// returning errors, and may be called only from the test's goroutine; those of its link
// may be called from another one.
type socket struct {
	t *testing.T
	link
	fences     int
	subscribed func() // called after each OK:SUB; nil: nothing
}

// link carries the messages of one session. One goroutine may write and one
// may read. No call blocks for longer than waitTimeout.
type link interface {
	// write sends one message.
	write(kind int, message []byte) error
	// read returns the next message. The error is a *closed when the edge has
	// closed the session.
	read() (kind int, message []byte, err error)
	// leave starts to end the session as a well-behaved client does.
	leave() error
	// cut ends the connection without closing the session.
	cut() error
}

// closed is the end of a session as its client sees it.
type closed struct {
	code   wire.CloseCode
	reason string
}

func (c *closed) Error() string { return fmt.Sprintf("closed with %d %q", c.code, c.reason) }

// errWaitTimeout is the error of a link's read when nothing has arrived within waitTimeout.
var errWaitTimeout = fmt.Errorf("no message in %v: %w", waitTimeout, os.ErrDeadlineExceeded)

// handshake is one attempt to open a session.
type handshake struct {
	URL       string      // empty: the transport's path on its usual site
	Token     string      // sent in the Authorization header unless empty
	Protocols []string    // offered subprotocols
	Header    http.Header // anything else
}

// header returns the header of the handshake without the subprotocols.
func (h handshake) header() http.Header {
	header := h.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if h.Token != "" {
		header.Set("Authorization", "Bearer "+h.Token)
	}
	return header
}

// sendLine sends a line.
func (s *socket) sendLine(line string) {
	s.t.Helper()
	s.send(asText, []byte(line))
}

// sendFrame sends a frame.
func (s *socket) sendFrame(frame []byte) {
	s.t.Helper()
	s.send(asFrame, frame)
}

func (s *socket) send(kind int, message []byte) {
	s.t.Helper()
	s.must(s.write(kind, message))
}

// publish sends a version 1 frame.
func (s *socket) publish(tenant, channel, payload string) {
	s.t.Helper()
	s.sendFrame(wire.AppendPublish(nil, wire.Publish{
		Tenant: []byte(tenant), Channel: []byte(channel), Payload: []byte(payload),
	}))
}

// publishTagged sends a version 2 frame.
func (s *socket) publishTagged(delivery wire.Delivery, tenant, channel, payload string) {
	s.t.Helper()
	s.sendFrame(wire.AppendPublish(nil, wire.Publish{
		Tagged: true, Delivery: delivery,
		Tenant: []byte(tenant), Channel: []byte(channel), Payload: []byte(payload),
	}))
}

// subscribe sends SUB lines and awaits the OK of each.
func (s *socket) subscribe(tenant string, patterns ...string) {
	s.t.Helper()
	for _, pattern := range patterns {
		s.sendLine("SUB:" + tenant + ":" + pattern)
		s.expectText("OK:SUB:" + tenant + ":" + pattern)
		if s.subscribed != nil {
			s.subscribed()
		}
	}
}

// expectText requires that the next message is this line.
func (s *socket) expectText(want string) {
	s.t.Helper()
	kind, message, err := s.read()
	if s.stalled(err, want) {
		return
	}
	if err != nil {
		s.t.Fatalf("got %v, want the line %q", err, want)
	}
	if kind != asText || string(message) != want {
		s.t.Fatalf("got message %q (kind %d), want the line %q", message, kind, want)
	}
}

// stalls counts sessions over WebTransport that ended before their client read the
// last line.
var stalls atomic.Int32

// stalled reports that a session has ended with the code of this line, but without the
// line: the edge waits for a moment until the client has read it, and a busy machine may
// not let the client run in that moment. This happens to few of hundreds.
func (s *socket) stalled(err error, line string) bool {
	_, over := s.link.(*webTransport)
	end := new(closed)
	if !over || soaking || !errors.As(err, &end) || line != "ERR:"+end.reason {
		return false
	}
	s.t.Logf("the session has ended before the client read %s", line)
	return stalls.Add(1) <= 3
}

// expectDeliver requires that the next message is this deliver frame; the
// order of the patterns is free.
func (s *socket) expectDeliver(tenant, channel, payload string, patterns ...string) {
	s.t.Helper()
	kind, message, err := s.read()
	if err != nil {
		s.t.Fatalf("got %v, want a message on %s", err, channel)
	}
	if kind != asFrame {
		s.t.Fatalf("got the line %q, want a message on %s", message, channel)
	}
	checkDeliver(s.t, message, tenant, channel, payload, patterns...)
}

// checkDeliver compares a deliver frame; the order of the patterns is free.
func checkDeliver(t *testing.T, frame []byte, tenant, channel, payload string, patterns ...string) {
	t.Helper()
	got, err := wire.DecodeDeliver(frame)
	if err != nil {
		t.Fatalf("%v: %x", err, frame)
	}
	gotPatterns := slices.Sorted(slices.Values(got.Patterns))
	slices.Sort(patterns)
	if string(got.Tenant) != tenant || string(got.Channel) != channel || string(got.Payload) != payload ||
		!slices.Equal(gotPatterns, patterns) {
		t.Fatalf("got tenant %q, channel %q, payload %q, patterns %q; want %q, %q, %q, %q",
			got.Tenant, got.Channel, got.Payload, gotPatterns, tenant, channel, payload, patterns)
	}
}

// expectClose requires that the edge closes the session now, with this code.
func (s *socket) expectClose(code wire.CloseCode) {
	s.t.Helper()
	_, message, err := s.read()
	if err == nil {
		s.t.Fatalf("got message %q, want close code %d", message, code)
	}
	var closed *closed
	if !errors.As(err, &closed) || closed.code != code {
		s.t.Fatalf("got %v, want close code %d", err, code)
	}
}

// fence requires that nothing is on its way to this socket. A publisher first fences its
// own connection, so that its messages are accepted; an OK keeps its place among
// deliveries, so what was accepted arrives before the subscriber's OK. (PONG would not
// do: it overtakes deliveries.)
func (s *socket) fence() {
	s.t.Helper()
	s.fences++
	pair := fmt.Sprintf("fence:n%d", s.fences)
	s.sendLine("UNSUB:" + pair)
	s.expectText("OK:UNSUB:" + pair)
}

// untilFence returns what is on its way to this socket, in order.
func (s *socket) untilFence() (delivered []wire.Deliver) {
	s.t.Helper()
	s.fences++
	pair := fmt.Sprintf("fence:n%d", s.fences)
	s.sendLine("UNSUB:" + pair)
	for {
		kind, message, err := s.read()
		s.must(err)
		if kind == asText {
			if string(message) != "OK:UNSUB:"+pair {
				s.t.Fatalf("got the line %q between deliveries", message)
			}
			return delivered
		}
		d, err := wire.DecodeDeliver(message)
		s.must(err)
		delivered = append(delivered, d)
	}
}

// ping requires that the edge answers, and has answered everything before.
func (s *socket) ping() {
	s.t.Helper()
	s.sendLine("PING")
	s.expectText("PONG")
}

// untilEnd reads until the session has ended, or waitTimeout has passed. The error says how.
// It may be called from any goroutine.
func (s *socket) untilEnd() (err error) {
	for err == nil {
		_, _, err = s.read()
	}
	return err
}

// close ends the session as a well-behaved client does and awaits the edge's
// answer.
func (s *socket) close() {
	s.t.Helper()
	s.must(s.leave())
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
