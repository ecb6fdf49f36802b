package loadgen

import (
	"errors"
	"fmt"
	"io"
)

// An inbox holds the bytes that were read and not yet taken. Its buffer starts small, since
// each idle connection has one, and grows with the traffic.
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

// bytes returns the bytes that wait to be taken.
func (b *inbox) bytes() []byte { return b.buf[b.start:b.end] }

// take removes n bytes.
func (b *inbox) take(n int) { b.start += n }

// fill reads once. It makes room for at least need bytes in all.
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
		return nil // the error will be returned again
	}
	if errors.Is(err, io.EOF) {
		return errEnded
	}
	return err
}
