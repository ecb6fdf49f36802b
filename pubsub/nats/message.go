package nats

import (
	"encoding/binary"
	"fmt"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// version is the first byte of all that edges send each other, so that later versions
// can tell what they do not understand.
const version = 1

// withSender is a bit of the first byte of a message of a client: it says that who published
// it stands before the payload, as u8 length (1 to wire.MaxSender) and so many bytes. Without
// it, which is how earlier versions send all of them, the message has no sender.
const withSender = 0x80

// notOurs is why an edge refuses a message: it is of another version, or malformed, as what
// says.
func notOurs(b []byte, what error) error {
	if len(b) == 0 || b[0]&^withSender == version {
		return what
	}
	return versionError(int(b[0]))
}

func versionError(format int) error {
	return fmt.Errorf("it has format %d of messages between edges, and this edge knows format %d: one of the two has to be upgraded", format, version)
}

// body is what the message of a client ends with.
type body struct{ sender, payload []byte }

func bodyOf(m *pubsub.Message) body { return body{m.Sender, m.Payload} }

// version is the first byte of the message.
func (c body) version() byte {
	if len(c.sender) > 0 {
		return version | withSender
	}
	return version
}

func (c body) append(b []byte) []byte {
	if len(c.sender) > 0 {
		b = append(append(b, byte(len(c.sender))), c.sender...)
	}
	return append(b, c.payload...)
}

// splitBody reads the end of a message that has this first byte. The sender is checked: the
// other edge may not have done so.
func splitBody(first byte, b []byte) (c body, ok bool) {
	if first&withSender == 0 {
		return body{payload: b}, true
	}
	if len(b) == 0 || b[0] == 0 || len(b) < 1+int(b[0]) {
		return body{}, false
	}
	n := 1 + int(b[0])
	return body{b[1:n:n], b[n:]}, wire.IsSender(b[1:n])
}

// A broadcast is: version, u64 edge, u64 number, body.
const broadcastHeader = 1 + 8 + 8

func appendBroadcast(b []byte, from edgeID, number uint64, c body) []byte {
	b = append(b, c.version())
	b = binary.BigEndian.AppendUint64(b, uint64(from))
	b = binary.BigEndian.AppendUint64(b, number)
	return c.append(b)
}

func splitBroadcast(b []byte) (from edgeID, number uint64, c body, ok bool) {
	if len(b) < broadcastHeader || b[0]&^withSender != version {
		return 0, 0, body{}, false
	}
	if c, ok = splitBody(b[0], b[broadcastHeader:]); !ok {
		return 0, 0, body{}, false
	}
	return edgeID(binary.BigEndian.Uint64(b[1:])), binary.BigEndian.Uint64(b[9:]), c, true
}

// Any other message between edges is: version, a letter, and what belongs to the letter.
// All but kindMessage are control messages.
const (
	kindMessage = 'm' // for one connection: u8 delivery, u8 count, that many u64 edges that were tried, body
	kindQuery   = '?' // a query: u64 edge that asks whether the others have a subscriber for a channel
	kindYes     = 'y' // an answer: u64 edge that has one
	kindNo      = 'n' // an answer: u64 edge that has none
	kindFate    = 'f' // what became of a message for one connection; see fates.go
	kindMarker  = '#' // a marker behind what the edge has published to a tenant: u64 edge that asks, or answers; see catchup.go
)

// Messages beside those of clients; see asides.go.
const (
	kindPresence = 'p' // who is present
	kindNotice   = 't' // which tokens were changed
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

func appendOne(b []byte, delivery wire.Delivery, tried []edgeID, c body) []byte {
	b = append(b, c.version(), kindMessage, byte(delivery), byte(len(tried)))
	for _, id := range tried {
		b = binary.BigEndian.AppendUint64(b, uint64(id))
	}
	return c.append(b)
}

// splitOne reads what follows the letter in a message that has this first byte.
func splitOne(first byte, b []byte) (delivery wire.Delivery, tried []edgeID, c body, ok bool) {
	if len(b) < 2 || len(b) < 2+8*int(b[1]) {
		return 0, nil, body{}, false
	}
	delivery, n := wire.Delivery(b[0]), int(b[1])
	if delivery != wire.OneNearest && delivery != wire.OneRandom {
		return 0, nil, body{}, false
	}
	b = b[2:]
	for range n {
		tried = append(tried, edgeID(binary.BigEndian.Uint64(b)))
		b = b[8:]
	}
	if c, ok = splitBody(first, b); !ok {
		return 0, nil, body{}, false
	}
	return delivery, tried, c, true
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
