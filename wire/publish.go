package wire

import (
	"encoding/binary"
	"strconv"
)

// Delivery says how many subscribers get a publish (docs/protocol.md, Frames).
type Delivery uint8

// The values of the delivery byte. With no subscriber all three do nothing.
const (
	Broadcast  Delivery = 0 // every matching connection on every edge
	OneNearest Delivery = 1 // one connection: of this edge if it has any, otherwise of the nearest edge that has
	OneRandom  Delivery = 2 // one connection of any edge that has one, drawn at random
)

// String returns the name that logs and the command line use.
func (d Delivery) String() string {
	switch d {
	case Broadcast:
		return "broadcast"
	case OneNearest:
		return "one-nearest"
	case OneRandom:
		return "one-random"
	default:
		return "Delivery(" + strconv.Itoa(int(d)) + ")"
	}
}

// The first bytes of frames. A tenant is shorter than 256 bytes, so the first
// byte of a version 1 publish, which has no tag, is always zero.
const (
	tagPublish1 = 0x00 // | u16 tenant length | tenant | u16 channel length | channel | payload … |
	tagDeliver  = 0x01 // see AppendDeliver
	tagPublish2 = 0x02 // | 0x02 | u8 delivery | u16 tenant length | tenant | u16 channel length | channel | payload … |
	tagPublish3 = 0x03 // | 0x03 | u8 delivery | u32 id | u8 key length | key | u16 tenant length | tenant | u16 channel length | channel | payload … |
	tagDeliver2 = 0x04 // see AppendDeliverFields
	tagPresence = 0x05 // see AppendPresence
)

// MaxKey is how many bytes the key of a publish may have.
const MaxKey = 64

// Publish is a publish frame. Decoded slices alias the frame and are read-only.
type Publish struct {
	Delivery Delivery
	Tagged   bool   // version 2; version 1 is always a Broadcast
	Confirm  bool   // version 3, of the features history and work_queue: the edge answers with the ID
	ID       uint32 // of version 3: what the publisher knows it by
	Key      []byte // of version 3: any 0 to MaxKey bytes; what has the same is stored once
	Tenant   []byte // as sent: an empty one is not yet DefaultTenant
	Channel  []byte
	Payload  []byte // opaque, possibly empty
}

var (
	errFrameEmpty    = &Error{CodeBadFrame, "the frame is empty"}
	errFrameShort    = &Error{CodeBadFrame, "the frame ends within a length or before the bytes that a length announces"}
	errFrameTag      = &Error{CodeBadFrame, "a publish frame starts with 0x00 (version 1, tenant length below 256), 0x02 (version 2) or 0x03 (version 3)"}
	errFrameDelivery = &Error{CodeBadFrame, "the delivery byte is 0, 1 or 2"}
	errFrameKey      = &Error{CodeBadFrame, "a key has at most " + strconv.Itoa(MaxKey) + " bytes"}
)

// DecodePublish splits a publish frame of any version (docs/protocol.md, Frames).
// It does not look at names. Version 3 is a frame here whatever the edge has: one
// without histories answers it with bad_frame, unless the client has turned on the feature work_queue. The error is an [Error] that is
// [ErrBadFrame]. It allocates nothing.
func DecodePublish(b []byte) (Publish, error) {
	if len(b) == 0 {
		return Publish{}, errFrameEmpty
	}
	var p Publish
	switch b[0] {
	case tagPublish1:
	case tagPublish2:
		if len(b) < 2 {
			return Publish{}, errFrameShort
		}
		if b[1] > byte(OneRandom) {
			return Publish{}, errFrameDelivery
		}
		p.Tagged, p.Delivery = true, Delivery(b[1])
		b = b[2:]
	case tagPublish3:
		var err error
		if p, b, err = cutPublish3(b[1:]); err != nil {
			return Publish{}, err
		}
	default:
		return Publish{}, errFrameTag
	}
	var ok bool
	if p.Tenant, b, ok = cut16(b); !ok {
		return Publish{}, errFrameShort
	}
	if p.Channel, p.Payload, ok = cut16(b); !ok {
		return Publish{}, errFrameShort
	}
	return p, nil
}

// cutPublish3 takes what version 3 has before the names off the front of b.
func cutPublish3(b []byte) (p Publish, rest []byte, err error) {
	const beforeKey = 1 + 4 + 1
	switch {
	case len(b) < beforeKey:
		return Publish{}, nil, errFrameShort
	case b[0] > byte(OneRandom):
		return Publish{}, nil, errFrameDelivery
	case b[5] > MaxKey:
		return Publish{}, nil, errFrameKey
	}
	end := beforeKey + int(b[5])
	if len(b) < end {
		return Publish{}, nil, errFrameShort
	}
	p = Publish{Confirm: true, Delivery: Delivery(b[0]), ID: binary.BigEndian.Uint32(b[1:]), Key: b[beforeKey:end:end]}
	return p, b[end:], nil
}

// cut16 takes a field and the u16 length before it off the front of b.
func cut16(b []byte) (field, rest []byte, ok bool) {
	if len(b) < 2 {
		return nil, nil, false
	}
	n := int(binary.BigEndian.Uint16(b))
	b = b[2:]
	if len(b) < n {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}

// PublishLen is how many bytes [AppendPublish] adds.
func PublishLen(p Publish) int {
	n := 2 + len(p.Tenant) + 2 + len(p.Channel) + len(p.Payload)
	switch p.Version() {
	case 2:
		n += 2
	case 3:
		n += 2 + 4 + 1 + len(p.Key)
	}
	return n
}

// AppendPublish appends the frame of [Publish.Version]. The names must be legal, the
// tenant may also be empty, and the key must have at most [MaxKey] bytes; other
// lengths make a frame that says something else.
func AppendPublish(dst []byte, p Publish) []byte {
	switch p.Version() {
	case 2:
		dst = append(dst, tagPublish2, byte(p.Delivery))
	case 3:
		dst = append(dst, tagPublish3, byte(p.Delivery))
		dst = binary.BigEndian.AppendUint32(dst, p.ID)
		dst = append(append(dst, byte(len(p.Key))), p.Key...)
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(p.Tenant)))
	dst = append(dst, p.Tenant...)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(p.Channel)))
	dst = append(dst, p.Channel...)
	return append(dst, p.Payload...)
}

// Version is the version of the frame that says all of p: 3 if the edge is to answer,
// 2 if p is tagged or is no broadcast, which version 1 cannot express, else 1.
func (p Publish) Version() int {
	switch {
	case p.Confirm:
		return 3
	case p.Tagged || p.Delivery != Broadcast:
		return 2
	default:
		return 1
	}
}
