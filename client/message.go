package client

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/millrace/millrace/wire"
)

// Message is a message for a subscription. Other subscriptions that get it share
// its memory: it is for reading.
type Message struct {
	Tenant   string
	Channel  string
	Pattern  string   // of this subscription
	Patterns []string // all patterns of this client that matched, at least one
	Payload  []byte

	// Sender is the subject of the token that published the message, as the edge says: a client
	// cannot forge it. Empty without [Options.Sender], if the token has no subject, and where an edge of
	// an earlier version is between.
	Sender string

	// Own says that this client has published the message: on its present connection, or, of what a history
	// gives again, as one of its 1,024 newest confirmed publishes. Key is the key of that publish, see
	// [WithKey]; empty: it had none, or the message is not own.
	Own bool
	Key string

	toOne bool // see jobs

	// Late says that the message came on a connection that had been replaced: newer
	// ones may have come before it (see [Suspect]).
	Late bool

	// Position is the place of the message in the history of its channel, and Time is when
	// it was stored; empty and zero without a history, see [WithHistory]. [After] goes on
	// behind it.
	Position string
	Time     time.Time
}

// JSON decodes the payload into what v points to, as [json.Unmarshal] does. The error is ErrBadOption, and does not
// show the payload.
func (m Message) JSON(v any) error {
	err := json.Unmarshal(m.Payload, v)
	var form *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &form):
		e := badOption("the payload of a message of %d bytes is no JSON, from byte %d on", len(m.Payload), form.Offset)
		e.Tenant, e.Channel = m.Tenant, m.Channel
		return e
	}
	e := badOption("the payload of a message does not fit into %T", v)
	e.Tenant, e.Channel = m.Tenant, m.Channel
	return e
}

// Delivery says how many subscribers get a publish.
type Delivery uint8

// The deliveries. Without a subscriber all three do nothing, and only a confirmed publish says so
// (see [Client.PublishConfirmed]).
const (
	Broadcast  = Delivery(wire.Broadcast)  // every subscriber that matches
	OneNearest = Delivery(wire.OneNearest) // one connection, of the nearest edge that has one
	OneRandom  = Delivery(wire.OneRandom)  // one connection of any edge, drawn at random
)

// String returns broadcast, one-nearest or one-random.
func (d Delivery) String() string { return wire.Delivery(d).String() }

// key names a subscription on the wire.
type key struct{ tenant, pattern string }
