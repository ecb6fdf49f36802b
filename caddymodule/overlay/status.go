package overlay

import "time"

// Source is where this edge's own figures come from. Its functions may be called
// concurrently, and wait for nothing.
type Source struct {
	Status func() Status
	Counts func() Counts
}

// Status is how an edge is.
type Status struct {
	Version   string    `json:"version"` // of Millrace
	Caddy     string    `json:"caddy"`
	Go        string    `json:"go"`
	StartedAt time.Time `json:"started_at"`
	Region    string    `json:"region"`
	Host      string    `json:"host"` // that is announced to clients; empty: none
	Draining  bool      `json:"draining"`

	Connections    map[string]int `json:"connections"`     // by transport
	Limited        map[string]int `json:"limited"`         // those that wait for a cap: "ingress", "egress"; see [pubsub.Metrics]
	MaxConnections int            `json:"max_connections"` // 0: no limit
	Subscriptions  int64          `json:"subscriptions"`
	Patterns       int64          `json:"patterns"`
	QueuedBytes    int64          `json:"queued_bytes"`
	MemoryBytes    uint64         `json:"memory_bytes"` // that the process has from the system, as far as Go knows
	Processors     int            `json:"processors"`

	Broker BrokerStatus `json:"broker"`
	Store  StoreStatus  `json:"store"`
	Links  []LinkStatus `json:"links,omitempty"` // to servers, of broker and stores that have one

	Quorum *Quorum `json:"quorum,omitempty"` // nil: no NATS server inside the edge is in a cluster
}

// Quorum is the members of the cluster of the NATS servers inside edges, as an edge knew them
// seconds ago.
type Quorum struct {
	Members []QuorumMember `json:"members"`
	Leader  string         `json:"leader"`  // empty: there is none now
	Needed  int            `json:"needed"`  // how many members must run
	Running int            `json:"running"` // how many do
}

// QuorumMember is a NATS server that votes.
type QuorumMember struct {
	Name     string    `json:"name"`
	State    string    `json:"state"`          // "leader", "current", "lagging" or "offline"
	Since    time.Time `json:"since,omitzero"` // of the state; of an offline one when it was last heard of
	Behind   uint64    `json:"behind"`         // operations that it lacks
	Replicas int       `json:"replicas"`       // of streams
	Lagging  int       `json:"lagging"`        // of these, replicas that lack something
}

// LinkStatus is how the connection of a broker, a token store or a history store to its servers
// is. Code, Reason, Error and Since are empty if nothing is wrong.
type LinkStatus struct {
	Of        string     `json:"of"` // "broker", "tokens" or "history"
	Connected bool       `json:"connected"`
	Code      string     `json:"code,omitempty"`
	Reason    string     `json:"reason,omitempty"` // what the code means
	Error     string     `json:"error,omitempty"`  // the last one
	Since     *time.Time `json:"since,omitempty"`
}

// BrokerStatus is how an edge's broker is.
type BrokerStatus struct {
	Driver string `json:"driver"`
	Linked bool   `json:"linked"` // to the other edges
}

// StoreStatus is how an edge's token store is.
type StoreStatus struct {
	Driver   string    `json:"driver"`
	Usable   bool      `json:"usable"`          // tokens can be checked
	Error    string    `json:"error,omitempty"` // why not
	Writable bool      `json:"writable"`        // and changed
	Replicas *Replicas `json:"replicas,omitempty"`
}

// Replicas says how many servers have all tokens, and how many should.
type Replicas struct {
	Current int `json:"current"`
	All     int `json:"all"`
}

// Counts are what an edge has counted since its start, and what it holds now.
type Counts struct {
	Connections int
	MemoryBytes uint64
	MessagesIn  uint64
	Deliveries  uint64
	Reasons     Reasons
}

// Reasons are counts by reason or code. In answers, those of the last 15 minutes, without
// zeros.
type Reasons struct {
	Dropped           map[string]uint64 `json:"dropped"`            // deliveries
	Refused           map[string]uint64 `json:"refused"`            // ERR lines
	HandshakesRefused map[string]uint64 `json:"handshakes_refused"` // with the HTTP status before the code
	SlowDisconnects   map[string]uint64 `json:"slow_disconnects"`
}

// since returns what was counted after an earlier count.
func (r Reasons) since(before Reasons) Reasons {
	return Reasons{
		Dropped:           growth(before.Dropped, r.Dropped),
		Refused:           growth(before.Refused, r.Refused),
		HandshakesRefused: growth(before.HandshakesRefused, r.HandshakesRefused),
		SlowDisconnects:   growth(before.SlowDisconnects, r.SlowDisconnects),
	}
}

func growth(before, now map[string]uint64) map[string]uint64 {
	grown := map[string]uint64{}
	for key, n := range now {
		if n > before[key] {
			grown[key] = n - before[key]
		}
	}
	return grown
}

func sum(counts map[string]uint64) (n uint64) {
	for _, count := range counts {
		n += count
	}
	return n
}
