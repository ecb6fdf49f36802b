package pubsub

import "github.com/millrace/millrace/wire"

// Message is one publish on its way between edges. Its bytes are valid during
// the call that it comes with.
type Message struct {
	Tenant, Channel, Payload []byte
	Delivery                 wire.Delivery
}

// Receiver is what a broker hands messages to: the hub of an edge.
type Receiver interface {
	// Receive delivers m to local subscribers only: to all that match, or, for
	// the two deliver-one modes, to exactly one. It reports how many
	// connections took it, and never blocks.
	Receive(m Message) int
}

// Broker connects the hub of one edge with those of the others. The contract,
// checked by brokertest.Run:
//
//   - All methods may be called concurrently, but calls of Subscribe and
//     Unsubscribe for the same tenant and pattern come one at a time.
//   - Messages of one publisher to one channel reach each edge in order.
//   - Nothing is delivered twice.
//   - Publish never blocks on the network, and neither it nor Receive changes
//     the message's bytes or keeps them.
type Broker interface {
	// Join names the receiver of messages for this edge. Called once, before
	// any other method.
	Join(Receiver)
	// Publish passes on a message that was accepted by this edge.
	//
	//   Broadcast   every OTHER edge with a matching interest receives it; the
	//               hub has served its own subscribers already.
	//   OneNearest  one other edge does; the hub found no subscriber of its own.
	//   OneRandom   one edge with a matching interest does, this one included.
	Publish(m Message) error
	// Subscribe announces the first local interest in a pattern, or says why
	// it cannot. Local delivery does not depend on it. Publishers of the tenant
	// wait meanwhile: it must not wait for the network.
	Subscribe(tenant, pattern string) error
	// Unsubscribe withdraws the interest after its last local subscriber left,
	// likewise without waiting.
	Unsubscribe(tenant, pattern string)
	// Close leaves the overlay. No Receive call happens after it returned.
	Close() error
}
