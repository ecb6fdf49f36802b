package sessions

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

	"github.com/millrace/millrace/integration/harness"
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
	if err := p.stream.SetReadDeadline(time.Now().Add(harness.WaitTimeout)); err != nil {
		return err
	}
	got, err := harness.ReadMessage(p.stream)
	if err == nil && string(got) != want {
		err = fmt.Errorf("got %q, want %q", got, want)
	}
	return err
}

// follow reads to the end of the stream, of the session and of the connection,
// and returns the lines.
func (p plainSession) follow() (lines []string, err error) {
	for {
		if err := p.stream.SetReadDeadline(time.Now().Add(harness.WaitTimeout)); err != nil {
			return lines, err
		}
		message, err := harness.ReadMessage(p.stream)
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
		case <-time.After(harness.WaitTimeout):
			return lines, fmt.Errorf("the %s does not end", c.what)
		}
	}
	var end *harness.Closed
	if err := harness.SessionEnd(p.session); !errors.As(err, &end) || end.Code != wire.CloseGoingAway {
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
func checkFarewell(e *harness.Edge, end func()) {
	e.T.Helper()
	token := e.Issue(harness.AllowAll("room")).Token
	const sessions = 20
	type outcome struct {
		lines []string
		err   error
	}
	outcomes := make(chan outcome, sessions)
	for i := range sessions {
		h := harness.Handshake{Token: token}
		if i%4 == 3 {
			h.Token = "" // it has yet to authenticate
		}
		conn := e.DialQUIC(nil)
		session, a := e.OpenSession(conn, h)
		if session == nil {
			e.T.Fatalf("the handshake was refused: %d %s", a.Status, a.Body)
		}
		p := plainSession{conn, session, e.OpenStream(session)}
		ask, answer := "PING", "PONG"
		if h.Token == "" {
			ask, answer = "AUTH:"+token, "OK:AUTH"
		}
		if err := p.exchange(ask, answer); err != nil {
			e.T.Fatal(err)
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
			e.T.Error(o.err)
		}
		if got := strings.Join(o.lines, " "); got != wire.LineReconnect {
			e.T.Errorf("a client got the lines %q, want %s", got, wire.LineReconnect)
		}
	}
	if took := time.Since(begin); took < 6500*time.Millisecond || took > 20*time.Second {
		e.T.Errorf("the last connection ended after %v, want the drain's 7s, and not the 30s of a client's own waitTimeout", took)
	}
}

// An edge that stops also closes the connections.
func TestWebTransportStop(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	checkFarewell(e, e.Terminate)
	e.Stop()
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
			e := harness.StartEdge(t, harness.DefaultCaddyfile)
			webSocket := e.Dial(e.Issue(harness.AllowAll("room")).Token)
			reloaded := make(chan error, 1)
			checkFarewell(e, func() {
				e.Write(change(harness.DefaultCaddyfile))
				reload := e.Command("reload", "--config", e.File, "--adapter", "caddyfile", "--address", e.AdminAddress())
				go func() { reloaded <- reload.Run() }() // ends with the command
			})
			if err := <-reloaded; err != nil {
				t.Error(err)
			}
			webSocket.Ping()
			e.Reload(harness.DefaultCaddyfile)
			e.Poll("WebTransport to be back", func() bool {
				s, _, err := e.TryWebTransport(harness.Handshake{Token: e.Issue(harness.AllowAll("room")).Token})
				return err == nil && s != nil
			})
		})
	}
}

// A session belongs to the app, not to the site that accepted it, as long as the
// edge has the port.
func TestWebTransportOutlivesItsSite(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	s := e.DialWebTransport(token)
	s.Subscribe("paint.room", "x")
	i := strings.Index(harness.DefaultCaddyfile, "tls internal")
	e.Reload(harness.DefaultCaddyfile[:i] + strings.Replace(harness.DefaultCaddyfile[i:], "\tpubsub\n", "", 1))
	if _, refused := e.OpenWebTransport(harness.Handshake{Token: token}); refused.Status != 404 {
		t.Errorf("a handshake with a site without handlers: got %d, want 404", refused.Status)
	}
	s.Publish("paint.room", "x", "still here")
	s.ExpectDeliver("paint.room", "x", "still here", "x")
	e.Reload(harness.DefaultCaddyfile)
	again := e.DialWebTransport(token)
	again.Publish("paint.room", "x", "back")
	s.ExpectDeliver("paint.room", "x", "back", "x")
}
