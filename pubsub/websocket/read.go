package websocket

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/millrace/millrace/wire"
)

const (
	readChunk = 16 << 10 // bytes that are read at once: a burst of publishes, or a TLS record
	shortest  = 6        // bytes of the shortest frame of a client
)

// readBuffers lends readers a buffer of readChunk bytes while they have work.
var readBuffers = sync.Pool{New: func() any { b := make([]byte, 0, readChunk); return &b }}

// readFrame reads and handles one frame. It reports false when the session closes,
// the connection breaks, or the reader moves.
func (c *connection) readFrame() bool {
	for {
		waiting := c.buffer[c.start:]
		h, size, breach := parseHeader(waiting)
		if breach != "" {
			return c.closeUnreadable(statusProtocolError, breach)
		}
		n := len(waiting) + 1
		if size > 0 {
			limit := uint64(c.session.ReadLimit())
			if h.length > limit || uint64(len(c.message))+h.length > limit && h.opcode < opClose {
				return c.closeUnreadable(wire.CloseTooBig, "message too big")
			}
			if n = size + int(h.length); n <= len(waiting) {
				payload := waiting[size:n]
				c.start += n
				unmask(payload, h.key)
				c.session.Charge(len(payload))
				return c.handle(h, payload)
			}
			if c.isText(h.opcode) && !c.text.masked(waiting[size:], h.key) {
				return c.closeUnreadable(wire.CloseInvalidUTF8, notUTF8)
			}
		}
		if !c.fill(n) {
			return false
		}
	}
}

// fill reads once. The caller needs n bytes in the buffer.
func (c *connection) fill(n int) bool {
	if !c.moved {
		c.lastHeard = time.Now() // while the session held the reader back, the client could not be heard
	}
	c.moved = false
	for {
		got, err := c.read(n)
		switch {
		case got > 0:
			return true
		case err == nil:
		case !errors.Is(err, os.ErrDeadlineExceeded):
			c.session.Close(wire.CloseNormal, "")
			c.conn.Close()
			return false
		case !c.tick():
			return false
		}
	}
}

func (c *connection) read(n int) (int, error) {
	if c.raw != nil {
		c.want = n
		if err := c.raw.Read(c.tryReadFunc); err != nil {
			return 0, err
		}
		return c.got, c.failed
	}
	if c.start == len(c.buffer) {
		c.releaseBuffer()
	}
	if c.borrowed == nil && len(c.buffer) < readChunk { // maybe a long wait, with next to no buffer
		got, err := c.conn.Read(c.head[:])
		if got > 0 {
			c.makeRoom(len(c.buffer) - c.start + got)
			c.buffer = append(c.buffer, c.head[:got]...)
		}
		return got, err
	}
	c.makeRoom(n)
	got, err := c.conn.Read(c.buffer[len(c.buffer):cap(c.buffer)])
	c.buffer = c.buffer[:len(c.buffer)+got]
	return got, err
}

// tryRead reads from a plain socket. It reports false when there is nothing to
// read yet: it is called again then, and no buffer is held meanwhile.
func (c *connection) tryRead(fd uintptr) (done bool) {
	c.makeRoom(c.want)
	for {
		n, err := readSocket(fd, c.buffer[len(c.buffer):cap(c.buffer)])
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			c.releaseBuffer()
			return false
		case err == nil && n == 0:
			err = io.EOF
		}
		c.got, c.failed = max(n, 0), err
		c.buffer = c.buffer[:len(c.buffer)+c.got]
		return true
	}
}

// makeRoom moves what waits to the front of a buffer that has room for more, up to n
// bytes: a pooled buffer if they fit in it, otherwise one that grows with what arrives,
// not with the length that the client announces.
func (c *connection) makeRoom(n int) {
	waiting := c.buffer[c.start:]
	switch {
	case len(waiting) >= readChunk && c.borrowed == nil && len(waiting) < cap(c.buffer):
		return
	case len(waiting) >= readChunk:
		c.buffer = append(make([]byte, 0, min(n, 4*len(waiting))), waiting...)
		c.returnBorrowed()
	case c.borrowed == nil:
		c.borrowed = readBuffers.Get().(*[]byte)
		c.buffer = append((*c.borrowed)[:0], waiting...)
	default:
		c.buffer = c.buffer[:copy(c.buffer, waiting)]
	}
	c.start = 0
}

// releaseBuffer returns a borrowed buffer, and keeps what waits in it.
func (c *connection) releaseBuffer() {
	if waiting := c.buffer[c.start:]; c.borrowed != nil || len(waiting) == 0 {
		c.buffer, c.start = append([]byte(nil), waiting...), 0
		c.returnBorrowed()
	}
}

func (c *connection) returnBorrowed() {
	if c.borrowed != nil {
		readBuffers.Put(c.borrowed)
		c.borrowed = nil
	}
}
