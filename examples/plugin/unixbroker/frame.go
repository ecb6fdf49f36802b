package unixbroker

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// The kinds of frames, and what their bodies are.
const (
	kindHello       = 1 // | u8 version | u64 edge |
	kindSubscribe   = 2 // | u8 length | tenant | pattern |
	kindUnsubscribe = 3 // | u8 length | tenant | pattern |
	kindSync        = 4 // | u64 number |, answered by kindSynced
	kindSynced      = 5 // | u64 number |: what came before that kindSync is in effect
	kindMessage     = 6 // see appendMessage
	kindPing        = 7 // empty
	kindLeave       = 8 // empty: send me nothing more; answered by kindLeft
	kindLeft        = 9 // empty: no message follows
)

const (
	version = 1
	// maxFrame bounds what a peer may send: the largest payload that an edge can allow,
	// and room for the rest.
	maxFrame = 16<<20 + 4<<10
)

var errFrame = errors.New("malformed frame")

// edgeID identifies an edge from New to Close. Others never have it.
type edgeID uint64

func (id edgeID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

func parseEdgeID(text string) (edgeID, bool) {
	n, err := strconv.ParseUint(text, 16, 64)
	return edgeID(n), err == nil && edgeID(n).String() == text
}

// appendFrame appends a frame whose body has these parts.
func appendFrame(dst []byte, kind byte, body ...[]byte) []byte {
	size := 1
	for _, part := range body {
		size += len(part)
	}
	dst = append(binary.BigEndian.AppendUint32(dst, uint32(size)), kind)
	for _, part := range body {
		dst = append(dst, part...)
	}
	return dst
}

func appendNumber(dst []byte, kind byte, n uint64) []byte {
	return appendFrame(dst, kind, binary.BigEndian.AppendUint64(nil, n))
}

func decodeNumber(body []byte) (uint64, error) {
	if len(body) != 8 {
		return 0, errFrame
	}
	return binary.BigEndian.Uint64(body), nil
}

func appendHello(dst []byte, id edgeID) []byte {
	return appendFrame(dst, kindHello, binary.BigEndian.AppendUint64([]byte{version}, uint64(id)))
}

func decodeHello(kind byte, body []byte) (edgeID, error) {
	if kind != kindHello || len(body) == 0 {
		return 0, errFrame
	}
	if body[0] != version {
		return 0, fmt.Errorf("the other edge speaks version %d, this one %d", body[0], version)
	}
	n, err := decodeNumber(body[1:])
	return edgeID(n), err
}

func appendInterest(dst []byte, kind byte, in interest) []byte {
	return appendFrame(dst, kind, []byte{byte(len(in.tenant))}, []byte(in.tenant), []byte(in.pattern))
}

func decodeInterest(body []byte) (interest, error) {
	tenant, text, ok := cut(body, 1)
	if !ok || wire.CheckTenant(tenant) != nil {
		return interest{}, errFrame
	}
	return interest{string(tenant), string(text)}, nil
}

// search is what a message for one connection carries: how far the search for an edge
// that takes it has come.
type search struct {
	tried   []edgeID // in this round
	full    bool     // an edge has subscribers without room
	leaving bool     // an edge has subscribers that were told to leave
	last    bool     // the second round, for those alone
}

// The bits of a search.
const (
	bitFull    = 1
	bitLeaving = 2
	bitLast    = 4
)

func (s search) bits() (bits byte) {
	if s.full {
		bits |= bitFull
	}
	if s.leaving {
		bits |= bitLeaving
	}
	if s.last {
		bits |= bitLast
	}
	return bits
}

// appendMessage appends
//
//	| u8 delivery | u8 bits | u8 edges | tried: u64 each | u8 length | tenant | u16 length | channel | u8 length | sender | payload |
func appendMessage(dst []byte, m *pubsub.Message, s search) []byte {
	head := []byte{byte(m.Delivery), s.bits(), byte(len(s.tried))}
	for _, id := range s.tried {
		head = binary.BigEndian.AppendUint64(head, uint64(id))
	}
	head = append(append(head, byte(len(m.Tenant))), m.Tenant...)
	head = append(binary.BigEndian.AppendUint16(head, uint16(len(m.Channel))), m.Channel...)
	head = append(append(head, byte(len(m.Sender))), m.Sender...)
	return appendFrame(dst, kindMessage, head, m.Payload)
}

// decodeMessage returns slices of the body. It does not look at names.
func decodeMessage(body []byte) (m pubsub.Message, s search, err error) {
	if len(body) < 3 || body[0] > byte(wire.OneRandom) || body[1] > bitFull|bitLeaving|bitLast {
		return m, s, errFrame
	}
	m.Delivery = wire.Delivery(body[0])
	s.full, s.leaving, s.last = body[1]&bitFull != 0, body[1]&bitLeaving != 0, body[1]&bitLast != 0
	n, body := int(body[2]), body[3:]
	if n > maxPeers+1 || len(body) < 8*n {
		return m, s, errFrame
	}
	for id := range slices.Chunk(body[:8*n], 8) {
		s.tried = append(s.tried, edgeID(binary.BigEndian.Uint64(id)))
	}
	var ok bool
	if m.Tenant, body, ok = cut(body[8*n:], 1); !ok {
		return m, s, errFrame
	}
	if m.Channel, body, ok = cut(body, 2); !ok {
		return m, s, errFrame
	}
	if m.Sender, m.Payload, ok = cut(body, 1); !ok {
		return m, s, errFrame
	}
	return m, s, nil
}

// cut takes a field off the front of b, and its length before it, which has size bytes.
func cut(b []byte, size int) (field, rest []byte, ok bool) {
	if len(b) < size {
		return nil, nil, false
	}
	n := 0
	for _, digit := range b[:size] {
		n = n<<8 | int(digit)
	}
	if b = b[size:]; len(b) < n {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}

// readFrame reads a frame into buf, which it grows. The body is valid until the next
// call.
func readFrame(r *bufio.Reader, buf *[]byte) (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n < 1 || n > maxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes: must have 1 to %d", n, maxFrame)
	}
	*buf = slices.Grow((*buf)[:0], int(n-1))[:n-1]
	_, err = io.ReadFull(r, *buf)
	return head[4], *buf, err
}
