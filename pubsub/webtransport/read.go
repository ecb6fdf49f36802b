package webtransport

import (
	"bytes"
	"errors"
	"io"

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
	ended  bool   // reading failed, or the stream has ended: it is not read any more
}

// next returns the next message of at most limit bytes. It is valid until the
// next call. [errTooBig] comes before any of a message that is longer is waited
// for.
func (m *messages) next(limit int) ([]byte, error) {
	m.shrink()
	for {
		waiting := m.buffer[m.start:]
		start, end, ok := wire.MessageSize(waiting)
		switch {
		case !ok:
			end = 4 // the length itself
		case end-start > uint64(limit):
			return nil, errTooBig
		case end <= uint64(len(waiting)):
			m.start += int(end)
			return waiting[start:end], nil
		}
		if err := m.fill(int(end)); err != nil {
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

// fill reads once, with room for size bytes in all. It grows with what has
// arrived, not with what a length announces: that costs the client nothing.
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
		return nil // an error comes again
	}
	m.ended = err != nil
	return err
}

// discard drops what comes, and reports true when the stream has ended: a FIN, or a
// reset. It is false if the stream had ended before, or more than answerBytes come.
func (m *messages) discard() bool {
	if m.ended {
		return false
	}
	_, err := io.CopyN(io.Discard, m.stream, answerBytes)
	m.ended = err != nil
	return m.ended
}

// longestLine is the size of the longest line with its end, \r\n.
const longestLine = wire.MaxLine + 2

// lineKind is what was cut from a stream of lines.
type lineKind uint8

const (
	wholeLine  lineKind = iota // with its newline
	brokenLine                 // the start of one that is too long, or one that the stream's end cut off
	skipped                    // what else there is of a broken line
)

// lines cuts a unidirectional stream into its lines, each of which ends with a
// newline.
type lines struct {
	stream io.Reader
	buffer []byte // what was read; it has room for the longest line
	start  int    // of what was not returned yet, in buffer
	skip   bool   // the rest of a line that is too long is to come
}

// next returns the next part of the stream. It is valid until the next call.
// With an error comes what was left.
func (l *lines) next() ([]byte, lineKind, error) {
	for {
		waiting := l.buffer[l.start:]
		if end := bytes.IndexByte(waiting, '\n') + 1; end > 0 {
			l.start += end
			what := wholeLine
			if l.skip {
				what = skipped
			}
			l.skip = false
			return waiting[:end], what, nil
		}
		l.buffer, l.start = append(l.buffer[:0], waiting...), 0
		if len(l.buffer) == cap(l.buffer) {
			return l.takeRest(), l.markBroken(), nil
		}
		n, err := l.stream.Read(l.buffer[len(l.buffer):cap(l.buffer)])
		l.buffer = l.buffer[:len(l.buffer)+n]
		switch {
		case err == nil || n > 0: // an error comes again
		case errors.Is(err, io.EOF) && len(l.buffer) > 0:
			return l.takeRest(), l.markBroken(), nil
		default:
			return l.takeRest(), skipped, err
		}
	}
}

// takeRest returns what waits, which is no whole line.
func (l *lines) takeRest() []byte {
	l.start = len(l.buffer)
	return l.buffer
}

// markBroken counts a broken line once.
func (l *lines) markBroken() lineKind {
	if l.skip {
		return skipped
	}
	l.skip = true
	return brokenLine
}
