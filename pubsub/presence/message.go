package presence

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"
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
	//
	// With here 2, it is no change, but says whose tokens the members behind it have: nobody's until
	// then. See appendUser.
	kindPage = 'p'
)

// Values of here.
const (
	noteGone = 0
	noteHere = 1
	noteUser = 2
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
	user   string // whose token the member has; empty: nobody knows
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
	if from == 0 || o.log.mustRestart(from, base) {
		first, from, base = 1, 0, o.log.head
	}
	through = o.log.head
	const head = 1 + 1 + 3*8
	b = make([]byte, head, 1024)
	user := ""
	o.log.after(from, new(ownMember), func(m *ownMember) bool {
		if !m.gone && m.user != user {
			user = m.user
			b = appendUser(b, user)
		}
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

// appendUser says whose tokens the members behind have. To earlier versions it says that a member is gone,
// of a tenant that nobody has, so its fields are what these take: a subject has a byte at least.
func appendUser(b []byte, user string) []byte {
	return appendKey(append(b, noteUser), Key{userTenant, "user", "=" + user})
}

const userTenant = "-.presence.-"

// userOf reads what appendUser has written.
func userOf(key Key) (user string, ok bool) {
	user, ok = strings.CutPrefix(key.Subject, "=")
	return user, ok && key.Tenant == userTenant
}

func appendKey(b []byte, key Key) []byte {
	b = append(append(b, byte(len(key.Tenant))), key.Tenant...)
	b = append(binary.BigEndian.AppendUint16(b, uint16(len(key.Channel))), key.Channel...)
	return append(append(b, byte(len(key.Subject))), key.Subject...)
}

func (m *ownMember) encode(b []byte) []byte {
	if m.gone {
		return appendKey(append(b, noteGone), m.key)
	}
	b = appendKey(append(b, noteHere), m.key)
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
		user := ""
		for r.Len() > 0 && err == nil {
			var c change
			var here byte
			c, here, err = decodeChange(r)
			if next, ok := userOf(c.key); ok && here == noteUser {
				user = next
				continue
			}
			c.user = user
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

func decodeChange(r *wire.Reader) (c change, here byte, err error) {
	here = byte(r.Number(1))
	c.here = here == noteHere
	c.key = Key{string(r.Take(int(r.Number(1)))), string(r.Take(int(r.Number(2)))), string(r.Take(int(r.Number(1))))}
	if c.here {
		c.since = r.Number(8)
		c.linger = time.Duration(r.Number(4)) * time.Millisecond
		c.info = append([]byte(nil), r.Take(int(r.Number(2)))...)
	}
	if wire.CheckTenant(c.key.Tenant) != nil || wire.CheckChannel(c.key.Channel) != nil ||
		c.key.Subject == "" || !wire.IsSender([]byte(c.key.Subject)) || !isInfo(c.info) || c.linger > MaxLinger || c.since > maxSince {
		return c, here, errMessage
	}
	return c, here, nil
}
