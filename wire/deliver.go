package wire

import "encoding/binary"

// Deliver is a deliver frame. Decoded byte slices alias the frame and are
// read-only; the patterns are copies.
type Deliver struct {
	Tenant   []byte
	Channel  []byte
	Payload  []byte   // opaque, possibly empty
	Patterns []string // the matching subscriptions as sent in SUB, at least one
}

var (
	errDeliverTag     = &Error{CodeBadFrame, "a deliver frame starts with 0x01"}
	errDeliverPattern = &Error{CodeBadFrame, "a deliver frame has at least one pattern"}
	errDeliverEnd     = &Error{CodeBadFrame, "bytes follow the last pattern"}
)

// DecodeDeliver splits a deliver frame, laid out as [AppendDeliver] says. It
// does not look at names. The error is an [Error] that is [ErrBadFrame]. What
// it allocates for a frame, broken or not, stays in proportion to its length.
func DecodeDeliver(b []byte) (Deliver, error) {
	if len(b) == 0 {
		return Deliver{}, errFrameEmpty
	}
	if b[0] != tagDeliver {
		return Deliver{}, errDeliverTag
	}
	var d Deliver
	var ok bool
	if d.Tenant, b, ok = cut16(b[1:]); !ok {
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
	if count == 0 {
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
	dst = append(dst, tagDeliver)
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
