package guest

import (
	"context"
	"net/http"
	"time"
)

// MemberKeeper is a guest that may have a server inside the edge, which is a member of a
// cluster of such servers. Its methods may be called concurrently.
type MemberKeeper interface {
	// Members returns the members of the cluster, as this edge knew them seconds ago; known is
	// false where no server runs inside the edge, or none with others. It waits for nothing.
	Members() (q Quorum, known bool)
	// RemoveMember takes a member out of the cluster for good, and gives its replicas to others.
	// It returns when that is so, or after 25 s with what is left to do: call it again then.
	// The error is a *MemberError.
	RemoveMember(ctx context.Context, name string, how RemoveOptions) (Removal, error)
}

// RemoveOptions allow a removal that is refused otherwise.
type RemoveOptions struct {
	// Running says that the member may run: its replicas move first.
	Running bool `json:"running"`
	// Lost says that the member's disk is lost: streams may lose what only it had.
	Lost bool `json:"lost"`
}

// The states of a [Member].
const (
	MemberLeader  = "leader"
	MemberCurrent = "current" // it runs, and has what the leader has
	MemberLagging = "lagging" // it runs, and lacks something
	MemberOffline = "offline"
)

// MemberStates are all of them.
var MemberStates = []string{MemberLeader, MemberCurrent, MemberLagging, MemberOffline}

// Member is a server that votes in its cluster.
type Member struct {
	Name     string    `json:"name"` // or its ID, where nobody knows the name
	State    string    `json:"state"`
	Since    time.Time `json:"since,omitzero"` // of the state; of an offline one when it was last heard of
	Behind   uint64    `json:"behind"`         // operations that it lacks, as far as the leader knows
	Replicas int       `json:"replicas"`       // of streams, that it has or is to get
	Lagging  int       `json:"lagging"`        // of these, replicas that are not current
}

// Quorum is the members of a cluster. More than half of them must run.
type Quorum struct {
	Members []Member `json:"members"` // by name
	Leader  string   `json:"leader"`  // empty: none is known
	Needed  int      `json:"needed"`  // how many members must run
	Running int      `json:"running"`
}

// Up reports whether the cluster can store.
func (q Quorum) Up() bool { return q.Leader != "" && q.Spare() >= 0 }

// Spare is how many of the running members may be lost; negative: too few run.
func (q Quorum) Spare() int { return q.Running - q.Needed }

// Offline are the names of the members that do not run.
func (q Quorum) Offline() (names []string) {
	for _, m := range q.Members {
		if m.State == MemberOffline {
			names = append(names, m.Name)
		}
	}
	return names
}

// Removal is how far the removal of a member is.
type Removal struct {
	Member  string `json:"member"`
	Removed bool   `json:"removed"` // it has no vote any more
	// Moving are streams with replicas that are still on the member, or do not have everything yet.
	Moving []string `json:"moving"`
	// Short are streams with fewer replicas than they should have, since there are too few members.
	Short []string `json:"short"`
}

// Done reports whether nothing is left to do.
func (r Removal) Done() bool { return r.Removed && len(r.Moving) == 0 }

// MemberError says why a member is not removed, and what to do.
type MemberError struct {
	Code string // one of those below
	Text string
}

// The codes of a [MemberError].
const (
	UnknownMember = "unknown_member"
	MemberRuns    = "member_runs"
	NoQuorum      = "no_quorum"
	NotSupported  = "not_supported"
	Unanswered    = "members_unanswering"
)

// ErrNoMembers says that no server inside this edge is a member of a cluster.
var ErrNoMembers = &MemberError{"no_members", "no NATS server inside this edge is a member of a cluster. Members of a cluster of other NATS servers " +
	"are removed there: stop the server, and use `nats server cluster peer-remove` as a user of the system account"}

// Error implements error.
func (e *MemberError) Error() string { return e.Text }

// Status is that of the answer to an operator.
func (e *MemberError) Status() int {
	switch e.Code {
	case UnknownMember:
		return http.StatusNotFound
	case NoQuorum, Unanswered:
		return http.StatusServiceUnavailable
	}
	return http.StatusConflict
}
