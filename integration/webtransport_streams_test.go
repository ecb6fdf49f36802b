package integration

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/wire"
)

// lineStream is a unidirectional stream of the client. Its methods fail the
// test instead of returning errors.
type lineStream struct {
	t *testing.T
	*webtransport.SendStream
}

// openLines opens a unidirectional stream.
func (s *socket) openLines() lineStream {
	s.t.Helper()
	stream, err := s.wt().session.OpenUniStream()
	s.must(err)
	return lineStream{s.t, stream}
}

func (l lineStream) send(text string) {
	l.t.Helper()
	if err := l.SetWriteDeadline(time.Now().Add(waitTimeout)); err != nil {
		l.t.Fatal(err)
	}
	if _, err := io.WriteString(l.SendStream, text); err != nil {
		l.t.Fatal(err)
	}
}

// ownStream is the U stream of one subscription.
type ownStream struct {
	t      *testing.T
	stream *webtransport.ReceiveStream
	reader *bufio.Reader
}

// acceptOwn takes the next U stream, which starts with its OK.
func (s *socket) acceptOwn(tenant, pattern string) *ownStream {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	stream, err := s.wt().session.AcceptUniStream(ctx)
	s.must(err)
	u := &ownStream{s.t, stream, bufio.NewReader(stream)}
	if got := u.next(); string(got) != "OK:SUB:"+tenant+":"+pattern {
		s.t.Fatalf("the stream starts with %q, want OK:SUB:%s:%s", got, tenant, pattern)
	}
	return u
}

// subscribeOwn subscribes with a stream of its own.
func (s *socket) subscribeOwn(l lineStream, tenant, pattern string) *ownStream {
	s.t.Helper()
	l.send("SUB:U:" + tenant + ":" + pattern + "\n")
	return s.acceptOwn(tenant, pattern)
}

// tryOwn is subscribeOwn where the edge may refuse: nil says that it has.
func (s *socket) tryOwn(l lineStream, pattern string) *ownStream {
	s.t.Helper()
	l.send("SUB:U:paint.room:" + pattern + "\nUNSUB:D:paint.room:none\n")
	_, message, err := s.read()
	s.must(err)
	if string(message) == "OK:UNSUB:paint.room:none" {
		return s.acceptOwn("paint.room", pattern)
	}
	if want := "ERR:too_many_subscriptions:SUB:paint.room:" + pattern; string(message) != want {
		s.t.Fatalf("got %q, want %s", message, want)
	}
	s.expectText("OK:UNSUB:paint.room:none")
	return nil
}

// next returns the next message; nil at the stream's end.
func (u *ownStream) next() []byte {
	u.t.Helper()
	if err := u.stream.SetReadDeadline(time.Now().Add(waitTimeout)); err != nil {
		u.t.Fatal(err)
	}
	message, err := readMessage(u.reader)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		u.t.Fatal(err)
	}
	return message
}

func (u *ownStream) expectDeliver(tenant, channel, payload string, patterns ...string) {
	u.t.Helper()
	message := u.next()
	if !wire.IsFrame(message) {
		u.t.Fatalf("got %q, want a message on %s", message, channel)
	}
	checkDeliver(u.t, message, tenant, channel, payload, patterns...)
}

func (u *ownStream) expectEnd() {
	u.t.Helper()
	if message := u.next(); message != nil {
		u.t.Fatalf("got %q, want the end of the stream", message)
	}
}

