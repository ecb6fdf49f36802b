package harness

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
	AsText  = websocket.TextMessage
	AsFrame = websocket.BinaryMessage
)

// Socket is an open session over either transport. Its methods fail the test instead of
// returning errors, and may be called only from the test's goroutine; those of its link
// may be called from another one.
type Socket struct {
	T *testing.T
	Link
	fences     int
	subscribed func() // called after each OK:SUB; nil: nothing
}

// Link carries the messages of one session. One goroutine may write and one
// may read. No call blocks for longer than WaitTimeout.
type Link interface {
	Write(kind int, message []byte) error
	// Read returns the next message. The error is a *Closed when the edge has
	// closed the session.
	Read() (kind int, message []byte, err error)
	// Leave starts to end the session as a well-behaved client does.
	Leave() error
	// Cut ends the connection without closing the session.
	Cut() error
}

// Closed is the end of a session as its client sees it.
type Closed struct {
	Code   wire.CloseCode
	Reason string
}

func (c *Closed) Error() string { return fmt.Sprintf("closed with %d %q", c.Code, c.Reason) }

// ErrWaitTimeout is the error of a link's read when nothing has arrived within WaitTimeout.
var ErrWaitTimeout = fmt.Errorf("no message in %v: %w", WaitTimeout, os.ErrDeadlineExceeded)

// Handshake is one attempt to open a session.
type Handshake struct {
	URL       string      // empty: the transport's path on its usual site
	Token     string      // sent in the Authorization header unless empty
	Protocols []string    // offered subprotocols
	Header    http.Header // anything else
}

// Headers returns the header of the handshake without the subprotocols.
func (h Handshake) Headers() http.Header {
	header := h.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if h.Token != "" {
		header.Set("Authorization", "Bearer "+h.Token)
	}
	return header
}

// SendLine sends a line.
func (s *Socket) SendLine(line string) {
	s.T.Helper()
	s.Send(AsText, []byte(line))
}

// SendFrame sends a frame.
func (s *Socket) SendFrame(frame []byte) {
	s.T.Helper()
	s.Send(AsFrame, frame)
}

func (s *Socket) Send(kind int, message []byte) {
	s.T.Helper()
	s.Must(s.Write(kind, message))
}

// Publish sends a version 1 frame.
func (s *Socket) Publish(tenant, channel, payload string) {
	s.T.Helper()
	s.SendFrame(RawPublish(tenant, channel, payload))
}

// PublishTagged sends a version 2 frame.
func (s *Socket) PublishTagged(delivery wire.Delivery, tenant, channel, payload string) {
	s.T.Helper()
	s.SendFrame(wire.AppendPublish(nil, wire.Publish{
		Tagged: true, Delivery: delivery,
		Tenant: []byte(tenant), Channel: []byte(channel), Payload: []byte(payload),
	}))
}

// Subscribe sends SUB lines and awaits the OK of each.
func (s *Socket) Subscribe(tenant string, patterns ...string) {
	s.T.Helper()
	for _, pattern := range patterns {
		s.Ask("SUB", tenant, pattern)
		if s.subscribed != nil {
			s.subscribed()
		}
	}
}

// Ask sends lines of this verb, and awaits the OK of each.
func (s *Socket) Ask(verb, tenant string, channels ...string) {
	s.T.Helper()
	for _, channel := range channels {
		s.SendLine(verb + ":" + tenant + ":" + channel)
		s.ExpectText("OK:" + verb + ":" + tenant + ":" + channel)
	}
}

// ExpectText requires that the next message is this line.
func (s *Socket) ExpectText(want string) {
	s.T.Helper()
	kind, message, err := s.Read()
	if s.stalled(err, want) {
		return
	}
	if err != nil || kind != AsText || string(message) != want {
		s.T.Fatalf("got message %q (kind %d), %v, want the line %q", message, kind, err, want)
	}
}

// Stalls counts sessions over WebTransport that ended before their client read the
// last line.
var Stalls atomic.Int32

// stalled reports that a session has ended with the code of this line, but without the
// line: the edge waits for a moment until the client has read it, and a busy machine may
// not let the client run in that moment. This happens to few of hundreds.
func (s *Socket) stalled(err error, line string) bool {
	_, over := s.Link.(*WebTransport)
	end := new(Closed)
	if !over || Soaking || !errors.As(err, &end) || line != "ERR:"+end.Reason {
		return false
	}
	s.T.Logf("the session has ended before the client read %s", line)
	return Stalls.Add(1) <= 3
}

// ExpectDeliver requires that the next message is this deliver frame; the
// order of the patterns is free.
func (s *Socket) ExpectDeliver(tenant, channel, payload string, patterns ...string) {
	s.T.Helper()
	kind, message, err := s.Read()
	if err != nil || kind != AsFrame {
		s.T.Fatalf("got %q, %v, want a message on %s", message, err, channel)
	}
	got, err := wire.DecodeDeliver(message)
	slices.Sort(got.Patterns)
	slices.Sort(patterns)
	if err != nil || string(got.Tenant) != tenant || string(got.Channel) != channel || string(got.Payload) != payload ||
		!slices.Equal(got.Patterns, patterns) {
		s.T.Fatalf("got %q, %v, which is tenant %q, channel %q, payload %q, patterns %q; want %q, %q, %q, %q",
			message, err, got.Tenant, got.Channel, got.Payload, got.Patterns, tenant, channel, payload, patterns)
	}
}

// ExpectClose requires that the edge closes the session now, with this code.
func (s *Socket) ExpectClose(code wire.CloseCode) {
	s.T.Helper()
	_, message, err := s.Read()
	var closed *Closed
	if !errors.As(err, &closed) || closed.Code != code {
		s.T.Fatalf("got message %q, %v, want close code %d", message, err, code)
	}
}

// Fence requires that nothing is on its way to this socket. A publisher first fences its
// own connection, so that its messages are accepted; an OK keeps its place among
// deliveries, so what was accepted arrives before the subscriber's OK. (PONG would not
// do: it overtakes deliveries.)
func (s *Socket) Fence() {
	s.T.Helper()
	s.fences++
	s.Ask("UNSUB", "fence", fmt.Sprintf("n%d", s.fences))
}

// Ping requires that the edge answers, and has answered everything before.
func (s *Socket) Ping() {
	s.T.Helper()
	s.SendLine("PING")
	s.ExpectText("PONG")
}

// UntilEnd reads until the session has ended, or WaitTimeout has passed. The error says how.
// It may be called from any goroutine.
func (s *Socket) UntilEnd() (err error) {
	for err == nil {
		_, _, err = s.Read()
	}
	return err
}

// Close ends the session as a well-behaved client does and awaits the edge's
// answer.
func (s *Socket) Close() {
	s.T.Helper()
	s.Must(s.Leave())
	s.ExpectClose(wire.CloseNormal)
}

// RawPublish is a version 1 frame, built without package wire.
func RawPublish(tenant, channel, payload string) []byte {
	frame := append(binary.BigEndian.AppendUint16(nil, uint16(len(tenant))), tenant...)
	frame = append(binary.BigEndian.AppendUint16(frame, uint16(len(channel))), channel...)
	return append(frame, payload...)
}
