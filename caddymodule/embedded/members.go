package embedded

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	nats "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/internal/outage"
)

const (
	// membersInterval is the pause between two looks at the members.
	membersInterval = 2 * time.Second
	// membersPatience is how long the servers have to say how they are.
	membersPatience = 2 * time.Second
	// heardLately is how long after its last sign of life a member that does not answer may run.
	heardLately = 5 * time.Second
	// electionPatience is how long the members may have no leader before the log says so.
	electionPatience = 20 * time.Second
	// maxRemembered bounds the names of servers that are remembered.
	maxRemembered = 256
)

// members watches the servers of a cluster that vote on what is stored, and removes some. A
// nil members belongs to a server without a cluster.
type members struct {
	server *server.Server
	conn   *nats.Conn  // of the system account; nil: there is none, and only this server is asked
	login  nats.Option // of the account that has the streams; nil: it is not known
	faults *outage.Log

	cancel  context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex // guards the rest
	last    guest.Quorum
	known   bool              // last is
	ledAt   time.Time         // when a leader was last known
	names   map[string]string // of servers, by ID: a server that starts does not know those that are away
	removed map[string]bool   // names of members that were, and are no more
	heads   map[string]uint64 // of streams, at the last look
}

func newMembers(s *server.Server, conn *nats.Conn, faults *outage.Log) *members {
	return &members{server: s, conn: conn, faults: faults, cancel: func() {}, names: map[string]string{}, removed: map[string]bool{}, ledAt: time.Now()}
}

// start starts a goroutine that looks at the members until stop.
func (m *members) start() {
	if m == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	m.running.Go(func() {
		for ctx.Err() == nil {
			m.look(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(membersInterval):
			}
		}
	})
}

// stop returns when the goroutine of start has ended.
func (m *members) stop() {
	if m == nil {
		return
	}
	m.cancel()
	m.running.Wait()
	if m.conn != nil {
		m.conn.Close()
	}
}

// quorum returns what the last look found.
func (m *members) quorum() (q guest.Quorum, known bool) {
	if m == nil {
		return q, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last, m.known
}

// report is what a server says of itself, and of the cluster as it knows it.
type report struct {
	Server server.ServerInfo `json:"server"`
	Data   server.JSInfo     `json:"data"`
}

// leads reports whether the server leads the members.
func (r *report) leads() bool { return r.Data.Meta != nil && r.Data.Meta.Leader == r.Server.Name }

var reportOptions = server.JSzOptions{Accounts: true, Streams: true, Config: true}

// ask returns the reports of the servers that run. It waits until all members have answered
// that are not known to be away, for membersPatience at most.
func (m *members) ask(ctx context.Context) (reports []report) {
	if m.conn == nil {
		if own, err := m.server.Jsz(&reportOptions); err == nil {
			reports = []report{{server.ServerInfo{Name: m.server.Name(), ID: m.server.ID()}, *own}}
		}
		return reports
	}
	options, err := json.Marshal(reportOptions)
	if err != nil {
		return nil
	}
	inbox := m.conn.NewInbox()
	answers, err := m.conn.SubscribeSync(inbox)
	if err != nil {
		return nil
	}
	defer func() { _ = answers.Unsubscribe() }()
	if err := m.conn.PublishRequest("$SYS.REQ.SERVER.PING.JSZ", inbox, options); err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, membersPatience)
	defer cancel()
	for !complete(reports) {
		msg, err := answers.NextMsgWithContext(ctx)
		if err != nil {
			return reports
		}
		var r report
		if json.Unmarshal(msg.Data, &r) == nil && r.Server.Cluster == m.server.ClusterName() {
			reports = append(reports, r)
		}
	}
	return reports
}

// complete reports whether all members have answered.
func complete(reports []report) bool {
	view, unclear := viewOf(reports, false)
	if view == nil || unclear {
		return false
	}
	answered := map[string]bool{}
	for _, r := range reports {
		answered[idOf(r.Server.Name)] = true
	}
	return answered[view.Peer] && !slices.ContainsFunc(view.Replicas, func(p *server.PeerInfo) bool { return !answered[p.Peer] })
}

