// Package websocket carries [pubsub.Session]s over WebSocket connections
// (RFC 6455) whose handshake is done. It reads with a parser of its own and
// writes joined frames: the session's one writer is the only one who writes, so
// answers to pings and closes keep their place in its queue.
package websocket

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
	"go.uber.org/zap"
)

const (
	pingEvery  = 25 * time.Second // keep-alive from the edge
	silence    = 60 * time.Second // a peer that says nothing for so long is gone
	readBuffer = 512              // bytes that an idle connection holds
	keepBuffer = 16 << 10         // a larger buffer is let go of after its message
	writeChunk = 32 << 10         // bytes joined into one write

	statusProtocolError = wire.CloseCode(1002) // RFC 6455, section 7.4.1
)

// Serve runs a session over conn until the connection ends, and closes it. It
// returns at once: the reader runs on a goroutine of the hub.
func Serve(hub *pubsub.Hub, s *pubsub.Session, conn net.Conn, log *zap.Logger) {
	now := time.Now()
	c := &connection{
		conn: conn, session: s, log: log,
		buffer: make([]byte, 0, readBuffer),
		heard:  now, pinged: now,
	}
	hub.Go(c.run)
}

type connection struct {
	conn    net.Conn
	session *pubsub.Session
	log     *zap.Logger

	// owned by the reader
	buffer  []byte // what was read and not yet handled
	start   int    // of that, in buffer
	message []byte // of a fragmented message, what came so far
	opcode  byte   // of that message; 0: none is under way
	heard   time.Time
	pinged  time.Time
	ending  bool // only the closing handshake is left

	// Whoever comes second closes the connection.
	answered atomic.Bool // the client's close frame arrived
	said     atomic.Bool // ours was written
}

// run is the connection's reader.
func (c *connection) run() {
	defer c.session.End()
	defer c.conn.Close()
	defer func() {
		if fault := recover(); fault != nil {
			c.log.Error("fault in a session", zap.Any("fault", fault), zap.ByteString("stack", debug.Stack()))
			c.session.Fault()
			c.linger()
		}
	}()
	c.session.Attach(c)
	for !c.session.Ended() {
		if !c.session.Ready(time.Until(c.pinged.Add(pingEvery))) {
			c.keepAlive()
			continue
		}
		c.heard = time.Now() // while the session held the reader back, the client could not be heard
		if !c.readFrame() {
			break
		}
	}
	c.linger()
}

// readFrame reads and handles one frame. It reports false when the session has
// ended or the connection broke.
func (c *connection) readFrame() bool {
	var (
		h      header
		size   int
		breach string
	)
	for {
		h, size, breach = parseHeader(c.buffer[c.start:])
		if breach != "" {
			return c.close(statusProtocolError, breach)
		}
		if size > 0 {
			break
		}
		if !c.fill(len(c.buffer) - c.start + 1) {
			return false
		}
	}
	if limit := uint64(c.session.ReadLimit()); h.length > limit || uint64(len(c.message))+h.length > limit && h.opcode < opClose {
		return c.close(wire.CloseTooBig, "message too big")
	}
	if !c.fill(size + int(h.length)) {
		return false
	}
	payload := c.buffer[c.start+size : c.start+size+int(h.length)]
	c.start += size + int(h.length)
	unmask(payload, h.key)
	c.session.Charge(len(payload))
	return c.handle(h, payload)
}

// fill reads until n bytes wait in the buffer.
func (c *connection) fill(n int) bool {
	if c.start > 0 && c.start+n > cap(c.buffer) || c.start == len(c.buffer) {
		c.buffer = append(c.buffer[:0], c.buffer[c.start:]...)
		c.start = 0
		if cap(c.buffer) > keepBuffer && n <= readBuffer && len(c.buffer) <= readBuffer {
			c.buffer = append(make([]byte, 0, readBuffer), c.buffer...)
		}
	}
	if missing := c.start + n - cap(c.buffer); missing > 0 {
		c.buffer = slices.Grow(c.buffer, c.start+n-len(c.buffer))
	}
	for len(c.buffer)-c.start < n {
		got, ok := c.read(c.buffer[len(c.buffer):cap(c.buffer)])
		if !ok {
			return false
		}
		c.buffer = c.buffer[:len(c.buffer)+got]
	}
	return true
}

// read reads once. The read deadline doubles as the timer of the keep-alive, so
// an idle connection needs none of its own.
func (c *connection) read(b []byte) (int, bool) {
	for {
		if c.ending { // the session cuts what takes too long
			_ = c.conn.SetReadDeadline(time.Time{}) // if it fails, so does Read
			n, err := c.conn.Read(b)
			return n, err == nil
		}
		c.keepAlive()
		next := c.pinged.Add(pingEvery)
		if last := c.heard.Add(silence); last.Before(next) {
			next = last
		}
		if c.conn.SetReadDeadline(next) != nil {
			return 0, false
		}
		n, err := c.conn.Read(b)
		if n > 0 {
			c.heard = time.Now()
			return n, true
		}
		switch {
		case err == nil: // a read of nothing
		case !errors.Is(err, os.ErrDeadlineExceeded):
			c.session.Close(wire.CloseNormal, "")
			c.conn.Close()
			return 0, false
		case time.Since(c.heard) >= silence:
			return 0, c.close(wire.CloseGoingAway, "silent for too long")
		}
	}
}