// Subscriptions over unidirectional streams.
func TestWebTransportOwnStreams(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token

	t.Run("subscribe and unsubscribe", func(t *testing.T) {
		e := e.with(t)
		s, publisher := e.dialWebTransport(token), e.dial(token)
		lines := s.openLines()
		x := s.subscribeOwn(lines, "paint.room", "x.*")
		y := s.subscribeOwn(lines, "paint.room", "y")
		publisher.publish("paint.room", "x.1", "one")
		publisher.publish("paint.room", "y", "two")
		publisher.publish("paint.room", "x.2", "")
		x.expectDeliver("paint.room", "x.1", "one", "x.*")
		x.expectDeliver("paint.room", "x.2", "", "x.*")
		y.expectDeliver("paint.room", "y", "two", "y")
		s.fence() // nothing came on the bidirectional stream

		lines.send("UNSUB:U:paint.room:x.*\n")
		s.expectText("OK:UNSUB:paint.room:x.*")
		x.expectEnd()
		publisher.publish("paint.room", "x.3", "late")
		publisher.publish("paint.room", "y", "three")
		y.expectDeliver("paint.room", "y", "three", "y")
		s.fence()
		x = s.subscribeOwn(lines, "paint.room", "x.*")
		publisher.publish("paint.room", "x.4", "again")
		x.expectDeliver("paint.room", "x.4", "again", "x.*")
	})

	t.Run("the default stream", func(t *testing.T) {
		s := e.with(t).dialWebTransport(token)
		lines := s.openLines()
		lines.send("SUB:D:paint.room:x\r\nSUB:D:paint.room:y\n")
		s.expectText("OK:SUB:paint.room:x")
		s.expectText("OK:SUB:paint.room:y")
		lines.send("SUB:D::z\n")
		s.expectText("ERR:permission_denied:SUB:~:z")
		s.publish("paint.room", "x", "hello")
		s.expectDeliver("paint.room", "x", "hello", "x")
		s.sendLine("UNSUB:paint.room:x") // the same subscription
		s.expectText("OK:UNSUB:paint.room:x")
		s.publish("paint.room", "x", "late")
		lines.send("UNSUB:D:paint.room:y\n")
		s.expectText("OK:UNSUB:paint.room:y")
		s.publish("paint.room", "y", "late")
		s.fence()
	})

	t.Run("a message on both", func(t *testing.T) {
		e := e.with(t)
		s, publisher := e.dialWebTransport(token), e.dial(token)
		lines := s.openLines()
		s.subscribe("paint.room", "#", "a.*")
		u := s.subscribeOwn(lines, "paint.room", "a.*") // a second one, with the same pattern
		v := s.subscribeOwn(lines, "paint.room", ">")
		publisher.publish("paint.room", "a.b", "both")
		s.expectDeliver("paint.room", "a.b", "both", "#", "a.*")
		u.expectDeliver("paint.room", "a.b", "both", "a.*")
		v.expectDeliver("paint.room", "a.b", "both", ">")
		lines.send("UNSUB:U:paint.room:a.*\n")
		s.expectText("OK:UNSUB:paint.room:a.*")
		u.expectEnd()
		publisher.publish("paint.room", "a.b", "still")
		s.expectDeliver("paint.room", "a.b", "still", "#", "a.*")
		v.expectDeliver("paint.room", "a.b", "still", ">")

		// To deliver to one is to deliver to one session, on all its streams.
		publisher.publishTagged(wire.OneRandom, "paint.room", "a.b", "one")
		s.expectDeliver("paint.room", "a.b", "one", "#", "a.*")
		v.expectDeliver("paint.room", "a.b", "one", ">")
		s.fence()
	})

	t.Run("again", func(t *testing.T) { // is acknowledged on the bidirectional stream
		s := e.with(t).dialWebTransport(token)
		lines := s.openLines()
		u := s.subscribeOwn(lines, "paint.room", "x")
		lines.send("SUB:U:paint.room:x\n")
		s.expectText("OK:SUB:paint.room:x")
		s.publish("paint.room", "x", "once")
		u.expectDeliver("paint.room", "x", "once", "x")
		lines.send("UNSUB:U:paint.room:other\n")
		s.expectText("OK:UNSUB:paint.room:other")
		s.fence()
	})

	t.Run("several line streams, and their ends", func(t *testing.T) {
		s := e.with(t).dialWebTransport(token)
		one, two := s.openLines(), s.openLines()
		u := s.subscribeOwn(one, "paint.room", "x")
		s.must(one.Close())
		s.publish("paint.room", "x", "goes on")
		u.expectDeliver("paint.room", "x", "goes on", "x")
		two.send("UNSUB:U:paint.room:x\n")
		s.expectText("OK:UNSUB:paint.room:x")
		u.expectEnd()
		two.CancelWrite(7)
		for range 40 { // more than may be open at once
			l := s.openLines()
			l.send("SUB:D:paint.room:y\n")
			s.expectText("OK:SUB:paint.room:y")
			s.must(l.Close())
		}
		s.ping()
	})

	t.Run("lines in pieces", func(t *testing.T) {
		s := e.with(t).dialWebTransport(token)
		lines := s.openLines()
		for _, piece := range []string{"SUB:", "D:paint.room"} {
			lines.send(piece)
			s.ping()
		}
		lines.send(":x\nSUB:D:paint.room:y")
		s.expectText("OK:SUB:paint.room:x")
		lines.send("\n")
		s.expectText("OK:SUB:paint.room:y")
	})

	t.Run("revocation", func(t *testing.T) {
		e := e.with(t)
		token := e.issue(allowAll("room")).Token
		s := e.dialWebTransport(token)
		s.subscribeOwn(s.openLines(), "paint.room", "x")
		e.revoke(e.master, token).decode(t, 200, new(object))
		s.expectText("ERR:token_revoked")
		s.expectClose(wire.CloseForbidden)
	})
}

