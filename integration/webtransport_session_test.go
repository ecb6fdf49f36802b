package integration

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/wire"
)

// The first byte of a message distinguishes frames from lines.
func TestWebTransportMessageKinds(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	for _, row := range []struct{ name, message, want string }{
		{"empty message", "", "ERR:bad_request"},
		{"0x1f", "\x1fING", "ERR:bad_frame"},
		{"0x20", " ING", "ERR:bad_request"},
		{"only a newline", "\n", "ERR:bad_frame"},
		{"0x7f", "\x7f", "ERR:bad_request"},
		{"publish", string(rawPublish("paint.other", "x", "")), "ERR:permission_denied:PUB:paint.other:x"},
		{"tagged publish", "\x02\x00" + string(rawPublish("paint.other", "x", "")), "ERR:permission_denied:PUB:paint.other:x"},
		{"frame that is not UTF-8", "\x07\xff", "ERR:bad_frame"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := e.with(t).dialWebTransport(token)
			s.must(s.wt().writeBytes(wire.AppendMessage(nil, []byte(row.message))))
			s.expectText(row.want)
			s.ping()
			s.fence()
		})
	}
	t.Run("16 empty messages", func(t *testing.T) {
		s := e.with(t).dialWebTransport(token)
		for range 16 {
			s.sendLine("")
			s.expectText("ERR:bad_request")
		}
		s.expectClose(wire.ClosePolicy)
	})
	t.Run("in pieces", func(t *testing.T) {
		s := e.with(t).dialWebTransport(token)
		s.subscribe("paint.room", "x")
		payload := strings.Repeat("p", 60_000)
		message := wire.AppendMessage(nil, rawPublish("paint.room", "x", payload))
		for _, piece := range [][]byte{message[:2], message[2:5], message[5:30_000], message[30_000:]} {
			s.must(s.wt().writeBytes(piece))
		}
		s.expectDeliver("paint.room", "x", payload, "x")
	})
	t.Run("several at once", func(t *testing.T) {
		s := e.with(t).dialWebTransport(token)
		var all []byte
		for range 100 {
			all = wire.AppendMessage(all, []byte("PING"))
		}
		s.must(s.wt().writeBytes(all))
		for range 100 {
			s.expectText("PONG")
		}
	})
}

// A length over the read limit closes the session before the message arrives.
func TestWebTransportLengths(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	for name, length := range map[string]string{
		"a byte over": "\x00\x01\x10\x01", "4 GiB": "\xff\xff\xff\xff", "2 GiB": "\x80\x00\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			s := e.with(t).dialWebTransport(token)
			s.must(s.wt().writeBytes([]byte(length)))
			s.expectClose(wire.CloseTooBig)
		})
	}
	t.Run("the limit", func(t *testing.T) {
		s := e.with(t).dialWebTransport(token)
		s.must(s.wt().writeBytes([]byte("\x00\x01\x10\x00" + strings.Repeat("a", 64<<10+4096))))
		s.expectText("ERR:bad_request")
		s.ping()
	})
	t.Run("before it is authenticated", func(t *testing.T) {
		s := e.with(t).mustOpenWebTransport(handshake{})
		s.must(s.wt().writeBytes([]byte("\xff\xff\xff\xff")))
		s.expectText("ERR:unauthorized")
		s.expectClose(wire.CloseUnauthorized)
	})
}

// Only the first bidirectional stream counts; datagrams do not.
func TestWebTransportOtherTraffic(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	s := e.dialWebTransport(token)
	s.subscribe("paint.room", "x")
	for range 20 { // more than may be open at once
		second := e.openStream(s.wt().session)
		if err := second.SetReadDeadline(time.Now().Add(waitTimeout)); err != nil {
			t.Fatal(err)
		}
		var reset *webtransport.StreamError
		if n, err := second.Read(make([]byte, 1)); n != 0 || !errors.As(err, &reset) || !reset.Remote {
			t.Fatalf("a second stream got %d bytes and %v, want a reset", n, err)
		}
		second.CancelWrite(0)
	}
	for _, datagram := range []string{"", "PING", "SUB:paint.room:#", string(rawPublish("paint.room", "x", "datagram")), strings.Repeat("x", 1000)} {
		s.must(s.wt().session.SendDatagram([]byte(datagram)))
	}
	s.ping()
	s.publish("paint.room", "x", "still here")
	s.expectDeliver("paint.room", "x", "still here", "x")
	s.fence()
}

// However a client ends its session, the edge forgets it.
func TestWebTransportClientLeaves(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	stays := e.dialWebTransport(token)
	for name, leave := range map[string]func(s *socket){
		"FIN":                         func(s *socket) { s.close() },
		"FIN after half a message":    func(s *socket) { s.must(s.wt().writeBytes([]byte{0, 0, 0, 4, 'P'})); s.close() },
		"close of the session":        func(s *socket) { s.must(s.wt().session.CloseWithError(1000, "bye")) },
		"close with the client's own": func(s *socket) { s.must(s.wt().session.CloseWithError(77, "bye")) },
		"reset of the stream":         func(s *socket) { s.wt().stream.CancelWrite(7); s.expectClose(wire.CloseNormal) },
		"end of the connection":       func(s *socket) { s.must(s.cut()) },
	} {
		t.Run(name, func(t *testing.T) {
			e := e.with(t)
			s := e.dialWebTransport(token)
			s.subscribe("paint.room", "jobs")
			leave(s)
			awaitConnections(e, 1)
		})
	}
	stays.publishTagged(wire.OneRandom, "paint.room", "jobs", "nobody hears it")
	stays.fence()
}

// Clients of both transports are on one hub.
func TestTransportsMeet(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	sockets := []*socket{e.dial(token), e.dialWebTransport(token), e.dialAuth(token)}
	for _, s := range sockets {
		s.subscribe("paint.room", "x.*")
	}
	for i, publisher := range sockets {
		publisher.publish("paint.room", "x.y", fmt.Sprint(i))
		for _, s := range sockets {
			s.expectDeliver("paint.room", "x.y", fmt.Sprint(i), "x.*")
		}
	}
	var got struct {
		Connections []struct{ Transport, IP string }
	}
	e.adminCall("GET", "/pubsub/connections", nil).decode(t, http.StatusOK, &got)
	if want := "[{websocket 127.0.0.1} {webtransport 127.0.0.1} {webtransport 127.0.0.1}]"; fmt.Sprint(got.Connections) != want {
		t.Errorf("got connections %v, want %s", got.Connections, want)
	}
}
