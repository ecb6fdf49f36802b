package client

import "time"

// Event is one of the types below: what happens to the connection.
type Event interface{ event() }

// Reason says why a client moves to another connection.
type Reason string

// The reasons.
const (
	ReasonDrain Reason = "drain" // the edge asked for it
	ReasonToken Reason = "token" // there is a new token

	ReasonTransport Reason = "transport" // WebTransport, which is preferred, works again
)

// Direction says which messages wait for a cap.
type Direction string

// The directions.
const (
	In  Direction = "in"  // deliveries: for the egress cap of the token, or of the edge
	Out Direction = "out" // what the client publishes: for an ingress cap
)

// GapReason says why messages may be missing. Later edges may have others.
type GapReason string

// The reasons of a [Gap].
const (
	GapExpired   GapReason = "expired"    // limits of the history have removed some
	GapPurged    GapReason = "purged"     // somebody has removed some
	GapLate      GapReason = "late"       // they were later than the max_lag of the history
	GapLost      GapReason = "lost"       // the store has lost some, or what it knew of them
	GapBehind    GapReason = "behind"     // that nothing is missing could not be proved
	GapUnknown   GapReason = "unknown"    // the edge does not say
	GapNoRight   GapReason = "no_right"   // the token may not read the past: its grant needs History
	GapNoHistory GapReason = "no_history" // the edge keeps nothing of the pattern
)

type (
	// Connecting comes before each further attempt of [Connect].
	Connecting struct {
		Attempt int           // that has failed, from 1
		Delay   time.Duration // until the next one
		Err     error         // why
	}

	// Connected is the first event of a client that has a connection.
	Connected struct {
		Edge      string // origin
		Transport Transport
	}

	// Disconnected says that the connection is lost. The client reconnects.
	Disconnected struct {
		Edge      string
		Transport Transport
		Err       error // why
	}

	// Suspect says that nothing comes on the connection, not even an answer: the client
	// opens a second one beside it. Publish and Flush wait. Recovered follows, or
	// Disconnected or Closed.
	Suspect struct {
		Edge      string // origin
		Transport Transport
	}

	// Recovered says that a connection works, after Suspect: the same, or the second one,
	// which has taken over with all subscriptions.
	Recovered struct {
		Edge      string // of the connection that leads now
		Transport Transport
		// Away is the time from the last byte of the old connection to the moment when
		// the second one took over; 0 if it was the old one that came back. The old one is
		// listened to for 15 s more: what comes on it alone is marked as late. What never
		// comes on it is lost.
		Away time.Duration
	}

	// Reconnecting comes before each attempt.
	Reconnecting struct {
		Attempt int           // from 1
		Delay   time.Duration // until the attempt
	}

	// Reconnected says that there is a connection again, and that the
	// subscriptions are restored.
	Reconnected struct {
		Edge      string
		Transport Transport
		// Away is the time from the last byte of the old connection to the last
		// subscription restored. Messages of that time are lost, except for subscriptions
		// with a history: these have all of them, unless Gap says otherwise.
		Away time.Duration
		// Complete says that nothing is missing: all subscriptions have a history, and no
		// Gap was told.
		Complete bool
	}

	// Gap says that messages of a subscription with a history may be missing: the edge has
	// them no more, or cannot tell. See [WithHistory].
	Gap struct {
		Tenant, Pattern string
		// Before is the position before which they are missing; empty if the edge, or the
		// token, gives no messages of the past.
		Before string
		// Code says why, where the edge has refused to give what is past: permission_denied (a
		// grant's allow_channels_history does not have the pattern) or no_history; else it is
		// empty.
		Code   Code
		Reason GapReason // why, in any case
	}

	// Moving says that the client opens a second connection, to leave this one.
	Moving struct {
		Edge      string // from
		Transport Transport
		Reason    Reason
	}

	// Moved says that the second connection has taken over. Nothing was lost.
	Moved struct {
		Edge      string // to
		Transport Transport
		Reason    Reason
	}

	// PublishError says that the edge refused a publish.
	PublishError struct {
		Tenant, Channel string
		Code            Code
		Text            string // what it means, what the token allows, what to do; for people
	}

	// PublishUnknown comes when a connection is lost or replaced: publishes were sent on it, and
	// no answer to a later PING has proved that the edge has read them. Some or all may be lost,
	// or come late. What [Client.PublishConfirmed] sends is not among them, since each call says
	// what became of it. It comes right before Disconnected, Recovered, Moved or Closed.
	PublishUnknown struct {
		Edge      string // of the connection
		Transport Transport
		Count     int // of publishes
	}

	// SubscriptionError says that the edge refused a subscription that it was
	// asked to restore, or a [Presence] or [Membership]. It has ended, unless Code is
	// try_later: then the client asks again, with pauses, until the edge confirms or
	// refuses it. Of try_later it tells once for each connection and subscription.
	SubscriptionError struct {
		Tenant, Pattern string
		Channel         string // of a Membership, which has no Pattern; empty: it is about something else
		Code            Code
		Text            string // what it means, what the token allows, what to do; for people
	}

	// SlowConsumer says that the edge dropped deliveries for this client, which
	// did not read them in time.
	SlowConsumer struct{ Dropped int }

	// Limited says that messages are late: they wait for a cap of the bandwidth, that of this
	// client's token in most cases. It comes at most once a minute for each direction.
	Limited struct {
		Direction Direction
		Delay     time.Duration // that the oldest one waits already, in whole seconds
	}

	// LinkDown says that the edge has lost the other edges: until LinkUp, or another
	// connection, what is published here reaches its own subscribers alone, and nothing
	// comes from other edges.
	LinkDown struct{ Edge string } // origin

	// LinkUp says that the edge has the other edges again. Messages between are lost.
	LinkUp struct{ Edge string } // origin

	// QueueFull says that messages were dropped from the queue of a subscription, which the
	// application did not read in time. It comes at most once a second for each subscription.
	QueueFull struct {
		Tenant, Pattern string
		Dropped         int // since the event before
	}

	// Discarded says that Unsubscribe or Close has thrown away messages of a subscription that were
	// published to one connection, so that nobody gets them. [Subscription.Drain] throws none away.
	Discarded struct {
		Tenant, Pattern string
		Count           int // since the event before
	}

	// EdgeError is any other ERR line, or a token provider that fails, with the code
	// token_provider. With the code no_presence it says of a [Presence] or [Membership] that
	// this edge does not have it: the client asks the next edge that it connects to.
	EdgeError struct {
		Code   Code
		Detail string
		Err    error // of the token provider; nil: it is an ERR line
	}

	// RoundTrip says that a PING was answered.
	RoundTrip struct{ RTT time.Duration }

	// Closed is the last event.
	Closed struct{ Err error } // nil if the application closed the client
)

func (Connecting) event()        {}
func (Connected) event()         {}
func (Disconnected) event()      {}
func (Suspect) event()           {}
func (Recovered) event()         {}
func (Reconnecting) event()      {}
func (Reconnected) event()       {}
func (Gap) event()               {}
func (Moving) event()            {}
func (Moved) event()             {}
func (PublishError) event()      {}
func (PublishUnknown) event()    {}
func (SubscriptionError) event() {}
func (SlowConsumer) event()      {}
func (Limited) event()           {}
func (LinkDown) event()          {}
func (LinkUp) event()            {}
func (QueueFull) event()         {}
func (Discarded) event()         {}
func (EdgeError) event()         {}
func (RoundTrip) event()         {}
func (Closed) event()            {}
