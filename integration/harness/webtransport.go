package harness

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

// WebTransport is the link over the bidirectional stream of a WebTransport
// session, which has its QUIC connection for itself.
type WebTransport struct {
	quic     *quic.Conn
	Session  *webtransport.Session
	Stream   *webtransport.Stream // nil: the session ended before
	messages chan received        // what pump has read; it holds few
	quit     chan struct{}        // closed when the test ends, after what it has deferred to its end
}

// received is what a read of a stream gave.
type received struct {
	message []byte
	err     error
}

// Wt is the session of a socket that the test has opened over WebTransport.
func (s *Socket) Wt() *WebTransport { return s.Link.(*WebTransport) }

// DialWebTransport opens a session with the token in the Authorization header.
func (e *Edge) DialWebTransport(token string) *Socket {
	e.T.Helper()
	return e.MustOpenWebTransport(Handshake{Token: token})
}

func (e *Edge) MustOpenWebTransport(h Handshake) *Socket {
	e.T.Helper()
	return e.accepted(e.TryWebTransport(h))
}

// OpenWebTransport is TryWebTransport on an edge that must answer.
func (e *Edge) OpenWebTransport(h Handshake) (*Socket, Answer) {
	e.T.Helper()
	return e.answered(e.TryWebTransport(h))
}

// TryWebTransport opens a session and its bidirectional stream. It returns a refusal as
// the answer, and an error if there was no answer. The connection is closed when the test
// ends.
func (e *Edge) TryWebTransport(h Handshake) (*Socket, Answer, error) {
	e.T.Helper()
	conn, err := e.tryQUIC(nil)
	if err != nil {
		return nil, Answer{}, err
	}
	session, a, err := e.trySession(conn, h)
	if session == nil {
		return nil, a, err
	}
	context.AfterFunc(session.Context(), func() { CloseQUIC(conn) }) // as clients do with one for each session
	return e.onSession(conn, session), a, nil
}

// onSession opens the bidirectional stream of a session on conn. If the session has ended
// before that, the first read returns the error.
func (e *Edge) onSession(conn *quic.Conn, session *webtransport.Session) *Socket {
	e.T.Helper()
	w := &WebTransport{quic: conn, Session: session, messages: make(chan received, 64), quit: make(chan struct{})}
	stream, err := tryStream(session)
	if err != nil {
		w.messages <- received{err: err}
		return &Socket{T: e.T, Link: w}
	}
	w.Stream = stream
	pumped := make(chan struct{})
	go func() { // ends with the connection
		defer close(pumped)
		w.pump()
	}()
	e.T.Cleanup(func() {
		close(w.quit)
		CloseQUIC(conn)
		<-pumped
	})
	return &Socket{T: e.T, Link: w}
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

// OpenSession is trySession on a connection that must be open.
func (e *Edge) OpenSession(conn *quic.Conn, h Handshake) (*webtransport.Session, Answer) {
	e.T.Helper()
	session, a, err := e.trySession(conn, h)
	e.Must(err)
	return session, a
}

// trySession opens the only WebTransport session of conn. It returns a refusal as the
// answer, and an error if there was no answer.
func (e *Edge) trySession(conn *quic.Conn, h Handshake) (*webtransport.Session, Answer, error) {
	e.T.Helper()
	if h.URL == "" {
		h.URL = e.HttpsURL("/wt")
	}
	transport := &webtransport.Transport{ApplicationProtocols: h.Protocols}
	e.T.Cleanup(func() { transport.Close() })
	session, a, err := dialSession(value(transport.NewClientConn(conn))(e.T), h)
	if session != nil {
		e.wantSubprotocol(h, session.SessionState().ApplicationProtocol)
	}
	return session, a, err
}

// dialSession opens a session on a connection that may have several.
func dialSession(client *webtransport.ClientConn, h Handshake) (*webtransport.Session, Answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), WaitTimeout)
	defer cancel()
	res, session, err := client.Dial(ctx, h.URL, h.Headers())
	if res == nil {
		return nil, Answer{}, err
	}
	if session != nil { // then the body is the session's
		return session, Answer{Status: res.StatusCode, Header: res.Header}, nil
	}
	a, err := answerOf(res)
	return nil, a, err
}

// DialQUIC is tryQUIC to an edge that must answer.
func (e *Edge) DialQUIC(change func(*quic.Config)) *quic.Conn {
	e.T.Helper()
	return value(e.tryQUIC(change))(e.T)
}

