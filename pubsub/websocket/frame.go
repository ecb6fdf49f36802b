package websocket

import "encoding/binary"

// Opcodes of RFC 6455, section 5.2.
const (
	opContinuation = 0x0
	opText         = 0x1
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xA
)

const (
	finBit       = 0x80
	reservedBits = 0x70
	opcodeBits   = 0x0F
	maskBit      = 0x80
	lengthBits   = 0x7F

	maxControl = 125 // bytes of a control frame's payload
	maxHeader  = 14
)

const longLength = "the length is not written in as few bytes as possible"

// header is the start of a frame (RFC 6455, section 5.2):
//
//	| fin, 3 reserved bits, 4 opcode | mask bit, 7 length | u16 or u64 length | 4 mask key |
type header struct {
	fin    bool
	opcode byte
	length uint64
	key    uint32 // little endian
}

// parseHeader reads a client's frame header. size 0 asks for more bytes; a
// non-empty breach says what rule the client broke.
func parseHeader(b []byte) (h header, size int, breach string) {
	if len(b) < 2 {
		return h, 0, ""
	}
	h.fin, h.opcode = b[0]&finBit != 0, b[0]&opcodeBits
	switch {
	case b[0]&reservedBits != 0:
		return h, 0, "reserved bits are set"
	case b[1]&maskBit == 0:
		return h, 0, "frames from a client must be masked"
	case h.opcode > opBinary && h.opcode < opClose, h.opcode > opPong:
		return h, 0, "unknown opcode"
	}
	h.length, size = uint64(b[1]&lengthBits), 2
	if h.opcode >= opClose && (h.length > maxControl || !h.fin) {
		return h, 0, "control frames are unfragmented and at most 125 bytes"
	}
	switch h.length {
	case 126:
		if len(b) < 4 {
			return h, 0, ""
		}
		h.length, size = uint64(binary.BigEndian.Uint16(b[2:])), 4
		if h.length < 126 {
			return h, 0, longLength
		}
	case 127:
		if len(b) < 10 {
			return h, 0, ""
		}
		h.length, size = binary.BigEndian.Uint64(b[2:]), 10
		if h.length>>63 != 0 {
			return h, 0, "the length's highest bit is set"
		}
		if h.length < 1<<16 {
			return h, 0, longLength
		}
	}
	if len(b) < size+4 {
		return h, 0, ""
	}
	h.key = binary.LittleEndian.Uint32(b[size:])
	return h, size + 4, ""
}

// unmask undoes the client's masking in place (RFC 6455, section 5.3).
func unmask(b []byte, key uint32) {
	k := uint64(key) | uint64(key)<<32
	for len(b) >= 32 { // a third of the time that single words take
		p := (*[32]byte)(b)
		binary.LittleEndian.PutUint64(p[0:], binary.LittleEndian.Uint64(p[0:])^k)
		binary.LittleEndian.PutUint64(p[8:], binary.LittleEndian.Uint64(p[8:])^k)
		binary.LittleEndian.PutUint64(p[16:], binary.LittleEndian.Uint64(p[16:])^k)
		binary.LittleEndian.PutUint64(p[24:], binary.LittleEndian.Uint64(p[24:])^k)
		b = b[32:]
	}
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^k)
		b = b[8:]
	}
	for i := range b {
		b[i] ^= byte(k)
		k >>= 8
	}
}

// appendFrame appends an unfragmented frame as a server sends it: unmasked.
func appendFrame(dst []byte, opcode byte, payload []byte) []byte {
	dst = append(dst, finBit|opcode)
	switch n := len(payload); {
	case n < 126:
		dst = append(dst, byte(n))
	case n < 1<<16:
		dst = binary.BigEndian.AppendUint16(append(dst, 126), uint16(n))
	default:
		dst = binary.BigEndian.AppendUint64(append(dst, 127), uint64(n))
	}
	return append(dst, payload...)
}

// appendClose appends a close frame (RFC 6455, section 5.5.1). Without a code
// it is empty; a reason that does not fit is cut.
func appendClose(dst []byte, code uint16, reason string) []byte {
	if code == 0 || code == statusNone {
		return appendFrame(dst, opClose, nil)
	}
	payload := append(binary.BigEndian.AppendUint16(nil, code), reason[:min(len(reason), maxControl-2)]...)
	return appendFrame(dst, opClose, payload)
}

// statusNone stands for a close frame without a code (RFC 6455, section 7.4.1).
const statusNone = 1005

// validClose says whether a client may send this close code.
func validClose(code uint16) bool {
	return code >= 1000 && code <= 1003 || code >= 1007 && code <= 1014 || code >= 3000 && code <= 4999
}
