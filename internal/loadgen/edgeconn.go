package loadgen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/wire"
)

// A link carries the messages of one connection to an edge, over either
// transport.
type link interface {
	// begin appends the header of a binary message of n bytes. When the message is
	// appended, from body on, seal encodes it in place as it goes over the wire.
	begin(dst []byte, n int) []byte
	seal(dst []byte, body int)
	write(b []byte) error
	// writeLine may be called concurrently with write.
	writeLine(line []byte) error
	// read reads once, and passes each complete message to s.
	read(s sink) error
	// loop reads until the connection ends, and calls done after each read.
	loop(s sink, done func()) error
	setReadDeadline(time.Time) error
	close() error
}

// A sink receives messages, which are valid during the call.
type sink interface {
	frame(b []byte) error
	line(b []byte) error
}

// An edgeConn is a client of an edge.
type edgeConn struct {
	link
	tenant     []byte
	message    func(payload []byte) // of the current Receive
	subscribed bool
	closed     atomic.Bool
}

const subscribeTimeout = 15 * time.Second // until OK:SUB

// Subscribe implements Conn.
func (c *edgeConn) Subscribe(channel string) error {
	if err := c.writeLine(wire.AppendLine(nil, wire.VerbSub, string(c.tenant), channel)); err != nil {
		return err
	}
	if err := c.setReadDeadline(time.Now().Add(subscribeTimeout)); err != nil {
		return err
	}
	for c.subscribed = false; !c.subscribed; {
		if err := c.Receive(func([]byte) {}); err != nil { // others may publish there
			return err
		}
	}
	return c.setReadDeadline(time.Time{})
}

// Search asks for the newest messages of a pattern in the edge's history, and ends that again. It does not
// wait for the answers. It may be called concurrently with Write.
func (c *edgeConn) Search(pattern string) error {
	line := wire.AppendLine(nil, wire.VerbRsub, string(c.tenant), pattern)
	if err := c.writeLine(append(line, ":last"...)); err != nil {
		return err
	}
	return c.writeLine(wire.AppendLine(nil, wire.VerbUnsub, string(c.tenant), pattern))
}

// AppendPublish implements Conn, with frames of version 1 (docs/protocol.md,
// Frames).
func (c *edgeConn) AppendPublish(dst []byte, channel string, payload []byte) []byte {
	dst = c.begin(dst, publishLen(len(c.tenant), channel, len(payload)))
	body := len(dst)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(c.tenant)))
	dst = append(dst, c.tenant...)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(channel)))
	dst = append(dst, channel...)
	dst = append(dst, payload...)
	c.seal(dst, body)
	return dst
}

func publishLen(tenant int, channel string, payload int) int {
	return 2 + tenant + 2 + len(channel) + payload
}

// Write implements Conn.
func (c *edgeConn) Write(b []byte) error { return c.write(b) }

// Receive implements Conn.
func (c *edgeConn) Receive(message func(payload []byte)) error {
	c.message = message
	return c.read(c)
}

// Loop implements Looper.
func (c *edgeConn) Loop(message func(payload []byte), done func()) error {
	c.message = message
	return c.loop(c, done)
}

// Close implements Conn.
func (c *edgeConn) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	return c.close()
}

var errFrame = errors.New("the edge sent a frame that this client does not know")

// frame handles a deliver frame (docs/protocol.md, Frames). Unlike wire.DecodeDeliver it
// allocates nothing; it ignores the patterns.
func (c *edgeConn) frame(b []byte) error {
	if len(b) == 0 || b[0] != 0x01 {
		return errFrame
	}
	b = b[1:]
	for range 2 { // tenant and channel
		if len(b) < 2 {
			return errFrame
		}
		n := 2 + int(binary.BigEndian.Uint16(b))
		if len(b) < n {
			return errFrame
		}
		b = b[n:]
	}
	if len(b) < 4 {
		return errFrame
	}
	n := int(binary.BigEndian.Uint32(b))
	if b = b[4:]; len(b) < n {
		return errFrame
	}
	c.message(b[:n])
	return nil
}

// line handles a line of the edge.
func (c *edgeConn) line(b []byte) error {
	l, err := wire.ParseServerLine(b)
	if err != nil {
		return fmt.Errorf("the edge sent a line that this client does not know: %w", err)
	}
	switch l.Kind {
	case wire.KindOK:
		c.subscribed = true
	case wire.KindPing:
		return c.writeLine([]byte(wire.LinePong))
	case wire.KindReconnect:
		return errors.New("the edge is draining, and tells its clients to leave")
	case wire.KindErr:
		return &lineError{l, string(c.tenant)}
	}
	return nil
}

// A lineError is an ERR line.
type lineError struct {
	wire.ServerLine
	tenant string
}

// IsRefusal reports whether an error of a [Conn] is an ERR line of an edge, after which it goes on.
func IsRefusal(err error) bool {
	var line *lineError
	return errors.As(err, &line)
}

func (e *lineError) Error() string {
	line := fmt.Sprintf("ERR:%s", e.Code)
	if e.Detail != "" {
		line += ":" + e.Detail
	}
	switch e.Code {
	case wire.CodePermissionDenied:
		return fmt.Sprintf("the token does not allow this (%s): it needs a grant for the tenant %q with `bench.#` to publish and to subscribe", line, e.tenant)
	case wire.CodePayloadTooLarge:
		return fmt.Sprintf("the payload is over the edge's max_payload (%s)", line)
	case wire.CodeSlowConsumer:
		return fmt.Sprintf("the edge dropped %s deliveries of a subscriber whose send_queue was full (%s): "+
			"a smaller window or rate keeps the queue shorter", e.Detail, line)
	}
	return "the edge answered " + line
}
