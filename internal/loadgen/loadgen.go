// Package loadgen puts load on a publish/subscribe server over real connections,
// and measures from outside how much it delivers, how late, and how much CPU and memory
// that takes. The command `pubsub bench` and integration/bench use it.
//
// What differs between protocols is behind Driver; EdgeDriver is the one for
// Millrace. Each connection is read by one goroutine that parses in place and
// allocates nothing for a message, so that the server is the limit, not this
// package.
package loadgen

import (
	"context"
	"time"
)

// A Driver opens connections to one server, in that server's protocol. It is
// safe for concurrent use. It may also be an Adviser.
type Driver interface {
	Dial(ctx context.Context) (Conn, error)
}

// A PublisherDialer is a Driver whose publisher connects in another way: to
// another edge, for example. Rooms have no separate publisher, and do not use it.
type PublisherDialer interface {
	DialPublisher(ctx context.Context) (Conn, error)
}

// A Conn is one client. One goroutine calls Receive, and one other goroutine calls the other
// methods except Close. Any goroutine may call Close, also more than once; it ends all
// calls that wait.
type Conn interface {
	// Subscribe returns once the server has confirmed. It is called before Receive.
	Subscribe(channel string) error
	// AppendPublish appends one publish to dst as it goes over the wire, and
	// returns the extended slice. It keeps neither dst nor payload.
	AppendPublish(dst []byte, channel string, payload []byte) []byte
	// Write sends one or several publishes that AppendPublish made.
	Write(b []byte) error
	// Receive reads once, and calls message for every complete delivery.
	// The payload is valid during the call. It answers pings of the protocol.
	Receive(message func(payload []byte)) error
	Close() error
}

// A Looper is a Conn for which a loop of its own is cheaper than calls of Receive; a run
// then calls Loop instead. Loop calls message as Receive does, and done after each read,
// until the connection ends. ReadLoop is such a loop.
type Looper interface {
	Loop(message func(payload []byte), done func()) error
}

// An Adviser is a Driver that knows what else than the server's speed can have limited a
// result. Its error becomes the error of Run.
type Adviser interface {
	Advise(o Options, r *Result) error
}

// The scenarios.
const (
	Fanout  = "fanout"  // P publishers, S subscribers of 1 channel, as fast as a window allows
	Latency = "latency" // 1 publisher, S subscribers of 1 channel, at a fixed rate
	Rooms   = "rooms"   // K rooms of M members, each of which publishes
	Idle    = "idle"    // C connections, each subscribed to a channel of its own
)

// Scenarios returns the names that Options.Scenario can have.
func Scenarios() []string { return []string{Fanout, Latency, Rooms, Idle} }

// Options describe a run. Start with those of Defaults and change them: zero is refused
// where the scenario needs the field, except for Warmup, Settle, Patience, PID and Dialers.
type Options struct {
	Scenario string // one of Scenarios()

	Subscribers int // fanout, latency
	Publishers  int // fanout: connections that publish in turns
	Window      int // fanout: messages in flight to the slowest subscriber
	Burst       int // fanout: the most messages in one write
	Payload     int // bytes of a message, from MinPayload
	// MaxRate is the most messages/s that fanout publishes, see [EdgeOptions.Pace].
	// 0: what the window allows.
	MaxRate float64

	Duration time.Duration // of the measurement; not idle
	Warmup   time.Duration // before it; not idle

	Rate       float64 // latency: messages/s
	Rooms      int     // rooms
	Members    int     // rooms: members of a room
	MemberRate float64 // rooms: messages/s of a member

	Connections int           // idle
	Settle      time.Duration // idle: time between the last connection and the measurement of the memory
	Dialers     int           // connections that are opened at the same time; 0: 16

	// Patience is how long no message may arrive while some are due. 0: 5 s.
	Patience time.Duration
	// PID is the server's process. 0: its CPU time and memory are not measured.
	PID int
	// Progress is called with one line of progress at a time, never concurrently; nil:
	// silent.
	Progress func(string)
}

// A Result is what a run measured. Times are in microseconds where the name
// says us, and CPU times are user and system time of the server's process.
type Result struct {
	Scenario     string  `json:"scenario"`
	Subscribers  int     `json:"subscribers,omitempty"`
	Publishers   int     `json:"publishers,omitempty"`
	Window       int     `json:"window,omitempty"`
	Burst        int     `json:"burst,omitempty"`
	Rate         float64 `json:"rate,omitempty"` // requested, messages/s
	Rooms        int     `json:"rooms,omitempty"`
	Members      int     `json:"members,omitempty"`
	MemberRate   float64 `json:"member_rate,omitempty"` // requested, messages/s
	PayloadBytes int     `json:"payload_bytes,omitempty"`

	// Of the whole run, with warm-up and end. A message for n subscribers is
	// published once and delivered n times; second copies do not count as
	// delivered.
	Published  int64 `json:"published"`
	Delivered  int64 `json:"delivered"`
	Lost       int64 `json:"lost"`       // deliveries that were due and did not arrive
	Duplicates int64 `json:"duplicates"` // deliveries that arrived again
	Reordered  int64 `json:"reordered"`  // deliveries that arrived after later ones of the same publisher

	// Of the measured time.
	Seconds                    float64 `json:"seconds"`
	Interrupted                bool    `json:"interrupted,omitempty"` // before the time was over
	DeliveriesPerSecond        float64 `json:"deliveries_per_second"`
	ServerCPUSecondsPerMillion float64 `json:"server_cpu_seconds_per_million"` // deliveries
	ServerCores                float64 `json:"server_cores"`                   // that were in use
	GeneratorCores             float64 `json:"generator_cores"`                // the same of this process

	// From before the publish was written to after the read that received it, for all
	// messages that were sent in the measured time.
	P50us  float64 `json:"p50_us"`
	P90us  float64 `json:"p90_us"`
	P99us  float64 `json:"p99_us"`
	P999us float64 `json:"p999_us"`
	Maxus  float64 `json:"max_us"`
	// PublishLagMaxus is the longest delay of a publish behind its schedule: latency, rooms.
	PublishLagMaxus float64 `json:"publish_lag_max_us,omitempty"`

	// Connections were opened at this rate, with their subscription if they have one.
	Connections                           int     `json:"connections"`
	HandshakesPerSecond                   float64 `json:"handshakes_per_second"`
	ServerCPUSecondsPerThousandHandshakes float64 `json:"server_cpu_seconds_per_thousand_handshakes"`
	// ServerBytesPerConnection is the growth of the server's resident memory, of
	// idle; nil: not measured.
	ServerBytesPerConnection *float64 `json:"server_bytes_per_connection,omitempty"`

	Notes  []string `json:"notes,omitempty"`  // what to know to read the figures
	Errors []string `json:"errors,omitempty"` // what makes them void
}

// Run runs the measurement that o describes. The connections are closed when it returns.
// The error is an *OptionError, with a nil Result, if o is invalid. With every other
// error the Result holds what was measured until then; when ctx ends, the error wraps
// that of ctx. A run that lost messages is an error.
func Run(ctx context.Context, d Driver, o Options) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Dialers == 0 {
		o.Dialers = defaultDialers
	}
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	server, err := newProcess(o.PID)
	if err != nil {
		return nil, err
	}
	r := newRun(ctx, d, o, server)
	defer r.close()
	switch o.Scenario {
	case Idle:
		r.idle()
	case Rooms:
		r.rooms()
	default:
		r.channel()
	}
	return r.finish()
}