// tryQUIC opens a QUIC connection to the HTTPS site, which is closed when the
// test ends. change may change its configuration.
func (e *Edge) tryQUIC(change func(*quic.Config)) (*quic.Conn, error) {
	e.T.Helper()
	settings := quicConfig()
	if change != nil {
		change(settings)
	}
	ctx, cancel := context.WithTimeout(context.Background(), WaitTimeout)
	defer cancel()
	conn, err := quic.DialAddr(ctx, e.udpAddress().String(), e.quicTLS(), settings)
	if err != nil {
		return nil, err
	}
	e.T.Cleanup(func() { CloseQUIC(conn) })
	return conn, nil
}

func quicConfig() *quic.Config {
	return &quic.Config{EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200}
}

func (e *Edge) udpAddress() *net.UDPAddr {
	return &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: e.HTTPS}
}

func (e *Edge) quicTLS() *tls.Config {
	e.T.Helper()
	config := value(e.TlsConfig())(e.T)
	config.ServerName, config.NextProtos = "localhost", []string{http3.NextProtoH3}
	return config
}

// CloseQUIC closes a connection without closing its sessions first.
func CloseQUIC(conn *quic.Conn) {
	_ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") // always nil
}

// pump reads the stream without delay, as browsers do: when the edge closes the session,
// unread data on the stream is lost.
func (w *WebTransport) pump() {
	reader := bufio.NewReader(w.Stream)
	for {
		message, err := ReadMessage(reader)
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

// ReadMessage reads one message with its length; io.EOF says that the stream
// has ended before it.
func ReadMessage(r io.Reader) ([]byte, error) {
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

// Write sends a message. Its first byte must agree with the kind.
func (w *WebTransport) Write(kind int, message []byte) error {
	if wire.IsFrame(message) != (kind == AsFrame) {
		return fmt.Errorf("over WebTransport a message that starts with %.1q is not of kind %d", message, kind)
	}
	return w.WriteBytes(wire.AppendMessage(nil, message))
}

// WriteBytes writes bytes to the stream unchanged.
func (w *WebTransport) WriteBytes(b []byte) error {
	if w.Stream == nil {
		return sessionEnd(w.Session)
	}
	_ = w.Stream.SetWriteDeadline(time.Now().Add(WaitTimeout)) // always nil
	_, err := w.Stream.Write(b)
	return err
}

func (w *WebTransport) Read() (kind int, message []byte, err error) {
	select {
	case got := <-w.messages:
		if got.err != nil {
			w.messages <- got // for the next read
			return 0, nil, w.Ended(got.err)
		}
		if wire.IsFrame(got.message) {
			return AsFrame, got.message, nil
		}
		return AsText, got.message, nil
	case <-time.After(WaitTimeout):
		return 0, nil, ErrWaitTimeout
	}
}

// Ended returns how the session ended after reading its stream failed with err.
func (w *WebTransport) Ended(err error) error {
	// The streams end first, each in its own way.
	select {
	case <-w.Session.Context().Done():
	case <-time.After(WaitTimeout):
		return fmt.Errorf("the edge has ended the stream, and not the session: %w", err)
	}
	why := sessionEnd(w.Session)
	if errors.As(why, new(*Closed)) {
		return why
	}
	return fmt.Errorf("%w (the session: %w, the connection: %w)", err, why, context.Cause(w.quic.Context()))
}

// sessionEnd returns how an ended session ended.
func sessionEnd(session *webtransport.Session) error {
	_, err := session.OpenStream()
	var end *webtransport.SessionError
	if errors.As(err, &end) && end.Remote {
		return &Closed{wire.CloseCode(end.ErrorCode), end.Message}
	}
	return err
}

func (w *WebTransport) Leave() error {
	if w.Stream == nil {
		return sessionEnd(w.Session)
	}
	return w.Stream.Close()
}

func (w *WebTransport) Cut() error {
	CloseQUIC(w.quic)
	return nil
}

// OpenLines opens a unidirectional stream.
func (s *Socket) OpenLines() *webtransport.SendStream {
	s.T.Helper()
	return value(s.Wt().Session.OpenUniStream())(s.T)
}

// SubscribeOwn subscribes by a line on a unidirectional stream, with a stream of its own, which
// starts with its OK.
func (s *Socket) SubscribeOwn(lines *webtransport.SendStream, tenant, pattern string) {
	s.T.Helper()
	value(io.WriteString(lines, "SUB:U:"+tenant+":"+pattern+"\n"))(s.T)
	ctx, cancel := context.WithTimeout(context.Background(), WaitTimeout)
	defer cancel()
	stream := value(s.Wt().Session.AcceptUniStream(ctx))(s.T)
	s.Must(stream.SetReadDeadline(time.Now().Add(WaitTimeout)))
	if got := value(ReadMessage(stream))(s.T); string(got) != "OK:SUB:"+tenant+":"+pattern {
		s.T.Fatalf("the stream starts with %q, want OK:SUB:%s:%s", got, tenant, pattern)
	}
}
