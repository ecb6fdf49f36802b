package wire

import "encoding/binary"

// Deliver is a deliver frame. Decoded byte slices alias the frame and are
// read-only; the patterns are copies.
type Deliver struct {
	Tenant   []byte
	Channel  []byte
	Payload  []byte   // opaque, possibly empty
	Patterns []string // the matching subscriptions as sent in SUB or RSUB, at least one
	Stored   bool     // it has a Position, and is for the one RSUB with its one pattern
	Position Position // of the message in its history
}

// The bits of the byte after the tag 0x04. A bit says that a field is there.
const (
	fieldPosition = 1 << 0 // u64 epoch, u64 n, u64 t
	knownFields   = fieldPosition
)

// positionBytes is the size of a position in a frame.
const positionBytes = 3 * 8

var (
	errDeliverUnknown = &Error{CodeBadFrame, "a deliver frame starts with 0x01, or with 0x04 and known fields"}
	errDeliverFields  = &Error{CodeBadFrame, "a deliver frame that starts with 0x04 has at least one field"}
	errDeliverPattern = &Error{CodeBadFrame, "a deliver frame has at least one pattern, and with a position exactly one"}
	errDeliverEnd     = &Error{CodeBadFrame, "bytes follow the last pattern"}
)

// IsUnknownFrame reports whether a frame of an edge is of a later version: its tag, or
// one of its fields, is none that this version knows. Clients ignore such a frame
// (docs/protocol.md, Frames); [DecodeDeliver] fails.
func IsUnknownFrame(b []byte) bool {
	switch {
	case len(b) == 0 || b[0] == tagDeliver:
		return false
	case b[0] == tagDeliver2:
		return len(b) > 1 && b[1]&^knownFields != 0
	default:
		return true
	}
}

// DecodeDeliver splits a deliver frame, laid out as [AppendDeliver] or
// [AppendDeliverAt] says. It does not look at names. The error is an [Error] that is
// [ErrBadFrame]. What it allocates for a frame, broken or not, stays in proportion
// to its length.
func DecodeDeliver(b []byte) (Deliver, error) {
	switch {
	case len(b) == 0:
		return Deliver{}, errFrameEmpty
	case IsUnknownFrame(b):
		return Deliver{}, errDeliverUnknown
	}
	var d Deliver
	var ok bool
	tag, b := b[0], b[1:]
	if tag == tagDeliver2 {
		var err error
		if d.Position, b, err = cutFields(b); err != nil {
			return Deliver{}, err
		}
		d.Stored = true
	}
	if d.Tenant, b, ok = cut16(b); !ok {
		return Deliver{}, errFrameShort
	}
	if d.Channel, b, ok = cut16(b); !ok {
		return Deliver{}, errFrameShort
	}
	if d.Payload, b, ok = cut32(b); !ok {
		return Deliver{}, errFrameShort
	}
	if len(b) < 2 {
		return Deliver{}, errFrameShort
	}
	count := int(binary.BigEndian.Uint16(b))
	b = b[2:]
	if count == 0 || d.Stored && count != 1 {
		return Deliver{}, errDeliverPattern
	}
	if len(b) < 2*count { // checked before a false count makes us allocate
		return Deliver{}, errFrameShort
	}
	d.Patterns = make([]string, count)
	for i := range d.Patterns {
		var pattern []byte
		if pattern, b, ok = cut16(b); !ok {
			return Deliver{}, errFrameShort
		}
		d.Patterns[i] = string(pattern)
	}
	if len(b) > 0 {
		return Deliver{}, errDeliverEnd
	}
	return d, nil
}

// cutFields takes the byte that says which fields are there, all of them known, and
// the fields off the front of b.
func cutFields(b []byte) (at Position, rest []byte, err error) {
	switch {
	case len(b) == 0:
		return Position{}, nil, errFrameShort
	case b[0] == 0:
		return Position{}, nil, errDeliverFields
	case len(b) < 1+positionBytes:
		return Position{}, nil, errFrameShort
	}
	b = b[1:]
	at = Position{
		Epoch: binary.BigEndian.Uint64(b), N: binary.BigEndian.Uint64(b[8:]), T: binary.BigEndian.Uint64(b[16:]),
	}
	return at, b[positionBytes:], nil
}

// cut32 takes a field and the u32 length before it off the front of b.
func cut32(b []byte) (field, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := binary.BigEndian.Uint32(b)
	b = b[4:]
	if uint64(len(b)) < uint64(n) {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}

// DeliverLen is how many bytes [AppendDeliver] adds.
func DeliverLen(tenant, channel, payload []byte, patterns []string) int {
	n := 1 + 2 + len(tenant) + 2 + len(channel) + 4 + len(payload) + 2
	for _, p := range patterns {
		n += 2 + len(p)
	}
	return n
}

// AppendDeliver appends a deliver frame (docs/protocol.md, Frames):
//
//	| 0x01 | u16 tenant length | tenant | u16 channel length | channel |
//	| u32 payload length | payload | u16 pattern count | (u16 pattern length | pattern)* |
//
// The names must be legal, and there must be 1 to 65,535 patterns. It allocates
// nothing when dst has [DeliverLen] bytes of room.
func AppendDeliver(dst []byte, tenant, channel, payload []byte, patterns []string) []byte {
	return appendDeliver(append(dst, tagDeliver), tenant, channel, payload, patterns...)
}

// DeliverAtLen is how many bytes [AppendDeliverAt] adds.
func DeliverAtLen(tenant, channel, payload []byte, pattern string) int {
	return 1 + 1 + positionBytes + 2 + len(tenant) + 2 + len(channel) + 4 + len(payload) + 2 + 2 + len(pattern)
}

// AppendDeliverAt appends the deliver frame of a stored message for the RSUB of a
// pattern (docs/protocol.md, Frames). After the position it is laid out as the one of
// [AppendDeliver] after its tag:
//
//	| 0x04 | u8 fields, here 0x01 | u64 epoch | u64 n | u64 t | u16 tenant length | …
//
// The names must be legal. It allocates nothing when dst has [DeliverAtLen] bytes of
// room.
func AppendDeliverAt(dst []byte, at Position, tenant, channel, payload []byte, pattern string) []byte {
	dst = append(dst, tagDeliver2, fieldPosition)
	dst = binary.BigEndian.AppendUint64(dst, at.Epoch)
	dst = binary.BigEndian.AppendUint64(dst, at.N)
	dst = binary.BigEndian.AppendUint64(dst, at.T)
	return appendDeliver(dst, tenant, channel, payload, pattern)
}

// appendDeliver appends what all deliver frames end with.
func appendDeliver(dst []byte, tenant, channel, payload []byte, patterns ...string) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(tenant)))
	dst = append(dst, tenant...)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(channel)))
	dst = append(dst, channel...)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(payload)))
	dst = append(dst, payload...)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(patterns)))
	for _, p := range patterns {
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(p)))
		dst = append(dst, p...)
	}
	return dst
}
