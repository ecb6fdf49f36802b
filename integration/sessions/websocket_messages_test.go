package sessions

import (
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// A WebSocket says of each message whether it is a line or a frame, and the
// edge takes it at its word.
func TestWebSocketMessageKinds(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	for _, row := range []struct {
		name    string
		kind    int
		message string
		want    string
	}{
		{"empty text", harness.AsText, "", "ERR:bad_request"},
		{"only a newline", harness.AsText, "\n", "ERR:bad_request"},
		{"publish as text", harness.AsText, string(harness.RawPublish("paint.room", "news", "hello")), "ERR:bad_request"},
		{"empty frame", harness.AsFrame, "", "ERR:bad_frame"},
		{"binary subscribe", harness.AsFrame, "SUB:paint.room:news", "ERR:bad_frame"},
		{"binary ping", harness.AsFrame, "PING", "ERR:bad_frame"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := e.With(t).Dial(token)
			s.Send(row.kind, []byte(row.message))
			s.ExpectText(row.want)
			s.Ping()
			s.Fence()
		})
	}
	t.Run("16 empty frames", func(t *testing.T) {
		s := e.With(t).Dial(token)
		for range 16 {
			s.SendFrame(nil)
			s.ExpectText("ERR:bad_frame")
		}
		s.ExpectClose(wire.ClosePolicy)
	})
}

// Close frames and fragments, RFC 6455, sections 5.4 and 5.5.1.
func TestWebSocketFraming(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
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
			s := e.With(t).Dial(token)
			s.Send(websocket.CloseMessage, []byte(row.payload))
			s.ExpectClose(row.code)
		})
	}
	t.Run("fragments over the read limit", func(t *testing.T) {
		s := e.With(t).Dial(token)
		w, err := s.Ws().NextWriter(harness.AsFrame)
		s.Must(err)
		for range 18 { // more than gorilla sends in one frame
			_, err := w.Write([]byte(over[:4096]))
			s.Must(err)
		}
		s.Must(w.Close())
		s.ExpectClose(wire.CloseTooBig)
	})
	t.Run("fragments", func(t *testing.T) { // are a message like any other
		s := e.With(t).Dial(token)
		s.Subscribe("paint.room", "x")
		w, err := s.Ws().NextWriter(harness.AsFrame)
		s.Must(err)
		payload := over[:60_000]
		_, err = w.Write(harness.RawPublish("paint.room", "x", payload))
		s.Must(err)
		s.Must(w.Close())
		s.ExpectDeliver("paint.room", "x", payload, "x")
	})
}
