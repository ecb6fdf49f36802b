package nats

import (
	"hash/crc32"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
)

// Where edges have names (Config.EdgeName), each one sends on subjects of its own,
// which the permissions of its NATS user can be limited to:
//
//	s.<name>.<the subject as without names>
//
// and subscribes to the subjects of all, `s.*.…`. What a message says of its edge is
// compared with the name in its subject: half of an id is made from the name. So an
// edge cannot forge another one's broadcasts, whose numbers would then make the real
// ones look like copies, nor its answers, nor its end.

// sender is the name of the edge that sent a message, as its subject has it; empty
// in an overlay whose edges have no names, where it could be any.
type sender string

// sendersToken begins all subjects of an overlay whose edges have names.
const sendersToken = "s."

// owns reports whether an id may be one of this sender's.
func (s sender) owns(id edgeID) bool { return s == "" || uint32(id>>32) == s.idPrefix() }

// idPrefix is the upper half of the sender's ids. A CRC differs wherever two names of
// one length differ within four bytes, as numbered ones do.
func (s sender) idPrefix() uint32 {
	crc := ^uint32(0)
	for i := range len(s) { // crc32.ChecksumIEEE would have the name copied, for each message
		crc = crc32.IEEETable[byte(crc)^s[i]] ^ crc>>8
	}
	return ^crc
}

// makeID turns a random id into one of this sender's.
func (s sender) makeID(random edgeID) edgeID {
	if s == "" {
		return random
	}
	return edgeID(s.idPrefix())<<32 | random&(1<<32-1)
}

// splitSender takes prefix and sender off a subject.
func (b *Broker) splitSender(subject string) (from sender, rest string, ours bool) {
	rest, ours = strings.CutPrefix(subject, b.prefix)
	if !ours || b.name == "" {
		return "", rest, ours
	}
	if rest, ours = strings.CutPrefix(rest, sendersToken); !ours {
		return "", "", false
	}
	name, rest, ours := strings.Cut(rest, ".")
	return sender(name), rest, ours && name != ""
}

// reject counts a message that breaks a rule, and logs that now and then.
func (b *Broker) reject(from sender, why string) {
	if r, ok := b.receiver.(pubsub.Rejecter); ok {
		r.Rejected(1)
	}
	b.mu.Lock()
	quiet := time.Since(b.lastRejectWarning) < warnInterval
	if !quiet {
		b.lastRejectWarning = time.Now()
	}
	b.mu.Unlock()
	if !quiet {
		b.log.Warn("a message of another edge is refused", zap.String("edge_name", string(from)), zap.String("reason", why))
	}
}
