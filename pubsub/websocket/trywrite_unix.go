//go:build unix

package websocket

import (
	"errors"
	"sync"
	"syscall"

	"github.com/millrace/millrace/pubsub"
)

// plainConnection is a connection over a plain socket, which can be written to without
// waiting. TLS has no such write.
type plainConnection struct{ *connection }

// attempt is a write that does not wait, and its result.
type attempt struct {
	b   []byte
	n   int
	err error
	run func(fd uintptr) (done bool) // write, bound once
}

var attempts = sync.Pool{New: func() any {
	a := &attempt{b: make([]byte, 0, writeChunk)}
	a.run = a.write
	return a
}}

// write tries once. It returns true, so that the runtime does not wait until more can be
// written.
func (a *attempt) write(fd uintptr) (done bool) {
	for {
		a.n, a.err = syscall.Write(int(fd), a.b)
		if !errors.Is(a.err, syscall.EINTR) {
			return true
		}
	}
}

// TryWrite implements [pubsub.TryWriter].
func (t plainConnection) TryWrite(msgs []pubsub.Outgoing) (written bool, err error) {
	a := attempts.Get().(*attempt)
	defer a.release()
	for _, m := range msgs {
		a.b = appendFrame(a.b, opcodes[m.Kind], m.Data)
	}
	if err := t.raw.Write(a.run); err != nil {
		return false, err
	}
	switch {
	case errors.Is(a.err, syscall.EAGAIN):
		a.n = 0
	case a.err != nil:
		return false, a.err
	case a.n == len(a.b):
		return true, nil
	}
	t.leftover = append([]byte(nil), a.b[a.n:]...)
	return false, nil
}

func (a *attempt) release() {
	if cap(a.b) <= 4*writeChunk {
		a.b = a.b[:0]
		attempts.Put(a)
	}
}

var _ pubsub.TryWriter = plainConnection{}
