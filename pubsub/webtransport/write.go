package webtransport

import (
	"io"
	"sync"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
	"github.com/quic-go/webtransport-go"
)

// writeChunk is how many bytes are joined into one write.
const writeChunk = 32 << 10

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, writeChunk); return &b }}

// writeMessages writes messages to a stream, joined: each write wakes the
// connection's loop, and fills packets that others would leave half empty.
func writeMessages(stream io.Writer, msgs []pubsub.Outgoing) error {
	pooled := buffers.Get().(*[]byte)
	defer buffers.Put(pooled)
	b := (*pooled)[:0]
	for _, m := range msgs {
		if len(b) > 0 && len(b)+wire.MessageLen(m.Data) > writeChunk {
			if _, err := stream.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
		b = wire.AppendMessage(b, m.Data)
	}
	if cap(b) <= 4*writeChunk {
		*pooled = b
	}
	_, err := stream.Write(b)
	return err
}

// Write implements [pubsub.Transport].
func (c *connection) Write(msgs []pubsub.Outgoing) error { return writeMessages(c.main, msgs) }

// OpenStream implements [pubsub.StreamOpener].
func (c *connection) OpenStream() (pubsub.Stream, error) {
	stream, err := c.OpenUniStream()
	if err != nil {
		return nil, err
	}
	return ownStream{stream}, nil
}

// ownStream carries one subscription.
type ownStream struct{ stream *webtransport.SendStream }

func (s ownStream) Write(msgs []pubsub.Outgoing) error { return writeMessages(s.stream, msgs) }
func (s ownStream) Close() error                       { return s.stream.Close() }
