package peer

import (
	"encoding/binary"
	"math/rand/v2"
)

// Opcodes of frames, RFC 6455 section 5.2.
const (
	opText   = 0x1
	opBinary = 0x2
	opClose  = 0x8
	opPing   = 0x9
	opPong   = 0xA
)

// frame is a frame of the server, whose content is not masked. The end of a
// fragmented message is not kept: the protocols here need no messages, or send
// each in one frame.
type frame struct {
	op      byte
	content []byte
}

// parseFrame returns the first frame of data and its length there; 0: it is
// not complete.
func parseFrame(data []byte) (frame, int) {
	if len(data) < 2 {
		return frame{}, 0
	}
	head, length := 2, int(data[1]&0x7f)
	switch length {
	case 126:
		if len(data) < 4 {
			return frame{}, 0
		}
		head, length = 4, int(binary.BigEndian.Uint16(data[2:]))
	case 127:
		if len(data) < 10 {
			return frame{}, 0
		}
		// More than a reader takes is never complete.
		head, length = 10, int(min(binary.BigEndian.Uint64(data[2:]), longestRead))
	}
	if len(data) < head+length {
		return frame{}, 0
	}
	return frame{op: data[0] & 0x0f, content: data[head : head+length]}, head + length
}

func complete(data []byte) bool {
	_, n := parseFrame(data)
	return n > 0
}

// appendFrame appends a masked frame with the parts as its content.
func appendFrame(dst []byte, op byte, parts ...[]byte) []byte {
	length := 0
	for _, p := range parts {
		length += len(p)
	}
	dst = append(dst, 0x80|op)
	switch {
	case length < 126:
		dst = append(dst, 0x80|byte(length))
	case length < 1<<16:
		dst = binary.BigEndian.AppendUint16(append(dst, 0x80|126), uint16(length))
	default:
		dst = binary.BigEndian.AppendUint64(append(dst, 0x80|127), uint64(length))
	}
	mask := binary.BigEndian.AppendUint32(nil, rand.Uint32())
	dst = append(dst, mask...)
	at := len(dst)
	for _, p := range parts {
		dst = append(dst, p...)
	}
	for i := range dst[at:] {
		dst[at+i] ^= mask[i&3]
	}
	return dst
}
