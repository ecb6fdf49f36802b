package nats

import (
	"encoding/binary"
	"fmt"

	"github.com/millrace/millrace/wire"
)

// version is the first byte of all that edges send each other, so that later versions
// can tell what they do not understand.
const version = 1

// notOurs is why an edge refuses a message: it is of another version, or malformed, as what
// says.
func notOurs(b []byte, what error) error {
	if len(b) == 0 || b[0] == version {
		return what
	}
	return versionError(int(b[0]))
}

func versionError(format int) error {
	return fmt.Errorf("it has format %d of messages between edges, and this edge knows format %d: one of the two has to be upgraded", format, version)
}

// A broadcast is: version, u64 edge, u64 number, payload.
const broadcastHeader = 1 + 8 + 8

func appendBroadcast(b []byte, from edgeID, number uint64, payload []byte) []byte {
	b = append(b, version)
	b = binary.BigEndian.AppendUint64(b, uint64(from))
	b = binary.BigEndian.AppendUint64(b, number)
	return append(b, payload...)
}

func splitBroadcast(b []byte) (from edgeID, number uint64, payload []byte, ok bool) {
	if len(b) < broadcastHeader || b[0] != version {
		return 0, 0, nil, false
	}
	return edgeID(binary.BigEndian.Uint64(b[1:])), binary.BigEndian.Uint64(b[9:]), b[broadcastHeader:], true
}

// Any other message between edges is: version, a letter, and what belongs to the letter.
// All but kindMessage are control messages.
const (
	kindMessage = 'm' // for one connection: u8 delivery, u8 count, that many u64 edges that were tried, payload
	kindQuery   = '?' // a query: u64 edge that asks whether the others have a subscriber for a channel
	kindYes     = 'y' // an answer: u64 edge that has one
	kindNo      = 'n' // an answer: u64 edge that has none
	kindMarker  = '#' // a marker behind what the edge has published to a tenant: u64 edge that asks, or answers; see catchup.go
)

// What edges ask each other for their operators, and answer; see answers.go.
const (
	kindRequest  = 'r'
	kindAnswer   = 'a'
	kindBusy     = 'b' // no answer: the edge has more to answer than it takes
	kindRefused  = 'x' // no answer: the edge answers nobody, or stops
	kindTooLarge = 'l' // no answer: it would be too large
)

// maxTried is how many edges that were tried a message can name.
const maxTried = 255

func appendOne(b []byte, delivery wire.Delivery, tried []edgeID, payload []byte) []byte {
	b = append(b, version, kindMessage, byte(delivery), byte(len(tried)))
	for _, id := range tried {
		b = binary.BigEndian.AppendUint64(b, uint64(id))
	}
	return append(b, payload...)
}

// splitOne reads what follows the letter.
func splitOne(b []byte) (delivery wire.Delivery, tried []edgeID, payload []byte, ok bool) {
	if len(b) < 2 || len(b) < 2+8*int(b[1]) {
		return 0, nil, nil, false
	}
	delivery, n := wire.Delivery(b[0]), int(b[1])
	if delivery != wire.OneNearest && delivery != wire.OneRandom {
		return 0, nil, nil, false
	}
	b = b[2:]
	for range n {
		tried = append(tried, edgeID(binary.BigEndian.Uint64(b)))
		b = b[8:]
	}
	return delivery, tried, b, true
}

func appendControl(b []byte, kind byte, from edgeID) []byte {
	return binary.BigEndian.AppendUint64(append(b, version, kind), uint64(from))
}

// splitControl reads what follows the letter.
func splitControl(b []byte) (from edgeID, ok bool) {
	if len(b) != 8 {
		return 0, false
	}
	return edgeID(binary.BigEndian.Uint64(b)), true
}
