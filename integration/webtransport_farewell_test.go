package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/wire"
)

// plainSession is a session whose client reads, and lets the edge end the session.
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

// An edge that stops also closes the connections.
func TestWebTransportStop(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	e.checkFarewell(e.terminate)
	e.stop()
}

// A reload that removes WebTransport makes its clients reconnect, and no others.
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
