package pubsub

import (
	"errors"
	"time"

	"github.com/millrace/millrace/wire"
)

// ErrLinkFull is what [Broker.Publish] returns, or wraps, for a message that is lost
// to other edges because more is published to its tenant than the link takes. The link
// is up, and says nothing of other tenants.
var ErrLinkFull = errors.New("more is published to this tenant than the link to the other edges takes")

// Message is one publish on its way between edges. Its bytes are valid during
// the call that it comes with.
type Message struct {
	Tenant, Channel, Payload []byte
	Delivery                 wire.Delivery

	// Of a message for one connection. Wanted: this edge has subscribers, and none
	// could take it. LastResort: it is for those alone that were told to leave, since
	// nobody else takes it.
	Wanted, LastResort bool
}

// What Receive returns where there are subscribers and none could take a message for
// one of them.
const (
	NoRoom      = -1 // they have no room
	OnlyLeaving = -2 // there are some that were told to leave, which could as a last resort
)

// Receiver is what a broker hands messages to: the hub of an edge.
type Receiver interface {
	// Receive delivers m to local subscribers only: to all that match, or, for
	// the two deliver-one modes, to exactly one. It reports how many
	// connections took it. It waits for no client and no network, but may take its
	// time with the messages of a tenant that costs more than its share: those of
	// different tenants should not wait for each other. The broker has checked the
	// names; what is larger than this edge takes from its clients is delivered to
	// nobody. Of a message for one connection it returns NoRoom or OnlyLeaving, which
	// are negative, where there are subscribers of which none could take it.
	Receive(m Message) int
	// Interested reports whether a connection may take messages to a channel.
	Interested(tenant, channel []byte) bool
	// Linked says that the link to the other edges is up or down, whenever that
	// changes. Until the first call it is taken to be up. It may be called from
	// Join on, one call at a time, and never blocks.
	Linked(up bool)
	// Unsent counts messages that Publish or Receive took, and that then could
	// not be passed on.
	Unsent(n int)
	// Missed counts messages of other edges that came faster than Receive took
	// them.
	Missed(n int)
}

// Rejecter is a [Receiver] that counts messages of other edges that no edge
// accepts from a client, and that the broker therefore did not hand to Receive.
type Rejecter interface {
	// Rejected counts n of them. It never blocks.
	Rejected(n int)
}

// CatchUpTime is how long a [Catcher] waits for edges that do not answer: clients wait 2 s
// for the answer to an UNSUB before they leave.
const CatchUpTime = 1500 * time.Millisecond

// Catcher is a [Broker] that knows when this edge has got what others have published,
// and they what this one has.
type Catcher interface {
	// CatchUp calls done, once and from any goroutine, when all messages to a tenant
	// that this edge had published before have been handed to Receive of the others,
	// and those that the others had published when they heard of it to that of this
	// edge; or at once, if there is no link, or after some [CatchUpTime], if an edge
	// does not answer. It never blocks, nor may done.
	CatchUp(tenant string, done func())
}

// Edge is what a client has to know of an edge to choose one.
type Edge struct {
	Host   string `json:"host"`             // host name, with a port if it is not 443
	Region string `json:"region,omitempty"` // as in the rights of tokens
}

// Directory is a [Broker] that knows the edges of its overlay.
type Directory interface {
	// Announce says what clients have to know of this edge, from now on. Without
	// a host it is not listed.
	Announce(Edge)
	// Edges lists those that take new clients, this one included.
	Edges() []Edge
	// Draining takes this edge off the list.
	Draining()
}

// Broker connects the hub of one edge with those of the others. The contract,
// checked by brokertest.Run:
//
//   - All methods may be called concurrently, but calls of Subscribe and
//     Unsubscribe for the same tenant and pattern come one at a time.
//   - Messages of one edge reach each other edge in the order of their Publish
//     calls, those of one channel at least.
//   - Nothing is delivered twice.
//   - Publish never blocks on the network, and neither it nor Receive changes
//     the message's bytes or keeps them.
type Broker interface {
	// Join names the receiver of messages for this edge. Called once, before
	// any other method.
	Join(Receiver)
	// Publish passes on a message that was accepted by this edge, or says why it
	// cannot: [ErrLinkFull] if that concerns its tenant alone.
	//
	//   Broadcast   every OTHER edge with a matching interest receives it; the
	//               hub has served its own subscribers already.
	//   OneNearest  one other edge does; the hub found no subscriber of its own.
	//   OneRandom   one edge with a matching interest does, this one included.
	//
	// Where no edge takes a message for one connection, and one has subscribers that
	// were told to leave, it is for these as a last resort.
	Publish(m Message) error
	// Subscribe announces the first local interest in a pattern. Local delivery
	// does not depend on it. It must not wait for the network: confirmed is
	// called, from any goroutine and possibly before Subscribe returns, once the
	// overlay knows of the interest; or, after Linked(false), when the link is
	// down, or has been silent for 5 s. The interest is announced all the same
	// when the link is back.
	Subscribe(tenant, pattern string, confirmed func())
	// Unsubscribe withdraws the interest after its last local subscriber left,
	// likewise without waiting.
	Unsubscribe(tenant, pattern string)
	// Close leaves the overlay. No Receive call happens after it returned.
	Close() error
}
