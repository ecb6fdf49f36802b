package wire

import (
	"encoding/binary"
	"strconv"
)

// Deliver is a deliver frame. Decoded byte slices alias the frame and are
// read-only; the patterns are copies.
type Deliver struct {
	Tenant    []byte
	Channel   []byte
	Payload   []byte   // opaque, possibly empty
	Patterns  []string // the matching subscriptions as sent in SUB or RSUB, at least one
	Stored    bool     // it has a Position, and is for the one RSUB with its one pattern
	Position  Position // of the message in its history
	HasSender bool     // it says whose token published: the client has turned on FeatureSender
	Sender    []byte   // the subject of that token, up to MaxSender bytes of UTF-8; empty: it has none
	ToOne     bool     // it was published to one connection, and took credit: the client has turned on FeatureWorkQueue
	Own       bool     // this connection has published it: the client has turned on FeatureOwn
	Key       []byte   // if Own: the key of the publish, up to MaxKey bytes; empty: it had none
}

// The bits of the byte after the tag 0x04. A bit says that a field is there.
const (
	fieldPosition = 1 << 0 // u64 epoch, u64 n, u64 t
	fieldSender   = 1 << 1 // u8 length, the subject
	fieldToOne    = 1 << 2 // no bytes
	fieldOwn      = 1 << 3 // u8 length, the key
	knownFields   = fieldPosition | fieldSender | fieldToOne | fieldOwn
)

// positionBytes is the size of a position in a frame.
const positionBytes = 3 * 8

var (
	errDeliverUnknown = &Error{CodeBadFrame, "a deliver frame starts with 0x01, or with 0x04 and known fields"}
	errDeliverFields  = &Error{CodeBadFrame, "a deliver frame that starts with 0x04 has at least one field"}
	errDeliverPattern = &Error{CodeBadFrame, "a deliver frame has at least one pattern, and with a position exactly one"}
	errDeliverSender  = &Error{CodeBadFrame, "a sender has at most " + strconv.Itoa(MaxSender) + " bytes"}
	errDeliverEnd     = &Error{CodeBadFrame, "bytes follow the last pattern"}
)

// IsUnknownFrame reports whether a frame of an edge is of a later version: its tag, or
// one of its fields, is unknown to this version. Clients ignore such a frame
// (docs/protocol.md, Frames); [DecodeDeliver] and [DecodePresence] fail.
func IsUnknownFrame(b []byte) bool {
	switch {
	case len(b) == 0 || b[0] == tagDeliver:
		return false
	case b[0] == tagDeliver2:
		return len(b) > 1 && b[1]&^knownFields != 0
	case b[0] == tagPresence:
		return len(b) > 1 && b[1]&^knownPresence != 0
	default:
		return true
	}
}

// DecodeDeliver splits a deliver frame, laid out as [AppendDeliver] or
// [AppendDeliverFields] says. It does not look at names, nor whether the sender is UTF-8. The error is an [Error] that is
// [ErrBadFrame]. What it allocates for a frame, broken or not, stays in proportion
// to its length.
func DecodeDeliver(b []byte) (Deliver, error) {
	switch {
	case len(b) == 0:
		return Deliver{}, errFrameEmpty
	case IsUnknownFrame(b) || IsPresence(b):
		return Deliver{}, errDeliverUnknown
	}
	var d Deliver
	var ok bool
	tag, b := b[0], b[1:]
	if tag == tagDeliver2 {
		var err error
		if b, err = d.cutFields(b); err != nil {
			return Deliver{}, err
		}
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
func (d *Deliver) cutFields(b []byte) (rest []byte, err error) {
	switch {
	case len(b) == 0:
		return nil, errFrameShort
	case b[0] == 0:
		return nil, errDeliverFields
	}
	fields, b := b[0], b[1:]
	if fields&fieldPosition != 0 {
		if len(b) < positionBytes {
			return nil, errFrameShort
		}
		d.Stored = true
		d.Position = Position{
			Epoch: binary.BigEndian.Uint64(b), N: binary.BigEndian.Uint64(b[8:]), T: binary.BigEndian.Uint64(b[16:]),
		}
		b = b[positionBytes:]
	}
	if fields&fieldSender != 0 {
		if len(b) == 0 {
			return nil, errFrameShort
		}
		n := int(b[0])
		switch b = b[1:]; {
		case n > MaxSender:
			return nil, errDeliverSender
		case len(b) < n:
			return nil, errFrameShort
		}
		d.HasSender, d.Sender, b = true, b[:n:n], b[n:]
	}
	d.ToOne = fields&fieldToOne != 0
	if fields&fieldOwn != 0 {
		if len(b) == 0 {
			return nil, errFrameShort
		}
		n := int(b[0])
		switch b = b[1:]; {
		case n > MaxKey:
			return nil, errFrameKey
		case len(b) < n:
			return nil, errFrameShort
		}
		d.Own, d.Key, b = true, b[:n:n], b[n:]
	}
	return b, nil
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
	return appendDeliver(append(dst, tagDeliver), tenant, channel, payload, patterns)
}

// DeliverFieldsLen is how many bytes [AppendDeliverFields] adds.
func DeliverFieldsLen(d *Deliver) int {
	n := DeliverLen(d.Tenant, d.Channel, d.Payload, d.Patterns) + 1
	if d.Stored {
		n += positionBytes
	}
	if d.HasSender {
		n += 1 + len(d.Sender)
	}
	if d.Own {
		n += 1 + len(d.Key)
	}
	return n
}

// AppendDeliverFields appends a deliver frame with the fields that d has, at least one
// (docs/protocol.md, Frames). After them it is laid out as the
// one of [AppendDeliver] after its tag:
//
//	| 0x04 | u8 fields | with bit 0: u64 epoch | u64 n | u64 t |
//	| with bit 1: u8 sender length | sender | bit 2 has no bytes |
//	| with bit 3: u8 key length | key | u16 tenant length | …
//
// The names must be legal, the sender must have at most [MaxSender] bytes, and the key [MaxKey]. It
// allocates nothing when dst has [DeliverFieldsLen] bytes of room.
func AppendDeliverFields(dst []byte, d *Deliver) []byte {
	dst = append(dst, tagDeliver2, d.fields())
	if d.Stored {
		dst = binary.BigEndian.AppendUint64(dst, d.Position.Epoch)
		dst = binary.BigEndian.AppendUint64(dst, d.Position.N)
		dst = binary.BigEndian.AppendUint64(dst, d.Position.T)
	}
	if d.HasSender {
		dst = append(append(dst, byte(len(d.Sender))), d.Sender...)
	}
	if d.Own {
		dst = append(append(dst, byte(len(d.Key))), d.Key...)
	}
	return appendDeliver(dst, d.Tenant, d.Channel, d.Payload, d.Patterns)
}

// fields is the byte that says which fields are there.
func (d *Deliver) fields() (bits byte) {
	if d.Stored {
		bits |= fieldPosition
	}
	if d.HasSender {
		bits |= fieldSender
	}
	if d.ToOne {
		bits |= fieldToOne
	}
	if d.Own {
		bits |= fieldOwn
	}
	return bits
}

// appendDeliver appends what all deliver frames end with.
func appendDeliver(dst []byte, tenant, channel, payload []byte, patterns []string) []byte {
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
