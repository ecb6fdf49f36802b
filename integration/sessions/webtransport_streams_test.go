package sessions

import (
	"strconv"
	"strings"
	"testing"

	"github.com/quic-go/quic-go"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// tryOwn is subscribeOwn where the edge may refuse: nil says that it has.
func tryOwn(s *harness.Socket, l harness.LineStream, pattern string) *harness.OwnStream {
	s.T.Helper()
	l.Send("SUB:U:paint.room:" + pattern + "\nUNSUB:D:paint.room:none\n")
	_, message, err := s.Read()
	s.Must(err)
	if string(message) == "OK:UNSUB:paint.room:none" {
		return s.AcceptOwn("paint.room", pattern)
	}
	if want := "ERR:too_many_subscriptions:SUB:paint.room:" + pattern; string(message) != want {
		s.T.Fatalf("got %q, want %s", message, want)
	}
	s.ExpectText("OK:UNSUB:paint.room:none")
	return nil
}

func expectDeliver(u *harness.OwnStream, tenant, channel, payload string, patterns ...string) {
	u.T.Helper()
	message := u.Next()
	if !wire.IsFrame(message) {
		u.T.Fatalf("got %q, want a message on %s", message, channel)
	}
	harness.CheckDeliver(u.T, message, tenant, channel, payload, patterns...)
}

func expectEnd(u *harness.OwnStream) {
	u.T.Helper()
	if message := u.Next(); message != nil {
		u.T.Fatalf("got %q, want the end of the stream", message)
	}
}

// Subscriptions over unidirectional streams.
func TestWebTransportOwnStreams(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token

	t.Run("subscribe and unsubscribe", func(t *testing.T) {
		e := e.With(t)
		s, publisher := e.DialWebTransport(token), e.Dial(token)
		lines := s.OpenLines()
		x := s.SubscribeOwn(lines, "paint.room", "x.*")
		y := s.SubscribeOwn(lines, "paint.room", "y")
		publisher.Publish("paint.room", "x.1", "one")
		publisher.Publish("paint.room", "y", "two")
		publisher.Publish("paint.room", "x.2", "")
		expectDeliver(x, "paint.room", "x.1", "one", "x.*")
		expectDeliver(x, "paint.room", "x.2", "", "x.*")
		expectDeliver(y, "paint.room", "y", "two", "y")
		s.Fence() // nothing came on the bidirectional stream

		lines.Send("UNSUB:U:paint.room:x.*\n")
		s.ExpectText("OK:UNSUB:paint.room:x.*")
		expectEnd(x)
		publisher.Publish("paint.room", "x.3", "late")
		publisher.Publish("paint.room", "y", "three")
		expectDeliver(y, "paint.room", "y", "three", "y")
		s.Fence()
		x = s.SubscribeOwn(lines, "paint.room", "x.*")
		publisher.Publish("paint.room", "x.4", "again")
		expectDeliver(x, "paint.room", "x.4", "again", "x.*")
	})

	t.Run("the default stream", func(t *testing.T) {
		s := e.With(t).DialWebTransport(token)
		lines := s.OpenLines()
		lines.Send("SUB:D:paint.room:x\r\nSUB:D:paint.room:y\n")
		s.ExpectText("OK:SUB:paint.room:x")
		s.ExpectText("OK:SUB:paint.room:y")
		lines.Send("SUB:D::z\n")
		s.ExpectText("ERR:permission_denied:SUB:~:z")
		s.Publish("paint.room", "x", "hello")
		s.ExpectDeliver("paint.room", "x", "hello", "x")
		s.SendLine("UNSUB:paint.room:x") // the same subscription
		s.ExpectText("OK:UNSUB:paint.room:x")
		s.Publish("paint.room", "x", "late")
		lines.Send("UNSUB:D:paint.room:y\n")
		s.ExpectText("OK:UNSUB:paint.room:y")
		s.Publish("paint.room", "y", "late")
		s.Fence()
	})

	t.Run("a message on both", func(t *testing.T) {
		e := e.With(t)
		s, publisher := e.DialWebTransport(token), e.Dial(token)
		lines := s.OpenLines()
		s.Subscribe("paint.room", "#", "a.*")
		u := s.SubscribeOwn(lines, "paint.room", "a.*") // a second one, with the same pattern
		v := s.SubscribeOwn(lines, "paint.room", ">")
		publisher.Publish("paint.room", "a.b", "both")
		s.ExpectDeliver("paint.room", "a.b", "both", "#", "a.*")
		expectDeliver(u, "paint.room", "a.b", "both", "a.*")
		expectDeliver(v, "paint.room", "a.b", "both", ">")
		lines.Send("UNSUB:U:paint.room:a.*\n")
		s.ExpectText("OK:UNSUB:paint.room:a.*")
		expectEnd(u)
		publisher.Publish("paint.room", "a.b", "still")
		s.ExpectDeliver("paint.room", "a.b", "still", "#", "a.*")
		expectDeliver(v, "paint.room", "a.b", "still", ">")

		// To deliver to one is to deliver to one session, on all its streams.
		publisher.PublishTagged(wire.OneRandom, "paint.room", "a.b", "one")
		s.ExpectDeliver("paint.room", "a.b", "one", "#", "a.*")
		expectDeliver(v, "paint.room", "a.b", "one", ">")
		s.Fence()
	})

	t.Run("again", func(t *testing.T) { // is acknowledged on the bidirectional stream
		s := e.With(t).DialWebTransport(token)
		lines := s.OpenLines()
		u := s.SubscribeOwn(lines, "paint.room", "x")
		lines.Send("SUB:U:paint.room:x\n")
		s.ExpectText("OK:SUB:paint.room:x")
		s.Publish("paint.room", "x", "once")
		expectDeliver(u, "paint.room", "x", "once", "x")
		lines.Send("UNSUB:U:paint.room:other\n")
		s.ExpectText("OK:UNSUB:paint.room:other")
		s.Fence()
	})

	t.Run("several line streams, and their ends", func(t *testing.T) {
		s := e.With(t).DialWebTransport(token)
		one, two := s.OpenLines(), s.OpenLines()
		u := s.SubscribeOwn(one, "paint.room", "x")
		s.Must(one.Close())
		s.Publish("paint.room", "x", "goes on")
		expectDeliver(u, "paint.room", "x", "goes on", "x")
		two.Send("UNSUB:U:paint.room:x\n")
		s.ExpectText("OK:UNSUB:paint.room:x")
		expectEnd(u)
		two.CancelWrite(7)
		for range 40 { // more than may be open at once
			l := s.OpenLines()
			l.Send("SUB:D:paint.room:y\n")
			s.ExpectText("OK:SUB:paint.room:y")
			s.Must(l.Close())
		}
		s.Ping()
	})

	t.Run("lines in pieces", func(t *testing.T) {
		s := e.With(t).DialWebTransport(token)
		lines := s.OpenLines()
		for _, piece := range []string{"SUB:", "D:paint.room"} {
			lines.Send(piece)
			s.Ping()
		}
		lines.Send(":x\nSUB:D:paint.room:y")
		s.ExpectText("OK:SUB:paint.room:x")
		lines.Send("\n")
		s.ExpectText("OK:SUB:paint.room:y")
	})

	t.Run("revocation", func(t *testing.T) {
		e := e.With(t)
		token := e.Issue(harness.AllowAll("room")).Token
		s := e.DialWebTransport(token)
		s.SubscribeOwn(s.OpenLines(), "paint.room", "x")
		e.Revoke(e.Master, token).Decode(t, 200, new(harness.Object))
		s.ExpectText("ERR:token_revoked")
		s.ExpectClose(wire.CloseForbidden)
	})
}

// Lines on a unidirectional stream that are refused; the answers come on the
// bidirectional stream.
func TestWebTransportStreamLinesRefused(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.Grant("paint.room", []string{"#"}, []string{"news.#"})).Token
	for _, row := range []struct{ name, text, want string }{
		{"no marker", "SUB:paint.room:news\n", "ERR:bad_request"},
		{"no marker in UNSUB", "UNSUB:paint.room:news\n", "ERR:bad_request"},
		{"unknown marker", "SUB:X:paint.room:news\n", "ERR:bad_request"},
		{"marker in lower case", "SUB:u:paint.room:news\n", "ERR:bad_request"},
		{"empty marker", "SUB::paint.room:news\n", "ERR:bad_request"},
		{"no pattern", "SUB:U:paint.room\n", "ERR:bad_request"},
		{"PING", "PING\n", "ERR:bad_request"},
		{"AUTH", "AUTH:" + token + "\n", "ERR:bad_request"},
		{"empty line", "\n", "ERR:bad_request"},
		{"a frame", string(harness.RawPublish("paint.other", "news", "x")) + "\n", "ERR:bad_request"},
		{"a message with its length", string(wire.AppendMessage(nil, []byte("SUB:U:paint.room:news\n"))), "ERR:bad_request"},
		{"line over 1,024 bytes", "SUB:U:paint.room:" + strings.Repeat("a", 1024) + "\n", "ERR:bad_request"},
		{"no rule", "SUB:U:paint.room:x\n", "ERR:permission_denied:SUB:paint.room:x"},
		{"no grant", "SUB:D:other:x\n", "ERR:permission_denied:SUB:other:x"},
		{"bad tenant", "SUB:U:paint room:x\n", "ERR:bad_tenant"},
		{"bad pattern", "SUB:U:paint.room:*a\n", "ERR:bad_pattern"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := e.With(t).DialWebTransport(token)
			lines := s.OpenLines()
			lines.Send(row.text)
			s.ExpectText(row.want)
			s.SubscribeOwn(lines, "paint.room", "news.x") // the stream goes on
			s.Fence()
		})
	}
	t.Run("cut off by the end of the stream", func(t *testing.T) {
		s := e.With(t).DialWebTransport(token)
		lines := s.OpenLines()
		lines.Send("SUB:U:paint.room:news")
		s.Must(lines.Close())
		s.ExpectText("ERR:bad_request")
		s.Fence()
	})
	t.Run("16 in a row, among both streams", func(t *testing.T) {
		s := e.With(t).DialWebTransport(token)
		lines := s.OpenLines()
		for range 8 {
			lines.Send("PING\n")
			s.ExpectText("ERR:bad_request")
			s.SendFrame([]byte("\x07"))
			s.ExpectText("ERR:bad_frame")
		}
		s.ExpectClose(wire.ClosePolicy)
	})
	t.Run("not UTF-8", func(t *testing.T) {
		s := e.With(t).DialWebTransport(token)
		s.OpenLines().Send("SUB:U:paint.room:\xff\n")
		s.ExpectClose(wire.CloseInvalidUTF8)
	})
}

