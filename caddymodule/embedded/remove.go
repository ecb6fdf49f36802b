package embedded

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	nats "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/caddymodule/guest"
)

const (
	// removalPatience bounds one call of remove, which may be repeated.
	removalPatience = 25 * time.Second
	// removalInterval is the pause between two looks at a removal.
	removalInterval = 250 * time.Millisecond
	// requestPatience is how long the leader has for an answer.
	requestPatience = 5 * time.Second
)

// remove implements [guest.MemberKeeper] RemoveMember.
func (m *members) remove(ctx context.Context, name string, how guest.RemoveOptions) (done guest.Removal, err error) {
	if m == nil {
		return done, guest.ErrNoMembers
	}
	if m.conn == nil {
		return done, &guest.MemberError{Code: guest.NotSupported, Text: "the configuration file of this edge's NATS server has no list of users, or an operator, " +
			"so the edge has no access to the system account: use `nats server cluster peer-remove` as a user of it"}
	}
	ctx, cancel := context.WithTimeout(ctx, removalPatience)
	defer cancel()
	done = guest.Removal{Member: name, Moving: []string{}, Short: []string{}}
	for {
		reports, streams := m.look(ctx)
		for streams == nil && ctx.Err() == nil { // nobody knows, while the members elect a leader
			reports, streams = m.look(ctx)
		}
		if ctx.Err() != nil {
			return done, err
		}
		q, known := m.quorum()
		if !known {
			return done, &guest.MemberError{Code: guest.NoQuorum, Text: "JetStream of this edge's NATS server is off or starts, or this edge was removed from the cluster: ask another edge"}
		}
		id, member := m.find(q, name)
		done.Removed = member == nil
		done.Moving, done.Short = left(streams, q, id)
		next := wait
		if member != nil {
			done.Member = member.Name
			next, err = m.step(ctx, q, *member, id, reports, streams, how)
		} else if err = nil; !m.wasRemoved(name) {
			return done, unknownMember(q, name)
		}
		if next == stop && err != nil || done.Done() {
			return done, err
		}
		select {
		case <-ctx.Done():
			return done, err
		case <-time.After(removalInterval):
		}
	}
}

// find finds a member by its name or ID; nil: there is none.
func (m *members) find(q guest.Quorum, name string) (id string, found *guest.Member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, member := range q.Members {
		if member.Name == name || member.Name == idOf(name) || idOf(member.Name) == name {
			id := idOf(member.Name)
			if m.names[member.Name] == "" && m.names[id] == "" { // its name is its ID
				id = member.Name
			}
			return id, &q.Members[i]
		}
	}
	return idOf(name), nil
}

// wasRemoved reports whether this edge has seen a member go for good.
func (m *members) wasRemoved(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.removed[name] || m.removed[idOf(name)]
}

func unknownMember(q guest.Quorum, name string) error {
	var names []string
	for _, member := range q.Members {
		names = append(names, member.Name)
	}
	return &guest.MemberError{Code: guest.UnknownMember, Text: fmt.Sprintf("%q is no member of the cluster; the members are %s", name, strings.Join(names, ", "))}
}

// What follows a step of a removal.
type next int

const (
	wait next = iota // look again; if there is an error, it may pass
	stop             // there is an error, which does not
)

// step does what is next for a member that is to go.
func (m *members) step(ctx context.Context, q guest.Quorum, member guest.Member, id string, reports []report, streams map[string]stream, how guest.RemoveOptions) (next, error) {
	runs := member.State != guest.MemberOffline
	answered := slices.ContainsFunc(reports, func(r report) bool { return idOf(r.Server.Name) == id })
	offline := strings.Join(q.Offline(), ", ")
	switch {
	case id == idOf(m.server.Name()):
		return stop, &guest.MemberError{Code: guest.MemberRuns, Text: "this is the edge that was asked: ask another one to remove it"}
	case answered && !how.Running:
		return stop, &guest.MemberError{Code: guest.MemberRuns, Text: member.Name + " runs, and would join again. Stop its edge first. " +
			"To move its replicas while it runs, and then stop it, use --running"}
	case !q.Up():
		return wait, &guest.MemberError{Code: guest.NoQuorum, Text: fmt.Sprintf("the cluster has no quorum or no leader: %d of its %d members run, and %d must. Start those that are offline first (%s)",
			q.Running, len(q.Members), q.Needed, cmp.Or(offline, "none"))}
	case runs && answered && offline != "":
		return stop, &guest.MemberError{Code: guest.NoQuorum, Text: fmt.Sprintf("%s runs, and others are offline: start or remove these first (%s)", member.Name, offline)}
	case runs && !answered: // it has stopped a moment ago, most likely
		return wait, &guest.MemberError{Code: guest.Unanswered, Text: member.Name + " does not answer, but was heard of lately; try again"}
	}
	if stuck := m.withoutLeader(ctx, streams, id, runs); len(stuck) > 0 && !how.Lost {
		return wait, &guest.MemberError{Code: guest.NoQuorum, Text: fmt.Sprintf("too few replicas run of %s, and what was acknowledged last may be on %s alone. "+
			"Start it or another one that is offline (%s). If their disks are lost, use --lost: what only they have is gone then", strings.Join(stuck, ", "), member.Name, offline)}
	}
	if runs && len(q.Members) > 2 {
		if moved, err := m.evacuate(ctx, id, streams); err != nil || !moved {
			return wait, err
		}
	}
	return wait, m.request(ctx, server.JSApiRemoveServer, server.JSApiMetaServerRemoveRequest{Peer: id})
}

