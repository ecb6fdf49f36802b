package webtransport

import (
	"errors"
	"io"
	"unicode/utf8"

	"github.com/millrace/millrace/wire"
)

const (
	idleBuffer = 512      // bytes that an idle stream holds
	keepBuffer = 16 << 10 // a larger buffer is let go of after its message
)

var errTooBig = errors.New("the message is longer than the limit")

// messages cuts a stream into messages (docs/protocol.md, WebTransport).
type messages struct {
	stream io.Reader
	buffer []byte // what was read and not yet handled
	start  int    // of that, in buffer
	ended  bool   // reading failed, or the stream has ended: nothing more is read

	begun bool // the first message has begun
	kinds bool // each message has its kind before its length
	kind  byte // of the last message, where they have one
}

// next returns the next message of at most limit bytes. It is valid until the
// next call. For a longer message it returns [errTooBig] without waiting for its bytes.
func (m *messages) next(limit int) ([]byte, error) {
	m.shrink()
	for {
		waiting := m.buffer[m.start:]
		if !m.begun && len(waiting) > 0 {
			m.begun = true
			m.kinds = m.kinds || startsWithKind(waiting, limit)
		}
		before := 0 // bytes before the length
		if m.kinds {
			before = min(1, len(waiting))
		}
		start, end, ok := wire.MessageBounds(waiting[before:])
		switch {
		case !ok:
			end = 4 // the length itself
		case end-start > uint64(limit):
			return nil, errTooBig
		case end <= uint64(len(waiting)-before):
			if m.kinds {
				m.kind = waiting[0]
			}
			waiting = waiting[before:]
			m.start += before + int(end)
			return waiting[start:end], nil
		}
		if err := m.fill(before + int(end)); err != nil {
			return nil, err
		}
	}
}

// shrink lets go of what a large message needed.
func (m *messages) shrink() {
	waiting := m.buffer[m.start:]
	if len(waiting) == 0 {
		m.buffer, m.start = m.buffer[:0], 0
	}
	if cap(m.buffer) > keepBuffer && len(waiting) <= idleBuffer {
		m.buffer, m.start = append(make([]byte, 0, idleBuffer), waiting...), 0
	}
}

// fill reads once, with room for size bytes in all. The buffer grows with what has
// arrived, not with the length that a client announces, which costs it nothing.
func (m *messages) fill(size int) error {
	if m.start+size > cap(m.buffer) {
		have := len(m.buffer) - m.start
		if room := max(idleBuffer, min(size, 2*have)); room > cap(m.buffer) {
			m.buffer = append(make([]byte, 0, room), m.buffer[m.start:]...)
		} else {
			m.buffer = append(m.buffer[:0], m.buffer[m.start:]...)
		}
		m.start = 0
	}
	n, err := m.stream.Read(m.buffer[len(m.buffer):cap(m.buffer)])
	m.buffer = m.buffer[:len(m.buffer)+n]
	if n > 0 {
		return nil // an error is returned again by the next Read
	}
	m.ended = err != nil
	return err
}

// discard drops what the client sends, and reports true when the stream ends: with a
// FIN, or a reset. It reports false if the stream had ended before, or if the client
// sends more than answerBytes.
func (m *messages) discard() bool {
	if m.ended {
		return false
	}
	_, err := io.CopyN(io.Discard, m.stream, answerBytes)
	m.ended = err != nil
	return m.ended
}

// readMessage reads and handles one message of the main stream. It reports false
// when the session has ended.
func (c *connection) readMessage() bool {
	if !c.ready() {
		return false
	}
	message, err := c.in.next(c.session.ReadLimit())
	if c.in.kinds != c.kinds.Load() {
		c.kinds.Store(c.in.kinds)
	}
	switch {
	case errors.Is(err, errTooBig):
		c.session.Close(wire.CloseTooBig, "message too big")
		return false
	case err != nil: // FIN, or the session or its connection is gone
		return false
	}
	return c.handle(message, func() { c.handleMessage(message) })
}

func (c *connection) handleMessage(message []byte) {
	kinds, isFrame := c.in.kinds, wire.IsFrame(message)
	if kinds {
		isFrame = c.in.kind == kindFrame
	}
	switch {
	case kinds && c.in.kind > kindLine:
		c.session.Close(wire.ClosePolicy, "a message is of an unknown kind")
	case isFrame:
		c.session.HandleFrame(message)
	case !utf8.Valid(message):
		c.session.Close(wire.CloseInvalidUTF8, "a line is not UTF-8")
	case kinds:
		c.handleKindLine(message)
	default:
		c.session.HandleLine(message)
	}
}

// ready waits until the client may be read from, and reports false when the
// session has ended; serve watches for the end of the connection meanwhile.
func (c *connection) ready() bool {
	c.handling.Lock()
	defer c.handling.Unlock()
	for !c.session.Ready(0) {
		if c.session.Closing() {
			return false
		}
		if c.session.Ready(maxPause) {
			return true
		}
	}
	return true
}

// handle does what a message asks for, at its turn.
func (c *connection) handle(message []byte, do func()) bool {
	c.handling.Lock()
	defer c.handling.Unlock()
	c.session.Charge(len(message))
	if c.checkPeer() {
		do()
	}
	return !c.session.Closing()
}

// checkPeer closes the session if its token does not allow the client's address. quic-go
// follows a client to a new address by itself.
func (c *connection) checkPeer() bool {
	if c.allowPeer == nil || c.allowPeer(c.peer()) {
		return true
	}
	c.session.Forbid("ip")
	return false
}