// keepAlive sends a ping when it is time for one.
func (c *connection) keepAlive() {
	if now := time.Now(); now.Sub(c.pinged) >= pingEvery {
		c.session.Control(pubsub.Ping, nil)
		c.pinged = now
	}
}

func (c *connection) handle(h header, payload []byte) bool {
	switch h.opcode {
	case opPing:
		c.session.HandlePing(payload)
	case opPong:
	case opClose:
		return c.handleClose(payload)
	case opText, opBinary:
		if c.opcode != 0 {
			return c.close(statusProtocolError, "a new message within a fragmented one")
		}
		if h.fin {
			return c.handleMessage(h.opcode, payload)
		}
		c.opcode = h.opcode
		c.message = append(c.message, payload...)
	case opContinuation:
		if c.opcode == 0 {
			return c.close(statusProtocolError, "a continuation of nothing")
		}
		c.message = append(c.message, payload...)
		if h.fin {
			opcode, message := c.opcode, c.message
			c.opcode, c.message = 0, nil
			return c.handleMessage(opcode, message)
		}
	}
	return true
}

func (c *connection) handleMessage(opcode byte, message []byte) bool {
	if opcode == opBinary {
		c.session.HandleFrame(message)
		return true
	}
	if !utf8.Valid(message) {
		return c.close(wire.CloseInvalidUTF8, "text is not UTF-8")
	}
	c.session.HandleLine(message)
	return true
}

// handleClose takes the client's close frame (RFC 6455, section 5.5.1); the
// answer carries the same code.
func (c *connection) handleClose(payload []byte) bool {
	c.answered.Store(true)
	code := uint16(statusNone)
	switch {
	case len(payload) == 1:
		return c.close(statusProtocolError, "a close frame of one byte")
	case len(payload) >= 2:
		code = binary.BigEndian.Uint16(payload)
		if !validClose(code) {
			return c.close(statusProtocolError, "close code out of range")
		}
		if !utf8.Valid(payload[2:]) {
			return c.close(wire.CloseInvalidUTF8, "close reason is not UTF-8")
		}
	}
	return c.close(wire.CloseCode(code), "")
}

func (c *connection) close(code wire.CloseCode, reason string) bool {
	c.session.Close(code, reason)
	return false
}

// linger waits for the end of the closing handshake: it skips what the client
// still sends until its close frame. Closing the socket before, with bytes
// unread, would reset it, and the client might never see the reason. The session
// cuts a connection that takes too long.
func (c *connection) linger() {
	c.message, c.ending = nil, true
	for !c.answered.Load() {
		h, size, breach := parseHeader(c.buffer[c.start:])
		if breach != "" {
			break
		}
		if size == 0 {
			if !c.fill(len(c.buffer) - c.start + 1) {
				return
			}
			continue
		}
		c.start += size
		if !c.skip(h.length) {
			return
		}
		c.answered.Store(h.opcode == opClose)
	}
	if c.answered.Load() && c.said.Load() {
		return
	}
	c.start, c.buffer = 0, c.buffer[:0]
	for c.fill(1) { // until the writer has said it, too
		c.buffer = c.buffer[:0]
	}
}

// skip drops the next n bytes that the client sent.
func (c *connection) skip(n uint64) bool {
	for {
		here := min(n, uint64(len(c.buffer)-c.start))
		c.start += int(here)
		if n -= here; n == 0 {
			return true
		}
		if !c.fill(1) {
			return false
		}
	}
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, writeChunk); return &b }}

var opcodes = [...]byte{pubsub.Text: opText, pubsub.Binary: opBinary, pubsub.Ping: opPing, pubsub.Pong: opPong}

// Write implements [pubsub.Transport]. Small frames are copied into one buffer
// and written at once: a write costs some 4 µs whatever its size, and over TLS
// each would be a record of its own.
func (c *connection) Write(msgs []pubsub.Outgoing) error {
	pooled := buffers.Get().(*[]byte)
	defer buffers.Put(pooled)
	b := (*pooled)[:0]
	for _, m := range msgs {
		if len(b) > 0 && len(b)+len(m.Data)+maxHeader > writeChunk {
			if _, err := c.conn.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
		b = appendFrame(b, opcodes[m.Kind], m.Data)
	}
	if cap(b) <= 4*writeChunk {
		*pooled = b
	}
	_, err := c.conn.Write(b)
	return err
}

// Close implements [pubsub.Transport].
func (c *connection) Close(code wire.CloseCode, reason string) error {
	_, err := c.conn.Write(appendClose(nil, uint16(code), reason))
	c.said.Store(true)
	if c.answered.Load() {
		return errors.Join(err, c.conn.Close())
	}
	return err
}

// Abort implements [pubsub.Transport].
func (c *connection) Abort() {
	if t, ok := c.conn.(interface{ NetConn() net.Conn }); ok {
		t.NetConn().Close() // at once: TLS would try to say goodbye first
	}
	c.conn.Close()
}

var _ pubsub.Transport = (*connection)(nil)
