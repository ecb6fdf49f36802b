package overlay

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// The rows of a page of connections.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// Query says which connections to list.
type Query struct {
	Edge      string            // by ID or name; empty: all
	TokenID   string            // empty: any
	Subject   string            // of the token; empty: any
	ID        wire.ConnectionID // zero: any
	Tenant    string            // that the token names, or that it has a subscription in; empty: any
	Network   netip.Prefix      // of the client's address; not valid: any
	Transport string            // empty: any
	Limited   bool              // only those with messages that wait for a cap; see [pubsub.Stat]
	Cursor    string            // the NextCursor of the page before; empty: the first page
	Limit     int               // 1 to MaxLimit; 0: DefaultLimit
}

// Connections is a page of the connections of all edges, edge by edge, the oldest of each
// first.
type Connections struct {
	Edges       []EdgeCount  `json:"edges"`
	Connections []Connection `json:"connections"`
	NextCursor  string       `json:"next_cursor"` // empty: this is the last page
}

// EdgeCount is how many connections an edge has.
type EdgeCount struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	State    string `json:"state"` // of [pubsub.Member]
	Answered bool   `json:"answered"`
	Error    string `json:"error,omitempty"` // why it did not
	Total    int    `json:"total"`
	Matching int    `json:"matching"`
	Draining bool   `json:"draining"` // as the edge says
}

// Connection is a connection of an edge.
type Connection struct {
	Edge     string `json:"edge"`
	EdgeName string `json:"edge_name"`
	pubsub.Stat
}

// ConnectionDetail is one with its subscriptions.
type ConnectionDetail struct {
	Edge     string `json:"edge"`
	EdgeName string `json:"edge_name"`
	pubsub.ConnectionDetail
}

// Target is what to disconnect: a connection of an edge, or all of a token, at one edge or
// at all.
type Target struct {
	Edge    string // by ID or name; empty: all, for a token
	ID      uint64
	TokenID string
}

// Disconnected is how many connections were closed, and which edges did not answer, by name.
type Disconnected struct {
	Disconnected int      `json:"disconnected"`
	Unanswered   []string `json:"unanswered"`       // that may have connections
	Silent       []string `json:"silent,omitempty"` // that most likely have none: see lost
}

// maxCutOff is how long an edge that fell silent may still serve clients: it is perhaps only cut
// off, and uses the tokens that it knows for as long (`max_stale`, by default).
const maxCutOff = 5 * time.Minute

// lost reports whether an edge that did not answer has been silent for so long that it most
// likely serves no clients: it has crashed, or has closed their connections. What is to be
// changed at all edges need not reach it.
func lost(state string, seen, now time.Time) bool {
	return state == pubsub.MemberSilent && now.Sub(seen) >= maxCutOff
}

