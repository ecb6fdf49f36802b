package sessions

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// The first byte of a message distinguishes frames from lines.
func TestWebTransportMessageKinds(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	for _, row := range []struct{ name, message, want string }{
		{"empty message", "", "ERR:bad_request"},
		{"0x1f", "\x1fING", "ERR:bad_frame"},
		{"0x20", " ING", "ERR:bad_request"},
		{"only a newline", "\n", "ERR:bad_frame"},
		{"0x7f", "\x7f", "ERR:bad_request"},
		{"publish", string(harness.RawPublish("paint.other", "x", "")), "ERR:permission_denied:PUB:paint.other:x"},
		{"tagged publish", "\x02\x00" + string(harness.RawPublish("paint.other", "x", "")), "ERR:permission_denied:PUB:paint.other:x"},
		{"frame that is not UTF-8", "\x07\xff", "ERR:bad_frame"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := e.With(t).DialWebTransport(token)
			s.Must(s.Wt().WriteBytes(wire.AppendMessage(nil, []byte(row.message))))
			s.ExpectText(row.want)
			s.Ping()
			s.Fence()
		})
	}
	t.Run("16 empty messages", func(t *testing.T) {
		s := e.With(t).DialWebTransport(token)
		for range 16 {
			s.SendLine("")
			s.ExpectText("ERR:bad_request")
		}
		s.ExpectClose(wire.ClosePolicy)
	})
	t.Run("in pieces", func(t *testing.T) {
		s := e.With(t).DialWebTransport(token)
		s.Subscribe("paint.room", "x")
		payload := strings.Repeat("p", 60_000)
		message := wire.AppendMessage(nil, harness.RawPublish("paint.room", "x", payload))
		for _, piece := range [][]byte{message[:2], message[2:5], message[5:30_000], message[30_000:]} {
			s.Must(s.Wt().WriteBytes(piece))
		}
		s.ExpectDeliver("paint.room", "x", payload, "x")
	})
	t.Run("several at once", func(t *testing.T) {
		s := e.With(t).DialWebTransport(token)
		var all []byte
		for range 100 {
			all = wire.AppendMessage(all, []byte("PING"))
		}
		s.Must(s.Wt().WriteBytes(all))
		for range 100 {
			s.ExpectText("PONG")
		}
	})
}

// A length over the read limit closes the session before the message arrives.
func TestWebTransportLengths(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	for name, length := range map[string]string{
		"a byte over": "\x00\x01\x10\x01", "4 GiB": "\xff\xff\xff\xff", "2 GiB": "\x80\x00\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			s := e.With(t).DialWebTransport(token)
			s.Must(s.Wt().WriteBytes([]byte(length)))
			s.ExpectClose(wire.CloseTooBig)
		})
	}
	t.Run("the limit", func(t *testing.T) {
		s := e.With(t).DialWebTransport(token)
		s.Must(s.Wt().WriteBytes([]byte("\x00\x01\x10\x00" + strings.Repeat("a", 64<<10+4096))))
		s.ExpectText("ERR:bad_request")
		s.Ping()
	})
	t.Run("before it is authenticated", func(t *testing.T) {
		s := e.With(t).MustOpenWebTransport(harness.Handshake{})
		s.Must(s.Wt().WriteBytes([]byte("\xff\xff\xff\xff")))
		s.ExpectText("ERR:unauthorized")
		s.ExpectClose(wire.CloseUnauthorized)
	})
}

// Only the first bidirectional stream counts; datagrams do not.
func TestWebTransportOtherTraffic(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	s := e.DialWebTransport(token)
	s.Subscribe("paint.room", "x")
	for range 20 { // more than may be open at once
		second := e.OpenStream(s.Wt().Session)
		if err := second.SetReadDeadline(time.Now().Add(harness.WaitTimeout)); err != nil {
			t.Fatal(err)
		}
		var reset *webtransport.StreamError
		if n, err := second.Read(make([]byte, 1)); n != 0 || !errors.As(err, &reset) || !reset.Remote {
			t.Fatalf("a second stream got %d bytes and %v, want a reset", n, err)
		}
		second.CancelWrite(0)
	}
	for _, datagram := range []string{"", "PING", "SUB:paint.room:#", string(harness.RawPublish("paint.room", "x", "datagram")), strings.Repeat("x", 1000)} {
		s.Must(s.Wt().Session.SendDatagram([]byte(datagram)))
	}
	s.Ping()
	s.Publish("paint.room", "x", "still here")
	s.ExpectDeliver("paint.room", "x", "still here", "x")
	s.Fence()
}

// However a client ends its session, the edge forgets it.
func TestWebTransportClientLeaves(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	stays := e.DialWebTransport(token)
	for name, leave := range map[string]func(s *harness.Socket){
		"FIN":                         func(s *harness.Socket) { s.Close() },
		"FIN after half a message":    func(s *harness.Socket) { s.Must(s.Wt().WriteBytes([]byte{0, 0, 0, 4, 'P'})); s.Close() },
		"close of the session":        func(s *harness.Socket) { s.Must(s.Wt().Session.CloseWithError(1000, "bye")) },
		"close with the client's own": func(s *harness.Socket) { s.Must(s.Wt().Session.CloseWithError(77, "bye")) },
		"reset of the stream":         func(s *harness.Socket) { s.Wt().Stream.CancelWrite(7); s.ExpectClose(wire.CloseNormal) },
		"end of the connection":       func(s *harness.Socket) { s.Must(s.Cut()) },
	} {
		t.Run(name, func(t *testing.T) {
			e := e.With(t)
			s := e.DialWebTransport(token)
			s.Subscribe("paint.room", "jobs")
			leave(s)
			harness.AwaitConnections(e, 1)
		})
	}
	stays.PublishTagged(wire.OneRandom, "paint.room", "jobs", "nobody hears it")
	stays.Fence()
}

// Clients of both transports are on one hub.
func TestTransportsMeet(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	sockets := []*harness.Socket{e.Dial(token), e.DialWebTransport(token), dialAuth(e, token)}
	for _, s := range sockets {
		s.Subscribe("paint.room", "x.*")
	}
	for i, publisher := range sockets {
		publisher.Publish("paint.room", "x.y", fmt.Sprint(i))
		for _, s := range sockets {
			s.ExpectDeliver("paint.room", "x.y", fmt.Sprint(i), "x.*")
		}
	}
	var got struct {
		Connections []struct{ Transport, IP string }
	}
	e.AdminCall("GET", "/pubsub/connections", nil).Decode(t, http.StatusOK, &got)
	if want := "[{websocket 127.0.0.1} {webtransport 127.0.0.1} {webtransport 127.0.0.1}]"; fmt.Sprint(got.Connections) != want {
		t.Errorf("got connections %v, want %s", got.Connections, want)
	}
}