// viewOf is how the leader sees the members, or else, where nobody knows of one, how anybody does. If
// others know of one that has not answered, that is unclear: they may know less than it does, and
// none of them lists itself. alone says that only one server was asked.
func viewOf(reports []report, alone bool) (view *server.MetaClusterInfo, unclear bool) {
	for i, r := range reports {
		switch meta := r.Data.Meta; {
		case meta == nil:
		case reports[i].leads():
			return meta, false
		case alone && meta.Leader != "":
			with := *meta
			with.Replicas = append(slices.Clone(meta.Replicas), &server.PeerInfo{Name: r.Server.Name, Peer: idOf(r.Server.Name), Current: true})
			return &with, false
		case meta.Leader != "":
			unclear = true
		default:
			view = meta
		}
	}
	return view, unclear
}

// idOf is the ID of a server in its cluster: getHash of nats-server.
func idOf(name string) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum := sha256.Sum256([]byte(name))
	for i := range sum[:8] {
		sum[i] = digits[int(sum[i])%len(digits)]
	}
	return string(sum[:8])
}

// look asks the servers, and notes how the members are, unless that is unclear: then it returns nil.
func (m *members) look(ctx context.Context) (reports []report, streams map[string]stream) {
	reports = m.ask(ctx)
	view, unclear := viewOf(reports, m.conn == nil)
	if ctx.Err() != nil || unclear {
		return nil, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	streams = streamsOf(reports, m.heads)
	m.heads = map[string]uint64{}
	for key, s := range streams {
		m.heads[key] = s.head
	}
	if view == nil { // JetStream is off, or starts
		m.known = false
		return reports, streams
	}
	q := m.read(view, reports, streams)
	for _, before := range m.last.Members {
		if !slices.ContainsFunc(q.Members, func(now guest.Member) bool { return now.Name == before.Name }) && len(m.removed) < maxRemembered {
			m.removed[before.Name] = true
		}
	}
	for _, now := range q.Members {
		delete(m.removed, now.Name)
	}
	m.last, m.known = q, true
	m.warn(q)
	return reports, streams
}

// read makes out of the reports how the members are. The caller holds mu.
func (m *members) read(view *server.MetaClusterInfo, reports []report, streams map[string]stream) guest.Quorum {
	runs := map[string]bool{}
	for _, r := range reports {
		id := idOf(r.Server.Name)
		runs[id] = !r.Data.Disabled
		m.remember(id, r.Server.Name)
	}
	peers := slices.Clone(view.Replicas)
	if id := idOf(view.Leader); view.Leader != "" && !slices.ContainsFunc(peers, func(p *server.PeerInfo) bool { return p.Peer == id }) {
		peers = append(peers, &server.PeerInfo{Name: view.Leader, Peer: id, Current: true})
	}
	holds := holdings(streams)
	q := guest.Quorum{Leader: view.Leader, Needed: max(view.QuorumNeeded, len(peers)/2+1)}
	for _, p := range peers {
		if !strings.HasPrefix(p.Name, "Server name unknown") { // nats-server's text
			m.remember(p.Peer, p.Name)
		}
		name := cmp.Or(m.names[p.Peer], p.Peer)
		now := guest.Member{
			Name: name, State: guest.MemberCurrent, Since: time.Now(), Behind: p.Lag,
			Replicas: holds[p.Peer].replicas, Lagging: holds[p.Peer].lagging,
		}
		switch ledBy := view.Leader != ""; {
		case p.Peer == idOf(view.Leader):
			now.State = guest.MemberLeader
		case !runs[p.Peer] && (!ledBy || p.Active == 0 || p.Active > heardLately):
			now.State = guest.MemberOffline
			now.Since = now.Since.Add(-p.Active)
		case ledBy && !p.Current:
			now.State = guest.MemberLagging
		}
		if now.State != guest.MemberOffline {
			q.Running++
		}
		for _, before := range m.last.Members {
			if before.Name == name && before.State == now.State && before.Since.Before(now.Since) {
				now.Since = before.Since
			}
		}
		now.Since = now.Since.UTC().Truncate(time.Millisecond)
		q.Members = append(q.Members, now)
	}
	slices.SortFunc(q.Members, func(a, b guest.Member) int { return cmp.Compare(a.Name, b.Name) })
	return q
}

func (m *members) remember(id, name string) {
	if m.names[id] == "" && len(m.names) < maxRemembered {
		m.names[id] = name
	}
}

// warn logs that the members are so few that one more loss stops the cluster.
func (m *members) warn(q guest.Quorum) {
	const fault = "quorum"
	offline := q.Offline()
	if q.Leader != "" {
		m.ledAt = time.Now()
	}
	leaderless := time.Since(m.ledAt) > electionPatience
	if !leaderless && (len(offline) == 0 || q.Spare() > 0) {
		m.faults.End(fault)
		return
	}
	line := outage.Line{
		Level: zap.WarnLevel, Message: "one more loss stops the cluster of the embedded NATS servers: start the offline members, " +
			"or remove those that do not come back with `millrace pubsub edges remove`",
		Over: "the cluster of the embedded NATS servers survives a loss again",
		Why:  []zap.Field{zap.Strings("offline", offline), zap.Int("members", len(q.Members)), zap.Int("running", q.Running), zap.Int("needed", q.Needed)},
	}
	switch {
	case leaderless && len(offline) == 0:
		line.Level, line.Message = zap.ErrorLevel, "no embedded NATS server leads the cluster, and nothing is stored: the first start needs all servers of `routes`, "+
			"and so does one with an empty folder while fewer than a majority of the others run"
	case leaderless || q.Spare() < 0:
		line.Level, line.Message = zap.ErrorLevel, "the cluster of the embedded NATS servers has no quorum, and stores nothing: start the offline members"
	}
	m.faults.Note(fault, line.Message+strings.Join(offline, " "), line)
}

// holding counts the replicas of streams that a member has.
type holding struct{ replicas, lagging int }

// holdings returns them by the member's ID.
func holdings(streams map[string]stream) map[string]holding {
	all := map[string]holding{}
	for _, s := range streams {
		for id, current := range s.replicas {
			h := all[id]
			h.replicas++
			if !current {
				h.lagging++
			}
			all[id] = h
		}
	}
	return all
}

// stream is where a stream is.
type stream struct {
	name     string
	led      bool
	wanted   int             // replicas
	replicas map[string]bool // whether it has everything, by the member's ID
	moves    bool            // its replicas are not where they are to be
	head     uint64          // the last message of the leader
}

// streamsOf returns the streams by the reports of their leaders, or of others where they have none.
// A leader takes a replica that was restarted for current for 10 s, also with an empty folder. So
// the replica must also have what the leader had at the last look.
func streamsOf(reports []report, heads map[string]uint64) map[string]stream {
	streams := map[string]stream{}
	own := map[string]uint64{} // the last message of a replica
	for _, r := range reports {
		for _, account := range r.Data.AccountDetails {
			for _, detail := range account.Streams {
				if detail.Cluster == nil || detail.Config == nil {
					continue
				}
				key := account.Id + " " + detail.Name
				own[idOf(r.Server.Name)+key] = detail.State.LastSeq
				s := stream{name: detail.Name, led: detail.Cluster.Leader == r.Server.Name, wanted: detail.Config.Replicas, replicas: map[string]bool{}, head: detail.State.LastSeq}
				if before, has := streams[key]; has && (before.led || !s.led) {
					continue
				}
				s.moves = detail.Cluster.Desired != nil
				if leader := detail.Cluster.Leader; leader != "" {
					s.replicas[idOf(leader)] = true
				}
				for _, p := range detail.Cluster.Replicas {
					s.replicas[p.Peer] = s.led && p.Current && !p.Pending
				}
				streams[key] = s
			}
		}
	}
	for key, s := range streams {
		for id, current := range s.replicas {
			s.replicas[id] = current && own[id+key] >= heads[key]
		}
	}
	return streams
}

// describe says what a stream lacks.
func (s stream) describe(what string, args ...any) string {
	return s.name + ": " + fmt.Sprintf(what, args...)
}
