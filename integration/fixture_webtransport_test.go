package integration

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/wire"
)

// webTransport is the link over the bidirectional stream of a WebTransport
// session, which has its QUIC connection for itself.
type webTransport struct {
	quic     *quic.Conn
	session  *webtransport.Session
	stream   *webtransport.Stream // nil: the session ended before
	messages chan received        // what pump has read; it holds few
	quit     chan struct{}        // closed when the test ends
}

// received is what a read of a stream gave.
type received struct {
	message []byte
	err     error
}

// wt is the session of a socket that the test has opened over WebTransport.
func (s *socket) wt() *webTransport { return s.link.(*webTransport) }

// dialWebTransport opens a session with the token in the Authorization header.
func (e *edge) dialWebTransport(token string) *socket {
	e.t.Helper()
	return e.mustOpenWebTransport(handshake{Token: token})
}

func (e *edge) mustOpenWebTransport(h handshake) *socket {
	e.t.Helper()
	s, refused := e.openWebTransport(h)
	if s == nil {
		e.t.Fatalf("the handshake was refused: %d %s", refused.Status, refused.Body)
	}
	return s
}

// openWebTransport is tryWebTransport on an edge that must answer.
func (e *edge) openWebTransport(h handshake) (*socket, answer) {
	e.t.Helper()
	s, a, err := e.tryWebTransport(h)
	if err != nil {
		e.t.Fatal(err)
	}
	return s, a
}

// tryWebTransport opens a session and its bidirectional stream. It returns a refusal as
// the answer, and an error if there was no answer. The connection is closed when the test
// ends.
func (e *edge) tryWebTransport(h handshake) (*socket, answer, error) {
	e.t.Helper()
	conn, err := e.tryQUIC(nil)
	if err != nil {
		return nil, answer{}, err
	}
	session, a, err := e.trySession(conn, h)
	if session == nil {
		return nil, a, err
	}
	context.AfterFunc(session.Context(), func() { closeQUIC(conn) }) // as clients do with one for each session
	return e.onSession(conn, session), a, nil
}

// onSession opens the bidirectional stream of a session on conn. If the session has ended
// before that, the first read returns the error.
func (e *edge) onSession(conn *quic.Conn, session *webtransport.Session) *socket {
	e.t.Helper()
	w := &webTransport{quic: conn, session: session, messages: make(chan received, 64), quit: make(chan struct{})}
	stream, err := tryStream(session)
	if err != nil {
		w.messages <- received{err: err}
		return &socket{t: e.t, link: w}
	}
	w.stream = stream
	pumped := make(chan struct{})
	go func() { // ends with the connection
		defer close(pumped)
		w.pump()
	}()
	e.t.Cleanup(func() {
		close(w.quit)
		closeQUIC(conn)
		<-pumped
	})
	return &socket{t: e.t, link: w}
}

// openStream is tryStream on a session that must be open.
func (e *edge) openStream(session *webtransport.Session) *webtransport.Stream {
	e.t.Helper()
	stream, err := tryStream(session)
	if err != nil {
		e.t.Fatal(err)
	}
	return stream
}

// tryStream opens a bidirectional stream and announces it to the edge at once, not with
// its first message.
func tryStream(session *webtransport.Session) (*webtransport.Stream, error) {
	stream, err := session.OpenStream()
	if err != nil {
		return nil, err
	}
	_, err = stream.Write(nil)
	var refused *webtransport.StreamError
	if errors.As(err, &refused) && refused.Remote {
		err = nil // the edge was faster than our write; reading says the same
	}
	return stream, err
}

// openSession is trySession on a connection that must be open.
func (e *edge) openSession(conn *quic.Conn, h handshake) (*webtransport.Session, answer) {
	e.t.Helper()
	session, a, err := e.trySession(conn, h)
	if err != nil {
		e.t.Fatal(err)
	}
	return session, a
}

// trySession opens the only WebTransport session of conn. It returns a refusal as the
// answer, and an error if there was no answer.
func (e *edge) trySession(conn *quic.Conn, h handshake) (*webtransport.Session, answer, error) {
	e.t.Helper()
	if h.URL == "" {
		h.URL = e.httpsURL("/wt")
	}
	transport := &webtransport.Transport{ApplicationProtocols: h.Protocols}
	e.t.Cleanup(func() { transport.Close() })
	client, err := transport.NewClientConn(conn)
	if err != nil {
		e.t.Fatal(err)
	}
	session, a, err := dialSession(client, h)
	want := ""
	if len(h.Protocols) > 0 {
		want = "llps.v1"
	}
	if session != nil && session.SessionState().ApplicationProtocol != want {
		e.t.Errorf("got subprotocol %q, want %q", session.SessionState().ApplicationProtocol, want)
	}
	return session, a, err
}

