package webtransport

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/millrace/millrace/wire"
)

// longestLine is the size of the longest line with its end, \r\n.
const longestLine = wire.MaxLine + 2

// lineKind says what lines.next returns.
type lineKind uint8

const (
	wholeLine  lineKind = iota // with its newline
	brokenLine                 // the start of a line that is too long, or a line that the stream's end cut off
	skipped                    // the rest of a broken line
)

// lines cuts a unidirectional stream into its lines, each of which ends with a
// newline.
type lines struct {
	stream io.Reader
	buffer []byte // what was read; it has room for the longest line
	start  int    // of what was not returned yet, in buffer
	skip   bool   // what comes next is the rest of a line that is too long
}

// next returns the next part of the stream. It is valid until the next call.
// An error comes with what was left.
func (l *lines) next() ([]byte, lineKind, error) {
	for {
		waiting := l.buffer[l.start:]
		if end := bytes.IndexByte(waiting, '\n') + 1; end > 0 {
			l.start += end
			kind := wholeLine
			if l.skip {
				kind = skipped
			}
			l.skip = false
			return waiting[:end], kind, nil
		}
		l.buffer, l.start = append(l.buffer[:0], waiting...), 0
		if len(l.buffer) == cap(l.buffer) {
			return l.takeRest(), l.markBroken(), nil
		}
		n, err := l.stream.Read(l.buffer[len(l.buffer):cap(l.buffer)])
		l.buffer = l.buffer[:len(l.buffer)+n]
		switch {
		case err == nil || n > 0: // an error is returned again by the next Read
		case errors.Is(err, io.EOF) && len(l.buffer) > 0:
			return l.takeRest(), l.markBroken(), nil
		default:
			return l.takeRest(), skipped, err
		}
	}
}

// takeRest returns what is in the buffer, which is no whole line.
func (l *lines) takeRest() []byte {
	l.start = len(l.buffer)
	return l.buffer
}

// markBroken returns brokenLine once for each broken line, and then skipped.
func (l *lines) markBroken() lineKind {
	if l.skip {
		return skipped
	}
	l.skip = true
	return brokenLine
}

// readLines handles the lines of a unidirectional stream. What is no line costs
// the client its bytes all the same, and so does the stream.
func (c *connection) readLines(stream io.Reader) {
	in := lines{stream: stream, buffer: make([]byte, 0, longestLine)}
	for c.ready() {
		text, kind, err := in.next()
		if err != nil {
			c.handle(text, func() {})
			return // after FIN or reset
		}
		if !c.handle(text, func() { c.handleStreamLine(text, kind) }) {
			return // the session's end takes the stream with it
		}
	}
}

func (c *connection) handleStreamLine(text []byte, kind lineKind) {
	switch {
	case kind == skipped:
	case kind == brokenLine:
		c.session.HandleStreamLine(nil)
	case !utf8.Valid(text):
		c.session.Close(wire.CloseInvalidUTF8, "a line is not UTF-8")
	default:
		c.session.HandleStreamLine(text)
	}
}