// Lines on a unidirectional stream that are refused; the answers come on the
// bidirectional stream.
func TestWebTransportStreamLinesRefused(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(grant("paint.room", []string{"#"}, []string{"news.#"})).Token
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
		{"a frame", string(rawPublish("paint.other", "news", "x")) + "\n", "ERR:bad_request"},
		{"a message with its length", string(wire.AppendMessage(nil, []byte("SUB:U:paint.room:news\n"))), "ERR:bad_request"},
		{"line over 1,024 bytes", "SUB:U:paint.room:" + strings.Repeat("a", 1024) + "\n", "ERR:bad_request"},
		{"no rule", "SUB:U:paint.room:x\n", "ERR:permission_denied:SUB:paint.room:x"},
		{"no grant", "SUB:D:other:x\n", "ERR:permission_denied:SUB:other:x"},
		{"bad tenant", "SUB:U:paint room:x\n", "ERR:bad_tenant"},
		{"bad pattern", "SUB:U:paint.room:*a\n", "ERR:bad_pattern"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := e.with(t).dialWebTransport(token)
			lines := s.openLines()
			lines.send(row.text)
			s.expectText(row.want)
			s.subscribeOwn(lines, "paint.room", "news.x") // the stream goes on
			s.fence()
		})
	}
	t.Run("cut off by the end of the stream", func(t *testing.T) {
		s := e.with(t).dialWebTransport(token)
		lines := s.openLines()
		lines.send("SUB:U:paint.room:news")
		s.must(lines.Close())
		s.expectText("ERR:bad_request")
		s.fence()
	})
	t.Run("16 in a row, among both streams", func(t *testing.T) {
		s := e.with(t).dialWebTransport(token)
		lines := s.openLines()
		for range 8 {
			lines.send("PING\n")
			s.expectText("ERR:bad_request")
			s.sendFrame([]byte("\x07"))
			s.expectText("ERR:bad_frame")
		}
		s.expectClose(wire.ClosePolicy)
	})
	t.Run("not UTF-8", func(t *testing.T) {
		s := e.with(t).dialWebTransport(token)
		s.openLines().send("SUB:U:paint.room:\xff\n")
		s.expectClose(wire.CloseInvalidUTF8)
	})
}

// A session has at most 16 U streams, and no more than its client grants.
func TestWebTransportOwnStreamLimit(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	t.Run("16", func(t *testing.T) {
		s := e.with(t).dialWebTransport(token)
		lines := s.openLines()
		var own []*ownStream
		for i := range 16 {
			own = append(own, s.subscribeOwn(lines, "paint.room", "x"+strconv.Itoa(i)))
		}
		lines.send("SUB:U:paint.room:more\n")
		s.expectText("ERR:too_many_subscriptions:SUB:paint.room:more")
		s.subscribe("paint.room", "d")
		lines.send("SUB:U:paint.room:x3\n") // it has that one
		s.expectText("OK:SUB:paint.room:x3")
		lines.send("UNSUB:U:paint.room:x3\n")
		s.expectText("OK:UNSUB:paint.room:x3")
		own[3].expectEnd()
		var more *ownStream
		e.poll("the stream to count no longer", func() bool {
			more = s.tryOwn(lines, "more")
			return more != nil
		})
		s.publish("paint.room", "more", "hello")
		more.expectDeliver("paint.room", "more", "hello", "more")
	})
	t.Run("the client's", func(t *testing.T) {
		e := e.with(t)
		conn := e.dialQUIC(func(c *quic.Config) { c.MaxIncomingUniStreams = 5 }) // HTTP/3 itself takes some
		session, _ := e.openSession(conn, handshake{Token: token})
		s := e.onSession(conn, session)
		lines := s.openLines()
		opened := 0
		for s.tryOwn(lines, "x"+strconv.Itoa(opened)) != nil {
			opened++
		}
		if opened == 0 || opened > 5 {
			t.Errorf("the edge opened %d streams to a client that grants 5", opened)
		}
	})
}
