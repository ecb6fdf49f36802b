package integration

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/wire"
)

// The first byte of a message tells frames from lines.
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

// A length over the read limit closes before the message comes.
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

// mutable is a UDP socket whose packets can be kept from the network.
type mutable struct {
	net.PacketConn
	muted atomic.Bool
}

func (m *mutable) WriteTo(packet []byte, to net.Addr) (int, error) {
	if m.muted.Load() {
		return len(packet), nil
	}
	return m.PacketConn.WriteTo(packet, to)
}

// A client that vanishes without a word is forgotten within 30 s, or sooner if it
// has announced less: then this test need not wait for so long.
func TestWebTransportSilentClient(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	socket := &mutable{PacketConn: udp}
	transport := &quic.Transport{Conn: socket}
	defer transport.Close()
	announced := atLength(5*time.Second, time.Minute)
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	conn, err := transport.Dial(ctx, e.udpAddress(), e.quicTLS(), &quic.Config{
		EnableDatagrams: true, EnableStreamResetPartialDelivery: true, MaxIdleTimeout: announced,
	})
	if err != nil {
		t.Fatal(err)
	}
	session, _ := e.openSession(conn, handshake{Token: e.issue(allowAll("room")).Token})
	e.onSession(conn, session).ping()
	awaitConnections(e, 1)

	socket.muted.Store(true)
	begin := time.Now()
	listed := 1
	for listed > 0 && time.Since(begin) < time.Minute { // longer than [edge.poll] waits
		time.Sleep(500 * time.Millisecond)
		var got struct{ Connections []object }
		e.adminCall("GET", "/pubsub/connections", nil).decode(t, http.StatusOK, &got)
		listed = len(got.Connections)
	}
	want := min(announced, 30*time.Second)
	if took := time.Since(begin); took < want*2/3 || took > want+waitTimeout/2 {
		t.Errorf("the edge forgot the client after %v, want about %v", took, want)
	}
}