// dialSession opens a session on a connection that may have several.
func dialSession(client *webtransport.ClientConn, h handshake) (*webtransport.Session, answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	res, session, err := client.Dial(ctx, h.URL, h.header())
	if res == nil {
		return nil, answer{}, err
	}
	a := answer{Status: res.StatusCode, Header: res.Header}
	if session == nil { // else the body is the session's
		defer res.Body.Close()
		if a.Body, err = io.ReadAll(res.Body); err != nil {
			return nil, answer{}, fmt.Errorf("%d with a body that breaks off: %w", a.Status, err)
		}
	}
	return session, a, nil
}

// dialQUIC is tryQUIC to an edge that must answer.
func (e *edge) dialQUIC(change func(*quic.Config)) *quic.Conn {
	e.t.Helper()
	conn, err := e.tryQUIC(change)
	if err != nil {
		e.t.Fatal(err)
	}
	return conn
}

// tryQUIC opens a QUIC connection to the HTTPS site, which is closed when the
// test ends. change may change its configuration.
func (e *edge) tryQUIC(change func(*quic.Config)) (*quic.Conn, error) {
	e.t.Helper()
	settings := &quic.Config{
		EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200,
	}
	if change != nil {
		change(settings)
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	conn, err := quic.DialAddr(ctx, e.udpAddress().String(), e.quicTLS(), settings)
	if err != nil {
		return nil, err
	}
	e.t.Cleanup(func() { closeQUIC(conn) })
	return conn, nil
}

func (e *edge) udpAddress() *net.UDPAddr {
	return &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: e.HTTPS}
}

func (e *edge) quicTLS() *tls.Config {
	e.t.Helper()
	config, err := e.tlsConfig()
	if err != nil {
		e.t.Fatal(err)
	}
	config.ServerName, config.NextProtos = "localhost", []string{http3.NextProtoH3}
	return config
}

// closeQUIC closes a connection without closing its sessions first.
func closeQUIC(conn *quic.Conn) {
	_ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") // always nil
}

// pump reads the stream without delay, as browsers do: when the edge closes the session,
// unread data on the stream is lost.
func (w *webTransport) pump() {
	reader := bufio.NewReader(w.stream)
	for {
		message, err := readMessage(reader)
		select {
		case w.messages <- received{message, err}:
		case <-w.quit:
			return
		}
		if err != nil {
			return
		}
	}
}

// readMessage reads one message with its length; io.EOF says that the stream
// has ended before it.
func readMessage(r io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	message := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(r, message); err != nil {
		return nil, fmt.Errorf("within a message: %w", err)
	}
	return message, nil
}

// write sends a message. Its first byte must agree with the kind.
func (w *webTransport) write(kind int, message []byte) error {
	if wire.IsFrame(message) != (kind == asFrame) {
		return fmt.Errorf("over WebTransport a message that starts with %.1q is not of kind %d", message, kind)
	}
	return w.writeBytes(wire.AppendMessage(nil, message))
}

// writeBytes writes bytes to the stream unchanged.
func (w *webTransport) writeBytes(b []byte) error {
	if w.stream == nil {
		return sessionEnd(w.session)
	}
	if err := w.stream.SetWriteDeadline(time.Now().Add(waitTimeout)); err != nil {
		return err
	}
	_, err := w.stream.Write(b)
	return err
}

func (w *webTransport) read() (kind int, message []byte, err error) {
	timer := time.NewTimer(waitTimeout)
	defer timer.Stop()
	select {
	case got := <-w.messages:
		if got.err != nil {
			w.messages <- got // for the next read
			return 0, nil, w.ended(got.err)
		}
		if wire.IsFrame(got.message) {
			return asFrame, got.message, nil
		}
		return asText, got.message, nil
	case <-timer.C:
		return 0, nil, errWaitTimeout
	}
}

// ended returns how the session ended after reading its stream failed with err.
func (w *webTransport) ended(err error) error {
	// The streams end first, each in its own way.
	select {
	case <-w.session.Context().Done():
	case <-time.After(waitTimeout):
		return fmt.Errorf("the edge has ended the stream, and not the session: %w", err)
	}
	why := sessionEnd(w.session)
	if errors.As(why, new(*closed)) {
		return why
	}
	return fmt.Errorf("%w (the session: %w, the connection: %v)", err, why, context.Cause(w.quic.Context()))
}

// sessionEnd returns how an ended session ended.
func sessionEnd(session *webtransport.Session) error {
	_, err := session.OpenStream()
	var end *webtransport.SessionError
	if errors.As(err, &end) && end.Remote {
		return &closed{wire.CloseCode(end.ErrorCode), end.Message}
	}
	return err
}

func (w *webTransport) leave() error {
	if w.stream == nil {
		return sessionEnd(w.session)
	}
	return w.stream.Close()
}

func (w *webTransport) cut() error {
	closeQUIC(w.quic)
	return nil
}
