package harness

import (
	"bufio"
	"cmp"
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
	stream   *webtransport.Stream // nil: the session ended before
	messages chan received        // what pump has read; it holds few
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
	ctx, cancel := context.WithTimeout(context.Background(), WaitTimeout)
	defer cancel()
	conn, err := quic.DialAddr(ctx, e.udpAddress().String(), e.quicTLS(), quicConfig())
	if err != nil {
		return nil, Answer{}, err
	}
	e.T.Cleanup(func() { CloseQUIC(conn) })
	session, a, err := e.openSession(ctx, conn, h)
	if session == nil {
		return nil, a, err
	}
	e.wantSubprotocol(h, session.SessionState().ApplicationProtocol)
	context.AfterFunc(session.Context(), func() { CloseQUIC(conn) }) // as clients do with one for each session
	w := &WebTransport{quic: conn, Session: session, messages: make(chan received, 64)}
	if w.stream, err = session.OpenStream(); err != nil {
		w.messages <- received{err: err}
		return &Socket{T: e.T, Link: w}, a, nil
	}
	_, _ = w.stream.Write(nil) // the edge knows of it now; if that was faster to end it, a read says so
	quit, pumped := make(chan struct{}), make(chan struct{})
	go func() { // ends with the connection
		defer close(pumped)
		w.pump(quit)
	}()
	e.T.Cleanup(func() { // after what the test has deferred to its end
		close(quit)
		CloseQUIC(conn)
		<-pumped
	})
	return &Socket{T: e.T, Link: w}, a, nil
}

// openSession opens the only WebTransport session of conn. It returns a refusal as the
// answer, and an error if there was no answer.
func (e *Edge) openSession(ctx context.Context, conn *quic.Conn, h Handshake) (*webtransport.Session, Answer, error) {
	transport := &webtransport.Transport{ApplicationProtocols: h.Protocols}
	context.AfterFunc(conn.Context(), func() { transport.Close() })
	client, err := transport.NewClientConn(conn)
	if err != nil {
		return nil, Answer{}, err
	}
	res, session, err := client.Dial(ctx, cmp.Or(h.URL, e.HttpsURL("/wt")), h.Headers())
	if res == nil {
		return nil, Answer{}, err
	}
	if session != nil { // then the body is the session's
		return session, Answer{Status: res.StatusCode, Header: res.Header}, nil
	}
	a, err := answerOf(res)
	return nil, a, err
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
func (w *WebTransport) pump(quit <-chan struct{}) {
	reader := bufio.NewReader(w.stream)
	for {
		message, err := ReadMessage(reader)
		select {
		case w.messages <- received{message, err}:
		case <-quit:
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
	if w.stream == nil {
		return sessionEnd(w.Session)
	}
	_ = w.stream.SetWriteDeadline(time.Now().Add(WaitTimeout)) // always nil
	_, err := w.stream.Write(wire.AppendMessage(nil, message))
	return err
}

func (w *WebTransport) Read() (kind int, message []byte, err error) {
	select {
	case got := <-w.messages:
		if got.err != nil {
			w.messages <- got // for the next read
			return 0, nil, w.ended(got.err)
		}
		if wire.IsFrame(got.message) {
			return AsFrame, got.message, nil
		}
		return AsText, got.message, nil
	case <-time.After(WaitTimeout):
		return 0, nil, ErrWaitTimeout
	}
}

// ended returns how the session ended after reading its stream failed with err.
func (w *WebTransport) ended(err error) error {
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
	if w.stream == nil {
		return sessionEnd(w.Session)
	}
	return w.stream.Close()
}

func (w *WebTransport) Cut() error {
	CloseQUIC(w.quic)
	return nil
}
