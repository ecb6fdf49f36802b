package badger

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/wire"
)

// The layout of the database; names have a u8 length before them, numbers are big-endian:
//
//	v                                    → u8 format of all this
//	e                                    → u64 epoch
//	o                                    → u8 closed, u8 sync, boot id: how the last process left it
//	h | history                          → u32 messages, u64 age, u64 size: the last limits
//	b | history                          → u64 n, u64 t: above all forgotten tenants, u64 t of the last open
//	d | history | tenant | u64 n         → u64 t, u16 channel length and flags, channel, payload;
//	                                       with the highest bit, the u64 length of the payload in
//	                                       its place; with the next bit, u8 sender length and sender
//	                                       before it
//	p | history | tenant | u64 n, u16 i  → a chunk of that payload
//	x                                    → nothing; only while memory is flushed
//	f | history | tenant                 → u64 n, u64 t of the head, the same of the floor, and of each open
//	g | history | tenant | channel       → u64 n, u64 t of the floor of a channel
//	k | history | tenant | 16 byte hash  → u64 n, u64 t: a key; expires
//	s | history                          → u64 since, print: its scope
//	i | history | tenant                 → its owner; versions that do not know this leave it
const (
	kindFormat       = 'v'
	kindEpoch        = 'e'
	kindOpen         = 'o'
	kindHistory      = 'h'
	kindBase         = 'b'
	kindMessage      = 'd'
	kindChunk        = 'p'
	kindFlush        = 'x'
	kindTenant       = 'f'
	kindChannelFloor = 'g'
	kindKey          = 'k'
	kindScope        = 's'
	kindOwner        = 'i'
)

var errLayout = errors.New("a record is not of this version")

func key(kind byte, names ...string) []byte {
	k := []byte{kind}
	for _, name := range names {
		k = append(append(k, byte(len(name))), name...)
	}
	return k
}

func messageKey(name, tenant string, n uint64) []byte {
	return binary.BigEndian.AppendUint64(key(kindMessage, name, tenant), n)
}

// channelFloorKey has the channel at its end without a length, which may be 256.
func channelFloorKey(name, tenant, channel string) []byte {
	return append(key(kindChannelFloor, name, tenant), channel...)
}

func hashedKey(name, tenant string, hash index.KeyHash) []byte {
	return append(key(kindKey, name, tenant), hash[:]...)
}

// cutName takes a name and its length off the front of a key.
func cutName(k []byte) (name string, rest []byte, err error) {
	if len(k) == 0 || len(k) < 1+int(k[0]) {
		return "", nil, errLayout
	}
	n := 1 + int(k[0])
	return string(k[1:n]), k[n:], nil
}

// cutNames takes a history and a tenant off the front of a key, behind its kind.
func cutNames(k []byte) (name, tenant string, rest []byte, err error) {
	if name, rest, err = cutName(k[1:]); err == nil {
		tenant, rest, err = cutName(rest)
	}
	return name, tenant, rest, err
}

func appendPlace(b []byte, p wire.Position) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, p.N), p.T)
}

func cutPlace(b []byte, epoch uint64) (p wire.Position, rest []byte, err error) {
	if len(b) < 16 {
		return p, nil, errLayout
	}
	return wire.Position{Epoch: epoch, N: binary.BigEndian.Uint64(b), T: binary.BigEndian.Uint64(b[8:])}, b[16:], nil
}

// Bits of the channel's length.
const (
	inChunks  = 1 << 15 // the payload is in chunks
	hasSender = 1 << 14 // a sender stands behind the channel
)

// storedMessage is what is stored of a message beside its key.
type storedMessage struct {
	t               uint64
	channel, sender []byte
	payload         []byte // decoded: nil if it is in chunks
	size            int    // of the payload
}

func encodeMessage(r storedMessage) []byte {
	v := make([]byte, 0, 8+2+len(r.channel)+1+len(r.sender)+min(len(r.payload), chunkBytes)+8)
	v = binary.BigEndian.AppendUint64(v, r.t)
	length := uint16(len(r.channel))
	if chunks(len(r.payload)) > 0 {
		length |= inChunks
	}
	if len(r.sender) > 0 {
		length |= hasSender
	}
	v = append(binary.BigEndian.AppendUint16(v, length), r.channel...)
	if len(r.sender) > 0 {
		v = append(append(v, byte(len(r.sender))), r.sender...)
	}
	if length&inChunks != 0 {
		return binary.BigEndian.AppendUint64(v, uint64(len(r.payload)))
	}
	return append(v, r.payload...)
}

// decodeMessage splits the record of a message, whose bytes it keeps.
func decodeMessage(v []byte) (r storedMessage, err error) {
	if len(v) < 10 {
		return storedMessage{}, errLayout
	}
	length := binary.BigEndian.Uint16(v[8:])
	n := 10 + int(length&^(inChunks|hasSender))
	if len(v) < n {
		return storedMessage{}, errLayout
	}
	r.t, r.channel, r.payload = binary.BigEndian.Uint64(v), v[10:n], v[n:]
	if length&hasSender != 0 {
		if len(r.payload) == 0 || len(r.payload) < 1+int(r.payload[0]) {
			return storedMessage{}, errLayout
		}
		n := 1 + int(r.payload[0])
		if r.sender, r.payload = r.payload[1:n], r.payload[n:]; !wire.IsSender(r.sender) {
			return storedMessage{}, errLayout
		}
	}
	if r.size = len(r.payload); length&inChunks == 0 {
		return r, nil
	}
	if r.size != 8 || binary.BigEndian.Uint64(r.payload) > maxPayload {
		return storedMessage{}, errLayout
	}
	r.payload, r.size = nil, int(binary.BigEndian.Uint64(r.payload))
	return r, nil
}

// maxPayload bounds what is allocated for a broken record.
const maxPayload = 1 << 30

func encodeLimits(l history.Limits) []byte {
	v := binary.BigEndian.AppendUint32(nil, uint32(l.Messages))
	v = binary.BigEndian.AppendUint64(v, uint64(l.Age))
	return binary.BigEndian.AppendUint64(v, uint64(l.Size))
}

func decodeLimits(v []byte) (l history.Limits, err error) {
	if len(v) != 20 {
		return l, errLayout
	}
	return history.Limits{
		Messages: int(binary.BigEndian.Uint32(v)),
		Age:      time.Duration(binary.BigEndian.Uint64(v[4:])),
		Size:     int64(binary.BigEndian.Uint64(v[12:])),
	}, nil
}
