package wire

import (
	"bytes"
	"encoding/binary"
)

// lengthBytes is the size of the u32 before each message on a stream.
const lengthBytes = 4

// AppendMessage appends a message as a WebTransport stream carries it
// (docs/protocol.md, WebTransport):
//
//	| u32 length | the bytes that a WebSocket message would carry |
func AppendMessage(dst, message []byte) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(message))), message...)
}

// MessageWireLen is how many bytes [AppendMessage] adds.
func MessageWireLen(message []byte) int { return lengthBytes + len(message) }

// MessageBounds reads the length at the front of b: the message behind it is
// b[start:end], once so many bytes have arrived. It reports false if the length
// itself is not complete. A length may be up to 4 GiB: the caller compares
// end-start with its limit before it waits for the rest.
func MessageBounds(b []byte) (start, end uint64, ok bool) {
	if len(b) < lengthBytes {
		return 0, 0, false
	}
	return lengthBytes, lengthBytes + uint64(binary.BigEndian.Uint32(b)), true
}

// IsFrame tells a frame from a line among the messages of a stream: a frame
// starts with a byte below 0x20. An empty message is neither; it counts as a
// line.
func IsFrame(message []byte) bool { return len(message) > 0 && message[0] < 0x20 }

// The markers of lines on unidirectional streams: where the messages of the
// subscription go.
const (
	markerOwn     = "U" // to a unidirectional stream of their own
	markerDefault = "D" // to the bidirectional stream
)

var (
	errStreamLineVerb   = &Error{CodeBadRequest, "a line on a unidirectional stream is SUB:<U or D>:<tenant>:<pattern> or UNSUB:<U or D>:<tenant>:<pattern>"}
	errStreamLineMarker = &Error{CodeBadRequest, "after SUB or UNSUB a unidirectional stream needs the marker U or D"}
)

// ParseUniStreamLine splits a line of a unidirectional stream, with or without the
// newline at its end (docs/protocol.md, WebTransport):
//
//	SUB:<U or D>:<tenant>:<pattern>
//	UNSUB:<U or D>:<tenant>:<pattern>
//
// Like [ParseLine] it does not look at names. The error is an [Error] that is
// [ErrBadRequest]. It allocates nothing.
func ParseUniStreamLine(b []byte) (Line, error) {
	b = trimNewline(b)
	switch {
	case len(b) == 0:
		return Line{}, errLineEmpty
	case len(b) > MaxLine:
		return Line{}, errLineLong
	}
	word, rest, _ := bytes.Cut(b, colon)
	var v Verb
	switch string(word) {
	case "SUB":
		v = VerbSub
	case "UNSUB":
		v = VerbUnsub
	default:
		return Line{}, errStreamLineVerb
	}
	marker, fields, ok := bytes.Cut(rest, colon)
	own := string(marker) == markerOwn
	if !ok || !own && string(marker) != markerDefault {
		return Line{}, errStreamLineMarker
	}
	line, err := splitLine(v, fields)
	line.Own = own && err == nil
	return line, err
}

// AppendUniStreamLine appends SUB or UNSUB as a unidirectional stream carries it,
// with the newline: own selects the marker U, else it is D.
func AppendUniStreamLine(dst []byte, v Verb, own bool, tenant, pattern string) []byte {
	marker := markerDefault
	if own {
		marker = markerOwn
	}
	return append(appendParts(append(dst, v.String()...), marker, tenant, pattern), '\n')
}
