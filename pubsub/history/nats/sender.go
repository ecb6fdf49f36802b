package nats

import (
	"fmt"
	"strconv"
	"strings"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

// headerSender is the header of a message of the stream that says whose it is, in quotes:
// readers of headers take spaces off the ends of a value. A message without it has no sender,
// or was stored by an earlier version. The payload is the message's alone, as ever, so an
// earlier version reads what this one stores, and consumers without payloads have the sender.
const headerSender = "Millrace-Sender"

// senderOverhead is what the header takes in the file of a stream beside the sender: its name,
// ": ", the quotes and the end of the line, and the lines around all headers.
const senderOverhead = len(headerSender) + 2 + 2 + 2 + len("NATS/1.0\r\n") + len("\r\n")

// senderHeader is the header of a message with this sender; nil: it needs none.
func senderHeader(sender []byte) client.Header {
	if len(sender) == 0 {
		return nil
	}
	return client.Header{headerSender: {`"` + string(sender) + `"`}}
}

// headerOwner is the header that says whose the tenant of a message is, where that matters; see
// history.Message. It is the owner that the tenant has: an edge that reads the stream later finds the same
// one, also when the first messages of the tenant are gone. Earlier versions do not look at it.
const headerOwner = "Millrace-Owner"

// ownerOverhead is what the header takes beside the owner, like senderOverhead.
const ownerOverhead = len(headerOwner) + 2 + 2 + len("NATS/1.0\r\n") + len("\r\n")

// headerOf is the header of a message in a tenant of this owner; nil: it needs none.
func headerOf(m *history.Message, owner string) client.Header {
	h := senderHeader(m.Sender)
	if owner != "" {
		if h == nil {
			h = client.Header{}
		}
		h.Set(headerOwner, owner)
	}
	if m.Mark != 0 {
		if h == nil {
			h = client.Header{}
		}
		h.Set(headerMark, fmt.Sprintf("%016x", m.Mark))
	}
	return h
}

// headerMark is the header that says which publish of its edge a message is, where that matters; see
// history.Message.
const headerMark = "Millrace-Mark"

// markOverhead is what the header takes, like senderOverhead.
const markOverhead = len(headerMark) + 2 + 16 + 2 + len("NATS/1.0\r\n") + len("\r\n")

// parseMark returns the mark of a message; 0: it has none.
func parseMark(h client.Header) uint64 {
	mark, err := strconv.ParseUint(h.Get(headerMark), 16, 64)
	if err != nil {
		return 0
	}
	return mark
}

// parseOwner returns the owner of a message's tenant; empty: it is not known.
func parseOwner(h client.Header) string {
	if owner := h.Get(headerOwner); wire.CheckTenant(owner) == nil {
		return owner
	}
	return ""
}

// parseSender returns the sender of a message. invalid: what stands in its place is nothing
// that an edge has stored.
func parseSender(h client.Header) (sender []byte, invalid bool) {
	values := h.Values(headerSender)
	if len(values) == 0 {
		return nil, false
	}
	text, begins := strings.CutPrefix(values[0], `"`)
	text, ends := strings.CutSuffix(text, `"`)
	sender = []byte(text)
	if len(values) > 1 || !begins || !ends || !wire.IsSender(sender) {
		return nil, true
	}
	return sender, false
}
