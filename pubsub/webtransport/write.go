package webtransport

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

const (
	// writeChunk is how many bytes are joined into one write. 16 and 64 KiB cost
	// the same.
	writeChunk = 32 << 10

	// TryWrite writes so many bytes at most, and waits for so long. The library
	// takes a packet's worth without waiting. It takes the rest as soon as the
	// connection's own goroutine has run, unless the network holds that up.
	tryBytes   = 4 << 10
	tryTimeout = time.Millisecond
)

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, writeChunk); return &b }}

// giveBack returns a buffer to its pool, unless a large message made it large.
func giveBack(pooled *[]byte) {
	if cap(*pooled) <= 4*writeChunk {
		*pooled = (*pooled)[:0]
		buffers.Put(pooled)
	}
}

// writeMessages writes what is in the buffer and then the messages to a stream,
// joined: each write wakes the connection's goroutine, and fills packets that
// others would leave half empty. It gives the buffer back.
func writeMessages(stream io.Writer, pooled *[]byte, kinds bool, msgs []pubsub.Outgoing) error {
	defer giveBack(pooled)
	b := *pooled
	for _, m := range msgs {
		if len(b) > 0 && len(b)+wire.MessageWireLen(m.Data) > writeChunk {
			if _, err := stream.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
		b = appendOutgoing(b, kinds, m)
		*pooled = b
	}
	_, err := stream.Write(b)
	return err
}

// Write implements [pubsub.Transport].
func (c *connection) Write(msgs []pubsub.Outgoing) error {
	if c.hasWriteDeadline {
		c.hasWriteDeadline = false
		_ = c.main.SetWriteDeadline(time.Time{}) // fails only with the session
	}
	pooled := c.leftover
	c.leftover = nil
	if pooled == nil {
		pooled = buffers.Get().(*[]byte)
	}
	return writeMessages(c.main, pooled, c.kinds.Load(), msgs)
}

// TryWrite implements [pubsub.TryWriter].
func (c *connection) TryWrite(msgs []pubsub.Outgoing) (written bool, err error) {
	pooled := buffers.Get().(*[]byte)
	b := *pooled
	kinds := c.kinds.Load()
	for _, m := range msgs {
		b = appendOutgoing(b, kinds, m)
	}
	n := 0
	if len(b) <= tryBytes {
		c.hasWriteDeadline = true
		_ = c.main.SetWriteDeadline(time.Now().Add(tryTimeout)) // fails only with the session
		n, err = c.main.Write(b)
	}
	if n > 0 {
		b = append(b[:0], b[n:]...)
	}
	*pooled = b
	switch {
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
		giveBack(pooled)
		return false, err
	case len(b) == 0:
		giveBack(pooled)
		return true, nil
	default:
		c.leftover = pooled
		return false, nil
	}
}

// MakesPackets implements [pubsub.Packeter].
func (c *connection) MakesPackets() {}

var _ pubsub.Packeter = (*connection)(nil)

// OpenStream implements [pubsub.StreamOpener].
func (c *connection) OpenStream() (pubsub.Stream, error) {
	stream, err := c.OpenUniStream()
	if err != nil {
		return nil, err
	}
	return c.newOwnStream(stream), nil
}

// ownStream carries one subscription.
type ownStream struct{ stream *webtransport.SendStream }

func (s ownStream) Write(msgs []pubsub.Outgoing) error {
	return writeMessages(s.stream, buffers.Get().(*[]byte), false, msgs)
}

func (s ownStream) Close() error { return s.stream.Close() }

// Close implements [pubsub.Transport]. The stream's end comes behind the last
// line, so that a client knows that it has them all. One that says so, by ending its
// half, gets the code at once.
func (c *connection) Close(code wire.CloseCode, reason string) error {
	answered := make(chan struct{})
	c.closing.Store(&answered)
	err := c.main.Close()
	timer := time.NewTimer(c.linger())
	defer timer.Stop()
	select {
	case <-answered:
	case <-timer.C:
	case <-c.Context().Done():
	}
	c.closeSession(code, reason, answerTimeout)
	return err
}

// Abort implements [pubsub.Transport]. The code needs none of the session's
// streams, which may be stuck.
func (c *connection) Abort() {
	code, reason := c.session.CloseStatus()
	if code == 0 {
		code = wire.CloseNormal
	}
	c.closeSession(code, reason, minLinger)
}
