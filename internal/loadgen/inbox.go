package loadgen

import (
	"errors"
	"fmt"
	"io"
)

// An inbox is what was read and not yet taken. Its buffer starts small, since
// idle connections have one each, and grows with what comes.
type inbox struct {
	buf        []byte
	start, end int
}

const (
	firstRead = 2 << 10
	usualRead = 32 << 10
	largest   = MaxPayload + 1<<20 // bytes of one message: the rest of a frame is far smaller
)

var errEnded = errors.New("the server ended the connection")

var errTooLarge = fmt.Errorf("the server sent a message of more than %d bytes", largest)

// bytes is what waits to be taken.
func (b *inbox) bytes() []byte { return b.buf[b.start:b.end] }

// take lets go of n bytes.
func (b *inbox) take(n int) { b.start += n }

// fill reads once. At least need bytes will have room in all.
func (b *inbox) fill(r io.Reader, need int) error {
	waiting := b.end - b.start
	size := max(len(b.buf), firstRead)
	if b.end == len(b.buf) && size < usualRead {
		size = min(2*size, usualRead) // the last read filled it
	}
	for size < need {
		size *= 2
	}
	if size > len(b.buf) {
		grown := make([]byte, size)
		copy(grown, b.bytes())
		b.buf = grown
	} else if b.start > 0 {
		copy(b.buf, b.bytes())
	}
	b.start, b.end = 0, waiting
	n, err := r.Read(b.buf[b.end:])
	b.end += n
	if n > 0 {
		return nil // an error comes again
	}
	if errors.Is(err, io.EOF) {
		return errEnded
	}
	return err
}