// A subscription with a stream of its own goes on while the bidirectional
// stream is stuck, whose client does not read it.
func TestWebTransportStuckStream(t *testing.T) {
	t.Parallel()
	e := startEdge(t, strings.Replace(defaultCaddyfile, "drain 7s", "drain 7s\n\t\tslow_consumer drop", 1))
	token := e.issue(allowAll("room")).Token
	conn := e.dialQUIC(nil)
	session, _ := e.openSession(conn, handshake{Token: token})
	stream := e.openStream(session)
	if err := (plainSession{conn, session, stream}).exchange("SUB:paint.room:big", "OK:SUB:paint.room:big"); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(stream)
	s := &socket{t: t, link: &webTransport{quic: conn, session: session, stream: stream}} // without a pump
	own := s.subscribeOwn(s.openLines(), "paint.room", "small")

	publisher := e.dial(token)
	const messages, small = 160, 8 // 10 MB, and a small one behind each eighth
	for i := range messages {
		publisher.publish("paint.room", "big", fmt.Sprintf("%03d", i)+strings.Repeat("b", 64<<10-3))
		if i%small == small-1 {
			publisher.publish("paint.room", "small", fmt.Sprint(i))
			own.expectDeliver("paint.room", "small", fmt.Sprint(i), "small")
		}
	}
	publisher.fence()

	// What is left of the others comes in order, and the rest is accounted for.
	received, lost, last := 0, 0, -1
	for received+lost < messages {
		if err := stream.SetReadDeadline(time.Now().Add(waitTimeout)); err != nil {
			t.Fatal(err)
		}
		message, err := readMessage(reader)
		if err != nil {
			t.Fatalf("after %d messages and %d lost: %v", received, lost, err)
		}
		if !wire.IsFrame(message) {
			lost += slowCount(t, message)
			continue
		}
		d, err := wire.DecodeDeliver(message)
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if _, err := fmt.Sscanf(string(d.Payload[:3]), "%d", &n); err != nil || n <= last {
			t.Fatalf("got message %q after %d", d.Payload[:3], last)
		}
		received, last = received+1, n
	}
	if lost == 0 || received == 0 || last != messages-1 {
		t.Errorf("received %d of the messages up to %d, and %d were lost: want some of both, and the last", received, last, lost)
	}
	publisher.publish("paint.room", "small", "end")
	own.expectDeliver("paint.room", "small", "end", "small")
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

// plainSession is a session whose client reads, and leaves its end to the edge.
type plainSession struct {
	conn    *quic.Conn
	session *webtransport.Session
	stream  *webtransport.Stream
}

// exchange sends a line and requires the answer.
func (p plainSession) exchange(line, want string) error {
	if _, err := p.stream.Write(wire.AppendMessage(nil, []byte(line))); err != nil {
		return err
	}
	if err := p.stream.SetReadDeadline(time.Now().Add(waitTimeout)); err != nil {
		return err
	}
	got, err := readMessage(p.stream)
	if err == nil && string(got) != want {
		err = fmt.Errorf("got %q, want %q", got, want)
	}
	return err
}

// follow reads to the end of the stream, of the session and of the connection,
// and returns the lines.
func (p plainSession) follow() (lines []string, err error) {
	for {
		if err := p.stream.SetReadDeadline(time.Now().Add(waitTimeout)); err != nil {
			return lines, err
		}
		message, err := readMessage(p.stream)
		if err != nil {
			break // the session says more
		}
		lines = append(lines, string(message))
	}
	for _, c := range []struct {
		what string
		ctx  context.Context
	}{{"session", p.session.Context()}, {"connection", p.conn.Context()}} {
		select {
		case <-c.ctx.Done():
		case <-time.After(waitTimeout):
			return lines, fmt.Errorf("the %s does not end", c.what)
		}
	}
	var end *closed
	if err := sessionEnd(p.session); !errors.As(err, &end) || end.code != wire.CloseGoingAway {
		return lines, fmt.Errorf("the session ended with %w, want close code %d", err, wire.CloseGoingAway)
	}
	var by *quic.ApplicationError
	if err := context.Cause(p.conn.Context()); !errors.As(err, &by) || !by.Remote ||
		by.ErrorCode != quic.ApplicationErrorCode(http3.ErrCodeNoError) {
		return lines, fmt.Errorf("the connection ended with %w, want the edge to close it", err)
	}
	return lines, nil
}

// checkFarewell opens sessions, calls end, and requires that each of them is
// told to leave, closed, and loses its connection.
func (e *edge) checkFarewell(end func()) {
	e.t.Helper()
	token := e.issue(allowAll("room")).Token
	const sessions = 20
	type outcome struct {
		lines []string
		err   error
	}
	outcomes := make(chan outcome, sessions)
	for i := range sessions {
		h := handshake{Token: token}
		if i%4 == 3 {
			h.Token = "" // it has yet to authenticate
		}
		conn := e.dialQUIC(nil)
		session, a := e.openSession(conn, h)
		if session == nil {
			e.t.Fatalf("the handshake was refused: %d %s", a.Status, a.Body)
		}
		p := plainSession{conn, session, e.openStream(session)}
		ask, answer := "PING", "PONG"
		if h.Token == "" {
			ask, answer = "AUTH:"+token, "OK:AUTH"
		}
		if err := p.exchange(ask, answer); err != nil {
			e.t.Fatal(err)
		}
		go func() { // ends with the connection, which the edge or the test closes
			lines, err := p.follow()
			outcomes <- outcome{lines, err}
		}()
	}
	begin := time.Now()
	end()
	for range sessions {
		o := <-outcomes
		if o.err != nil {
			e.t.Error(o.err)
		}
		if got := strings.Join(o.lines, " "); got != wire.LineReconnect {
			e.t.Errorf("a client got the lines %q, want %s", got, wire.LineReconnect)
		}
	}
	if took := time.Since(begin); took < 6500*time.Millisecond || took > 20*time.Second {
		e.t.Errorf("the last connection ended after %v, want the drain's 7s, and not the 30s of a client's own waitTimeout", took)
	}
}

// An edge that stops closes the connections, too.
func TestWebTransportStop(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	e.checkFarewell(e.terminate)
	e.stop()
}

// A reload that takes WebTransport away sends its clients elsewhere, and no
// others.
func TestWebTransportTakenAway(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(string) string{
		"off": func(file string) string {
			return strings.Replace(file, "drain 7s", "drain 7s\n\t\twebtransport off", 1)
		},
		"sites without handlers": func(file string) string { return strings.ReplaceAll(file, "\tpubsub\n\trespond", "\trespond") },
		"no h3": func(file string) string {
			return strings.Replace(file, "{", "{\n\tservers {\n\t\tprotocols h1 h2\n\t}\n", 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := startEdge(t, defaultCaddyfile)
			webSocket := e.dial(e.issue(allowAll("room")).Token)
			reloaded := make(chan error, 1)
			e.checkFarewell(func() {
				e.write(change(defaultCaddyfile))
				reload := e.command("reload", "--config", e.file, "--adapter", "caddyfile", "--address", e.adminAddress())
				go func() { reloaded <- reload.Run() }() // ends with the command
			})
			if err := <-reloaded; err != nil {
				t.Error(err)
			}
			webSocket.ping()
			e.reload(defaultCaddyfile)
			e.poll("WebTransport to be back", func() bool {
				s, _, err := e.tryWebTransport(handshake{Token: e.issue(allowAll("room")).Token})
				return err == nil && s != nil
			})
		})
	}
}

// A session belongs to the app, not to the site that accepted it, as long as the
// edge has the port.
func TestWebTransportOutlivesItsSite(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	s := e.dialWebTransport(token)
	s.subscribe("paint.room", "x")
	i := strings.Index(defaultCaddyfile, "tls internal")
	e.reload(defaultCaddyfile[:i] + strings.Replace(defaultCaddyfile[i:], "\tpubsub\n", "", 1))
	if _, refused := e.openWebTransport(handshake{Token: token}); refused.Status != 404 {
		t.Errorf("a handshake with a site without handlers: got %d, want 404", refused.Status)
	}
	s.publish("paint.room", "x", "still here")
	s.expectDeliver("paint.room", "x", "still here", "x")
	e.reload(defaultCaddyfile)
	again := e.dialWebTransport(token)
	again.publish("paint.room", "x", "back")
	s.expectDeliver("paint.room", "x", "back", "x")
}
