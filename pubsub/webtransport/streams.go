package webtransport

import (
	"context"
	"sync"

	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/wire"
)

// Limits of what a client opens (docs/protocol.md, WebTransport).
const (
	// MaxUniStreams is how many unidirectional streams of a client are read at
	// the same time.
	MaxUniStreams = 16

	maxWaiting = 256 // of these streams; more than a client's credit allows, if they hold lines
)

// refusedStream is the code of streams that the edge does not want.
const refusedStream = webtransport.StreamErrorCode(wire.ClosePolicy)

// refuseStreams resets a bidirectional stream beside the main one, and every
// further one. Each is charged to the client like a message.
func (c *connection) refuseStreams(stream *webtransport.Stream) {
	for refused := 0; ; refused++ {
		stream.CancelRead(refusedStream)
		stream.CancelWrite(refusedStream)
		c.handling.Lock()
		s := c.session
		if s != nil {
			s.Charge(0)
		}
		c.handling.Unlock()
		switch {
		case s != nil:
			c.ready()
		case refused == MaxUniStreams: // a client that is not admitted has no caps to charge
			c.closeFlooded()
			return
		}
		var err error
		if stream, err = c.AcceptStream(context.Background()); err != nil { // with the session's end
			return
		}
	}
}

// uniStreams are the unidirectional streams of a client. When there are too many at
// a time, further ones wait: a client that sends each line on a stream of its own must
// not lose any in a burst. But the client's credit for streams does not bound empty
// ones, which end at once; maxWaiting does.
type uniStreams struct {
	mu      sync.Mutex
	waiting []*webtransport.ReceiveStream
	reading int
	open    bool // they are read: the client is admitted, and its main stream is there
}

// acceptUniStreams takes the client's unidirectional streams, which are read once
// readUniStreams was called.
func (c *connection) acceptUniStreams() {
	for {
		stream, err := c.AcceptUniStream(context.Background()) // fails with the session's end
		if err != nil {
			return
		}
		u := &c.uni
		u.mu.Lock()
		limit := maxWaiting
		if !u.open {
			limit = MaxUniStreams
		}
		full := len(u.waiting) >= limit
		if !full {
			u.waiting = append(u.waiting, stream)
			c.startReaders()
		}
		u.mu.Unlock()
		if full {
			c.closeFlooded()
			return
		}
	}
}

// readUniStreams starts to read the streams that wait, and those that come later.
func (c *connection) readUniStreams() {
	c.uni.mu.Lock()
	defer c.uni.mu.Unlock()
	c.uni.open = true
	c.startReaders()
}

// startReaders starts as many readers as allowed. The caller holds uni.mu.
func (c *connection) startReaders() {
	u := &c.uni
	for u.open && len(u.waiting) > 0 && u.reading < MaxUniStreams {
		u.reading++
		stream := u.waiting[0]
		u.waiting = u.waiting[1:]
		c.goroutines.Go(func() {
			defer c.recoverFault()
			for stream != nil {
				c.readLines(stream)
				stream = u.next()
			}
		})
	}
}

// next returns the stream that a reader goes on with; nil: none.
func (u *uniStreams) next() *webtransport.ReceiveStream {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.waiting) == 0 {
		u.reading--
		return nil
	}
	stream := u.waiting[0]
	u.waiting = u.waiting[1:]
	return stream
}

// closeFlooded closes the session of a client that opens more streams than any needs.
func (c *connection) closeFlooded() {
	c.handling.Lock()
	s := c.session
	c.handling.Unlock()
	if s != nil {
		s.Close(wire.ClosePolicy, "too many streams")
	} else { // a client that is not admitted is told nothing else
		c.closeSession(wire.CloseUnauthorized, "too many streams", minLinger)
	}
}
