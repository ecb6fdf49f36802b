//go:build unix

package loadgen

import (
	"net"
	"slices"
	"sync"
	"syscall"
)

// readSize is how many bytes are read at once.
const readSize = 64 << 10

// readBuffers are shared by all connections: one that has just been used is in
// the processor's cache, and one for each connection would not be.
var readBuffers = sync.Pool{New: func() any { return new([readSize]byte) }}

// ReadLoop reads conn until it ends, and calls take with the bytes that take left over
// before, at first early, and those that arrived after them. take returns how many bytes
// it has consumed, and must not keep any. An error of take ends the loop. take must not
// close conn, which would wait for take.
//
// It makes one system call for each read, where net.Conn.Read makes two when the
// reader is faster than the writer: after a read that did not fill the buffer it
// waits for the next event without looking whether more is there, as epoll(7)
// allows for streams. An end of the stream that came together with data is seen
// only with the next event, if there is one; the timeouts of a run cover that.
func ReadLoop(conn *net.TCPConn, early []byte, take func(b []byte) (used int, err error)) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	l := &readLoop{take: take, rest: slices.Clone(early)}
	if err := raw.Read(l.ready); err != nil {
		return err
	}
	return l.err
}

type readLoop struct {
	take func(b []byte) (int, error)
	rest []byte // left over
	err  error
}

// ready reads everything that is there. It reports whether the loop ends.
func (l *readLoop) ready(fd uintptr) bool {
	for {
		full, err := l.read(int(fd))
		switch {
		case err == syscall.EINTR: //nolint:errorlint // as system calls return it
		case err == syscall.EAGAIN: //nolint:errorlint // as system calls return it
			return false
		case err != nil:
			l.err = err
			return true
		case !full:
			return false
		}
	}
}

// read reads once. It reports whether there can be more.
func (l *readLoop) read(fd int) (full bool, err error) {
	if len(l.rest) > readSize/2 { // part of a large message, which grows in place
		l.rest = slices.Grow(l.rest, readSize)
		room := l.rest[len(l.rest):cap(l.rest)]
		n, err := syscall.Read(fd, room)
		if err = ended(n, err); err != nil {
			return false, err
		}
		l.rest = l.rest[:len(l.rest)+n]
		used, err := l.take(l.rest)
		l.rest = l.rest[:copy(l.rest, l.rest[used:])]
		return n == len(room), err
	}
	buffer := readBuffers.Get().(*[readSize]byte)
	defer readBuffers.Put(buffer)
	kept := copy(buffer[:], l.rest)
	n, err := syscall.Read(fd, buffer[kept:])
	if err = ended(n, err); err != nil {
		return false, err
	}
	b := buffer[:kept+n]
	used, err := l.take(b)
	l.rest = append(l.rest[:0], b[used:]...)
	return len(b) == readSize, err
}

func ended(n int, err error) error {
	if err == nil && n == 0 {
		return errEnded
	}
	return err
}