// withoutLeader returns the streams of a member that have none. If it does not run, there may be
// such streams without a replica on another server: these are all that the leader of the
// members knows of, and nobody reports.
func (m *members) withoutLeader(ctx context.Context, streams map[string]stream, id string, runs bool) (names []string) {
	reported := map[string]bool{}
	for _, s := range streams {
		reported[s.name] = true
		if _, has := s.replicas[id]; has && !s.led {
			names = append(names, s.name)
		}
	}
	if !runs {
		for _, name := range m.missing(ctx) {
			if !reported[name] {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// missing returns the streams of the edges that cannot be read now, as far as that is known.
func (m *members) missing(ctx context.Context) []string {
	if m.login == nil {
		return nil
	}
	conn, err := nats.Connect("", m.login)
	if err != nil {
		return nil
	}
	defer conn.Close()
	answer, err := conn.RequestWithContext(ctx, server.JSApiStreamList, []byte("{}"))
	if err != nil {
		return nil
	}
	var list server.JSApiStreamListResponse
	_ = json.Unmarshal(answer.Data, &list) // of a server of the same build
	return list.Missing
}

// evacuate moves the replicas of a member that runs to others, as far as there is room for them.
func (m *members) evacuate(ctx context.Context, id string, streams map[string]stream) (moved bool, err error) {
	pending := false
	for _, s := range streams {
		_, has := s.replicas[id]
		pending = pending || has && !s.moves
		moved = moved || has
	}
	if pending {
		err = m.request(ctx, server.JSApiEvacuateServer, server.JSApiMetaServerEvacuateRequest{Peer: id})
	}
	return !moved, err
}

// request asks the leader of the members for something. It returns nil also if another such
// change is under way: the caller looks, and asks again.
func (m *members) request(ctx context.Context, subject string, what any) error {
	body, err := json.Marshal(what)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestPatience)
	defer cancel()
	answer, err := m.conn.RequestWithContext(ctx, subject, body)
	if err != nil {
		return &guest.MemberError{Code: guest.Unanswered, Text: "the leader of the cluster does not answer; try again"}
	}
	var got server.ApiResponse
	switch err := json.Unmarshal(answer.Data, &got); {
	case err != nil:
		return err
	case got.Error == nil, server.IsNatsErr(got.Error, server.JSClusterServerMemberChangeInflightErr), server.IsNatsErr(got.Error, server.JSClusterServerNotMemberErr):
		return nil
	}
	return &guest.MemberError{Code: guest.Unanswered, Text: "the leader of the cluster refuses: " + got.Error.Description}
}

// left returns the streams that still move away from a member that goes, and those that have
// too few replicas for good.
func left(streams map[string]stream, q guest.Quorum, id string) (moving, short []string) {
	moving, short = []string{}, []string{}
	for _, s := range streams {
		_, has := s.replicas[id]
		current := 0
		for _, ok := range s.replicas {
			if ok {
				current++
			}
		}
		wanted := min(s.wanted, len(q.Members))
		switch {
		case has:
			moving = append(moving, s.describe("has a replica on the member"))
		case !s.led:
			moving = append(moving, s.describe("has no leader"))
		case current < wanted:
			moving = append(moving, s.describe("%d of %d replicas have everything", current, wanted))
		case current < s.wanted:
			short = append(short, s.describe("has %d of %d replicas, as many as there are members", current, s.wanted))
		}
	}
	slices.Sort(moving)
	slices.Sort(short)
	return moving, short
}
