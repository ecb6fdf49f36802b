package client

import (
	"bytes"
	"encoding/binary"

	"github.com/millrace/millrace/wire"
)

// delivery is a deliver frame. The payload aliases the frame; the strings and
// the list of patterns are shared by all deliveries that have the same.
type delivery struct {
	tenant, channel string
	patterns        []string
	payload         []byte
	sender          string
	stored          bool // it has a position, and is for the one RSUB of its pattern
	position        wire.Position
	late            bool // never set by the decoder
}

// decoder splits deliver frames. It does what [wire.DecodeDeliver] does, and the
// same vectors test it, but remembers names, so that a frame costs no memory.
// For one goroutine.
type decoder struct {
	d                delivery
	tenants, channel names
	senders          names
	lastList         []byte              // the bytes of d.patterns
	lists            map[string][]string // by their bytes
}

// maxNames bounds what a decoder remembers. Beyond it, it starts anew.
const maxNames = 1024

func newDecoder() *decoder {
	return &decoder{tenants: names{}, channel: names{}, senders: names{}, lists: map[string][]string{}}
}

// names finds the string of bytes that have come before.
type names map[string]string

func (n names) get(b []byte, last string) string {
	if string(b) == last { // compares, does not convert
		return last
	}
	if s, ok := n[string(b)]; ok {
		return s
	}
	if len(n) >= maxNames {
		clear(n)
	}
	s := string(b)
	n[s] = s
	return s
}

// decode returns what is good until the next call.
func (dec *decoder) decode(frame []byte) (*delivery, error) {
	position, sender, rest, stored := cutFields(frame)
	tenant, channel, payload, list, ok := splitDeliver(rest)
	if !ok || stored && !isOne(list) {
		_, err := wire.DecodeDeliver(frame) // says what is wrong
		return nil, err
	}
	d := &dec.d
	d.stored, d.position = stored, position
	if d.patterns == nil || !bytes.Equal(list, dec.lastList) {
		patterns, ok := dec.lists[string(list)]
		if !ok {
			whole, err := wire.DecodeDeliver(frame)
			if err != nil {
				return nil, err
			}
			if len(dec.lists) >= maxNames {
				clear(dec.lists)
			}
			patterns = whole.Patterns
			dec.lists[string(list)] = patterns
		}
		d.patterns = patterns
		dec.lastList = append(dec.lastList[:0], list...)
	}
	d.tenant = dec.tenants.get(tenant, d.tenant)
	d.channel = dec.channel.get(channel, d.channel)
	d.sender = dec.senders.get(sender, d.sender)
	d.payload = payload
	return d, nil
}

// cutFields finds the position and the sender of a frame, and what stands behind its head: empty,
// if it is no deliver frame that this version knows.
func cutFields(b []byte) (p wire.Position, sender, rest []byte, stored bool) {
	const (
		hasPosition = 1 << 0
		hasSender   = 1 << 1
		numbers     = 3 * 8
	)
	switch {
	case len(b) > 0 && b[0] == 0x01:
		return p, nil, b[1:], false
	case len(b) < 2 || b[0] != 0x04 || b[1] == 0 || b[1]&^(hasPosition|hasSender) != 0:
		return p, nil, nil, false
	}
	fields, rest := b[1], b[2:]
	if fields&hasPosition != 0 {
		if len(rest) < numbers {
			return p, nil, nil, false
		}
		p = wire.Position{Epoch: binary.BigEndian.Uint64(rest), N: binary.BigEndian.Uint64(rest[8:]), T: binary.BigEndian.Uint64(rest[16:])}
		rest, stored = rest[numbers:], true
	}
	if fields&hasSender != 0 {
		if len(rest) == 0 || int(rest[0]) > wire.MaxSender || len(rest) < 1+int(rest[0]) {
			return p, nil, nil, false
		}
		n := 1 + int(rest[0])
		sender, rest = rest[1:n], rest[n:]
	}
	return p, sender, rest, stored
}

// isOne reports whether a list has one pattern.
func isOne(list []byte) bool { return len(list) >= 2 && binary.BigEndian.Uint16(list) == 1 }

// splitDeliver finds the fields behind the head of a frame; list is the patterns with
// their count, not looked into.
func splitDeliver(b []byte) (tenant, channel, payload, list []byte, ok bool) {
	if len(b) < 2 {
		return nil, nil, nil, nil, false
	}
	n := int(binary.BigEndian.Uint16(b))
	if b = b[2:]; len(b) < n+2 {
		return nil, nil, nil, nil, false
	}
	tenant, b = b[:n], b[n:]
	n = int(binary.BigEndian.Uint16(b))
	if b = b[2:]; len(b) < n+4 {
		return nil, nil, nil, nil, false
	}
	channel, b = b[:n], b[n:]
	size := uint64(binary.BigEndian.Uint32(b))
	if b = b[4:]; uint64(len(b)) < size {
		return nil, nil, nil, nil, false
	}
	return tenant, channel, b[:size], b[size:], true
}