// A session has at most 16 U streams, and no more than its client grants.
func TestWebTransportOwnStreamLimit(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	t.Run("16", func(t *testing.T) {
		s := e.With(t).DialWebTransport(token)
		lines := s.OpenLines()
		var own []*harness.OwnStream
		for i := range 16 {
			own = append(own, s.SubscribeOwn(lines, "paint.room", "x"+strconv.Itoa(i)))
		}
		lines.Send("SUB:U:paint.room:more\n")
		s.ExpectText("ERR:too_many_subscriptions:SUB:paint.room:more")
		s.Subscribe("paint.room", "d")
		lines.Send("SUB:U:paint.room:x3\n") // it has that one
		s.ExpectText("OK:SUB:paint.room:x3")
		lines.Send("UNSUB:U:paint.room:x3\n")
		s.ExpectText("OK:UNSUB:paint.room:x3")
		expectEnd(own[3])
		var more *harness.OwnStream
		e.Poll("the stream to count no longer", func() bool {
			more = tryOwn(s, lines, "more")
			return more != nil
		})
		s.Publish("paint.room", "more", "hello")
		expectDeliver(more, "paint.room", "more", "hello", "more")
	})
	t.Run("the client's", func(t *testing.T) {
		e := e.With(t)
		conn := e.DialQUIC(func(c *quic.Config) { c.MaxIncomingUniStreams = 5 }) // HTTP/3 itself takes some
		session, _ := e.OpenSession(conn, harness.Handshake{Token: token})
		s := e.OnSession(conn, session)
		lines := s.OpenLines()
		opened := 0
		for tryOwn(s, lines, "x"+strconv.Itoa(opened)) != nil {
			opened++
		}
		if opened == 0 || opened > 5 {
			t.Errorf("the edge opened %d streams to a client that grants 5", opened)
		}
	})
}