// Connections lists connections. It returns [ErrUnknownEdge] or [ErrBadCursor]; edges that
// do not answer are named in what it returns.
func (o *Overlay) Connections(ctx context.Context, q Query) (Connections, error) {
	members, err := o.asked(q.Edge)
	if err != nil {
		return Connections{}, err
	}
	from, after, err := parseCursor(q.Cursor, members)
	if err != nil {
		return Connections{}, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = min(limit, MaxLimit)
	args := listArgs{ConnectionID: q.ID, TokenID: q.TokenID, Subject: q.Subject, Tenant: q.Tenant, Network: q.Network, Transport: q.Transport, Limited: q.Limited}
	// All are counted at once; then the edges of this page are asked for it, mostly one.
	list := Connections{Connections: []Connection{}, Edges: round(o, members, func(ctx context.Context, m pubsub.Member) EdgeCount {
		self := o.isSelf(m)
		count, err := ask[pubsub.ConnectionPage](ctx, o, m, self, kindConnections, args)
		return EdgeCount{m.ID, nameOf(m, self), m.State, err == nil, shownError(err), count.Total, count.Matching, count.Draining}
	})}
	for i := from; i < len(members); i, after = i+1, 0 {
		m, count := members[i], &list.Edges[i]
		if !count.Answered || count.Matching == 0 {
			continue
		}
		room := limit - len(list.Connections)
		if room == 0 {
			list.NextCursor = cursor(m.ID, 0)
			break
		}
		args.After, args.Limit = after, room
		page, err := o.page(ctx, m, args)
		if err != nil {
			count.Answered, count.Error = false, shownError(err)
			continue
		}
		for _, stat := range page.Connections {
			list.Connections = append(list.Connections, Connection{m.ID, count.Name, stat})
		}
		if page.Next != 0 {
			list.NextCursor = cursor(m.ID, page.Next)
			break
		}
	}
	return list, nil
}

// page asks an edge for a page, and checks that it is one: what another edge answers must
// neither hide those of others nor go on for ever.
func (o *Overlay) page(ctx context.Context, m pubsub.Member, args listArgs) (pubsub.ConnectionPage, error) {
	self := o.isSelf(m)
	page, err := ask[pubsub.ConnectionPage](ctx, o, m, self, kindConnections, args)
	if err != nil || self {
		return page, err
	}
	sound := len(page.Connections) <= args.Limit
	last := args.After
	for _, stat := range page.Connections {
		sound, last = sound && stat.ID > last, stat.ID
	}
	if !sound || page.Next != 0 && (page.Next != last || len(page.Connections) == 0) {
		return page, &NoAnswerError{nameOf(m, false), errBadAnswer}
	}
	return page, nil
}

// asked returns the edges that are to be asked: one, or all.
func (o *Overlay) asked(edge string) ([]pubsub.Member, error) {
	if edge == "" {
		return o.members(), nil
	}
	m, _, err := o.member(edge)
	return []pubsub.Member{m}, err
}

// A cursor is the edge of the next page, and the connection after which it begins.
func cursor(edge string, after uint64) string { return fmt.Sprintf("%s:%d", edge, after) }

func parseCursor(text string, members []pubsub.Member) (from int, after uint64, err error) {
	if text == "" {
		return 0, 0, nil
	}
	edge, number, _ := strings.Cut(text, ":")
	from = slices.IndexFunc(members, func(m pubsub.Member) bool { return m.ID == edge })
	after, err = strconv.ParseUint(number, 10, 64)
	if from < 0 || err != nil || cursor(edge, after) != text {
		return 0, 0, ErrBadCursor
	}
	return from, after, nil
}

// Connection describes a connection of an edge.
func (o *Overlay) Connection(ctx context.Context, edge string, id uint64) (ConnectionDetail, error) {
	m, self, err := o.member(edge)
	if err != nil {
		return ConnectionDetail{}, err
	}
	detail, err := ask[pubsub.ConnectionDetail](ctx, o, m, self, kindConnection, oneArgs{ID: id})
	return ConnectionDetail{m.ID, nameOf(m, self), detail}, err
}

// Disconnect closes a connection, or all of a token. Their clients may come back while their
// token is valid. Of several edges, those that do not answer are named in what it returns.
func (o *Overlay) Disconnect(ctx context.Context, t Target) (Disconnected, error) {
	if t.Edge != "" {
		m, self, err := o.member(t.Edge)
		if err != nil {
			return Disconnected{}, err
		}
		got, err := ask[ended](ctx, o, m, self, kindDisconnect, oneArgs{t.ID, t.TokenID})
		return Disconnected{Disconnected: got.Disconnected, Unanswered: []string{}}, err
	}
	total := Disconnected{Unanswered: []string{}}
	type result struct {
		ended
		pubsub.Member
		name string
		err  error
	}
	for _, r := range each(ctx, o.members(), func(ctx context.Context, m pubsub.Member) result {
		self := o.isSelf(m)
		got, err := ask[ended](ctx, o, m, self, kindDisconnect, oneArgs{TokenID: t.TokenID})
		return result{got, m, nameOf(m, self), err}
	}) {
		total.Disconnected += r.Disconnected
		switch {
		case r.err == nil:
		case lost(r.State, r.SeenAt, time.Now()):
			total.Silent = append(total.Silent, r.name)
		default:
			total.Unanswered = append(total.Unanswered, r.name)
		}
	}
	return total, nil
}
