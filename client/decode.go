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
	toOne           bool   // it was published to one connection
	own             bool   // this connection has published it
	key             string // of an own publish; empty: none
	late            bool   // never set by the decoder
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

// maxNames bounds what a decoder remembers. Beyond it, it starts over.
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
	f, rest := cutFields(frame)
	tenant, channel, payload, list, ok := splitDeliver(rest)
	if !ok || f.stored && !isOne(list) {
		_, err := wire.DecodeDeliver(frame) // says what is wrong
		return nil, err
	}
	d := &dec.d
	d.stored, d.position, d.toOne, d.own, d.key = f.stored, f.position, f.toOne, f.own, string(f.key)
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
	d.sender = dec.senders.get(f.sender, d.sender)
	d.payload = payload
	return d, nil
}

// fields are what may stand in the head of a frame.
type fields struct {
	position           wire.Position
	sender, key        []byte
	stored, toOne, own bool
}

// cutFields finds the fields of a frame, and what stands behind its head: empty, if it is no deliver
// frame that this version knows.
func cutFields(b []byte) (f fields, rest []byte) {
	const (
		hasPosition = 1 << 0
		hasSender   = 1 << 1
		isToOne     = 1 << 2
		isOwn       = 1 << 3
		numbers     = 3 * 8
	)
	switch {
	case len(b) > 0 && b[0] == 0x01:
		return f, b[1:]
	case len(b) < 2 || b[0] != 0x04 || b[1] == 0 || b[1]&^(hasPosition|hasSender|isToOne|isOwn) != 0:
		return f, nil
	}
	bits, rest := b[1], b[2:]
	if bits&hasPosition != 0 {
		if len(rest) < numbers {
			return f, nil
		}
		f.position = wire.Position{Epoch: binary.BigEndian.Uint64(rest), N: binary.BigEndian.Uint64(rest[8:]), T: binary.BigEndian.Uint64(rest[16:])}
		rest, f.stored = rest[numbers:], true
	}
	ok := true
	if bits&hasSender != 0 {
		f.sender, rest, ok = cutShort(rest, wire.MaxSender)
	}
	f.toOne = bits&isToOne != 0
	if ok && bits&isOwn != 0 {
		f.own = true
		f.key, rest, ok = cutShort(rest, wire.MaxKey)
	}
	if !ok {
		return f, nil
	}
	return f, rest
}

// cutShort cuts a field behind its length in one byte.
func cutShort(b []byte, most int) (field, rest []byte, ok bool) {
	if len(b) == 0 || int(b[0]) > most || len(b) < 1+int(b[0]) {
		return nil, nil, false
	}
	n := 1 + int(b[0])
	return b[1:n], b[n:], true
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
