package client

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

// webSocket is the link over a WebSocket.
type webSocket struct {
	conn *websocket.Conn
	raw  *corked
	buf  []byte // of receive

	mu    sync.Mutex
	pong  []byte // the answer to the latest ping; nil: none is owed
	waker func()
}

func (s *settings) dialWebSocket(ctx context.Context, origin, token string) (link, error) {
	w := &webSocket{}
	unwatch := func() bool { return true }
	opened := func(conn net.Conn, err error) (net.Conn, error) {
		if err != nil {
			return nil, err
		}
		unwatch = context.AfterFunc(ctx, func() { _ = conn.Close() }) // gorilla looks at the deadline alone
		w.raw = newCorked(conn)
		return w.raw, nil
	}
	dialer := websocket.Dialer{
		Subprotocols:   []string{wire.Subprotocol},
		ReadBufferSize: 16 << 10, WriteBufferSize: 16 << 10,
		NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return opened(s.dialer.plain(ctx, network, addr))
		},
		NetDialTLSContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			return opened(s.dialer.secure(ctx, addr, "http/1.1"))
		},
	}
	url := "ws" + strings.TrimPrefix(origin, "http") + s.Paths.WebSocket
	conn, res, err := dialer.DialContext(ctx, url, http.Header{"Authorization": {"Bearer " + token}})
	if res != nil && res.Body != nil {
		defer res.Body.Close()
	}
	if !unwatch() && err == nil {
		err = ctx.Err()
	}
	switch {
	case err == nil:
	case res != nil && errors.Is(err, websocket.ErrBadHandshake):
		return nil, refused(res) // gorilla has read up to 1 KiB of the body
	default:
		e := noLink("WebSocket", origin, err)
		if isNoEdge(asError(e)) {
			e = &Error{Code: CodeUnreachable, Text: origin + " does not speak TLS and is not a Millrace edge: if it is to be plain HTTP, write http://", Err: err}
		}
		return nil, e
	}
	w.conn = conn
	conn.SetReadLimit(maxMessage)
	conn.SetPingHandler(w.owePong)
	conn.SetCloseHandler(func(int, string) error { return nil }) // receive returns the code; the link ends
	w.raw.cork()
	return w, nil
}

// owePong leaves the answer to the goroutine that writes. Only the latest ping
// needs one (RFC 6455, section 5.5.3).
func (w *webSocket) owePong(data string) error {
	w.mu.Lock()
	w.pong = append([]byte{}, data...)
	wake := w.waker
	w.mu.Unlock()
	if wake != nil {
		wake()
	}
	return nil
}

func (w *webSocket) probe() {} // TCP has resets of its own

func (w *webSocket) setWaker(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waker = f
}

func (w *webSocket) receive() ([]byte, bool, error) {
	kind, r, err := w.conn.NextReader()
	if err != nil {
		return nil, false, w.why(err)
	}
	if cap(w.buf) > 1<<20 {
		w.buf = nil // one large message does not keep its memory
	}
	b, checked := w.buf[:0], 0
	for {
		if len(b) == cap(b) {
			b = append(b, make([]byte, max(512, len(b)))...)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if kind == websocket.TextMessage {
			var wrong bool
			if checked, wrong = checkText(b, checked); wrong || err == io.EOF && checked < len(b) {
				w.sayClose(int(wire.CloseInvalidUTF8))
				return nil, false, errNotUTF8
			}
		}
		if err == io.EOF {
			w.buf = b
			return b, kind == websocket.BinaryMessage, nil
		}
		if err != nil {
			return nil, false, w.why(err)
		}
	}
}

var errNotUTF8 = &Error{Code: CodeProtocol, Text: "the edge sent text that is not UTF-8"}

// checkText looks at what has come of a text since the first checked bytes, and
// returns how many are whole characters now; wrong: it cannot become UTF-8.
func checkText(b []byte, checked int) (now int, wrong bool) {
	now = len(b)
	for i := now - 1; i >= max(checked, now-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				now = i
			}
			break
		}
	}
	return now, !utf8.Valid(b[checked:now])
}

