package integration

import (
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

// A WebSocket says of each message whether it is a line or a frame, and the
// edge takes it at its word.
func TestWebSocketMessageKinds(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	for _, row := range []struct {
		name    string
		kind    int
		message string
		want    string
	}{
		{"empty text", asText, "", "ERR:bad_request"},
		{"only a newline", asText, "\n", "ERR:bad_request"},
		{"publish as text", asText, string(rawPublish("paint.room", "news", "hello")), "ERR:bad_request"},
		{"empty frame", asFrame, "", "ERR:bad_frame"},
		{"binary subscribe", asFrame, "SUB:paint.room:news", "ERR:bad_frame"},
		{"binary ping", asFrame, "PING", "ERR:bad_frame"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := e.with(t).dial(token)
			s.send(row.kind, []byte(row.message))
			s.expectText(row.want)
			s.ping()
			s.fence()
		})
	}
	t.Run("16 empty frames", func(t *testing.T) {
		s := e.with(t).dial(token)
		for range 16 {
			s.sendFrame(nil)
			s.expectText("ERR:bad_frame")
		}
		s.expectClose(wire.ClosePolicy)
	})
}

// Close frames and fragments, RFC 6455, sections 5.4 and 5.5.1.
func TestWebSocketFraming(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	over := strings.Repeat("a", 64<<10+4096+1)
	for _, row := range []struct {
		name, payload string
		code          wire.CloseCode
	}{
		{"client's close", "\x03\xe8", wire.CloseNormal},
		{"client's own close code", "\x0f\xa0bye", 4000},
		{"close code out of range", "\x03\xed", 1002},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := e.with(t).dial(token)
			s.send(websocket.CloseMessage, []byte(row.payload))
			s.expectClose(row.code)
		})
	}
	t.Run("fragments over the read limit", func(t *testing.T) {
		s := e.with(t).dial(token)
		w, err := s.ws().NextWriter(asFrame)
		s.must(err)
		for range 18 { // more than gorilla sends in one frame
			_, err := w.Write([]byte(over[:4096]))
			s.must(err)
		}
		s.must(w.Close())
		s.expectClose(wire.CloseTooBig)
	})
	t.Run("fragments", func(t *testing.T) { // are a message like any other
		s := e.with(t).dial(token)
		s.subscribe("paint.room", "x")
		w, err := s.ws().NextWriter(asFrame)
		s.must(err)
		payload := over[:60_000]
		_, err = w.Write(rawPublish("paint.room", "x", payload))
		s.must(err)
		s.must(w.Close())
		s.expectDeliver("paint.room", "x", payload, "x")
	})
}
