package loadgen

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	insecure "math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/millrace/millrace/wire"
)

// A webSocket is the client's side of RFC 6455, without extensions. net.Conn
// and tls.Conn take each Write as a whole, so several goroutines may write
// messages.
type webSocket struct {
	conn    net.Conn
	inbox   inbox
	partial []byte // of a message in several frames
	text    bool   // that message's kind
}

// Opcodes and bits of a frame's head, RFC 6455 section 5.2.
const (
	opContinuation = 0x0
	opText         = 0x1
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xa

	bitFinal  = 0x80
	bitMasked = 0x80
)

func (d *edgeDriver) dialWebSocket(ctx context.Context) (link, error) {
	address := d.target.hostPort()
	if resolved := d.resolved.Load(); resolved != nil {
		address = *resolved
	}
	var dialer net.Dialer // no proxy: the token goes only to the edge that the user named
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	first := conn.RemoteAddr().String()
	d.resolved.CompareAndSwap(nil, &first)
	unwatch := context.AfterFunc(ctx, func() { conn.Close() })
	w := &webSocket{conn: conn}
	if d.target.URL.Scheme == "wss" {
		config := d.target.TLS.Clone()
		config.NextProtos = []string{"http/1.1"}
		w.conn = tls.Client(conn, config)
	}
	err = w.handshake(ctx, d.target)
	if !unwatch() {
		err = errors.Join(ctx.Err(), err)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return w, nil
}

// handshake opens the WebSocket, RFC 6455 section 4.1.
func (w *webSocket) handshake(ctx context.Context, t *EdgeTarget) error {
	if secured, ok := w.conn.(*tls.Conn); ok {
		if err := secured.HandshakeContext(ctx); err != nil {
			return err
		}
	}
	var nonce [16]byte
	_, _ = rand.Read(nonce[:]) // never fails
	key := base64.StdEncoding.EncodeToString(nonce[:])
	req := &http.Request{Method: http.MethodGet, URL: t.URL, Host: t.URL.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: t.header()}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "websocket")
	req.Header.Set("Sec-WebSocket-Version", "13")
	req.Header.Set("Sec-WebSocket-Key", key)
	req.Header.Set("Sec-WebSocket-Protocol", wire.Subprotocol)
	if err := req.Write(w.conn); err != nil {
		return err
	}
	reader := bufio.NewReaderSize(w.conn, firstRead)
	res, err := http.ReadResponse(reader, req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	accept := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	switch {
	case res.StatusCode != http.StatusSwitchingProtocols:
		return refused(res)
	case !strings.EqualFold(res.Header.Get("Upgrade"), "websocket") ||
		res.Header.Get("Sec-WebSocket-Accept") != base64.StdEncoding.EncodeToString(accept[:]):
		return errors.New("the server answered 101, but not as a WebSocket server does")
	}
	early, err := reader.Peek(reader.Buffered()) // what came with the answer
	w.inbox.buf, w.inbox.end = append([]byte(nil), early...), len(early)
	return err
}

// begin appends the head of a binary message, RFC 6455 section 5.2.
func (w *webSocket) begin(dst []byte, n int) []byte { return appendHead(dst, opBinary, n) }

func appendHead(dst []byte, op byte, n int) []byte {
	dst = append(dst, bitFinal|op)
	switch {
	case n < 126:
		dst = append(dst, bitMasked|byte(n))
	case n < 1<<16:
		dst = binary.BigEndian.AppendUint16(append(dst, bitMasked|126), uint16(n))
	default:
		dst = binary.BigEndian.AppendUint64(append(dst, bitMasked|127), uint64(n))
	}
	// The mask must be new each time, and unpredictable for whoever chooses the payload
	// (section 10.3): here that is us.
	return binary.LittleEndian.AppendUint32(dst, insecure.Uint32())
}

// seal masks, RFC 6455 section 5.3.
func (w *webSocket) seal(dst []byte, body int) {
	mask := dst[body-4 : body]
	wide := uint64(binary.LittleEndian.Uint32(mask))
	wide |= wide << 32
	b := dst[body:]
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^wide)
	}
	for i := range b {
		b[i] ^= mask[i%4]
	}
}

func (w *webSocket) write(b []byte) error {
	_, err := w.conn.Write(b)
	return err
}

func (w *webSocket) writeLine(line []byte) error { return w.control(opText, line) }

