package wire

import (
	"bytes"
	"encoding/binary"
)

// MaxInfo is how many bytes the info of a token may have, as compact JSON.
const MaxInfo = 1024

// Presence is a presence frame: a page of what a WHO is told (docs/protocol.md, Presence).
type Presence struct {
	Tenant  string
	Pattern string // of the WHO
	First   bool   // what came before is void once a frame that is Synced has come
	Synced  bool   // all has come that was true when the frame before that was First was sent
	Counts  bool   // it has Channels in place of Members

	Members  []Member
	Channels []MemberCount
}

// Member is a subject that is present in a channel, or is no more.
type Member struct {
	Channel string
	Subject string
	Here    bool
	Since   uint64 // milliseconds since 1970; of one that is Here
	Info    []byte // a JSON object, or empty; likewise
}

// MemberCount is how many members a channel has.
type MemberCount struct {
	Channel string
	Members uint32
}

// The bits of the byte after the tag 0x05.
const (
	presenceFirst  = 1 << 0
	presenceSynced = 1 << 1
	presenceCounts = 1 << 2
	knownPresence  = presenceFirst | presenceSynced | presenceCounts
)

var (
	errPresenceFlags = &Error{CodeBadFrame, "a presence frame starts with 0x05 and known bits"}
	errPresenceState = &Error{CodeBadFrame, "the state of a member is 0 or 1"}
	errPresenceEnd   = &Error{CodeBadFrame, "bytes follow the last entry"}
)

// IsPresence reports whether a frame of an edge is a presence frame.
func IsPresence(b []byte) bool { return len(b) > 0 && b[0] == tagPresence }

// AppendPresence appends the head of a presence frame, up to the number of its entries:
//
//	| 0x05 | u8 bits | u16 tenant length | tenant | u16 pattern length | pattern | u16 entries |
//
// The entries follow, by [AppendMember] or [AppendMemberCount].
func AppendPresence(dst []byte, p *Presence, entries int) []byte {
	bits := byte(0)
	if p.First {
		bits |= presenceFirst
	}
	if p.Synced {
		bits |= presenceSynced
	}
	if p.Counts {
		bits |= presenceCounts
	}
	dst = append(dst, tagPresence, bits)
	dst = append16(dst, p.Tenant)
	dst = append16(dst, p.Pattern)
	return binary.BigEndian.AppendUint16(dst, uint16(entries))
}

// AppendMember appends an entry of a presence frame; what stands behind the subject is
// there for one that is Here alone:
//
//	| u8 state: 0 gone, 1 here | u16 channel length | channel | u8 subject length | subject |
//	| u64 since | u16 info length | info |
func AppendMember(dst []byte, m *Member) []byte {
	state := byte(0)
	if m.Here {
		state = 1
	}
	dst = append16(append(dst, state), m.Channel)
	dst = append(append(dst, byte(len(m.Subject))), m.Subject...)
	if !m.Here {
		return dst
	}
	return append16(binary.BigEndian.AppendUint64(dst, m.Since), m.Info)
}

// AppendMemberCount appends an entry of a presence frame with counts:
//
//	| u16 channel length | channel | u32 members |
func AppendMemberCount(dst []byte, c MemberCount) []byte {
	return binary.BigEndian.AppendUint32(append16(dst, c.Channel), c.Members)
}

func append16[T ~string | ~[]byte](dst []byte, field T) []byte {
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(field))), field...)
}

// DecodePresence splits a presence frame. It does not look at names. The error is an
// [Error] that is [ErrBadFrame]; clients ignore a frame with bits that they do not know.
// What it allocates stays in proportion to the length of the frame.
func DecodePresence(b []byte) (Presence, error) {
	if len(b) < 2 || b[0] != tagPresence || b[1]&^knownPresence != 0 {
		return Presence{}, errPresenceFlags
	}
	bits := b[1]
	p := Presence{First: bits&presenceFirst != 0, Synced: bits&presenceSynced != 0, Counts: bits&presenceCounts != 0}
	r := NewReader(b[2:])
	p.Tenant, p.Pattern = string(r.Field16()), string(r.Field16())
	for n := r.Number(2); n > 0 && !r.Short(); n-- {
		if p.Counts {
			p.Channels = append(p.Channels, MemberCount{string(r.Field16()), uint32(r.Number(4))})
			continue
		}
		state := r.Number(1)
		if state > 1 {
			return Presence{}, errPresenceState
		}
		m := Member{Channel: string(r.Field16()), Subject: string(r.Take(int(r.Number(1)))), Here: state == 1}
		if m.Here {
			m.Since, m.Info = r.Number(8), bytes.Clone(r.Field16())
		}
		p.Members = append(p.Members, m)
	}
	switch {
	case r.Short():
		return Presence{}, errFrameShort
	case r.Len() > 0:
		return Presence{}, errPresenceEnd
	}
	return p, nil
}

// splitWho splits the fields of WHO: two, or three where the last is count.
func splitWho(fields []byte) (Line, error) {
	l, err := splitLine(VerbWho, fields)
	if err != nil {
		return Line{}, err
	}
	if pattern, mode, has := bytes.Cut(l.Pattern, colon); has {
		if string(mode) != whoCount {
			return Line{}, errLineWho
		}
		l.Pattern, l.Count = pattern, true
	}
	return l, nil
}

const whoCount = "count"

var errLineWho = &Error{CodeBadRequest, "WHO has two fields, <tenant>:<pattern>, or a third one, count"}

// AppendWho appends WHO:<tenant>:<pattern>, or with count WHO:<tenant>:<pattern>:count,
// without newline.
func AppendWho(dst []byte, tenant, pattern string, count bool) []byte {
	dst = AppendLine(dst, VerbWho, tenant, pattern)
	if count {
		dst = append(append(dst, ':'), whoCount...)
	}
	return dst
}
