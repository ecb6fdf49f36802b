package pubsub

import (
	"time"

	"github.com/millrace/millrace/wire"
)

// variant is what a session wants of its deliver frames, by the features that its client
// has turned on, as bits. A publish is encoded once for each variant that is in use, when the first
// session takes it: nobody pays for what no subscriber has asked for.
type variant uint8

const (
	withSender variant = 1 << iota // of wire.FeatureSender
	withOwn                        // of wire.FeatureOwn: only for what the client has published itself
	variants                       // how many there are

	plain variant = 0
)

// turnOn has all that is queued for the client from here on have more fields. The reader calls it.
func (s *Session) turnOn(v variant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.variant |= v
}

// variantFor is what the session gets of a publication. The caller holds s.mu.
func (s *Session) variantFor(p *publication) variant {
	if p.publisher != s {
		return s.variant &^ withOwn
	}
	return s.variant
}

// encode makes the frame for subscribers with these patterns, in bytewise order.
func (p *publication) encode(patterns []string, v variant) *frame {
	f := &frame{kind: Binary, at: p.at, caps: p.caps}
	if v == plain {
		data := make([]byte, 0, wire.DeliverLen(p.tenant, p.channel, p.payload, patterns))
		f.data = wire.AppendDeliver(data, p.tenant, p.channel, p.payload, patterns)
	} else {
		d := wire.Deliver{Tenant: p.tenant, Channel: p.channel, Payload: p.payload, Patterns: patterns}
		p.addFields(&d, v)
		f.data = appendFields(&d)
	}
	p.pace.work.encoded(f)
	return f
}

// encodeKept makes the frame of a stored message for the subscriptions of a pattern.
func (p *publication) encodeKept(at wire.Position, pattern string, v variant) *frame {
	d := wire.Deliver{
		Stored: true, Position: at,
		Tenant: p.tenant, Channel: p.channel, Payload: p.payload, Patterns: []string{pattern},
	}
	p.addFields(&d, v)
	f := &frame{data: appendFields(&d), kind: Binary, kept: true, at: p.at, caps: p.caps}
	p.pace.work.encoded(f)
	return f
}

func (p *publication) addFields(d *wire.Deliver, v variant) {
	if v&withSender != 0 {
		d.HasSender, d.Sender = true, p.sender
	}
	if v&withOwn != 0 {
		d.Own, d.Key = true, p.key
	}
}

func appendFields(d *wire.Deliver) []byte {
	return wire.AppendDeliverFields(make([]byte, 0, wire.DeliverFieldsLen(d)), d)
}

// keptFrames are the frames of a stored message for the subscriptions of one pattern.
type keptFrames struct {
	at      wire.Position
	pattern string
	feed    *feed
	before  wire.Position    // of what was handed on before
	expires time.Duration    // 0: never; see lateness
	frames  [variants]*frame // nil: not encoded yet
}

// frame returns a variant. It is encoded when the first subscription takes it.
func (k *keptFrames) frame(p *publication, v variant) *frame {
	if k.frames[v] == nil {
		f := p.encodeKept(k.at, k.pattern, v)
		if k.expires != 0 {
			f.late = &lateness{feed: k.feed, tenant: string(p.tenant), at: k.at, before: k.before, expires: k.expires}
		}
		k.frames[v] = f
	}
	return k.frames[v]
}

// senderOf is what other clients see of the token with which a client has connected: its
// subject, or nothing.
func senderOf(id Identity) []byte {
	if sender := []byte(id.Subject); wire.IsSender(sender) {
		return sender
	}
	return nil
}