// why tells the edge's close code from a break. A close is answered; the library has
// written one itself if the edge broke the rules.
func (w *webSocket) why(err error) error {
	var end *websocket.CloseError
	if errors.As(err, &end) && end.Code != websocket.CloseAbnormalClosure {
		w.sayClose(end.Code)
		return closedBy(end.Code, end.Text)
	}
	by := time.Now().Add(closeTime)
	_ = w.raw.Conn.SetWriteDeadline(by) // the goroutine that writes holds the lock that flushBy needs
	_ = w.raw.flushBy(by)               // the connection ends either way
	return lost(err)
}

// closeTime is for the last frame of a connection whose end is known.
const closeTime = 100 * time.Millisecond

// sayClose sends a close frame, unless one was sent, and does not wait for a
// write under way: that fails, too.
func (w *webSocket) sayClose(code int) {
	by := time.Now().Add(closeTime)
	_ = w.raw.Conn.SetWriteDeadline(by)
	_ = w.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), by)
	_ = w.raw.flushBy(by)
}

func (w *webSocket) send(messages []byte) error {
	w.mu.Lock()
	pong := w.pong
	w.pong = nil
	w.mu.Unlock()
	if pong != nil {
		if err := w.conn.WriteControl(websocket.PongMessage, pong, time.Time{}); err != nil {
			return lost(err)
		}
	}
	for len(messages) > 0 {
		start, end, ok := wire.MessageBounds(messages)
		if !ok {
			break
		}
		message := messages[start:end]
		messages = messages[end:]
		kind := websocket.TextMessage
		if wire.IsFrame(message) {
			kind = websocket.BinaryMessage
		}
		if err := w.conn.WriteMessage(kind, message); err != nil {
			return lost(err)
		}
	}
	if err := w.raw.flush(); err != nil {
		return lost(err)
	}
	return nil
}

func (w *webSocket) finish() {
	_ = w.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(int(wire.CloseNormal), ""), time.Time{})
	_ = w.raw.flush() // the connection ends either way
}

func (w *webSocket) abort() { _ = w.raw.Conn.Close() }

func (w *webSocket) heard() time.Time { return w.raw.read.time() }

func (w *webSocket) unusual() time.Duration { return w.raw.read.unusual() }

// corked is a connection that collects small writes: gorilla/websocket makes one
// for each message.
type corked struct {
	net.Conn
	read    *clock
	corking bool

	mu      sync.Mutex // the goroutine that reads writes, too: a close, when the edge breaks the rules
	pending []byte
}

const maxPending = 64 << 10

func newCorked(conn net.Conn) *corked {
	return &corked{Conn: conn, read: newClock()}
}

// cork begins to collect. Nothing is read or written at the same time.
func (c *corked) cork() { c.corking = true }

func (c *corked) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.read.now()
	}
	return n, err
}

func (c *corked) Write(b []byte) (int, error) {
	if !c.corking {
		return c.Conn.Write(b)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = append(c.pending, b...)
	if len(c.pending) < maxPending {
		return len(b), nil
	}
	return len(b), c.flushPending()
}

// SetWriteDeadline is gorilla's to call; once corked, flush sets its own.
func (c *corked) SetWriteDeadline(t time.Time) error {
	if c.corking {
		return nil
	}
	return c.Conn.SetWriteDeadline(t)
}

func (c *corked) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flushPending()
}

// flushBy is flush with a deadline, before the connection is closed.
func (c *corked) flushBy(by time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) == 0 {
		return nil
	}
	if err := c.Conn.SetWriteDeadline(by); err != nil {
		return err
	}
	_, err := c.Conn.Write(c.pending)
	c.pending = nil
	return err
}

func (c *corked) flushPending() error {
	err := writeSteps(c.Conn, c.pending)
	if c.pending = c.pending[:0]; cap(c.pending) > 4*maxPending {
		c.pending = nil
	}
	return err
}
