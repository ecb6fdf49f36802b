package client

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/internal/dial"
	"github.com/millrace/millrace/wire"
)

// webTransport is the link over the bidirectional stream of a session, which has
// its QUIC connection for itself.
type webTransport struct {
	quic    *quic.Conn
	session *webtransport.Session
	stream  *webtransport.Stream
	reader  *bufio.Reader
	buf     []byte // of receive
	read    *clock
}

// sessionEndTimeout is for the end of the session, which comes behind that of its
// streams.
const sessionEndTimeout = time.Second

func (s *settings) dialWebTransport(ctx context.Context, origin, token string) (link, error) {
	config := s.tls.Clone()
	config.NextProtos = []string{http3.NextProtoH3}
	if config.ServerName == "" {
		config.ServerName = hostName(origin)
	}
	unreachable := func(err error) error {
		return noLink("WebTransport", origin, err)
	}
	// Not the early variant: edges refuse what comes as TLS early data.
	conn, err := s.Network.dialQUIC(ctx, hostPort(origin), config, &quic.Config{
		EnableDatagrams: true, EnableStreamResetPartialDelivery: true, // WebTransport asks for both
		KeepAlivePeriod: 10 * time.Second, MaxIdleTimeout: 30 * time.Second,
		HandshakeIdleTimeout: s.ConnectTimeout, InitialPacketSize: dial.InitialPacketSize,
	})
	if err != nil {
		return nil, unreachable(err)
	}
	w := &webTransport{quic: conn, read: newClock()}
	unwatch := context.AfterFunc(ctx, w.abort)
	err = w.open(ctx, origin+s.Paths.WebTransport, token)
	if !unwatch() && err == nil {
		err = unreachable(ctx.Err())
	}
	if err != nil {
		w.abort()
		return nil, err
	}
	return w, nil
}

func (w *webTransport) open(ctx context.Context, url, token string) error {
	transport := &webtransport.Transport{ApplicationProtocols: []string{wire.Subprotocol}}
	client, err := transport.NewClientConn(w.quic)
	if err != nil {
		return &Error{Code: CodeUnreachable, Text: "no WebTransport to the edge", Err: err}
	}
	res, session, err := client.Dial(ctx, url, http.Header{"Authorization": {"Bearer " + token}})
	if err != nil {
		if res == nil {
			return &Error{Code: CodeUnreachable, Text: "no WebTransport to the edge", Err: err}
		}
		defer res.Body.Close()
		return refused(res)
	}
	w.session = session
	if w.stream, err = session.OpenStreamSync(ctx); err == nil {
		_, err = w.stream.Write(nil) // the edge hears of the stream at once
	}
	if err != nil {
		return w.why(err)
	}
	w.reader = bufio.NewReaderSize(heardReader{w.stream, w.read}, 16<<10)
	return nil
}

// heardReader notes when something came.
type heardReader struct {
	io.Reader
	read *clock
}

func (r heardReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if n > 0 {
		r.read.now()
	}
	return n, err
}

func (w *webTransport) receive() ([]byte, bool, error) {
	message, err := readMessage(w.reader, &w.buf)
	if err != nil {
		switch {
		case errors.Is(err, errTooLong):
			return nil, false, err
		case errors.Is(err, io.EOF):
			w.stream.CancelWrite(0) // all is read: the edge need not wait before it ends the session
		}
		return nil, false, w.why(err)
	}
	return message, wire.IsFrame(message), nil
}

var errTooLong = &Error{Code: CodeProtocol, Text: "the edge sent a message that is too long"}

// readMessage reads a message and its length. It is in the reader's buffer if
// it fits there, else in buf, and good until the next read.
func readMessage(r *bufio.Reader, buf *[]byte) ([]byte, error) {
	head, err := r.Peek(4)
	if err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head) // an int of 32 bits may not hold it
	_, _ = r.Discard(4)                     // what was peeked
	if length > maxMessage {
		return nil, errTooLong
	}
	size := int(length)
	if size <= r.Size() {
		message, err := r.Peek(size)
		if err != nil {
			return nil, err
		}
		_, _ = r.Discard(size)
		return message, nil
	}
	if cap(*buf) < size || cap(*buf) > 1<<20 {
		*buf = make([]byte, size)
	}
	_, err = io.ReadFull(r, (*buf)[:size])
	return (*buf)[:size], err
}

// why tells the edge's close code from a break.
func (w *webTransport) why(err error) error {
	select {
	case <-w.session.Context().Done():
	case <-w.quic.Context().Done():
	case <-time.After(sessionEndTimeout):
		return lost(err)
	}
	var end *webtransport.SessionError
	if _, opening := w.session.OpenStream(); errors.As(opening, &end) && end.Remote {
		return closedBy(int(end.ErrorCode), end.Message)
	}
	return lost(err)
}

// timedOut reports whether QUIC gave the connection up since nothing came.
func timedOut(err error) bool {
	var idle *quic.IdleTimeoutError
	return errors.As(err, &idle)
}

func (w *webTransport) send(messages []byte) error {
	if err := writeSteps(w.stream, messages); err != nil {
		return lost(err)
	}
	return nil
}

// finish sends a FIN, which ends the session with 1000.
func (w *webTransport) finish() { _ = w.stream.Close() }

func (w *webTransport) abort() {
	_ = w.quic.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") // always nil
}

func (w *webTransport) heard() time.Time { return w.read.time() }

func (w *webTransport) unusual() time.Duration { return w.read.unusual() }

func (w *webTransport) setWaker(func()) {} // QUIC answers pings itself

// probe sends a datagram, which edges ignore, in a packet that is longer than a stateless
// reset (RFC 9000, section 10.3): no shorter one is answered by it.
func (w *webTransport) probe() { _ = w.session.SendDatagram(make([]byte, resetSize)) }

const resetSize = 43