func (w *webSocket) control(op byte, body []byte) error {
	dst := appendHead(make([]byte, 0, 16+len(body)), op, len(body))
	at := len(dst)
	dst = append(dst, body...)
	w.seal(dst, at)
	return w.write(dst)
}

func (w *webSocket) setReadDeadline(t time.Time) error { return w.conn.SetReadDeadline(t) }

func (w *webSocket) close() error {
	// The close frame is only a courtesy: the edge need not wait for more.
	_ = w.conn.SetWriteDeadline(time.Now().Add(time.Second))
	_ = w.control(opClose, binary.BigEndian.AppendUint16(nil, uint16(wire.CloseNormal)))
	return w.conn.Close()
}

func (w *webSocket) read(s sink) error {
	need := 0
	if b := w.inbox.bytes(); len(b) > 0 {
		_, _, need, _ = splitFrame(b) // more of a large one will arrive
	}
	if err := w.inbox.fill(w.conn, need); err != nil {
		return err
	}
	used, err := w.take(w.inbox.bytes(), s)
	w.inbox.take(used)
	return err
}

func (w *webSocket) loop(s sink, done func()) error {
	conn, ok := w.conn.(*net.TCPConn)
	if !ok {
		for {
			err := w.read(s)
			done()
			if err != nil {
				return err
			}
		}
	}
	early := w.inbox.bytes() // from the read that brought OK:SUB
	w.inbox = inbox{}
	return ReadLoop(conn, early, func(b []byte) (int, error) {
		used, err := w.take(b, s)
		done()
		return used, err
	})
}

// take passes the complete frames to s, and returns the number of their bytes.
func (w *webSocket) take(b []byte, s sink) (used int, err error) {
	for {
		head, body, size, err := splitFrame(b[used:])
		if err != nil || size == 0 || len(b)-used < size {
			return used, err
		}
		frame := b[used : used+size]
		used += size
		if err := w.accept(head, frame[body:], s); err != nil {
			return used, err
		}
	}
}

// splitFrame finds the first frame: its first byte, where its body starts, and
// its size, 0 if that is not known yet.
func splitFrame(b []byte) (head byte, body, size int, err error) {
	if len(b) < 2 {
		return 0, 0, 0, nil
	}
	if b[1]&bitMasked != 0 || b[0]&0x70 != 0 {
		return 0, 0, 0, errors.New("the server sent a frame that is masked, or has an extension")
	}
	n := uint64(b[1])
	body = 2
	switch {
	case n == 126 && len(b) < 4, n == 127 && len(b) < 10:
		return 0, 0, 0, nil
	case n == 126:
		n, body = uint64(binary.BigEndian.Uint16(b[2:])), 4
	case n == 127:
		n, body = binary.BigEndian.Uint64(b[2:]), 10
	}
	if n > largest {
		return 0, 0, 0, errTooLarge
	}
	return b[0], body, body + int(n), nil
}

// accept handles one frame.
func (w *webSocket) accept(head byte, body []byte, s sink) error {
	switch head {
	case bitFinal | opBinary:
		return deliver(s, false, body)
	case bitFinal | opText:
		return deliver(s, true, body)
	case bitFinal | opPing:
		return w.control(opPong, body)
	case bitFinal | opPong:
		return nil
	case bitFinal | opClose:
		return closeError(body)
	}
	switch op := head &^ bitFinal; {
	case op == opText || op == opBinary:
		w.partial, w.text = append(w.partial[:0], body...), op == opText
		return nil
	case op != opContinuation:
		return fmt.Errorf("the server sent a frame with the unknown opcode %d", op)
	case len(w.partial)+len(body) > largest:
		return errTooLarge
	}
	w.partial = append(w.partial, body...)
	if head&bitFinal == 0 {
		return nil
	}
	return deliver(s, w.text, w.partial)
}

func deliver(s sink, text bool, message []byte) error {
	if text {
		return s.line(message)
	}
	return s.frame(message)
}

func closeError(body []byte) error {
	if len(body) < 2 {
		return errors.New("the edge closed the connection")
	}
	return closedBy(int(binary.BigEndian.Uint16(body)), string(body[2:]))
}

// closedBy returns the error for a close code and its reason.
func closedBy(code int, reason string) error {
	if code == int(wire.CloseTooBig) {
		return fmt.Errorf("the payload is far above the edge's max_payload: it closed the connection with %d", code)
	}
	return fmt.Errorf("the edge closed the connection: %d %.100q", code, reason)
}
