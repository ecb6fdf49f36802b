package presence

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/millrace/millrace/wire"
)

// A message between edges is a kind, and what belongs to it.
const (
	kindBeat = 'b' // u64 number: where the log of the sender is
	kindAsk  = 'a' // u64 from, u64 base: it asks for the page behind from; base: see log.begins
	// kindPage is a page: u8 first (the asker was too far behind, or the page is the
	// beginning), u64 from, u64 to, u64 head, and the changes between from and to, each:
	//
	//	u8 here, u8 tenant length, tenant, u16 channel length, channel, u8 subject length,
	//	subject; and of one that is here u64 since, u32 linger in ms, u16 info length, info
	kindPage = 'p'
)

// edgePageBytes is how large a page for another edge may be, but for its last entry.
const edgePageBytes = 48 << 10

// maxMessage is how large a message may be: a page with its last entry, and some room.
const maxMessage = edgePageBytes + 2<<10

var errMessage = errors.New("it is no message about presence that this version knows")

// message is one that was decoded.
type message struct {
	kind           byte
	first          bool
	from, to, head uint64
	base           uint64
	changes        []change
}

type change struct {
	key    Key
	here   bool
	since  uint64
	linger time.Duration
	info   []byte
}

func encodeBeat(head uint64) []byte { return binary.BigEndian.AppendUint64([]byte{kindBeat}, head) }

func encodeAsk(from, base uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64([]byte{kindAsk}, from), base)
}

// page makes the page behind a number, for a reader that has begun at base, and returns up to
// where it reaches, and where the reader has begun now.
func (o *own) page(from, base uint64) (b []byte, through, begun uint64) {
	first := byte(0)
	if from == 0 || o.log.begins(from, base) {
		first, from, base = 1, 0, o.log.head
	}
	through = o.log.head
	const head = 1 + 1 + 3*8
	b = make([]byte, head, 1024)
	o.log.after(from, new(ownMember), func(m *ownMember) bool {
		b = m.encode(b)
		if len(b) >= edgePageBytes {
			through = m.number
			return false
		}
		return true
	})
	b[0], b[1] = kindPage, first
	binary.BigEndian.PutUint64(b[2:], from)
	binary.BigEndian.PutUint64(b[10:], through)
	binary.BigEndian.PutUint64(b[18:], o.log.head)
	return b, through, base
}

func (m *ownMember) encode(b []byte) []byte {
	here := byte(1)
	if m.gone {
		here = 0
	}
	b = append(b, here, byte(len(m.key.Tenant)))
	b = append(b, m.key.Tenant...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(m.key.Channel)))
	b = append(b, m.key.Channel...)
	b = append(b, byte(len(m.key.Subject)))
	b = append(b, m.key.Subject...)
	if m.gone {
		return b
	}
	b = binary.BigEndian.AppendUint64(b, m.since)
	b = binary.BigEndian.AppendUint32(b, uint32(m.linger.Milliseconds()))
	b = binary.BigEndian.AppendUint16(b, uint16(len(m.info)))
	return append(b, m.info...)
}

// decode reads a message. Nothing in it is trusted: what no edge accepts from a client is an
// error.
func decode(b []byte) (m message, err error) {
	if len(b) > maxMessage {
		return m, errMessage
	}
	r := wire.NewReader(b)
	m.kind = byte(r.Number(1))
	switch m.kind {
	case kindBeat:
		m.to = r.Number(8)
	case kindAsk:
		m.from, m.base = r.Number(8), r.Number(8)
	case kindPage:
		m.first = r.Number(1) == 1
		m.from, m.to, m.head = r.Number(8), r.Number(8), r.Number(8)
		for r.Len() > 0 && err == nil {
			var c change
			c, err = decodeChange(r)
			m.changes = append(m.changes, c)
		}
	default:
		return m, errMessage
	}
	if err != nil || r.Short() || r.Len() > 0 || m.kind == kindPage && (m.to < m.from || m.head < m.to) {
		return m, errMessage
	}
	return m, nil
}

// maxSince is the end of the year 9999: clients make a date of it.
const maxSince = 253_402_300_799_999

// isInfo reports whether a token can have this info.
func isInfo(info []byte) bool {
	return len(info) == 0 || len(info) <= wire.MaxInfo && info[0] == '{' && utf8.Valid(info) && json.Valid(info)
}

func decodeChange(r *wire.Reader) (c change, err error) {
	c.here = r.Number(1) == 1
	c.key = Key{string(r.Take(int(r.Number(1)))), string(r.Take(int(r.Number(2)))), string(r.Take(int(r.Number(1))))}
	if c.here {
		c.since = r.Number(8)
		c.linger = time.Duration(r.Number(4)) * time.Millisecond
		c.info = append([]byte(nil), r.Take(int(r.Number(2)))...)
	}
	if wire.CheckTenant(c.key.Tenant) != nil || wire.CheckChannel(c.key.Channel) != nil ||
		c.key.Subject == "" || !wire.IsSender([]byte(c.key.Subject)) || !isInfo(c.info) || c.linger > MaxLinger || c.since > maxSince {
		return c, errMessage
	}
	return c, nil
}
