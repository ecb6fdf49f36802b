package loadgen

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/internal/dial"
	"github.com/millrace/millrace/wire"
)

// A webTransport is a session, alone on its QUIC connection, and its
// bidirectional stream (docs/protocol.md, WebTransport).
type webTransport struct {
	quic      *quic.Conn
	transport *webtransport.Transport
	session   *webtransport.Session
	stream    *webtransport.Stream
	inbox     inbox
}

func (d *edgeDriver) dialWebTransport(ctx context.Context) (link, error) {
	config := d.target.TLS.Clone()
	config.NextProtos = []string{http3.NextProtoH3}
	conn, err := dial.QUIC(ctx, d.target.hostPort(), config, &quic.Config{
		EnableDatagrams: true, EnableStreamResetPartialDelivery: true, // as WebTransport requires
		InitialPacketSize:    dial.InitialPacketSize,
		HandshakeIdleTimeout: connectTimeout, // ctx is the limit, also where both ends are slow
	})
	if err != nil {
		return nil, err
	}
	w := &webTransport{quic: conn, transport: &webtransport.Transport{ApplicationProtocols: []string{wire.Subprotocol}}}
	if err := w.open(ctx, d.target); err != nil {
		w.end()
		return nil, err
	}
	return w, nil
}

func (w *webTransport) open(ctx context.Context, t *EdgeTarget) error {
	client, err := w.transport.NewClientConn(w.quic)
	if err != nil {
		return err
	}
	res, session, err := client.Dial(ctx, t.URL.String(), t.header())
	if err != nil {
		if res == nil {
			return err
		}
		defer res.Body.Close()
		return refused(res)
	}
	w.session = session
	w.stream, err = session.OpenStream()
	return err
}

// begin appends the length of a message.
func (w *webTransport) begin(dst []byte, n int) []byte {
	return binary.BigEndian.AppendUint32(dst, uint32(n))
}

func (w *webTransport) seal([]byte, int) {}

// write writes each b as a whole: a stream serializes its writes.
func (w *webTransport) write(b []byte) error {
	_, err := w.stream.Write(b)
	return w.closeReason(err)
}

func (w *webTransport) writeLine(line []byte) error { return w.write(wire.AppendMessage(nil, line)) }

func (w *webTransport) setReadDeadline(t time.Time) error { return w.stream.SetReadDeadline(t) }

func (w *webTransport) read(s sink) error {
	need := 0
	if _, end, ok := wire.MessageBounds(w.inbox.bytes()); ok {
		need = int(end) // of a message that is not complete
	}
	if err := w.inbox.fill(w.stream, need); err != nil {
		return w.closeReason(err)
	}
	for {
		b := w.inbox.bytes()
		start, end, ok := wire.MessageBounds(b)
		switch {
		case ok && end > largest:
			return errTooLarge
		case !ok || uint64(len(b)) < end:
			return nil
		}
		w.inbox.take(int(end))
		if err := deliver(s, !wire.IsFrame(b[start:end]), b[start:end]); err != nil {
			return err
		}
	}
}

func (w *webTransport) loop(s sink, done func()) error {
	for {
		err := w.read(s)
		done()
		if err != nil {
			return err
		}
	}
}

// sessionCloseTimeout is how long the end of the session may follow that of its streams.
const sessionCloseTimeout = time.Second

// closeReason returns the edge's reason for the end of the session, if it gave one.
func (w *webTransport) closeReason(err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-w.session.Context().Done():
	case <-time.After(sessionCloseTimeout):
		return err
	}
	var end *webtransport.SessionError
	if _, opening := w.session.OpenStream(); errors.As(opening, &end) && end.Remote {
		return closedBy(int(end.ErrorCode), end.Message)
	}
	return err
}

func (w *webTransport) close() error {
	_ = w.stream.SetWriteDeadline(time.Now()) // a write that waits would not learn of the close
	_ = w.stream.Close()                      // its FIN ends the session with 1000
	w.end()
	return nil
}

func (w *webTransport) end() {
	_ = w.quic.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") // always nil
	w.transport.Close()
}
