package webtransport

import (
	"bytes"
	"slices"

	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// What the crate fastpubsub-sdk sends differently (docs/protocol.md, fastpubsub-sdk): on
// the main stream each message has its kind before its length,
//
//	| u8 kind | u32 length | message |
//
// and the SUB of a subscription with a stream of its own is a message there, whose
// acknowledgement comes there, too.
const (
	kindFrame = 0
	kindLine  = 1
)

// startsWithKind reports whether a stream, whose messages have at most limit bytes, starts
// with the kind of a line. Taken for a length it would be too long.
func startsWithKind(b []byte, limit int) bool {
	return len(b) > 0 && b[0] == kindLine && limit < kindLine<<24
}

// appendOutgoing appends a message, with its kind or without.
func appendOutgoing(dst []byte, kinds bool, m pubsub.Outgoing) []byte {
	switch {
	case kinds && m.Kind == pubsub.Text:
		dst = append(dst, kindLine)
	case kinds:
		dst = append(dst, kindFrame)
	}
	return wire.AppendMessage(dst, m.Data)
}

var (
	subPrefix    = []byte("SUB:")
	anyOwnStream = []byte(":U:0:0") // a stream that the edge chooses, without a cap
)

// handleKindLine handles a line of a client that sends kinds. What asks for a certain stream,
// a cap or datagrams is no legal pattern: the edge has none of these.
func (c *connection) handleKindLine(line []byte) {
	line = bytes.TrimRight(line, "\r\n")
	if name, ok := bytes.CutPrefix(line, subPrefix); ok {
		if name, ok = bytes.CutSuffix(name, anyOwnStream); ok {
			c.session.HandleStreamLine(slices.Concat([]byte("SUB:U:"), name))
			return
		}
	}
	c.session.HandleUnsub(line) // or another line
}

// kindStream is the stream of a subscription of a client that sends kinds. The client skips
// its first message, and waits for the acknowledgement on the main stream.
type kindStream struct {
	ownStream
	session *pubsub.Session
	begun   bool
}

// Write implements [pubsub.Stream].
func (s *kindStream) Write(msgs []pubsub.Outgoing) error {
	if !s.begun && len(msgs) > 0 {
		s.begun = true
		s.session.QueueControl(pubsub.Text, bytes.Clone(msgs[0].Data)) // which is OK:SUB
	}
	return s.ownStream.Write(msgs)
}

func (c *connection) newOwnStream(stream *webtransport.SendStream) pubsub.Stream {
	own := ownStream{stream}
	if c.kinds.Load() {
		return &kindStream{ownStream: own, session: c.session}
	}
	return own
}
